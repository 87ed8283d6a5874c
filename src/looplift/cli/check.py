"""``looplift check``: the function that a target names against its lifted form, on its file's arguments."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from looplift.api import lift
from looplift.verify import check

MAKERS = ("example_inputs", "inputs")
SEEDS = 3


class BadTarget(Exception):
    """The target cannot be checked; the message says why."""


def check_target(target: str, *, seconds: float) -> int:
    """0 if nothing tells the two apart, 1 if something does, 2 if there is nothing to check."""
    try:
        module, function = load_target(target)
        examples = examples_of(module)
    except BadTarget as problem:
        print(f"looplift: {problem}", file=sys.stderr)
        return 2
    original = getattr(function, "original", function)
    result = check(original, lift(original), *examples, seconds=seconds)
    print(result)
    return 0 if result else 1


def load_target(target: str) -> tuple[ModuleType, Callable]:
    """``file.py:function`` or ``file.py:Class.method``."""
    file, colon, path = target.rpartition(":")
    if not colon or not path:
        raise BadTarget(f"{target!r} names no function: write file.py:function")
    if not Path(file).is_file():
        raise BadTarget(f"there is no file {file!r}")
    value: Any = _load(Path(file))
    module = value
    for name in path.split("."):
        if not hasattr(value, name):
            raise BadTarget(f"{file} has no {path!r}")
        value = getattr(value, name)
    if not callable(value):
        raise BadTarget(f"{path!r} of {file} is not a function")
    return module, value


def _load(file: Path) -> ModuleType:
    sys.path.insert(0, str(file.resolve().parent))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise BadTarget(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise BadTarget(f"{file} cannot be imported: {type(error).__name__}: {error}") from error
    return module


def examples_of(module: ModuleType) -> list[tuple[Any, ...]]:
    """What ``example_inputs()`` or ``inputs()`` returns: a tuple of arguments, or a list of such tuples."""
    for name in MAKERS:
        make = getattr(module, name, None)
        if callable(make):
            return _checked(_made(make, name), name)
    raise BadTarget(
        f"{module.__file__} makes no arguments: add a function example_inputs() that returns a tuple of them, "
        "or a list of such tuples"
    )


def _made(make: Callable, name: str) -> Any:
    parameters = inspect.signature(make).parameters.values()
    named = [parameter for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    needed = [parameter.name for parameter in named if parameter.default is parameter.empty]
    if not needed:
        return make()
    if needed == ["size", "seed"]:
        return [make("tiny", seed) for seed in range(SEEDS)]
    raise BadTarget(f"{name}({', '.join(needed)}) must be callable without arguments")


def _checked(made: Any, name: str) -> list[tuple[Any, ...]]:
    examples = made if isinstance(made, list) else [made]
    if not examples or not all(isinstance(example, tuple) for example in examples):
        raise BadTarget(f"{name}() must return a tuple of arguments, or a list of such tuples")
    return examples
