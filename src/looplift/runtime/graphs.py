"""A region that is traced or transformed in, what stands in its place there out.

``torch.compile``, ``torch.export`` and the transforms of ``torch.func`` run a function on values that have shapes and
dtypes, but no numbers. The region is compiled for **stand-ins** of the same kinds, in a thread of its own, where no
mode of torch is on, and the batched code is tried on values without numbers. Where that works, it is what is traced.
Else ``torch.compile`` breaks its graph there, and the lifted region runs between two graphs, or, if that is not
allowed, the loop is traced as written.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch._C import _functorch  # pyright: ignore[reportAttributeAccessIssue]

from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable, RequirementFailed
from looplift.base.stubs import holds
from looplift.runtime import entry
from looplift.runtime.operators import operator
from looplift.runtime.traced_kinds import NotTraced, faked, in_a_thread, kind_of, kind_outside, share_memory, stand_in
from looplift.runtime.variants import RegionCode, build_function
from looplift.runtime.verification import BUDGET, captured_output, verified_call

if TYPE_CHECKING:
    from looplift.runtime.dispatch import Dispatcher

_WRITTEN: ContextVar[list[str] | None] = ContextVar("loops that are traced as written", default=None)


@contextmanager
def traced_as_written() -> Iterator[list[str]]:
    """Which loops this thread traces as written meanwhile, and why."""
    found: list[str] = []
    token = _WRITTEN.set(found)
    try:
        yield found
    finally:
        _WRITTEN.reset(token)


class Way(NamedTuple):
    """What a tracer can do. ``whole``: its graph may not break. ``kernels``: it takes operators that run kernels."""

    whole: bool
    kernels: bool


@dataclass(eq=False)
class Graphs:
    """What was made of one region for tracing, by the kinds of its arguments."""

    dispatcher: Dispatcher
    made: dict[Any, Made] = field(default_factory=dict)

    def choose(self, arguments: Sequence[Any], way: Way) -> Callable[..., Any]:
        """What to trace for arguments as the tracer shows them."""
        try:
            made = self._made(arguments, way)
            made.check(dict(zip(self.dispatcher.program.arguments, arguments, strict=True)))
        except NotTraced as why:
            return self.as_written(why)
        if made.call is not None:
            return made.call
        if made.divided is not None:
            return made.divided
        if way.whole or not made.is_lifted:
            return self.as_written(made.refusal)
        return self.outside

    def as_written(self, why: object) -> Callable[..., Any]:
        program = self.dispatcher.program
        self.dispatcher.records.note(program, f"runs as written where it is traced: {why}")
        if (written := _WRITTEN.get()) is not None:
            written.append(f"{program.file}:{program.line}: the loop is traced as written, step by step: {why}")
        return program.original

    def run(self, arguments: Sequence[Any]) -> Any:
        """A call under something that watches or transforms torch's operations."""
        original = self.dispatcher.program.original
        if not is_abstract():
            return original(*arguments)
        call = self.choose(arguments, Way(whole=True, kernels=torch.compiler.is_exporting()))
        if call is original or any(made.call is call and made.writes for made in self.made.values()):
            return call(*arguments)
        try:
            return call(*arguments)
        except Exception as error:  # nothing was written; the loop decides what is right
            return self.as_written(f"{type(error).__name__}: {error}")(*arguments)

    @functools.cached_property
    def outside(self) -> Callable[..., Any]:
        """The region's entry, at which a graph breaks."""

        def enter(*arguments: Any) -> Any:
            return self.dispatcher.regions[self.dispatcher.program.number](*arguments)

        return torch.compiler.disable(enter, reason="the loop runs lifted between two graphs")

    def _made(self, arguments: Sequence[Any], way: Way) -> Made:
        if torch._C._is_any_autocast_enabled() or torch.is_inference_mode_enabled():
            raise NotTraced("under autocast and in inference mode")
        kinds = tuple(map(kind_of, arguments))
        outside = entry.outside_values(self.dispatcher.program)
        shared = share_memory(arguments)
        modes = (torch.is_grad_enabled(), torch.get_default_dtype())
        key = (kinds, tuple((name, kind_outside(value)) for name, value in outside.items()), shared, modes, way)
        if key not in self.made or any(kind[0] == "module" for kind in kinds):  # what is in a module may change
            maker = Maker(self.dispatcher, kinds, outside, shared, way)
            self.made[key] = in_a_thread(maker.made, gradients=modes[0])
        return self.made[key]


