"""A value and the text that names it in; Python conditions that hold for values of the same kind out.

A condition costs 15 to 100 ns. What a variant is made for: types, dtypes, ranks, devices, gradients, whether each
extent is 0, 1 or more, training flags; never the extents themselves, never the value of a number.
"""

from __future__ import annotations

import builtins
import enum
import math
import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch._C import _functorch  # pyright: ignore[reportAttributeAccessIssue]
from torch.autograd import forward_ad

from looplift.base.classes import is_called_object
from looplift.base.data import dataclass, field
from looplift.base.devices import modes_of_functions
from looplift.base.errors import NotLiftable
from looplift.runtime import contents, guards_of_modules

_PLAIN = (int, float, bool, complex, str, bytes, type(None), range)
_EQUAL = (torch.device, torch.Size, slice, np.dtype)
_SEQUENCES = (list, tuple)
_EXTENTS = (" == 0", " == 1", " > 1")
DEPTH = 3
"""Levels of nested lists whose first elements are looked at."""

TENSORS = (Tensor, torch.nn.Parameter)


@dataclass
class Writer:
    """Collects the objects that conditions mention, each under a name that no user's name can be."""

    constants: dict[str, Any] = field(default_factory=dict)
    known: dict[int, str] = field(default_factory=dict)
    counter: int = 0
    shapes: dict[str, str] = field(default_factory=dict)
    """Where the last conditions that were made for a value keep its shape."""
    roots: dict[int, str] = field(default_factory=dict)
    """The names of a region's values, and where functions among them are, by identity, while conditions are made."""
    checks: set[str] = field(default_factory=set)
    """Conditions that no value meets under dispatch modes, transforms or inference mode, but those made there."""
    in_one_call: bool = True
    """Whether functions that look at several tensors or arrays at once may stand in conditions."""

    def constant(self, value: Any) -> str:
        if id(value) not in self.known:
            name = f"_looplift_{len(self.constants)}"
            self.constants[name] = value
            self.known[id(value)] = name
        return self.known[id(value)]

    def temporary(self) -> str:
        self.counter += 1
        return f"_looplift_t{self.counter}"

    def builtin(self, name: str) -> str:
        return self.constant(getattr(builtins, name))

    def type_is(self, text: str, value: Any) -> str:
        return f"{self.builtin('type')}({text}) is {self.constant(type(value))}"


def check_kind(name: str, value: Any) -> None:
    """Raises NotLiftable for live-ins that no variant can be made for."""
    if isinstance(value, Tensor):
        plain = type(value) in TENSORS and value.layout is torch.strided and not value.is_quantized
        if not plain or value.is_nested or value.is_meta:
            raise NotLiftable("subclass", f"'{name}' is not a plain tensor")
    elif isinstance(value, np.ndarray):
        if type(value) is not np.ndarray or value.dtype.hasobject or value.dtype.fields:
            raise NotLiftable("subclass", f"'{name}' is not a plain array of numbers")
    elif contents.runs_code(value):
        text = f"'{name}' is a {type(value).__name__}, which has methods of its own for reading; pass a plain container"
        raise NotLiftable("subclass", text)
    elif hasattr(type(value), "__next__"):
        raise NotLiftable("unsupported-iterable", f"'{name}' hands out its elements one by one")


def check_items(name: str, value: Any, depth: int = 0) -> None:
    """The same for what lists, tuples and dicts hold."""
    if not isinstance(value, (*_SEQUENCES, dict)) or contents.runs_code(value):
        check_kind(name, value)
        return
    value = value.values() if isinstance(value, dict) else value
    one_of_each = {type(item): item for item in value}
    for item in one_of_each.values():
        if isinstance(item, (Tensor, np.ndarray)):
            check_kind(name, item)
        elif depth < DEPTH and isinstance(item, (*_SEQUENCES, dict)):
            check_items(name, item, depth + 1)


