"""The table of operations: what each means, how it is spelled, what it requires."""
