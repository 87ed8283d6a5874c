"""The public face: a function, method or module in, the same with its loops run as batched code out."""

from __future__ import annotations

import functools
import os
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from looplift.base.collection import no_collection
from looplift.base.data import replace
from looplift.base.settings import Settings
from looplift.base.stubs import REGIONS, holds, stub_of, unlifted_text

if TYPE_CHECKING:
    from looplift.base.report import Report
    from looplift.frontend.source import Source
    from looplift.runtime.dispatch import Dispatcher

BACKENDS = ("auto", "torch", "native", "inductor")
VERIFY = ("first", "always", "off")
_NO_STUB = 0x20 | 0x80 | 0x100 | 0x200  # generators, coroutines, and both at once

Fn = TypeVar("Fn")


class _Missing:
    """Stands for a name that is not bound."""

    def __repr__(self) -> str:
        return "<not bound>"


MISSING = _Missing()


@overload
def lift(fn: Fn, *, backend: str = ..., verify: str = ..., memory: int | None = ...) -> Fn: ...
@overload
def lift(fn: None = None, *, backend: str = ..., verify: str = ..., memory: int | None = ...) -> Callable[[Fn], Fn]: ...


def lift(fn: Any = None, *, backend: str = "auto", verify: str = "first", memory: int | None = None) -> Any:
    """Run the loops of a function as batched code, with the same results, from its first call on.

    ``fn`` is a function, a method, or a ``torch.nn.Module``, whose ``forward`` is then lifted in place. Without
    ``fn`` this is a decorator with options. ``backend``: "auto" chooses for each loop, "torch" and "native" insist,
    "inductor" is "torch" with the batched code under ``torch.compile``: its first call takes many seconds, and
    gradients of gradients are not to be had. ``verify``: compare with the loop on the "first" call of each variant,
    "always", or "off". ``memory``: how many bytes the intermediate values of all iterations may take together, else
    the loop runs piece by piece; None for the fourth part of what is free.

    The result has ``.source``, ``.report()``, ``.original`` and ``.clear()``. What cannot be lifted runs as written,
    and the report says why. Raises TypeError or ValueError for arguments that make no sense.
    """
    settings = Settings(_choice("backend", backend, BACKENDS), _choice("verify", verify, VERIFY), _bytes(memory))
    if fn is None:
        return functools.partial(_lifted, settings=settings)
    return _lifted(fn, settings=settings)


def _choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"'{name}' must be one of {listed}, not {value!r}")
    return value


def _bytes(memory: Any) -> int | None:
    if memory is None or (type(memory) is int and memory > 0):
        return memory
    raise ValueError(f"'memory' must be a number of bytes above 0 or None, not {memory!r}")


def export(fn: Any, path: str | os.PathLike[str], /, *arguments: Any, dynamic_shapes: Any = None) -> None:
    """Write a lifted function or module as a program of ``torch.export`` that runs without its Python source.

    ``arguments`` are examples: tensors of the shapes and dtypes that the program takes. ``dynamic_shapes`` as in
    ``torch.export.export``, for arguments after the names of the function's parameters, says which sizes may change.
    A program with compiled kernels is read by ``looplift.load``, others by ``torch.export.load`` as well. Also
    ``lifted.export(path, *arguments)``. Warns of loops that are in it as written, step by step.
    """
    from looplift.runtime.packages import save

    save(fn, os.fspath(path), arguments, dynamic_shapes)


def load(path: str | os.PathLike[str]) -> Callable[..., Any]:
    """The program that ``export`` or ``looplift build`` wrote, as a callable.

    Its kernels are compiled where they are not on disk yet, in the cache or beside the file.
    """
    from looplift.build.compiler import beside
    from looplift.build.native import callable_of
    from looplift.operators import operator_of
    from looplift.runtime.packages import opened

    if (folder := Path(path).absolute().parent) not in beside:
        beside.append(folder)
    return opened(os.fspath(path), callable_of, operator_of)