def conditions(writer: Writer, text: str, value: Any, depth: int = 0) -> list[str]:
    """What must hold of ``text`` for a variant that was made for ``value``; cheap conditions first."""
    if isinstance(value, Tensor):
        return _of_tensor(writer, text, value, extents=depth == 0)
    if isinstance(value, np.ndarray):
        return _of_array(writer, text, value, extents=depth == 0)
    if isinstance(value, (enum.Enum, type, types.ModuleType, torch.dtype, torch.layout)):
        return [f"{text} is {writer.constant(value)}"]
    if isinstance(value, _EQUAL):
        return [writer.type_is(text, value), f"{text} == {writer.constant(value)}"]
    if value is None:
        return [f"{text} is None"]
    if isinstance(value, (_PLAIN, np.generic)):
        return [writer.type_is(text, value)]
    if isinstance(value, torch.nn.Module):
        return guards_of_modules.of_module(writer, text, value)
    if isinstance(value, types.MethodType):
        return _of_method(writer, text, value, depth)
    if isinstance(value, types.FunctionType):
        return _of_function(writer, text, value, depth)
    if contents.runs_code(value):
        return [writer.type_is(text, value)]
    if isinstance(value, _SEQUENCES):
        return _of_sequence(writer, text, value, depth)
    if isinstance(value, (dict, set, frozenset)):
        return [writer.type_is(text, value), text if value else f"not {text}"]
    if isinstance(value, types.BuiltinMethodType) and not isinstance(value.__self__, types.ModuleType | None):
        return [writer.type_is(text, value), f"{text} == {writer.constant(value)}"]  # made anew wherever it is read
    if callable(value) and not is_called_object(value):
        return [f"{text} is {writer.constant(value)}"]
    return [writer.type_is(text, value)]


# ---------------------------------------------------------------- tensors and arrays


def _of_tensor(writer: Writer, text: str, value: Tensor, extents: bool) -> list[str]:
    return [writer.type_is(text, value), *of_tensors(writer, {text: value}, extents=extents)]


def of_tensors(writer: Writer, values: Mapping[str, Tensor], *, extents: bool) -> list[str]:
    """What must hold of names whose types were looked at."""
    ranks, sizes = [], []
    for text, value in values.items():
        rank, *each = _of_shape(writer, text, tuple(value.shape), extents)
        ranks.append(rank)
        sizes += each
    return [*ranks, *_metadata(writer, values), *sizes]


def _metadata(writer: Writer, values: Mapping[str, Tensor]) -> list[str]:
    """Dtype, layout, device, gradients, lazy conjugation: of all tensors in one call where torch can.

    That call ends the process for nested tensors. Of these the shape cannot be read: it is to be read before.
    """
    check = _check_of(list(values.values())) if values and writer.in_one_call else None
    if check is None:
        return [condition for text, value in values.items() for condition in _attributes(writer, text, value)]
    condition = f"{writer.constant(check)}({', '.join(values)})"
    writer.checks.add(condition)
    return [condition]


def _check_of(tensors: list[Tensor]) -> Callable[..., bool] | None:
    """What ``torch.compile`` guards with, if this torch has it as it is known here."""
    try:
        anything = [[None] * one.dim() for one in tensors]
        guards = torch._C._dynamo.guards.TensorGuards  # pyright: ignore
        made = guards(*tensors, dynamic_dims_sizes=anything, dynamic_dims_strides=anything)
        return made.check if made.check(*tensors) is True else None
    except Exception:
        return None


def _attributes(writer: Writer, text: str, value: Tensor) -> list[str]:
    out = [f"{text}.dtype is {writer.constant(value.dtype)}"]
    out.append(f"{text}.requires_grad" if value.requires_grad else f"not {text}.requires_grad")
    out.append(f"{text}.layout is {writer.constant(value.layout)}")
    if value.device.type == "cpu":
        out.append(f"{text}.is_cpu")
    else:
        out.append(f"{text}.device == {writer.constant(value.device)}")
    if value.is_complex():
        out.append(f"{text}.is_conj()" if value.is_conj() else f"not {text}.is_conj()")
    out.append(f"{text}.is_neg()" if value.is_neg() else f"not {text}.is_neg()")
    out.append(f"{text}.is_inference()" if value.is_inference() else f"not {text}.is_inference()")
    return out


