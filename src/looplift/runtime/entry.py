"""Variants of a region in, the generated function that chooses among them out."""

from __future__ import annotations

import builtins
import functools
import inspect
import re
import sys
import time
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from looplift.base.classes import declares
from looplift.base.declared import asks_for_classes
from looplift.base.errors import NotLiftable, TooLarge
from looplift.runtime import guards, hot
from looplift.runtime.contents import ATOMS, CONTAINERS, names_in
from looplift.runtime.variants import (
    Program,
    RegionCode,
    called_builtins,
    make_function,
    own_builtins,
    sees_no_small_numbers,
    standard_namespace,
)  # fmt: skip

if TYPE_CHECKING:
    from looplift.runtime.dispatch import Dispatcher, Variant


def outside_values(program: Program) -> dict[str, Any]:
    """The values of globals and builtins that a region reads; those that are not bound are left out."""
    values = {}
    for name in program.outside:
        if name in program.namespace:
            values[name] = program.namespace[name]
        elif hasattr(builtins, name):
            values[name] = getattr(builtins, name)
    return values


def named_values(
    function: types.FunctionType, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> dict[str, Any] | None:
    """The values of a function's names for one call, globals and builtins among them; None where a parameter has none,
    or one that is neither a number, text, a tensor, an array, nor a container of such."""
    try:
        bound = inspect.signature(function).bind(*arguments, **keywords)
    except TypeError:
        return None
    bound.apply_defaults()
    kinds = (*CONTAINERS, *ATOMS, bytearray, np.ndarray, torch.Tensor, torch.nn.Parameter)
    if not all(type(value) in kinds for value in bound.arguments.values()):
        return None
    code = function.__code__
    names = names_in(code)
    known = {name: function.__globals__[name] for name in names if name in function.__globals__}
    known |= {name: getattr(builtins, name) for name in names - known.keys() if hasattr(builtins, name)}
    return known | bound.arguments


def reader(program: Program, values: Mapping[str, Any]) -> Callable[[str], Any]:
    """Reads paths such as ``self.weight`` from the values of the root names."""
    names = {**program.namespace, **values}
    return lambda path: eval(path, names | called_builtins(path, values) if "(" in path else names)


# ---------------------------------------------------------------- conditions


def variant_conditions(
    writer: guards.Writer, program: Program, values: Mapping[str, Any], code: RegionCode
) -> list[str]:
    read = reader(program, values)
    every = root_conditions(writer, values, code.objects)
    paths = guards.path_conditions(writer, [path for path in code.paths if path not in values], read)
    paths = [_renamed(text, writer, called_builtins(text, values)) for text in paths]
    standard = standard_namespace()
    needed = {name for text in code.guards for name in re.findall(r"\b[A-Za-z_]\w*", text)} - values.keys()
    names = {name: value for name, value in (standard | code.namespace).items() if name in needed}
    names |= own_builtins(" ".join(code.guards), {*values, *names})
    shapes = {name: writer.shapes[name] for name in values if name in writer.shapes}
    asked = {text: f"({_renamed(_with_shapes(text, shapes), writer, names)})" for text in code.guards}
    first = [condition for text, condition in asked.items() if asks_for_classes(text)]
    every += [*first, *paths, *(condition for condition in asked.values() if condition not in first)]
    if sees_no_small_numbers(program, code, values):
        every += guards.numpy_conditions(writer)
    if torch._C._is_any_autocast_enabled():
        every += guards.autocast_conditions(writer)
    return list(dict.fromkeys(every))


def broken_guard(program: Program, values: Mapping[str, Any], code: RegionCode) -> str | None:
    """The first guard of batched code that does not hold for the values that it was made for."""
    names = program.namespace | vars(builtins) | standard_namespace() | code.namespace
    return next((text for text in code.guards if not _holds(text, names, values)), None)


def _holds(guard: str, names: dict[str, Any], values: Mapping[str, Any]) -> bool:
    """Whether a guard holds; one that cannot be asked does not, as in the entry."""
    try:
        return bool(eval(guard, names, dict(values)))
    except Exception:
        return False


def asks_for_memory(guard: str) -> bool:
    """Whether a guard asks where elements lie."""
    return "_apart" in guard or "_own_places" in guard


def without_guard(
    writer: guards.Writer, values: Mapping[str, Any], namespace: Mapping[str, Any], guard: str
) -> list[str]:
    """Conditions for values of these kinds for which a guard over the region's names and a namespace does not hold."""
    words = set(re.findall(r"\b[A-Za-z_]\w*", guard)) - values.keys()
    names = {name: value for name, value in (standard_namespace() | dict(namespace)).items() if name in words}
    return [*refusal_conditions(writer, values, limited=False), f"not ({_renamed(guard, writer, names)})"]


def _with_shapes(text: str, shapes: Mapping[str, str]) -> str:
    """An expression that reads shapes of names from where the conditions before it keep them."""
    return re.sub(
        r"(?<![\w.'\"])([A-Za-z_]\w*)\.shape\b",
        lambda found: shapes.get(found.group(1), found.group()),
        text,
    )


def _renamed(text: str, writer: guards.Writer, names: Mapping[str, Any]) -> str:
    """An expression in which what is not the user's goes by the writer's names; texts and keywords stay."""
    return _WORDS.sub(
        lambda found: writer.constant(names[found.group()]) if found.group() in names else found.group(),
        text,
    )


_WORDS = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<![\w.])[A-Za-z_]\w*\b(?!=[^=])""")


def root_conditions(writer: guards.Writer, values: Mapping[str, Any], objects: Iterable[str] = ()) -> list[str]:
    """Conditions on the root names: all types first, which are cheap and differ most. ``objects`` need no more."""
    writer.shapes.clear()
    writer.roots = {id(value): name for name, value in values.items()}
    tensors = {name: value for name, value in values.items() if isinstance(value, torch.Tensor)}
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    plain = (name for name in values if name not in tensors and name not in arrays)
    others = [
        [writer.type_is(name, values[name])] if name in objects else guards.conditions(writer, name, values[name])
        for name in plain
    ]
    writer.roots = {}
    types = [writer.type_is(name, value) for name, value in tensors.items()] + [texts[0] for texts in others]
    rest = [text for texts in others for text in texts[1:]]
    return types + guards.of_arrays(writer, arrays) + guards.of_tensors(writer, tensors, extents=True) + rest


def conditions_of_refusal(writer: guards.Writer, values: Mapping[str, Any], refusal: NotLiftable) -> list[str]:
    """Conditions for values that are refused for this reason."""
    if isinstance(refusal, TooLarge):
        return without_guard(writer, values, refusal.namespace, refusal.fits)
    return refusal_conditions(writer, values, limited=refusal.code == "too-small")


def refusal_conditions(writer: guards.Writer, values: Mapping[str, Any], *, limited: bool) -> list[str]:
    """Conditions on the root names alone, flags and words among them; ``limited`` to values of about this size."""
    every = root_conditions(writer, values)
    for name, value in values.items():
        if isinstance(value, (bool, str)) and not declares(type(value), "__eq__"):
            every.append(f"{name} == {writer.constant(value)}")
        if limited:
            every += guards.size_limits(writer, name, value)
    return every


def trains(variant: Variant, values: Mapping[str, Any]) -> bool:
    """Whether a call may be followed by a backward pass."""
    if not variant.modes[0]:
        return False
    tensors = [value for value in values.values() if isinstance(value, torch.Tensor)]
    modules = [value for value in values.values() if isinstance(value, torch.nn.Module)]
    return any(one.requires_grad for one in (*tensors, *(p for module in modules for p in module.parameters())))


# ---------------------------------------------------------------- the entry


def holds(dispatcher: Dispatcher, variant: Variant, arguments: Sequence[Any], more: Sequence[str] = ()) -> bool:
    """Whether a variant's guard, and ``more`` conditions, accept arguments."""
    program = dispatcher.program
    text = f"def guard({', '.join(program.arguments)}):\n    return {_all([*variant.conditions, *more])}"
    try:
        guard = make_function(text, "guard", dispatcher.writer.constants, program.namespace, "<looplift guard>")
        return bool(guard(*arguments))
    except Exception:
        return False


