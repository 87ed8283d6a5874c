"""The code of a region in, bytes for another process out; and back.

What the code holds beyond plain values and what looplift defines is packed by what it takes to have it again: kernels
by their texts, helpers by their names, functions of libraries and of users by where they stand. The latter must be
there then and be described as before (``runtime/descriptions.py``), else nothing is unpacked.
"""

from __future__ import annotations

import enum
import gc
import io
import math
import pickle
import sys
import types
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from looplift.runtime.descriptions import PLAIN, Describer, Unknown, digest_of, is_of_library

_NUMBERS = {id(value): (module.__name__, name) for module in (math, np) for name in ("pi", "e", "inf", "nan")
            if type(value := getattr(module, name)) is float}  # fmt: skip
"""Guards ask whether these are what they were."""
_NAMED = (type, types.FunctionType, types.BuiltinFunctionType, np.ufunc, type(np.argmin))
_ALLOWED = (*PLAIN, tuple, list, dict, set, frozenset, torch.dtype, torch.device, torch.layout, torch.memory_format,
            torch.Size, range, slice)  # fmt: skip
_MODULES = ("torch", "torch.nn.functional", "torch.linalg", "torch.special", "torch.fft", "torch.functional",
            "numpy", "numpy.linalg", "numpy.fft", "math", "builtins", "types",
            "torch.nn.modules.module", "torch.nn")  # fmt: skip
"""Where functions of libraries are looked for that do not say where they stand."""


class Packer(pickle.Pickler):
    """``values``: those of the region's names, ``owners``: functions that they lead to, by their codes."""

    def __init__(self, file: Any, values: Mapping[str, Any], describer: Describer):
        super().__init__(file, protocol=5)
        self.roots = {id(value): name for name, value in values.items()}
        self.owners = describer.owners
        self.classes: list[type] = []

    def persistent_id(self, value: Any) -> Any:
        kind = type(value)
        if kind is dict and (module := sys.modules.get(str(value.get("__name__")))) and vars(module) is value:
            return "globals", module.__name__
        if kind in _ALLOWED:
            return ("number", *_NUMBERS[id(value)]) if id(value) in _NUMBERS else None
        if kind is types.ModuleType:
            return "module", Describer().text(value).removeprefix("module ")
        if kind is types.CodeType:
            return self._of_code(value)
        if kind is types.MappingProxyType:
            return "members", self._declaring(value)
        if isinstance(value, enum.Enum):
            return "item", kind, value.name
        if (made := self._made(value)) is not None:
            return made
        if isinstance(value, _NAMED):
            return self._named(value)
        if isinstance(value, (np.generic, np.dtype)) or kind.__module__.partition(".")[0] == "looplift":
            return None
        raise Unknown(kind.__qualname__)

    def _made(self, value: Any) -> Any:
        """Kernels, programs and helpers, which are made of text."""
        from looplift.build.native import Awaited, Growing
        from looplift.ir.kernel import Kernel

        made = type(value) is types.FunctionType or isinstance(value, (Awaited, Growing))
        if made and isinstance(kernel := getattr(value, "kernel", None), Kernel):
            return "kernel", kernel, getattr(value, "has_gradients", False)
        if made and (texts := getattr(value, "texts", None)) is not None:
            return "program", texts
        if type(value) is types.FunctionType and value.__module__ is None:
            from looplift.emit.helpers import HELPERS, helper_functions

            if value.__name__ in HELPERS and helper_functions((value.__name__,))[value.__name__] is value:
                return "helper", value.__name__
        return None

    def _declaring(self, members: types.MappingProxyType) -> type:
        """The class whose table this is: one that was packed before."""
        (table,) = gc.get_referents(members)
        found = (one for one in self.classes if gc.get_referents(vars(one))[0] is table)
        return next(found, None) or _unknown("a table of members")

    def _of_code(self, code: types.CodeType) -> Any:
        owner = self.owners.get(id(code)) or _own_function(code)
        if getattr(owner, "__code__", None) is not code:
            raise Unknown(code.co_name)
        return "code", *(self._named(owner) or ("named", owner.__module__, owner.__qualname__, digest_of(owner)))

    def _named(self, value: Any) -> Any:
        if isinstance(value, type):
            self.classes.append(value)
        module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", value.__name__)
        if str(module).partition(".")[0] == "looplift":
            return None if standing_at(str(module), name) is value else _unknown(name)
        if (known := next((own for own, one in vars(types).items() if one is value), None)) is not None:
            return "named", "types", known, digest_of(value)
        places = [module] if module is not None else []
        places += _MODULES if is_of_library(value) or isinstance(value, np.ufunc) else []
        for place in places:
            for own in dict.fromkeys((name, value.__name__)):
                if standing_at(place, own) is value:
                    return "named", place, own, digest_of(value)
        if id(value) in self.roots:
            return "root", self.roots[id(value)], digest_of(value)
        return _unknown(name)


