"""The Python text that launches a kernel on a device: it packs numbers and sizes, and looks at how the kernel ended."""

from __future__ import annotations

from looplift.base.data import dataclass
from looplift.emit.native_caller import argument_names, item_text
from looplift.emit.native_independent import fresh
from looplift.emit.native_signature import Parameter, Signature
from looplift.ir.grammar import Var

ROOM = 32
"""Outcomes are less; what is noted is that many times the number of an iteration, and the outcome."""
NOTHING = 2**63 - 1
"""Noted while nothing went wrong."""
Given = list[tuple[Parameter, str]]
"""Parameters with Python's texts of what they are."""


@dataclass
class State:
    """The integers that a kernel shares with its caller: what went wrong, for each tensor that it may write to whether
    it did, and then numbers, sizes and steps. The rest are pointers and floats, which are parameters."""

    signature: Signature
    tensors: list[Parameter]

    def parameters(self, stored: set[Var]) -> list[str]:
        """The C++ parameters."""
        found: list[str] = []
        for parameter in self.signature.parameters:
            if parameter.is_pointer or parameter.kind.family == "float":
                found.append(parameter.cpp(stored=parameter.var in stored)[0])
        return found

    def openings(self, state: str) -> list[str]:
        """The lines that take what is not a parameter out of the state."""
        lines, place = [], 1 + len(self.tensors)
        for parameter in self.signature.parameters:
            for text in _integers(parameter):
                test = " != 0" if text.startswith("bool ") else ""
                lines.append(f"const {text} = {state}[{place}]{test};")
                place += 1
        return [*lines, *(f"bool {parameter.changed} = false;" for parameter in self.tensors)]

    def flags(self) -> list[tuple[str, int]]:
        """The variables that tell whether a tensor was written to, with their places."""
        return [(parameter.changed, place) for place, parameter in enumerate(self.tensors, 1)]

    def values(self, given: Given) -> list[str]:
        """Python's texts of the state before the launch."""
        found = [str(NOTHING), *("0" for _ in self.tensors)]
        for parameter, name in given:
            if parameter.is_pointer:
                found += [f"*{name}.shape", f"*{name}.stride()"] if parameter.rank else []
            elif parameter.kind.family != "float":
                found.append(name)
        return found

    def passed(self, given: Given) -> list[str]:
        """Python's texts of what the parameters are."""
        return [text for parameter, text in given if parameter.is_pointer or parameter.kind.family == "float"]


def _integers(parameter: Parameter) -> list[str]:
    """The declarations of what a kernel knows of a parameter as integers."""
    if parameter.is_pointer:
        return parameter.cpp(stored=False)[1:]
    return [] if parameter.kind.family == "float" else parameter.cpp(stored=False)


def caller_text(
    name: str, inputs: tuple[Var, ...], signature: Signature, stored: tuple[Var, ...], state: State, *, may_fail: bool
) -> str:
    """``def name(inputs) -> ()``. It needs ``torch``, ``failed``, ``home_of`` and ``launch``. ``may_fail``: also after
    something was written."""
    arguments = argument_names(inputs, signature)
    given = [(p, arguments.get(p.var) or item_text(p, arguments)) for p in signature.parameters]
    written = [arguments[var] for var in stored]
    device, values, kept, noted = fresh(("device", "state", "kept", "noted"), " ".join(text for _, text in given))
    lines = [line for parameter, text in given for line in _checks(parameter, text)]
    lines += [
        f"{device} = home_of({', '.join(text for parameter, text in given if parameter.is_pointer)})",
        f"{values} = torch.tensor([{', '.join(state.values(given))}], dtype=torch.int64, device={device})",
        *([f"{kept} = ({''.join(f'{one}.clone(), ' for one in written).strip()})"] if may_fail else []),
        f"launch({device}, [{', '.join([values, *state.passed(given)])}])",
        f"{noted} = {values}[:{1 + len(state.tensors)}].tolist()",
        f"if {noted}[0] != {NOTHING}:",
        *([f"    if {noted}[0] >= {ROOM}:"] if may_fail else []),
        *(f"        {one}.data.copy_({kept}[{k}])" for k, one in enumerate(written) if may_fail),
        f"    raise failed({noted}[0] % {ROOM})",
    ]
    for parameter, k in zip(state.tensors, range(1, 1 + len(state.tensors))):
        lines += [f"if {noted}[{k}]:", f"    torch.autograd.graph.increment_version({arguments[parameter.var]})"]
    body = "".join(f"    {line}\n" for line in [*lines, "return ()"])
    return f"def {name}({', '.join(arguments.values())}):\n{body}"


def _checks(parameter: Parameter, name: str) -> list[str]:
    """That an input is what the kernel was made for, but for its device, at which ``home_of`` looks."""
    match parameter.kind.family:
        case "tensor":
            dtype, rank = f"torch.{parameter.scalar.name}", parameter.kind.rank
            wrong = f"{name}.dtype is not {dtype} or {name}.dim() != {rank} or {name}.is_neg()"
            return [f"if {wrong}:", f'    raise TypeError("{name} must be a {rank}-dimensional tensor of {dtype}")']
        case "int":
            return [f"if not -0x8000000000000000 <= {name} < 0x8000000000000000:", "    raise failed(2)"]
    return []