def check_of_arrays(samples: Sequence[np.ndarray]) -> Callable[..., bool] | None:
    """What tells in one call whether values are arrays as these; `build` puts its own in this place."""
    return None


def of_arrays(writer: Writer, values: Mapping[str, np.ndarray]) -> list[str]:
    """What must hold of names: in one call where that can be had."""
    check = check_of_arrays(list(values.values())) if values and writer.in_one_call else None
    if check is None:
        return [condition for text, value in values.items() for condition in _of_array(writer, text, value, True)]
    return [f"{writer.constant(check)}({', '.join(values)})"]


def _of_array(writer: Writer, text: str, value: np.ndarray, extents: bool) -> list[str]:
    out = [writer.type_is(text, value), f"{text}.dtype == {writer.constant(value.dtype)}"]
    return out + _of_shape(writer, text, value.shape, extents)


def _of_shape(writer: Writer, text: str, shape: tuple[int, ...], extents: bool) -> list[str]:
    if not shape:
        return [f"not {text}.shape"]
    length = writer.builtin("len")
    if not extents:
        return [f"{length}({text}.shape) == {len(shape)}"]
    name = writer.shapes[text] = writer.temporary()
    each = [f"{name}[{k}]{_EXTENTS[min(extent, 2)]}" for k, extent in enumerate(shape)]
    return [f"{length}({name} := {text}.shape) == {len(shape)}", *each]


# ---------------------------------------------------------------- objects


def _of_method(writer: Writer, text: str, value: types.MethodType, depth: int) -> list[str]:
    out = [writer.type_is(text, value), f"{text}.__func__ is {writer.constant(value.__func__)}"]
    return out + conditions(writer, f"{text}.__self__", value.__self__, depth + 1) if depth < DEPTH else out


def _of_function(writer: Writer, text: str, value: types.FunctionType, depth: int) -> list[str]:
    """The function itself; of one that was made by a call (a closure), its code and what it closes over."""
    state = getattr(value, "__looplift_state__", None)
    if state is not None and value is state.function:  # its code changes when it is first called
        return _of_function(writer, f"{text}.__looplift_original__", state.original, depth)
    if not value.__closure__ and "<locals>" not in value.__qualname__:
        return [f"{text} is {writer.constant(value)}"]
    if writer.roots:
        writer.roots.setdefault(id(value), text)
    out = [writer.type_is(text, value), f"{text}.__code__ is {writer.constant(value.__code__)}"]
    out.append(_of_defaults(writer, f"{text}.__defaults__", value.__defaults__))
    out.append(_of_defaults(writer, f"{text}.__kwdefaults__", value.__kwdefaults__))
    for k, cell in enumerate(value.__closure__ or ()):
        out += _of_cell(writer, f"{text}.__closure__[{k}]", cell, depth)
    return out


def _of_defaults(writer: Writer, text: str, found: Any) -> str:
    """That defaults are the same; those of keywords are in a dict, which may change in place."""
    if not found:
        return f"{text} is {writer.constant(found)}"
    held, same = writer.constant(dict(found) if isinstance(found, dict) else found), writer.constant(_same_defaults)
    return f"({text} is {held} or {same}({text}, {held}))"


def _same_defaults(found: Any, known: Any) -> bool:
    """Whether the defaults of a function are the same objects, or plain values that are equal and of the same types."""
    if type(found) is not type(known) or len(found) != len(known):
        return False
    if isinstance(found, dict):
        return found.keys() == known.keys() and all(_is_same_default(found[name], known[name]) for name in known)
    return all(map(_is_same_default, found, known))


def _is_same_default(found: Any, known: Any) -> bool:
    is_plain = isinstance(found, _PLAIN) and type(found) is type(known)
    return found is known or (is_plain and repr(found) == repr(known))


_GUARDED_ONCE = (Tensor, np.ndarray, list, dict, types.FunctionType)