def build_entry(dispatcher: Dispatcher, *, timed: bool = False) -> Callable[..., Any]:
    """The function that rewritten code calls for a region."""
    program = dispatcher.program
    # the newest first, or those for small arguments; last the refusals, whose conditions are the widest
    variants = sorted(reversed(dispatcher.variants), key=lambda one: 0 if one.plain else 1 if one.call else 2)
    parameters = ", ".join(program.arguments)
    constants = dict(dispatcher.writer.constants)
    constants |= {
        "_looplift_compiling": torch.compiler.is_dynamo_compiling,
        "_looplift_exception": Exception,
        "_looplift_original": program.original,
        "_looplift_miss": undisturbed(dispatcher.miss),
        "_looplift_refused": undisturbed(dispatcher.refused),
        "_looplift_plain": undisturbed(dispatcher.plain),
    }
    names = list(outside_values(program))
    constants["_looplift_traced"] = dispatcher.traced(names)
    lines = [
        f"def {program.name}({parameters}):",
        "    if _looplift_compiling():",
        f"        return _looplift_traced(({_items(program.arguments)}), ({_items(names)}))",
    ]
    if dispatcher.gave_up:
        variants = []
        lines[1:] = [f"    return _looplift_{'plain' if timed else 'original'}({parameters})"]
    if variants:
        lines += [] if timed else hot.lines(dispatcher)
        if any(one.call is not None and (timed or is_careful(dispatcher, one)) for one in variants):
            constants |= {"_looplift_began": dispatcher.began, "_looplift_clock": time.perf_counter}
            lines.append("    _looplift_began[0] = _looplift_clock()")
        lines += _choice(dispatcher, variants, constants)
    for place, variant in enumerate(variants):
        lines += _case(dispatcher, place, variant, constants, timed)
    lines.append(f"    return _looplift_miss({parameters})")
    label = f"<looplift entry of {program.name}>"
    return make_function("\n".join(lines), program.name, constants, program.namespace, label)