def _own_function(code: types.CodeType) -> Any:
    """A function of looplift's, by its code."""
    for name, module in list(sys.modules.items()):
        if name.startswith("looplift.") and getattr(module, "__file__", None) == code.co_filename:
            return standing_at(name, code.co_name)
    return None


def _unknown(name: str) -> Any:
    raise Unknown(name)


def standing_at(module: str, qualname: str) -> Any:
    """What stands under a name in a module that is imported; None where nothing does."""
    found: Any = sys.modules.get(module)
    for name in qualname.split("."):
        found = getattr(found, name, None)
    return found


class Unpacker(pickle.Unpickler):
    """``loop_of``: makes the loop of a program from the names of its inputs."""

    def __init__(self, file: Any, values: Mapping[str, Any], program: Any):
        super().__init__(file)
        self.values, self.program = values, program

    def persistent_load(self, identity: Any) -> Any:
        kind, *rest = identity
        return getattr(self, f"_{kind}")(*rest)

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] not in ("looplift", "builtins", "torch", "numpy", "collections"):
            raise Unknown(f"{module}.{name}")
        return super().find_class(module, name)

    def _module(self, name: str) -> Any:
        import importlib

        return importlib.import_module(name)

    def _members(self, kind: type) -> Any:
        return vars(kind)

    def _item(self, kind: Any, name: str) -> Any:
        return kind[name]

    def _number(self, module: str, name: str) -> float:
        return getattr(sys.modules[module], name)

    def _globals(self, name: str) -> Any:
        return vars(sys.modules[name])

    def _kernel(self, kernel: Any, has_gradients: bool) -> Any:
        from looplift.pipeline.kernels import built

        return built(kernel, has_gradients)

    def _program(self, texts: Any) -> Any:
        from looplift.build.native import load_program
        from looplift.pipeline.programs import loop_of

        text, caller, inputs, outside = texts
        function: Any = load_program(text, caller, loop_of(self.program, inputs, outside))
        function.texts = texts
        return function

    def _helper(self, name: str) -> Any:
        from looplift.emit.helpers import helper_functions

        return helper_functions((name,))[name]

    def _code(self, *owner: Any) -> Any:
        return self.persistent_load(owner).__code__

    def _named(self, module: str, name: str, digest: str) -> Any:
        return _checked(standing_at(module, name), digest)

    def _root(self, name: str, digest: str) -> Any:
        return _checked(self.values.get(name), digest)


def _checked(value: Any, digest: str) -> Any:
    if digest_of(value) != digest:
        raise Unknown("what stands there now is something else")
    return value


def packed(content: Any, values: Mapping[str, Any], describer: Describer) -> bytes:
    """Raises Unknown, or an error of ``pickle``, for what another process cannot have again."""
    file = io.BytesIO()
    Packer(file, values, describer).dump(content)
    return file.getvalue()


def unpacked(content: bytes, values: Mapping[str, Any], program: Any) -> Any:
    """Raises Unknown where this process has not what it was made for, NotLiftable where a kernel cannot be built, and
    what ``pickle`` raises for bytes that are none of its own."""
    return Unpacker(io.BytesIO(content), values, program).load()