def _of_cell(writer: Writer, text: str, cell: types.CellType, depth: int) -> list[str]:
    """A number that a helper closes over is part of it; anything else is guarded like an argument."""
    empty = types.CellType()
    if cell == empty:
        return [f"{text} == {writer.constant(empty)}"]
    value, text = cell.cell_contents, f"{text}.cell_contents"
    if isinstance(value, _PLAIN):
        return [writer.type_is(text, value), _is_same(writer, text, value)]
    if (root := writer.roots.get(id(value))) is not None and isinstance(value, _GUARDED_ONCE):
        return [f"{text} is {root}"]  # what it is then, is guarded there
    if isinstance(value, (Tensor, np.ndarray, *_SEQUENCES, dict)) or depth >= DEPTH:
        return [f"{text} is {writer.constant(value)}"]
    return conditions(writer, text, value, depth + 1)


def _is_same(writer: Writer, text: str, value: Any) -> str:
    """That a plain value of the same type is the same: zeros of both signs are equal, and NaN is not."""
    if value != value:
        return f"{text} is {writer.constant(value)}"
    if isinstance(value, float | complex) and 0 in (value.real, value.imag if isinstance(value, complex) else value):
        return f"{writer.builtin('repr')}({text}) == {repr(value)!r}"
    return f"{text} == {writer.constant(value)}"


def _of_sequence(writer: Writer, text: str, value: list | tuple, depth: int) -> list[str]:
    out = [writer.type_is(text, value)]
    if not value:
        return [*out, f"not {text}"]
    out.append(text)
    if isinstance(value, tuple):
        out.append(f"{writer.builtin('len')}({text}) == {len(value)}")
    if depth < DEPTH:
        first = value[0]
        simple = isinstance(first, (*_PLAIN, *_SEQUENCES, Tensor, np.ndarray, np.generic, dict))
        out += conditions(writer, f"{text}[0]", first, depth + 1) if simple else [writer.type_is(f"{text}[0]", first)]
        out += _of_other_items(writer, text, value) if isinstance(value, tuple) else []
    return out


SHORT = 8
"""So many items at most, and each is looked at by itself."""


def _of_other_items(writer: Writer, text: str, value: tuple) -> list[str]:
    """The types of a tuple's items from the second on; those of a list are one, or are looked at where it is read."""
    if len(value) <= SHORT:
        return [writer.type_is(f"{text}[{place}]", item) for place, item in enumerate(value) if place]
    types = writer.constant(frozenset(map(type, value)))
    return [f"{writer.builtin('frozenset')}({writer.builtin('map')}({writer.builtin('type')}, {text})) == {types}"]


def has_one_shape(values: Any) -> bool:
    """Whether the items of a list or tuple are no tensors, or tensors of one shape."""
    if not any(issubclass(kind, (Tensor, np.ndarray)) for kind in {*map(type, values)}):
        return True
    shapes = {getattr(value, "shape", None) for value in values}
    return len(shapes) < 2


def uneven(values: Mapping[str, Any]) -> set[str]:
    """The names of lists and tuples whose items differ in shape."""
    sequences = {name: value for name, value in values.items() if isinstance(value, _SEQUENCES)}
    return {name for name, value in sequences.items() if not contents.runs_code(value) and not has_one_shape(value)}


# ---------------------------------------------------------------- paths


def path_conditions(writer: Writer, paths: Iterable[str], evaluate: Callable[[str], Any]) -> list[str]:
    """Conditions on values at paths; each path is followed once, and goes on from one before it where it can."""
    every: list[str] = []
    reached: dict[str, str] = {}
    for path in paths:
        if found := _of_column(writer, path, evaluate):
            every += found
            continue
        name = writer.temporary()
        first, *rest = conditions(writer, name, evaluate(path))
        every += [re.sub(rf"\b{name}\b", f"({name} := {_direct(path, evaluate, reached)})", first, count=1), *rest]
        reached[path] = name
    return every


_COLUMN = re.compile(r"\[row\[(\d+)\] for row in (\w+)\]")


