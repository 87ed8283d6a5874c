"""The user's C++ for one call in, an operator out that lifted loops call once for all iterations."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any


def op(
    name: str,
    cpp: str | os.PathLike[str],
    cuda: str | os.PathLike[str] | None = None,
    *,
    signature: str,
    batch: Callable[..., Any] | None = None,
    backward: Callable[..., Any] | None = None,
) -> Any:
    """An operator made of a C++ function; loops that call it are lifted: one call runs it for all iterations.

    ``cpp`` is C++ with a function ``name``, as text or the path of a file. ``signature`` says what it takes and gives,
    as ``"(image: float32[h, w], angle: float) -> float32[h, w]"``; then the function is
    ``void name(const float* image, double angle, float* result, int64_t h, int64_t w)``: the arguments, the memory of
    the results, the sizes that have names. Arrays are contiguous. It must give the same for the same arguments, and
    change nothing else, from several threads too; what it throws is raised in Python.

    ``cuda`` is CUDA C++ with a ``__device__`` function of the same name and arguments, for tensors on such a device:
    each call is one thread. It is compiled when it is first called there.

    Dimensions in front of those of the signature are many calls, as in NumPy; ``where=`` says which of them are made.
    ``batch`` runs them in one go, in place of a loop in C++: a function of the same arguments, each with one dimension
    in front. ``backward`` is a function of a gradient of the result (a tuple for several) and of the arguments of one
    call, that returns a gradient, or None, for each argument.

    Raises ValueError for a signature that says nothing, or that the function does not have, and RuntimeError where
    there is no compiler, or it refuses the text.
    """
    from looplift.emit.custom import alone_text
    from looplift.runtime.custom import Rules

    if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
        raise ValueError(f"'name' must be that of the C++ function, not {name!r}")
    source, file = _text_of(cpp, name)
    for key, rule in (("batch", batch), ("backward", backward)):
        if rule is not None and not callable(rule):
            raise TypeError(f"'{key}' must be a function, not {rule!r:.80}")
    definition = {"name": name, "signature": signature.strip(), "source": alone_text(source, file)}
    if cuda is not None:
        definition["cuda"], definition["cuda_file"] = _text_of(cuda, name, "cuda")
    return operator_of(definition, Rules(batch, backward))


def operator_of(definition: dict[str, str], rules: Any = None) -> Any:
    """An operator of its "name", "signature" and "source"."""
    from looplift.build.custom import lanes_of, on_cuda
    from looplift.emit.custom import cuda_text, lanes_text
    from looplift.runtime.custom import CustomOperator, Rules
    from looplift.runtime.signatures import BadSignature, parsed

    name = definition["name"]
    try:
        found = parsed(definition["signature"])
    except BadSignature as problem:
        raise ValueError(f"looplift.op: the signature of '{name}': {problem}") from None
    calls = {"cpu": lanes_of(definition["source"], lanes_text(name, found), name, found)}
    if "cuda" in definition:
        text = cuda_text(name, definition["cuda"], found, definition["cuda_file"])
        calls["cuda"] = on_cuda(text, name)
    return CustomOperator(definition, found, calls, rules or Rules())


def _text_of(cpp: str | os.PathLike[str], name: str, key: str = "cpp") -> tuple[str, str]:
    """C++ and the file that it is of: a string without a line break, a brace or a semicolon is a path."""
    if isinstance(cpp, str) and any(mark in cpp for mark in "\n{;"):
        return cpp, f"{name}.{'cu' if key == 'cuda' else key}"
    path = os.fspath(cpp)
    if not os.path.isfile(path):
        raise ValueError(f"'{key}' must be C++, or the path of a file: there is no file {path!r}")
    with open(path, encoding="utf-8") as file:
        return file.read(), path