def _lifted(fn: Any, *, settings: Settings) -> Any:
    if isinstance(fn, types.FunctionType):
        state = fn.__dict__.get("__looplift_state__")
        if state is None or fn not in state.faces:  # a decorator may have copied the attribute
            return _lifted_wrapper(fn, settings) or Lift(fn, settings).function
        return fn if state.settings == settings else Lift(state.original, settings).function
    if isinstance(fn, (staticmethod, classmethod)):
        return type(fn)(_lifted(fn.__func__, settings=settings))
    if isinstance(fn, types.MethodType):
        return types.MethodType(_lifted(fn.__func__, settings=settings), fn.__self__)
    if isinstance(fn, functools.partial):
        return functools.partial(_lifted(fn.func, settings=settings), *fn.args, **fn.keywords)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(fn, torch.nn.Module):
        return _lifted_module(fn, settings)
    if isinstance(fn, type):
        raise TypeError(f"'fn' is the class '{fn.__name__}': lift its methods, or an instance of it")
    raise TypeError(f"'fn' must be a Python function, a method or a torch.nn.Module, not {fn!r:.80}")


def _lifted_wrapper(fn: types.FunctionType, settings: Settings) -> types.FunctionType | None:
    """What a decorator made of a function (``torch.no_grad()`` for one), around the lifted function."""
    inner = fn.__dict__.get("__wrapped__")
    cells = fn.__closure__ or ()
    if not isinstance(inner, types.FunctionType) or not any(holds(cell, inner) for cell in cells):
        return None
    lifted = _lifted(inner, settings=settings)
    closure = tuple(types.CellType(lifted) if holds(cell, inner) else cell for cell in cells)
    shell = types.FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, closure)
    shell.__kwdefaults__ = fn.__kwdefaults__
    functools.update_wrapper(shell, fn)
    lifted.__looplift_state__.dress(shell, fn)
    return shell


# ---------------------------------------------------------------- modules


