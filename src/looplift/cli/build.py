"""``looplift build``: a function and example arguments in, a folder with its program and compiled kernels out."""

from __future__ import annotations

import copy
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from looplift.api import lift
from looplift.base.compare import difference
from looplift.base.errors import LoopliftWarning, NotLiftable
from looplift.build import compiler, native
from looplift.cli.check import BadTarget, examples_of, load_target
from looplift.emit.custom import lanes_text
from looplift.runtime.packages import Saved, save
from looplift.runtime.signatures import parsed

_TAKEN = (torch.Tensor, int, float, bool, str, type(None))
RUN = """
import sys
import looplift
import torch

arguments = torch.load(sys.argv[2], weights_only=False)
found = looplift.load(sys.argv[1])(*arguments)
torch.save((found, arguments), sys.argv[3])
"""


def build_target(target: str, output: Path, arguments: str | None, *, fixed: bool) -> int:
    """0 if the program was written, and gives the loop's results in a process of its own; 1 if there is none, 2 if
    there is nothing to build."""
    try:
        module, function = load_target(target)
        example = examples_of(module)[0] if arguments is None else _evaluated(arguments, module)
        _check_arguments(example)
    except BadTarget as problem:
        print(f"looplift: {problem}", file=sys.stderr)
        return 2
    function = getattr(function, "original", function)
    name = target.rpartition(":")[2].replace(".", "_")
    file = output / f"{name}.pt2"
    try:
        output.mkdir(parents=True, exist_ok=True)
        wanted = _answer(function, example)
        saved = _saved(function, file, example, fixed=fixed)
        libraries = _libraries(saved, output)
        found = _answer_in_a_fresh_process(file, example)
    except (Exception, NotLiftable) as problem:
        file.unlink(missing_ok=True)
        print(f"looplift: {target} cannot be built: {_first_line(problem)}", file=sys.stderr)
        for note in getattr(problem, "__notes__", ()):
            print(f"looplift: {note}", file=sys.stderr)
        return 1
    if (text := difference(found, wanted)) is not None:
        file.unlink(missing_ok=True)
        print(f"looplift: {target} cannot be built: its program gives other results: {text}", file=sys.stderr)
        return 1
    print(f"{file}: {_described(name, saved, example)}")
    print(f"{len(libraries)} compiled kernel{'' if len(libraries) == 1 else 's'} for machines like this one")
    print(f'looplift.load("{file}") reads it, without {Path(target.rpartition(":")[0]).name}')
    return 0


def _evaluated(text: str, module: ModuleType) -> tuple[Any, ...]:
    """The arguments that an expression gives: over the names of the file, and torch."""
    try:
        found = eval(f"({text},)", {"torch": torch, **vars(module)})
    except Exception as error:
        raise BadTarget(f"--args: {type(error).__name__}: {error}") from error
    return found


def _check_arguments(arguments: tuple[Any, ...]) -> None:
    for position, value in enumerate(arguments):
        kinds = {type(leaf).__name__ for leaf in tree_leaves(value) if not isinstance(leaf, _TAKEN)}
        if kinds:
            raise BadTarget(f"argument {position} has a {min(kinds)}: programs take tensors and constants")
    if not any(isinstance(leaf, torch.Tensor) for leaf in tree_leaves(arguments)):
        raise BadTarget("no argument has a tensor: all that a program takes are tensors")


def _answer(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, Any]:
    given = copy.deepcopy(arguments)
    return _detached((function(*given), given))


def _detached(values: Any) -> Any:
    return tree_map(lambda value: value.detach() if isinstance(value, torch.Tensor) else value, values)


def _saved(function: Callable[..., Any], file: Path, example: tuple[Any, ...], *, fixed: bool) -> Saved:
    """Writes the program; loops that are in it as written are told."""
    sizes = None if fixed else tuple(map(_sizes, example))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", LoopliftWarning)
        saved = save(lift(function), str(file), copy.deepcopy(example), sizes)
    for warning in told:
        if issubclass(warning.category, LoopliftWarning):
            print(f"looplift: {warning.message}", file=sys.stderr)
    return saved


def _sizes(value: Any) -> Any:
    """All sizes of a tensor may be others; which of them cannot ``torch.export`` finds out."""
    if isinstance(value, list | tuple):
        return type(value)(map(_sizes, value))
    return dict.fromkeys(range(value.dim()), torch.export.Dim.AUTO) if isinstance(value, torch.Tensor) else None


def _libraries(saved: Saved, directory: Path) -> list[Path]:
    """The kernels of the program, compiled, beside it."""
    found = [path for kernel in saved.kernels for path in native.put_beside(kernel, directory)]
    for operator in saved.of_users:
        text = operator["source"] + lanes_text(operator["name"], parsed(operator["signature"]))
        found.append(compiler.put_beside(text, directory, compiler.OF_USERS))
    return found


def _answer_in_a_fresh_process(file: Path, example: tuple[Any, ...]) -> tuple[Any, Any]:
    """What the program gives where neither the function nor what made it is in memory."""
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "arguments.pt"), Path(folder, "results.pt")
        torch.save(example, given)
        command = [sys.executable, "-c", RUN, str(file.absolute()), str(given), str(made)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        if done.returncode:
            raise RuntimeError(f"in a process of its own: {done.stderr.strip().splitlines()[-1]}")
        return _detached(torch.load(made, weights_only=False))


def _first_line(problem: BaseException) -> str:
    text = next((line.strip() for line in str(problem).splitlines() if line.strip()), "")
    return f"{type(problem).__name__}: {text}"


def _described(name: str, saved: Saved, example: tuple[Any, ...]) -> str:
    """The program's arguments: the sizes that are fixed as numbers, and what is part of it as it is."""
    inputs = set(saved.program.graph_signature.user_inputs)
    given = (node.meta["val"] for node in saved.program.graph.nodes if node.op == "placeholder" and node.name in inputs)
    tensors = iter([value for value in given if isinstance(value, torch.Tensor)])
    letters: dict[str, str] = {}
    leaves = tree_leaves(example)
    kinds = (_kind(next(tensors), letters) if isinstance(leaf, torch.Tensor) else repr(leaf) for leaf in leaves)
    return f"{name}({', '.join(kinds)})"


def _kind(value: torch.Tensor, letters: dict[str, str]) -> str:
    sizes: list[str] = []
    for size in value.shape:
        sizes.append(str(size) if isinstance(size, int) else letters.setdefault(str(size), f"n{len(letters)}"))
    return f"{str(value.dtype).removeprefix('torch.')}[{', '.join(sizes)}]"