def undisturbed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function in which ``torch.compile`` traces nothing, where it left a frame to Python and looks at its calls."""
    left_alone: list[Callable[..., Any]] = []

    def call(*arguments: Any) -> Any:
        if not left_alone:
            if "torch._dynamo" not in sys.modules:
                return function(*arguments)
            left_alone.append(torch.compiler.disable(lambda *given: function(*given)))
        return left_alone[0](*arguments)

    return call


def _items(names: Iterable[str]) -> str:
    return "".join(f"{name}, " for name in names)


def _choice(dispatcher: Dispatcher, variants: list[Variant], constants: dict[str, Any]) -> list[str]:
    seen = dispatcher.writer.checks
    checked = all(not seen.isdisjoint(variant.conditions) for variant in variants)
    reader = guards.ModeReader(checked=checked, matter=dispatcher.modes_matter)
    constants |= reader.functions
    lines = ["    _looplift_choice = -1", "    try:", f"        _looplift_modes = {reader.text}"]
    limits = {id(variant.small): _limits(variant) for variant in variants if variant.small is not None}
    word = "if"
    for place, variant in enumerate(variants):
        if limits.get(id(variant)):
            continue  # it is looked at within the one that it belongs to
        constants[f"_looplift_modes_{place}"] = reader.chosen(variant.modes)
        same = f"_looplift_modes == _looplift_modes_{place}"
        fits = _fits(same, variant, dispatcher.writer.constants)
        lines += [f"        {word} {fits}:", f"            _looplift_choice = {place}"]
        lines += _smaller(variant, variants, "            ")
        word = "elif"
    # a name that is not bound, an attribute that is gone: another kind of arguments
    return [*lines, "    except _looplift_exception:", "        pass"]


def _fits(modes: str, variant: Variant, constants: Mapping[str, Any]) -> str:
    """The text of a variant's conditions; what runs as written for small arguments needs but those that cost little."""
    every = variant.conditions
    costly = [place for place, condition in enumerate(every) if guards.is_costly(condition, constants)]
    if variant.small is None or not variant.small.plain or not costly or not (limits := _limits(variant)):
        return _all([modes, *every])
    first, rest = every[: costly[0]], every[costly[0] :]
    made = {name for place in costly for name in re.findall(r"(\w+) :=", every[place])}
    cheap = [one for one in rest if not guards.is_costly(one, constants) and made.isdisjoint(re.findall(r"\w+", one))]
    others = [one for one in rest if one not in cheap]
    return f"{_all([modes, *first, *cheap])} and ({_all(limits)} or {_all(others)})"


def _smaller(variant: Variant, variants: list[Variant], indent: str) -> list[str]:
    """Within the case of a variant: its ones for small arguments, each within the one before."""
    if variant.small is None or not (limits := _limits(variant)):
        return []
    lines = [f"{indent}if {_all(limits)}:", f"{indent}    _looplift_choice = {variants.index(variant.small)}"]
    return lines + _smaller(variant.small, variants, indent + "    ")


def _limits(variant: Variant) -> list[str]:
    """What a variant's one for small arguments asks beyond what the variant asks itself."""
    assert variant.small is not None
    shared = len(variant.conditions)
    conditions = variant.small.conditions
    return conditions[shared:] if conditions[:shared] == variant.conditions else []


def _all(conditions: list[str]) -> str:
    return " and ".join(conditions) or "True"


def _case(dispatcher: Dispatcher, place: int, variant: Variant, constants: dict[str, Any], timed: bool) -> list[str]:
    parameters = ", ".join(dispatcher.program.arguments)
    lines = [f"    if _looplift_choice == {place}:"]
    if variant.call is None:
        divided = dispatcher.fallback is not None and (not variant.plain or variant.is_divided)
        if divided or timed:
            return [*lines, f"        return _looplift_{'refused' if divided else 'plain'}({parameters})"]
        constants[f"_looplift_brief_{place}"] = undisturbed(hot.counted(dispatcher, variant))
        return [*lines, f"        return _looplift_brief_{place}({parameters})"]
    if timed or is_careful(dispatcher, variant):
        constants[f"_looplift_careful_{place}"] = undisturbed(functools.partial(dispatcher.careful, variant))
        return [*lines, f"        return _looplift_careful_{place}({parameters})"]
    constants[f"_looplift_call_{place}"] = variant.call
    constants[f"_looplift_failed_{place}"] = undisturbed(functools.partial(dispatcher.failed, variant))
    return [
        *lines,
        "        try:",
        f"            return _looplift_call_{place}({parameters})",
        "        except _looplift_exception as error:",
        "            _looplift_error = error",
        f"        return _looplift_failed_{place}({', '.join(['_looplift_error', *dispatcher.program.arguments])})",
    ]


def is_careful(dispatcher: Dispatcher, variant: Variant) -> bool:
    """Whether calls of a variant are watched."""
    code = variant.code
    undo = code is not None and bool(code.commits_early or code.random or code.growing)
    watched = variant.watched or variant.is_awaited or variant.trials is not None or variant.contest is not None
    return undo or watched or dispatcher.verify == "always"
