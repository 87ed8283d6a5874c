"""A region, and what was made of one like it in an earlier process, in; its code or its refusal out.

To plan a region takes a tenth of a second and more, and the rooms that do it as long to import. What came of it is
kept on disk under a key of all that it depends on: looplift itself, Python and its libraries, the region's instructions
and those of the functions that it reads, and the kinds of its values, which are the conditions of a variant
(``runtime/guards.py``). Values at paths, and guards, are looked at again before it is taken. A function without a file,
as one of a notebook, is not remembered, nor is any where ``LOOPLIFT_REMEMBER`` is 0.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np
import torch

from looplift.base.data import fields_of
from looplift.base.devices import default_device
from looplift.base.errors import NotLiftable
from looplift.base.settings import Settings
from looplift.base.spans import Span
from looplift.build import kept
from looplift.pipeline.packed import packed, unpacked
from looplift.runtime import entry, guards
from looplift.runtime.contents import CONTAINERS
from looplift.runtime.descriptions import PLAIN, Describer, DescribingWriter
from looplift.runtime.snapshot import parts
from looplift.runtime.text import mentions
from looplift.runtime.variants import RegionCode

Make = Callable[[], RegionCode]

_FORMS = ("alternative", "weaker", "otherwise", "rival", "expected")
_LASTING = frozenset(
    """unknown-call unknown-op carried memory-dependence order ragged-shape mixed-kinds two-libraries two-devices
    unsupported-syntax unsupported-iterable unsupported-value training-step gradient no-loop random-order effect-order
    recursion generator exception-handling not-scalar subclass while-condition""".split()
)
"""Reasons that hold for all values of the same kinds, on any machine."""


class _Refused(NamedTuple):
    """A refusal as it is kept; ``words``: a digest of the texts that the region was called with."""

    code: str
    message: str
    span: tuple[int, ...]
    has_other: bool
    words: str
    reached: int


def remembered(program: Any, values: Mapping[str, Any], settings: Settings, make: Make, form: str = "") -> RegionCode:
    """What ``make`` gives, or raises, or what it gave for such a region in an earlier process.

    ``form``: which of the region's forms it makes; "" for the first.
    """
    describer = Describer()
    key = _key(program, values, settings, form, describer)
    if key is None:
        return make()
    if (found := _recalled(key, program, values, settings, form)) is not None:
        if isinstance(found, NotLiftable):
            raise found
        return found
    try:
        code = make()
    except NotLiftable as refusal:
        _keep_refusal(key, refusal, program, values, settings, describer)
        raise
    _keep(key, code, program, values, describer)
    return code


def answered(
    question: str, function: FunctionType, values: Mapping[str, Any], settings: Settings, make: Callable[[], bool]
) -> bool:
    """What ``make`` says about a function and values, or said about such in an earlier process."""
    key = _key_of(function.__code__.co_filename, function.__code__, [question], values, settings, Describer())
    if key is None:
        return make()
    found = kept.read(key)
    if found not in (b"yes", b"no"):
        found = b"yes" if make() else b"no"
        kept.write(key, found)
    return found == b"yes"


# ---------------------------------------------------------------- keys


def _key(program: Any, values: Mapping[str, Any], settings: Settings, form: str, describer: Describer) -> str | None:
    """None where a region is not remembered."""
    parts = [
        form, program.name, program.arguments, program.outside, program.live_out, program.returns, program.optional,
        getattr(program, "is_piece", False), program.is_whole, program.loops,
    ]  # fmt: skip
    return _key_of(program.file, program.on_values.__code__, parts, values, settings, describer)


def _key_of(
    file: str, code: CodeType, parts: list[Any], values: Mapping[str, Any], settings: Settings, describer: Describer
) -> str | None:
    """A digest of all that what is planned for a code and values depends on, and of other parts."""
    wanted = kept.is_wanted() and not settings.in_graph and settings.backend != "inductor"
    if not wanted or default_device() is not None or not os.path.exists(file):
        return None
    writer, values = DescribingWriter(describer), dict(sorted(values.items()))
    try:
        texts = [describer.text(code), *entry.root_conditions(writer, values)]
        texts += guards.autocast_conditions(writer) if torch._C._is_any_autocast_enabled() else []
        texts.append(_surroundings())
        told = [(name, _kinds_inside(value)) for name, value in values.items()]
    except Exception:  # objects of users' answer as they like, and files may go: what is not told is not remembered
        return None
    flags = [(name, value) for name, value in values.items() if isinstance(value, bool)]
    asked = [getattr(settings, name) for name in fields_of(settings)]
    states = [sorted(guards.uneven(values)), guards.modes(), np.geterr(), told]
    texts += [*values, *map(repr, [*parts, flags, asked, *states])]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:32]


def _kinds_inside(value: Any) -> list[tuple[bool, ...]]:
    """What tensors there are in containers, as far as operations on them are others."""
    tensors = [one for one in parts(value) if isinstance(one, torch.Tensor)] if type(value) in CONTAINERS else ()
    return sorted({(one.is_inference(), one.is_neg(), one.is_conj(), one.requires_grad) for one in tensors})


@cache
def _surroundings() -> str:
    """Python, its libraries and looplift's own files."""
    parts = [sys.version, platform.machine(), torch.__version__, np.__version__, str(sys.flags.optimize)]
    own = Path(__file__).parents[1]
    for room in sorted([str(own), *(one.path for one in os.scandir(own) if one.is_dir())]):
        files = sorted((one.name, one.stat()) for one in os.scandir(room) if one.name.endswith(".py"))
        parts += [f"{room} {name} {state.st_size} {state.st_mtime_ns}" for name, state in files]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _paths(paths: list[str], program: Any, values: Mapping[str, Any]) -> list[str]:
    """What holds of values at paths."""
    writer = DescribingWriter(Describer())
    inner = [path for path in paths if path not in values]
    return guards.path_conditions(writer, inner, entry.reader(program, values))


