"""The text of a batched region in, a callable out; and what the compiler says about it."""

from __future__ import annotations

import builtins
import functools
import keyword
import linecache
import math
import re
import textwrap
import types
from collections.abc import Callable, Collection, Mapping, Set
from typing import Any, Protocol

import numpy as np
import torch

from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable, RequirementFailed
from looplift.runtime import guards


class Late:
    """What is made of a library that is being compiled."""

    def is_coming(self) -> bool:
        """Whether it would have to be waited for."""
        raise NotImplementedError

    def made(self, *, best: bool = False) -> Callable[..., Any]:
        """What stands in its place once a library is there; waits for it, or the ``best``. May raise NotLiftable."""
        raise NotImplementedError

    def is_growing(self) -> bool:
        """Whether something better is to come than what was made."""
        return False

    def has_grown(self) -> bool:
        """Whether that is there, or will never be."""
        return True


@dataclass
class RegionCode:
    """Batched statements for a region, in terms of its live-ins, and what a call of them needs.

    ``namespace`` holds objects that the text mentions beyond torch, numpy as np, math and RequirementFailed;
    ``standalone`` definitions do for them in a text of its own. ``guards`` are expressions that must hold, the kinds
    of the values at ``paths`` must not change; of names in ``objects`` only the classes matter. The attributes at
    ``sets`` are set at the end. The statements write to the values at ``mutated``, the loop to those at
    ``scratch`` too, which nothing sees. ``commits_early``: they may fail after they wrote. ``repeatable``: the loop has
    no effects but its writes, draws and printed text.
    ``may_warn``: NumPy may warn in them, otherwise than in the loop.
    ``parts_ways``: lanes leave loops that stay at steps of their own.
    ``rival`` compiles another form for calls in which this one is faster than the loop, but slower than that;
    ``expected`` says how many seconds a call of it should take.
    ``rounded_to``: the float type through which the result, or what is at a path, came, if narrower than 64 bits.
    ``alternative`` compiles another form for given values, for calls in which this one is slow or does not hold;
    ``renewable``: it is the same form, for values of another shape. ``weaker`` compiles one that asks less of values,
    for calls in which this one does not hold. ``otherwise`` compiles one that needs other things than this one, for
    calls in which this one does not hold and has no alternative.
    """

    statements: list[str]
    namespace: dict[str, Any] = field(default_factory=dict)
    standalone: list[str] = field(default_factory=list)
    guards: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    mutated: list[str] = field(default_factory=list)
    imports: list[str] = field(default_factory=list)
    scratch: list[str] = field(default_factory=list)
    random: bool = False
    commits_early: bool = False
    repeatable: bool = True
    may_warn: bool = False
    parts_ways: bool = False
    decisions: list[Any] = field(default_factory=list)
    description: str = ""
    alternative: Callable[[Mapping[str, Any]], RegionCode] | None = None
    renewable: bool = False
    weaker: Callable[[Mapping[str, Any]], RegionCode] | None = None
    otherwise: Callable[[Mapping[str, Any]], RegionCode] | None = None
    rival: Callable[[Mapping[str, Any]], RegionCode] | None = None
    expected: Callable[[Mapping[str, Any]], float] | None = None
    rounded_to: dict[str, str] = field(default_factory=dict)
    sets: list[str] = field(default_factory=list)
    objects: list[str] = field(default_factory=list)
    generators: list[str] = field(default_factory=list)
    """The paths at which there are generators of random numbers."""
    fused: bool = False
    """Whether torch.compile takes the statements."""
    shares_work: Callable[[], bool] = lambda: True
    """Whether what the last call computed was computed for several iterations at once."""
    is_preliminary: Callable[[], bool] = lambda: False
    """Whether these statements will soon be faster."""
    mentions: dict[str, tuple[frozenset[str], frozenset[str]]] = field(default_factory=dict)
    """Of standalone texts, where it is known: the names that they read as globals, and those that they bind."""

    growing: dict[str, Late] = field(default_factory=dict)
    """What is held of libraries that are not the best ones, which are being compiled."""

    def awaited(self) -> dict[str, Late]:
        """What is made of libraries that are being compiled, or were when this was made."""
        return {name: made for name, made in self.namespace.items() if isinstance(made, Late)}

    def settle(self, *, best: bool = False) -> None:
        """Hold what comes of libraries itself; waits for them. Raises NotLiftable where one cannot be compiled."""
        late = self.awaited()
        self.namespace |= {name: made.made(best=best) for name, made in late.items()}
        self.growing = {name: made for name, made in late.items() if made.is_growing()}


class Program(Protocol):
    """What the runtime needs of a region: its names, and its statements as functions of its arguments.

    ``raises``: it ends by an exception, unless it returns before.
    """

    number: int
    name: str
    file: str
    line: int
    arguments: tuple[str, ...]
    outside: tuple[str, ...]
    live_out: tuple[str, ...]
    returns: bool
    optional: bool
    raises: bool
    loops: list[tuple[int, int]]
    namespace: dict[str, Any]

    @property
    def original(self) -> Callable[..., Any]: ...

    @property
    def on_values(self) -> Callable[..., Any]: ...

    @property
    def clocked(self) -> Callable[..., Any]: ...

    @property
    def span(self) -> tuple[int, int, int]: ...

    @property
    def hook(self) -> int: ...

    @property
    def calls(self) -> dict[tuple[int, int], Any]: ...

    def with_hooks(self, places: Set[tuple[int, int]]) -> Callable[..., Any]: ...

    def divide(
        self, line: int, reached: int, places: Set[tuple[int, int]]
    ) -> tuple[Callable[..., Any], list[Any]] | None: ...