class BoundForward(functools.partial):
    """The lifted ``forward`` of one module; a copy of the module gets one of its own, and so does its pickle."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.func, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _bind_forward, (self.args[0], self.func.__looplift_state__.settings)  # pyright: ignore


def _bind_forward(module: Any, settings: Settings) -> BoundForward:
    """Also called while a module is copied or unpickled, when it has its class but no attributes yet."""
    forward = type(module).forward
    lifted = _LIFTED_FORWARDS.get((forward, settings))
    if lifted is None:
        lifted = _LIFTED_FORWARDS[forward, settings] = _lifted(forward, settings=settings)
    return BoundForward(lifted, module)


_LIFTED_FORWARDS: dict[tuple[Any, Settings], Any] = {}
"""One lifted function for each ``forward`` of a class, so that all its instances share their variants."""


def _lifted_module(module: Any, settings: Settings) -> Any:
    own = vars(module).get("forward")
    if isinstance(own, BoundForward):
        return module
    if own is not None:
        raise TypeError(f"'fn': this {type(module).__name__} has a 'forward' of its own; lift that function")
    module.forward = _bind_forward(module, settings)
    return module


# ---------------------------------------------------------------- functions


_CALLEES: dict[tuple[types.CodeType, Settings], Lift] = {}
"""The lifted forms of functions that lifted functions call."""


class Lift:
    """The state behind one lifted function: its regions, its records, and the code that it runs."""

    def __init__(self, original: types.FunctionType, settings: Settings):
        self.original, self.settings = original, settings
        self.lock = threading.RLock()
        self.regions: list[Any] = [MISSING, self.first_call]
        self.dispatchers: list[Dispatcher] = []
        self.parsed: Source | None = None
        self.records: Any = None
        self.refusal: Exception | None = None
        self.is_ready = self.has_hooks = False
        self.callees: list[Lift] = []
        self.callers: list[Lift] = []
        self.is_plain = bool(original.__code__.co_flags & _NO_STUB)
        self.faces: list[types.FunctionType] = []
        self.function = self.traced = self._make_function()
        self.dress(self.function, original)

    def _make_function(self) -> types.FunctionType:
        original = self.original
        cells = dict(zip(original.__code__.co_freevars, original.__closure__ or ()))
        if self.is_plain:
            code, closure = original.__code__, original.__closure__
        else:
            cells[REGIONS] = types.CellType(self.regions)
            code = self.stub = stub_of(original.__code__)
            closure = tuple(cells[name] for name in code.co_freevars)
        function = types.FunctionType(code, original.__globals__, original.__name__, original.__defaults__, closure)
        function.__kwdefaults__ = original.__kwdefaults__
        functools.update_wrapper(function, original)
        return function

    def dress(self, function: types.FunctionType, original: types.FunctionType) -> None:
        """Give a function the attributes of a lifted one."""
        self.faces.append(function)
        for name, value in (
            ("__looplift_original__", original), ("__looplift_state__", self), ("original", original),
            ("report", self.report), ("clear", self.clear), ("source", unlifted_text(self.original)),
            ("export", functools.partial(export, function)),
        ):  # fmt: skip
            setattr(function, name, value)

    def _show(self, text: str) -> None:
        for face in self.faces:
            face.source = text  # pyright: ignore[reportFunctionMemberAccess]

    # ------------------------------------------------------------ the first call

    def first_call(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Run from the stub, which stands in until the function is called."""
        from torch.compiler import is_dynamo_compiling

        if is_dynamo_compiling():
            return getattr(self, _prepared(self))(*arguments, **keywords)
        self.prepare((arguments, keywords))
        if self.refusal is not None or self.function.__code__ is self.stub:
            return self.original(*arguments, **keywords)
        return self.function(*arguments, **keywords)

    def prepare(self, given: tuple[tuple[Any, ...], dict[str, Any]] | None = None) -> None:
        """Find the regions and let the function run its rewritten code; ``given``: with what it is called."""
        if self.is_ready:
            return
        with self.lock:
            if not self.is_ready:
                try:
                    with no_collection():
                        self._prepare(given)
                except Exception as refusal:
                    self.refusal = refusal
                self.is_ready = True

    def _prepare(self, given: tuple[tuple[Any, ...], dict[str, Any]] | None) -> None:
        from looplift.frontend.names import position_of
        from looplift.frontend.regions import WholeBody, find_regions, whole_body
        from looplift.frontend.rewriting import RegionProgram, Table, function_code
        from looplift.frontend.source import source_of
        from looplift.runtime.callees import Callees
        from looplift.runtime.dispatch import Dispatcher
        from looplift.runtime.inside import Inside
        from looplift.runtime.records import Records

        self.records = Records()
        source = self.parsed = source_of(self.original)
        free = self.original.__code__.co_freevars
        found = find_regions(source, self.original.__globals__, free)
        if given is not None and not found.reads_frames and self._is_typed(source, bool(found.loops), *given):
            found = whole_body(source, self.original.__globals__, free, found)
        self.records.add(map(position_of, found.loops), source.file, self.original.__name__)
        self.records.keep(found.refused)
        if found.reads_frames:
            return
        table = Table(self.original.__globals__, source.file, self.regions)
        table.cells = dict(zip(free, self.original.__closure__ or ()))
        programs: list[Any] = [RegionProgram(region, table, table.reserve()) for region in found.regions]
        numbered = {program.region: program.entry for program in programs}
        hook = table.reserve()
        for region in found.regions:
            if isinstance(region, WholeBody):
                region.hook = hook
        self.regions[hook] = Callees(self._callee)
        table.hook = table.reserve()
        self.regions[table.hook] = Inside(self.regions[hook])
        code, self.has_hooks = function_code(source.tree, free, source.file, numbered, hook)
        if code.co_freevars != self.stub.co_freevars:
            raise RuntimeError(f"free variables {code.co_freevars} instead of {self.stub.co_freevars}")
        shared = (self.regions, self._compile, self.records, self.settings.verify, self.refresh)
        self.dispatchers = [Dispatcher(program, *shared) for program in programs]
        self.function.__code__ = code

    def _is_typed(self, source: Source, loops: bool, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
        """Whether all that the function does is numbers, text and containers of Python's, called with these."""
        from looplift.runtime.entry import named_values

        code = self.original.__code__
        if code.co_flags & 0x0C or code.co_freevars:
            return False
        values = named_values(self.original, arguments, keywords)
        if values is None:
            return False
        from looplift.pipeline.remembered import answered

        question = "is it typed, with loops?" if loops else "is it typed?"
        find = functools.partial(self._found_typed, source, loops, values)
        return answered(question, self.original, values, self.settings, find)

    def _found_typed(self, source: Source, loops: bool, values: dict[str, Any]) -> bool:
        from looplift.pipeline.programs import is_typed_whole

        return is_typed_whole(source.tree.body, values, self.settings, loops=loops)

    def _callee(self, function: types.FunctionType) -> types.FunctionType | None:
        """The lifted form of a function that this one calls, if it has loops or calls functions in its turn."""
        key = (function.__code__, self.settings)
        state = _CALLEES.get(key)
        if state is None:
            state = _CALLEES[key] = Lift(function, self.settings)
            state.prepare()
        if state.original is not function:  # a closure that was made anew
            return None
        if state.is_plain or state.refusal is not None or not (state.dispatchers or state.has_hooks):
            return None
        if state is not self and state not in self.callees:
            self.callees.append(state)
            state.callers.append(self)
        return state.function

    def _compile(self, program: Any, values: dict[str, Any], **changes: Any) -> Any:
        with no_collection():
            from looplift import pipeline
            from looplift.pipeline.remembered import remembered

            settings = replace(self.settings, **changes)
            make = functools.partial(pipeline.compile_region, program, values, settings)
            return remembered(program, values, settings, make)

    # ------------------------------------------------------------ what the user asks

    def report(self) -> Report:
        """What became of each loop, in the order of the source."""
        from looplift.base.report import LoopRecord, Report

        if self.is_plain:
            from looplift.frontend.source import source_of

            try:
                source_of(self.original)
            except Exception as refusal:
                self.refusal = refusal
        else:
            self.prepare()
        if self.refusal is None:
            return Report([loop for state in self._reached() for loop in state.records.in_order()])
        code = self.original.__code__
        reason = getattr(self.refusal, "message", f"{type(self.refusal).__name__}: {self.refusal}")
        kept = LoopRecord(code.co_filename, code.co_firstlineno, "kept", reason, function=self.original.__name__)
        kept.code = getattr(self.refusal, "code", "internal")
        return Report([kept])

    def _reached(self) -> list[Lift]:
        """This one and those of the functions that it has called, at any depth."""
        found: list[Lift] = [self]
        for state in found:
            found += [inner for inner in state.callees if inner not in found]
        return found

    def clear(self) -> None:
        """Forget all variants: the next call starts anew."""
        if self.is_plain:
            return
        with self.lock:
            self.function.__code__ = self.stub
            self.is_ready, self.refusal, self.dispatchers, self.callees = False, None, [], []
            self._show(unlifted_text(self.original))

    def refresh(self) -> None:
        """A region has a new variant: show it in the source, also in that of the functions that call this one."""
        from looplift.runtime.text import batched_source

        states = self._reached()
        texts = [batched_source(one.parsed, one.dispatchers, one.original) for one in states if one.parsed]
        if any(texts) or self.dispatchers:
            own = texts[0] or unlifted_text(self.original, "no loop of it is lifted, the report says why")
            self._show("\n\n\n".join([own, *filter(None, texts[1:])]))
        for caller in [one for one in self.callers if one not in states]:
            caller.refresh()

    def __reduce__(self) -> tuple[Any, ...]:
        return _state_of_function, (self.original, self.settings)


def _state_of_function(original: types.FunctionType, settings: Settings) -> Lift:
    return Lift(original, settings)


def _prepared(state: Lift) -> str:
    """The attribute with which ``torch.compile`` goes on; run, not traced."""
    from looplift.runtime.graphs import with_own_regions

    state.prepare()
    if state.refusal is not None or state.function.__code__ is state.stub:
        return "original"
    state.traced = with_own_regions(state.function, state.regions)
    return "traced"


_prepared._dynamo_marked_constant = True  # pyright: ignore[reportFunctionMemberAccess]
