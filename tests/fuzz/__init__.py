"""Differential tests on random loop programs: `programs` writes, `differential` compares, `run` does it at any size."""