@dataclass(eq=False)
class Made:
    """``call`` is batched code that can be traced, or there is a ``refusal``. Of a region that is lifted as it stands
    (``is_lifted``) the entry can be called, of others ``divided``: the statements with smaller regions in them."""

    call: Callable[..., Any] | None = None
    guards: list[str] = field(default_factory=list)
    names: Mapping[str, Any] = field(default_factory=dict)
    refusal: Exception | None = None
    writes: bool = False
    is_lifted: bool = False
    divided: Callable[..., Any] | None = None

    def check(self, shown: Mapping[str, Any]) -> None:
        """Ask the values of a tracer what the code asks; it makes guards of the answers."""
        for text in self.guards:
            if not eval(text, dict(self.names), dict(shown)):
                raise NotTraced(f"this does not hold: {text}")


# ---------------------------------------------------------------- made in a thread


@dataclass(eq=False)
class Maker:
    """What to trace for a region and kinds of its arguments; ``way``: what the tracer can do."""

    dispatcher: Dispatcher
    kinds: Sequence[Any]
    outside: Mapping[str, Any]
    shared: bool
    way: Way

    def made(self) -> Made:
        refusals: list[NotTraced | NotLiftable] = []
        for attempt in self._attempts():
            if isinstance(attempt, Made):
                return attempt
            refusals.append(attempt)
        refusal = refusals[0] if refusals else NotTraced("a loop of many steps is no part of a graph")
        lifted = self._compiled()
        if not isinstance(lifted, NotLiftable):
            return Made(refusal=refusal, is_lifted=True)
        divided: Any = self.dispatcher.divided(lifted)
        return Made(refusal=refusal, divided=divided and with_own_regions(divided, self.dispatcher.regions))

    def _attempts(self) -> Iterator[Made | NotTraced | NotLiftable]:
        """Code that can be traced, in the order in which it is wanted; the next is made where one is refused."""
        batched = self._compiled(backend="torch")
        if isinstance(batched, NotLiftable):
            yield batched
            stays = False
        elif not (stays := any(loop.decision == "sequential" for loop in batched.decisions)):
            yield self._tried(batched)
        if self.way.kernels:
            yield self._with_kernels()
        if self.way.whole and stays and not isinstance(batched, NotLiftable):
            yield self._tried(batched)

    def _values(self) -> dict[str, Any]:
        arguments = zip(self.dispatcher.program.arguments, map(stand_in, self.kinds), strict=True)
        return {**dict(arguments), **self.outside}

    def _compiled(self, **changes: Any) -> RegionCode | NotLiftable:
        try:
            return self.dispatcher.compile(self.dispatcher.program, self._values(), **changes)
        except NotLiftable as refusal:
            return refusal
        except Exception as error:
            return NotLiftable("internal", f"{type(error).__name__}: {error}")

    def _with_kernels(self) -> Made | NotTraced | NotLiftable:
        """Code whose kernels are operators of torch."""
        code = self._compiled(in_graph=True)
        if isinstance(code, NotLiftable):
            return code
        try:
            kernels = {name: value for name, value in code.namespace.items() if hasattr(value, "kernel")}
            code.namespace |= {name: operator(value) for name, value in kernels.items()}
        except NotTraced as why:
            return why
        return self._tried(code)

    def _tried(self, code: RegionCode) -> Made | NotTraced:
        try:
            return _checked(self.dispatcher, self.kinds, code, self._values(), shared=self.shared)
        except NotTraced as why:
            return why


def _checked(dispatcher: Dispatcher, kinds: Sequence[Any], code: RegionCode, values: Any, *, shared: bool) -> Made:
    """Code that a tracer can take, which gave the loop's results for stand-ins if that could be seen."""
    program = dispatcher.program
    if code.random:
        raise NotTraced("the order in which random numbers are drawn is not seen in a graph")
    if code.sets:
        raise NotTraced("attributes that are set are not seen in a graph")
    if code.may_warn or not code.repeatable:
        raise NotTraced("it has effects that are not seen in a graph")
    of_memory = list(filter(entry.asks_for_memory, code.guards))  # which values without numbers do not tell
    if any("." in text for text in of_memory):
        raise NotTraced("what the loop writes to may share memory with a parameter")
    if shared and (code.mutated or of_memory):
        raise NotTraced("tensors may share memory that the loop writes to")
    if (broken := entry.broken_guard(program, values, code)) is not None:
        raise NotTraced(f"this does not hold: {broken}")
    call = build_function(program, code, values, len(dispatcher.variants))
    with captured_output() as text:
        _try_without_numbers(call, kinds)
    if text:
        raise NotTraced("it prints")
    outcome = verified_call(program, call, code, values, seconds=BUDGET)
    if outcome.failure is not None or outcome.verdict.agrees is False:
        raise NotTraced(f"batched code and loop differ for random values: {outcome.failure or outcome.verdict.reason}")
    names = entry.standard_namespace() | program.namespace | code.namespace
    asked = [text for text in code.guards if text not in of_memory] + list(_extents(program.arguments, kinds))
    return Made(call, asked, names, writes=bool(code.mutated))


