"""A case in, every stage of its loop out: source, IR with facts, plan, array program, guards, text, report."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from looplift import lift, pipeline
from looplift.base.errors import NotLiftable
from looplift.frontend import translate as translation
from looplift.ir import printer
from looplift.ir.array import Assign, Check, Effect, For, Forever, LeaveUnless, Node, Program, Run, Step, Write
from looplift.runtime.variants import RegionCode
from looplift.vectorize import plan as planning

CASES = Path(__file__).parent / "cases"
LONG = 6  # lines of a definition that does not depend on the case, beyond which its body is left out
UNFORMATTED = "<!-- fmt: off -->"  # the texts are those of the stages, not of a formatter


@dataclass
class Case:
    """One user function: ``arguments`` makes new ones at each call, ``options`` are those of ``lift``."""

    name: str
    module: types.ModuleType
    function: types.FunctionType

    @property
    def options(self) -> dict[str, Any]:
        return getattr(self.module, "OPTIONS", {})

    @property
    def has_gradients(self) -> bool:
        return getattr(self.module, "GRADIENTS", False)

    @property
    def raises(self) -> type[Exception] | None:
        return getattr(self.module, "RAISES", None)

    def arguments(self) -> tuple[Any, ...]:
        return self.module.arguments()

    def all_arguments(self) -> list[tuple[Any, ...]]:
        """New arguments for each call that is compared, in order."""
        more = getattr(self.module, "more_arguments", tuple)
        return [self.arguments(), *more()]

    @property
    def golden(self) -> Path:
        return CASES / f"{self.name}.golden.md"


def case_names() -> list[str]:
    return sorted(path.stem for path in CASES.glob("*.py"))


def load(name: str) -> Case:
    """The case of a file; its function is the last one before ``arguments``."""
    path = CASES / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"golden_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    own = [value for value in vars(module).values() if isinstance(value, types.FunctionType)]
    own = [value for value in own if value.__module__ == module.__name__ and "arguments" not in value.__name__]
    return Case(name, module, own[-1])


@dataclass
class Attempt:
    """What the stages made of one region, as far as they came."""

    ir: str = ""
    program: str = ""
    code: RegionCode | None = None
    refusal: NotLiftable | None = None


@dataclass
class Recording:
    attempts: list[Attempt] = field(default_factory=list)


@contextmanager
def recorded() -> Iterator[Recording]:
    """Keeps what passes between the stages."""
    recording = Recording()
    translate, plan, compile_region = translation.translate, planning.plan, pipeline.compile_region

    def translate_and_keep(*arguments, **options):
        function = translate(*arguments, **options)
        recording.attempts[-1].ir = printer.text(function)
        return function

    def plan_and_keep(facts, **options):
        recording.attempts[-1].ir = printer.text(facts.function, facts)
        made = plan(facts, **options)
        recording.attempts[-1].program = "\n".join(program_lines(made.program))
        return made

    def compile_and_keep(program, values, settings):
        attempt = Attempt()
        recording.attempts.append(attempt)
        try:
            attempt.code = compile_region(program, values, settings)
        except NotLiftable as refusal:
            attempt.refusal = refusal
            raise
        return attempt.code

    with (
        mock.patch.object(translation, "translate", translate_and_keep),
        mock.patch.object(planning, "plan", plan_and_keep),
        mock.patch.object(pipeline, "compile_region", compile_and_keep),
    ):
        yield recording


def page(case: Case) -> str:
    """Every stage of one call of the case's function."""
    lifted = lift(case.function, **case.options)
    with recorded() as recording:
        try:
            lifted(*case.arguments())
        except Exception as error:
            if case.raises is None or not isinstance(error, case.raises):
                raise
    doc = inspect.cleandoc(case.module.__doc__ or "")
    parts = [
        f"# {case.name.replace('_', ' ')}",
        UNFORMATTED,
        doc,
        _options(case),
        "## Source",
        _fenced(_source(case.function), "python"),
    ]
    several = len(recording.attempts) > 1
    for number, attempt in enumerate(recording.attempts, 1):
        parts += _attempt(attempt, f", attempt {number}" if several else "")
    parts += ["## Emitted source", _fenced(shortened(lifted.source, case.function.__name__), "python")]
    parts += ["## Report", _fenced(_settled(str(lifted.report())), "text")]
    return "\n\n".join(part for part in parts if part) + "\n"


def _options(case: Case) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in case.options.items())
    return f"Lifted by `lift({case.function.__name__}{', ' if given else ''}{given})`."