def _words(values: Mapping[str, Any]) -> str:
    texts = sorted((name, value) for name, value in values.items() if isinstance(value, str))
    return hashlib.sha256(repr(texts).encode()).hexdigest()


# ---------------------------------------------------------------- to disk


def _keep(key: str, code: RegionCode, program: Any, values: Mapping[str, Any], describer: Describer) -> None:
    if any(one.decision == "waves" for one in code.decisions):
        return
    code.mentions = mentions(code)
    names = [name for name in fields_of(code) if name != "growing" and not callable(getattr(code, name))]
    fields = {name: getattr(code, name) for name in names}
    forms = [name for name in _FORMS if getattr(code, name) is not None]
    try:
        content = packed(("code", fields, forms, _paths(code.paths, program, values)), values, describer)
    except Exception:  # of objects of users', or of ``pickle``: it is planned again in each process
        return
    kept.write(key, content)


def _keep_refusal(
    key: str,
    refusal: NotLiftable,
    program: Any,
    values: Mapping[str, Any],
    settings: Settings,
    describer: Describer,
) -> None:
    """Keep a refusal, and have the form that it may offer remembered, too."""
    if refusal.other is not None:
        make = refusal.other
        refusal.other = lambda values: remembered(program, values, settings, partial(make, values), "other")
    if type(refusal) is NotLiftable and refusal.code in _LASTING and all(map(_is_told, values.values())):
        span = refusal.span
        place = (span.line, span.column, span.end_line, span.end_column)
        found = _Refused(
            refusal.code, refusal.message, place, refusal.other is not None, _words(values), refusal.reached
        )
        kept.write(key, packed(("refused", *found), values, describer))


def _is_told(value: Any) -> bool:
    """Whether a key tells all that a refusal may be about: not of containers and objects, whose items may be any."""
    if isinstance(value, (torch.Tensor, np.ndarray, np.generic, torch.nn.Module, ModuleType, type, *PLAIN)):
        return True
    return callable(value) or isinstance(value, (torch.dtype, torch.device))


# ---------------------------------------------------------------- and back


def _recalled(
    key: str, program: Any, values: Mapping[str, Any], settings: Settings, form: str
) -> RegionCode | NotLiftable | None:
    """What is kept under a key; None if there is nothing, or nothing that suits these values."""
    content = kept.read(key)
    if content is None:
        return None
    try:
        kind, *found = unpacked(content, values, program)
        if kind == "refused":
            return _refusal_of(_Refused(*found), program, values, settings)
        fields, forms, paths = found
        code = _code_of(fields, forms, program, settings, form)
        suits = paths == _paths(code.paths, program, values) and entry.broken_guard(program, dict(values), code) is None
    except Exception:  # what it was made for is not there, as a path or a kernel: the region is planned anew
        return None
    return code if suits else None


def _refusal_of(found: _Refused, program: Any, values: Mapping[str, Any], settings: Settings) -> NotLiftable | None:
    if found.words != _words(values):
        return None
    refusal = NotLiftable(found.code, found.message, Span(*found.span))
    refusal.reached = found.reached
    if found.has_other:
        anew = _Anew(program, settings, form="other")
        refusal.other = lambda values: remembered(program, values, settings, partial(anew.planned, values), "other")
    return refusal


def _code_of(fields: dict[str, Any], forms: list[str], program: Any, settings: Settings, form: str) -> RegionCode:
    code = RegionCode(**fields)
    anew = _Anew(program, settings, code, form)
    for form in forms:
        setattr(code, form, partial(anew.form, form))
    if code.expected is not None:
        code.expected = anew.expected
    for made in code.namespace.values():
        code.is_preliminary = getattr(made, "is_preliminary", code.is_preliminary)
    return code


class _Anew:
    """The forms beside ``code``, which is remembered: the region is planned for the values that one is asked for."""

    def __init__(self, program: Any, settings: Settings, code: RegionCode | None = None, form: str = ""):
        self.program, self.settings, self.code = program, settings, code
        self.is_other = form == "other"  # than what is refused
        self.estimate: Callable[[Mapping[str, Any]], float] | None = None

    def planned(self, values: Mapping[str, Any]) -> RegionCode:
        from looplift.pipeline import compile_region

        try:
            return compile_region(self.program, values, self.settings)
        except NotLiftable as refusal:
            if not self.is_other or refusal.other is None:
                raise
            return refusal.other(values)

    def form(self, name: str, values: Mapping[str, Any]) -> RegionCode:
        found, known = self.planned(values), self.code
        is_same = known is None or (found.statements, found.standalone) == (known.statements, known.standalone)
        make = getattr(found, name)
        if make is not None and (is_same or name == "rival"):
            return make(values)
        if is_same:
            raise NotLiftable("requirement", "for these values there is no other form")
        return found

    def expected(self, values: Mapping[str, Any]) -> float:
        """Seconds that a call of the rival should take; without end where these values have none."""
        if self.estimate is None:
            self.estimate = self.planned(values).expected or (lambda values: float("inf"))
        return self.estimate(values)
