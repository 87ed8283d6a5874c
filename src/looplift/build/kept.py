"""Bytes under a key in, kept on disk beside the kernels; out again in other processes."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import marshal
import os
import tempfile
import zlib
from pathlib import Path
from types import CodeType

from looplift.build.compiler import cache_directory

_FAST = 1


def is_wanted() -> bool:
    """Whether anything is to be kept: not where ``LOOPLIFT_REMEMBER`` is 0."""
    return os.environ.get("LOOPLIFT_REMEMBER") != "0"


def read(key: str) -> bytes | None:
    """What was kept under a key; None if there is nothing, or nothing that can be read."""
    try:
        return zlib.decompress(_path(key).read_bytes())
    except (OSError, RuntimeError, zlib.error):  # of `Path.home`, where there is none
        return None


def write(key: str, content: bytes) -> None:
    """Keep bytes, where the folder can be written; other processes see all of them or nothing."""
    with contextlib.suppress(OSError, RuntimeError):
        directory = cache_directory()
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=directory, prefix="region-", suffix=".new")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(zlib.compress(content, _FAST))
            os.replace(name, _path(key))
        except OSError:
            os.unlink(name)
            raise


def code_of(text: str, name: str) -> CodeType:
    """What ``compile`` makes of a Python text, kept: that of a program takes 10 ms."""
    if not is_wanted():
        return compile(text, name, "exec")
    key = hashlib.sha256(importlib.util.MAGIC_NUMBER + f"{name}\0{text}".encode()).hexdigest()[:32]
    if (content := read(key)) is not None:
        with contextlib.suppress(ValueError, EOFError, TypeError):  # what another wrote there
            if isinstance(code := marshal.loads(content), CodeType):
                return code
    code = compile(text, name, "exec")
    write(key, marshal.dumps(code))
    return code


def _path(key: str) -> Path:
    return cache_directory() / f"region-{key}.bin"
