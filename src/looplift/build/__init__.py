"""Texts to callables: the system's compiler for kernels, with a cache on disk."""