def _extents(names: Sequence[str], kinds: Sequence[Any]) -> Iterator[str]:
    """Guards for what batched code takes for granted of sizes: which are 0, which 1, which more."""
    for name, kind in zip(names, kinds, strict=True):
        if kind[0] == "tensor":
            extents = enumerate(kind[2])
            yield from (f"{name}.shape[{k}] {'> 1' if size > 1 else f'== {size}'}" for k, size in extents)
        elif kind[0] in (list, tuple):
            yield from _extents([f"{name}[{k}]" for k in range(len(kind[1]))], kind[1])


def _try_without_numbers(call: Callable[..., Any], kinds: Sequence[Any]) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode(allow_non_fake_inputs=True):
        values = list(map(faked, kinds))
        try:
            call(*values)
        except NotTraced:
            raise
        except RequirementFailed:
            raise NotTraced("a check of batched code fails for arguments of these sizes") from None
        except Exception as error:
            first = str(error).strip().split("\n")[0]
            raise NotTraced(f"batched code asks for values ({type(error).__name__}: {first})") from None


# ---------------------------------------------------------------- torch.compile


def with_own_regions(function: types.FunctionType, regions: list[Any]) -> types.FunctionType:
    """A function that reads its regions from a list of its own: ``torch.compile`` takes a list as it was when it was
    first read, and regions are added while it traces."""
    own = types.CellType(list(regions))
    cells = (own if holds(cell, regions) else cell for cell in function.__closure__ or ())
    copy = types.FunctionType(function.__code__, function.__globals__, function.__name__, None, tuple(cells))
    copy.__defaults__, copy.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return copy


def seen_by(
    tracer: Any, dispatcher: Dispatcher, arguments: Any, outside: Any, names: Sequence[str]
) -> Callable[..., Any]:
    """What ``torch.compile`` is to call instead of a region's entry; ``arguments`` and ``outside`` as it knows them."""
    try:
        for one in outside.items:
            one.realize()
        if set(names) != entry.outside_values(dispatcher.program).keys():
            raise NotTraced("a name is not bound yet, or no more")
        seen = [_shown(one, tracer) for one in arguments.items]
    except NotTraced as why:
        return dispatcher.graphs.as_written(why)
    whole = bool(tracer.one_graph or getattr(tracer, "error_on_graph_break", False))
    return dispatcher.graphs.choose(seen, Way(whole, kernels=whole))


def _shown(variable: Any, tracer: Any) -> Any:
    """What ``torch.compile`` knows of a value: a tensor without numbers, a constant, or a module."""
    from torch._dynamo.variables.lists import ListVariable, TupleVariable
    from torch._dynamo.variables.nn_module import UnspecializedNNModuleVariable
    from torch._dynamo.variables.tensor import SymNodeVariable

    variable = variable.realize()
    if variable.is_tensor():
        return variable.as_proxy().node.meta["example_value"]
    if variable.is_python_constant():
        return variable.as_python_constant()
    if type(variable) in (ListVariable, TupleVariable):
        return variable.python_type()(_shown(one, tracer) for one in variable.items)
    if isinstance(variable, SymNodeVariable):
        return variable.sym_num
    if isinstance(variable, UnspecializedNNModuleVariable):
        if not tracer.output.side_effects.has_pending_mutation(variable):
            return variable.value
    raise NotTraced(f"an argument that is a {variable.python_type().__name__}")


# ---------------------------------------------------------------- torch.export, torch.func


def is_abstract() -> bool:
    """Whether code is traced for export, or runs under a transform of ``torch.func``, and nothing else watches it."""
    if torch._C._get_tracing_state() is not None:
        return False
    if _functorch.peek_interpreter_stack() is not None:
        return not torch._C._len_torch_function_stack() and not torch._C._len_torch_dispatch_stack()
    return torch.compiler.is_exporting()