def standard_namespace() -> dict[str, Any]:
    return {"torch": torch, "np": np, "math": math, "RequirementFailed": RequirementFailed}


_CALLED = re.compile(r"(?<![\w.'\"])([A-Za-z_]\w*)(?=\()|(?<=\bmap\()([A-Za-z_]\w*)")
"""What a guard calls, or has called."""


def own_builtins(text: str, taken: Collection[str]) -> dict[str, Any]:
    """The builtins that a text names, which globals of the user may go by the names of, now or later."""
    words = {*re.findall(r"\b[A-Za-z]\w*", text)} - {*taken}
    return {name: vars(builtins)[name] for name in words & vars(builtins).keys() if not keyword.iskeyword(name)}


def called_builtins(text: str, taken: Collection[str]) -> dict[str, Any]:
    """Those that it calls, or has called."""
    called = {name for pair in _CALLED.findall(text) for name in pair if name}
    return {name: vars(builtins)[name] for name in (called & vars(builtins).keys()) - {*taken}}


def build_function(program: Program, code: RegionCode, values: Mapping[str, Any], number: int) -> Callable[..., Any]:
    """The batched region as a function of its arguments; globals that it mentions are the user's."""
    if sees_no_small_numbers(program, code, values) and not guards.ignores_small_numbers():
        text = "NumPy is told to report numbers that are too small for a float, by 'np.seterr' or 'np.errstate'"
        raise NotLiftable("unsupported-value", text)
    namespace = standard_namespace() | code.namespace
    needed = namespace | called_builtins("\n".join(code.guards), namespace)
    for name in needed.keys() & values.keys():
        if values[name] is not needed[name]:
            raise NotLiftable("unsupported-value", f"'{name}' is another object than the one that batched code needs")
    body = list(code.statements)
    if not program.returns and program.live_out:
        body.append(f"return {', '.join(program.live_out)}")
    namespace |= own_builtins("\n".join(body), {*values, *namespace})
    inner = f"def {program.name}({', '.join(program.arguments)}):\n{indented(body or ['pass'])}"
    label = f"<looplift {program.name} of line {program.line}, variant {number}>"
    made = make_function(inner, program.name, namespace, program.namespace, label)
    if code.may_warn:
        return without_warnings(made)
    return torch.compile(made) if code.fused else made


def sees_no_small_numbers(program: Program, code: RegionCode, values: Mapping[str, Any]) -> bool:
    """Whether a region over NumPy is a kernel, or runs over tensors: then nothing reports what is too small for a
    float, which NumPy ignores unless it is told otherwise."""
    by_tensors = "_as_tensors" in code.namespace
    if not by_tensors and not any(one.decision in ("native", "lists") for one in code.decisions):
        return False
    names = {**program.namespace, **values}
    held = [eval(path, names) for path in code.paths if path not in values]
    items = [value[0] if isinstance(value, list | tuple) and value else value for value in (*values.values(), *held)]
    kinds = (np.ndarray, np.generic, np.ufunc)
    return any(item is np or isinstance(item, kinds) for item in (*items, *code.namespace.values()))


def without_warnings(made: Callable[..., Any]) -> Callable[..., Any]:
    """The function, in which NumPy raises where it would warn: the loop then warns in its own words, as often as it
    does. Where most are told to ignore that, it is asked before each call whether they still are."""

    def raising(states: Mapping[str, Any]) -> Callable[..., Any]:
        strict: dict[str, Any] = {kind: "raise" for kind, state in states.items() if state != "ignore"}
        return np.errstate(**strict)(made)

    known = np.geterr()
    call = raising(known)
    if known["divide"] == known["over"] == known["invalid"] == "warn":
        return call

    @functools.wraps(made)
    def asking(*arguments: Any) -> Any:
        states = np.geterr()
        return (call if states == known else raising(states))(*arguments)

    return asking


def indented(lines: list[str], by: str = "    ") -> str:
    return textwrap.indent("\n".join(lines), by)


def make_function(
    definition: str, name: str, constants: Mapping[str, Any], namespace: dict[str, Any], label: str
) -> types.FunctionType:
    """Run a definition whose free names are ``constants``, its globals ``namespace``; tracebacks show its text."""
    maker = f"def _looplift_make({', '.join(constants)}):\n{textwrap.indent(definition, '    ')}\n    return {name}\n"
    linecache.cache[label] = (len(maker), None, maker.splitlines(keepends=True), label)
    scratch: dict[str, Any] = {}
    exec(compile(maker, label, "exec", dont_inherit=True), namespace, scratch)
    return scratch["_looplift_make"](**constants)
