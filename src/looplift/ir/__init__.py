"""The loop IR: its grammar, facts, spec, printer and literal interpreter."""