def _source(function: types.FunctionType) -> str:
    return inspect.getsource(function).rstrip()


def _attempt(attempt: Attempt, which: str) -> list[str]:
    """The stages of one region; where it is refused, smaller regions inside it are attempted next."""
    parts = []
    if attempt.ir:
        parts += [f"## IR{which}", _fenced(attempt.ir.rstrip(), "text")]
    if attempt.refusal is not None:
        return [*parts, f"## Refusal{which}", _fenced(f"{attempt.refusal.code}: {attempt.refusal.message}", "text")]
    assert attempt.code is not None
    if attempt.code.description:
        parts += [f"## Plan{which}", _fenced(attempt.code.description, "text")]
    if attempt.program:
        parts += [f"## Array program{which}", _fenced(attempt.program, "text")]
    if guards := [text for text in attempt.code.guards if not text.startswith("_library_")]:
        parts += [f"## Guards{which}", _fenced("\n".join(map(_without_address, guards)), "python")]
    return parts


# ---------------------------------------------------------------- array programs


def program_lines(program: Program) -> Iterator[str]:
    """One line a step, with its operands as trees below it; ``{i, j}`` are the axes that a value varies with."""
    for step in program.steps:
        yield from _step_lines(step, "")
    for name, node in program.results:
        yield f"result {name}"
        yield from _node_lines(node, "  ")


def _step_lines(step: Step, indent: str) -> Iterator[str]:
    operands: tuple[Node, ...] = ()
    body: list[Step] = []
    match step:
        case Check(cond=cond) | LeaveUnless(cond=cond):
            words, operands = "check" if isinstance(step, Check) else "leave unless", (cond,)
        case Write(array=array, mode=mode, operands=operands):
            words = f"write {array} ({mode})"
        case Assign(name=name, node=node):
            words, operands = f"assign {name}", (node,)
        case For(name=name, bounds=operands, body=body):
            words = f"for {name}"
        case Forever(body=body):
            words = "forever"
        case Run(kernel=kernel, operands=operands):
            words = f"run {kernel.name}"
        case Effect(text=text, operands=operands):
            words = "effect " + text.replace("\x00", "").replace("\x01", "")
    yield indent + words
    for node in operands:
        yield from _node_lines(node, indent + "  ")
    for inner in body:
        yield from _step_lines(inner, indent + "  ")


def _node_lines(node: Node, indent: str) -> Iterator[str]:
    yield f"{indent}{_node_text(node)}"
    if node.op in ("extent", "length"):
        return
    for arg in node.args if node.op != "slice" else node.args[:1]:
        yield from _node_lines(arg, indent + "  ")


def _node_text(node: Node) -> str:
    words = [node.op, *(str(node.attrs[key]) for key in ("name", "operator", "text", "value") if key in node.attrs)]
    if node.op in ("extent", "length") and "key" in node.attrs:
        words = [str(node.attrs["key"])]
    if "pieces" in node.attrs:
        words.append(f"[{', '.join(map(_piece_text, node.attrs['pieces']))}]")
    if node.axes:
        words.append(f"{{{', '.join(axis.name for axis in node.axes)}}}")
    return f"{' '.join(words)}: {printer.kind_text(node.kind)}"


def _piece_text(piece: Any) -> str:
    axis = getattr(piece, "axis", None)
    return type(piece).__name__.lower() + (f" {axis.name}" if axis is not None else "")


def _without_address(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x…", text)


def _fenced(text: str, language: str) -> str:
    return f"```{language}\n{text.strip()}\n```"


def _settled(report: str) -> str:
    """Without durations, and with the case's file under its own name."""
    lines = [line for line in report.splitlines() if not re.match(r"\s+\d+ calls? in ", line)]
    return re.sub(r"\S*/(\w+\.py:)", r"\1", "\n".join(lines))


def shortened(source: str, name: str) -> str:
    """The text with the bodies of long definitions that are the same for every loop left out, in C++ all of them."""
    lines = source.splitlines()
    tree = ast.parse(source)
    for node in reversed(tree.body):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) or name in node.name or node.end_lineno is None:
            continue
        if node.end_lineno - node.lineno >= LONG:
            first = node.body[0]
            kept = first.end_lineno if ast.get_docstring(node) is not None else first.lineno - 1
            lines[kept : node.end_lineno] = ["    ..."]
    return re.sub(r'r"""\n.*?\n(?=extern "C")', 'r"""\n...\n\n', "\n".join(lines), flags=re.DOTALL)
