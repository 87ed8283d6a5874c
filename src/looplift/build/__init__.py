"""Texts to callables: the system's compiler for kernels, with a cache on disk."""

from typing import TYPE_CHECKING

from looplift.base.deferred import modules_of

if not TYPE_CHECKING:  # the type checker looks at the files
    __getattr__ = modules_of(__name__)