def _of_column(writer: Writer, path: str, evaluate: Callable[[str], Any]) -> list[str]:
    """Conditions on a column of a list of rows, whose first number is looked at without making the column."""
    found = _COLUMN.fullmatch(path)
    if found is None or not (column := evaluate(path)) or not isinstance(column[0], _PLAIN):
        return []
    place, rows = found.groups()
    return [rows, *conditions(writer, f"{rows}[0][{place}]", column[0], 1)]


def is_costly(condition: str, constants: Mapping[str, Any]) -> bool:
    """Whether a condition looks at all items of a list; ``constants``: what names of the writer's stand for."""
    if " for " in condition or "(map(" in condition:
        return True
    called = [constants.get(name) for name in re.findall(r"(_looplift_\w+)\(", condition)]
    return any(one is known for one in called for known in (map, *contents.LOOKS_THROUGH))


def _direct(path: str, evaluate: Callable[[str], Any], reached: Mapping[str, str]) -> str:
    """``self.weight`` as ``self._parameters['weight']``: attributes that a module looks up slowly are read directly."""
    if path in reached:
        return reached[path]
    if found := re.fullmatch(r"(.+)\[(\d+)\]", path):
        base, position = found.groups()
        owner = evaluate(base)
        if isinstance(owner, (torch.nn.ModuleList, torch.nn.Sequential)) and position in owner._modules:
            return f"{_direct(base, evaluate, reached)}._modules['{position}']"
        return f"{_direct(base, evaluate, reached)}[{position}]"
    base, dot, name = path.rpartition(".")
    if not dot or not name.isidentifier() or not base:
        return path
    owner, short = evaluate(base), _direct(base, evaluate, reached)
    if isinstance(owner, torch.nn.Module) and name not in vars(owner) and not hasattr(type(owner), name):
        for table in ("_parameters", "_buffers", "_modules"):
            if name in owner.__dict__[table]:
                return f"{short}.{table}[{name!r}]"
    return f"{short}.{name}"


def size_limits(writer: Writer, text: str, value: Any) -> list[str]:
    """Conditions that a value is at most about twice as long as this one."""
    return limits_of_size(writer, text, size_of(value))


def size_of(value: Any) -> Any:
    """A shape, a range of as many items as there are, or a number; None where a value has no size."""
    if isinstance(value, (Tensor, np.ndarray)):
        return tuple(value.shape)
    if isinstance(value, (list, tuple, dict, set, str, bytes, bytearray, range)):
        return None if contents.runs_code(value) else range(len(value))
    return value if type(value) is int else None


def limits_of_size(writer: Writer, text: str, size: Any) -> list[str]:
    """The conditions for a value of such a size."""
    if isinstance(size, tuple) and size:
        name = writer.temporary()
        limits = [f"{name}[{k}] <= {2 * extent + 1}" for k, extent in enumerate(size) if extent]
        return [f"({name} := {text}.shape)", *limits]
    if isinstance(size, range):
        return [f"{writer.builtin('len')}({text}) <= {2 * len(size) + 1}"]
    if type(size) is int:
        return [f"{text} <= {2 * abs(size) + 1}"]
    return []


# ---------------------------------------------------------------- modes


def _level_of_duals() -> int:
    """Below 0 where no tensor has a tangent."""
    return forward_ad._current_level


def _packs() -> bool:
    """Whether something takes what autograd keeps: under a checkpoint the loop runs twice, the second time up to where
    as much was kept as before."""
    return _top_hooks(True) is not None


_top_hooks = torch._C._autograd._top_saved_tensors_default_hooks  # pyright: ignore[reportAttributeAccessIssue]

