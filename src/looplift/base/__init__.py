"""What every room may use: spans, errors, the registry of reasons, comparison of values, configuration."""