_MODES = {
    "_looplift_grad": torch.is_grad_enabled,
    "_looplift_inference": torch.is_inference_mode_enabled,
    "_looplift_autocast": torch._C._is_any_autocast_enabled,
    "_looplift_default": torch.get_default_dtype,
    "_looplift_deterministic": torch._C._get_deterministic_algorithms,
    "_looplift_functions": modes_of_functions,
    "_looplift_dispatches": torch._C._len_torch_dispatch_stack,
    "_looplift_transforms": _functorch.peek_interpreter_stack,
    "_looplift_duals": _level_of_duals,
    "_looplift_packs": _packs,
}
_WITHOUT_A_CALL = {
    "_looplift_functions": "_looplift_stack() and _looplift_functions()",
    "_looplift_duals": "_looplift_tangents._current_level",
    "_looplift_packs": "_looplift_hooks(True) is not None",
}
"""What the same values are read by in generated functions, where a call of a function of Python's costs more than the
rest."""
_READERS = {
    "_looplift_stack": torch._C._len_torch_function_stack, "_looplift_tangents": forward_ad,
    "_looplift_hooks": _top_hooks,
}  # fmt: skip
_SEEN_BY_CHECKS = {"_looplift_inference", "_looplift_dispatches", "_looplift_transforms"}


def modes() -> tuple[Any, ...]:
    return tuple(function() for function in _MODES.values())


class ModeReader:
    """Torch's modes as a generated function reads them: all, those that ``Writer.checks`` do not see, or none, where
    they do not ``matter``."""

    def __init__(self, *, checked: bool, matter: bool = True):
        self.names = [name for name in _MODES if matter and not (checked and name in _SEEN_BY_CHECKS)]
        self.functions = {name: _MODES[name] for name in self.names} | _READERS
        self.text = "(" + ", ".join(_WITHOUT_A_CALL.get(name, f"{name}()") for name in self.names) + ")"

    def chosen(self, found: tuple[Any, ...]) -> tuple[Any, ...]:
        """What of ``modes()`` it reads."""
        return tuple(value for name, value in zip(_MODES, found, strict=True) if name in self.names)


_NUMBERS = (int, float, complex, bool, str, type(None))


def may_call_torch(values: Mapping[str, Any]) -> bool:
    """Whether a loop over these values may call torch, whose modes matter then."""
    return not all(map(_is_without_torch, values.values()))


def _is_without_torch(value: Any) -> bool:
    if type(value) is np.ndarray:
        return not value.dtype.hasobject
    is_named = type(value) in (types.BuiltinFunctionType, type)
    is_builtin = is_named and getattr(builtins, value.__name__, None) is value
    return type(value) in _NUMBERS or isinstance(value, np.generic) or value is np or value is math or is_builtin


def foreign_mode(found: tuple[Any, ...]) -> bool:
    """Whether something else watches or transforms torch operations now: then loops run as written."""
    functions = found[5] if isinstance(found[5], int) else 0
    watched = functions or found[6] or found[7] is not None or found[8] >= 0 or found[9]
    return bool(watched or torch._C._get_tracing_state() is not None)


_numpy_states = getattr(np._core.umath, "_extobj_contextvar", None)  # pyright: ignore[reportAttributeAccessIssue]
_numpy_state: Callable[[], Any] = np.geterr if _numpy_states is None else _numpy_states.get
"""Gives another object whenever NumPy was told what to report."""


def ignores_small_numbers() -> bool:
    """Whether NumPy says nothing of results that are too small for a float."""
    state = _numpy_state()
    if state is not _known_state[0]:
        _known_state[:] = state, np.geterr()["under"] == "ignore"
    return _known_state[1]


_known_state: list[Any] = [None, False]


def numpy_conditions(writer: Writer) -> list[str]:
    """That NumPy goes on to say nothing of such results."""
    state, ignores = writer.constant(_numpy_state), writer.constant(ignores_small_numbers)
    return [f"({state}() is {writer.constant(_numpy_state())} or {ignores}())"]


def autocast_conditions(writer: Writer) -> list[str]:
    """Under autocast, the dtypes that it casts to."""
    read = writer.constant(torch.get_autocast_dtype)
    out = []
    for device in ("cpu", "cuda"):
        enabled = torch.is_autocast_enabled(device)
        out.append(f"{writer.constant(torch.is_autocast_enabled)}({device!r}) is {enabled}")
        if enabled:
            out.append(f"{read}({device!r}) is {writer.constant(torch.get_autocast_dtype(device))}")
    return out
