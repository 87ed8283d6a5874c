"""What is passed to a kernel and handed out, with codes of ``ir/kernel_entry.py``; the C++ that takes all in slots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from looplift.base.data import dataclass
from looplift.ir.kernel_entry import slots_of


@dataclass(frozen=True)
class Passed:
    """``text``: the Python expression of a value that is passed; of what is handed out, its name. The kernel's
    functions of Python have none."""

    code: str
    text: str = ""

    @property
    def is_handed_out(self) -> bool:
        return self.code[0] == ">"


HOST, MAKER = Passed("h"), Passed("m")


def codes_of(passed: Iterable[Passed]) -> str:
    return " ".join(one.code for one in passed)


def arguments_of(passed: Iterable[Passed]) -> str:
    """What a call is given, in Python."""
    return ", ".join(one.text for one in passed if one.text and not one.is_handed_out)


def handed_out(passed: Iterable[Passed]) -> str:
    """The names of what is handed out, as they stand before an ``=``; nothing if there are none."""
    names = [one.text for one in passed if one.is_handed_out]
    return ", ".join(names) + ("," if len(names) == 1 else "")


ENTERED = 'extern "C" __attribute__((noinline)) int '
"""What is called by others comes in one copy, though what takes its arguments from slots calls it, too."""


def slots_text(name: str, parameters: Sequence[str], codes: str) -> str:
    """The function ``name_slots``: the same as ``name``, of one array with a slot of 8 bytes for each parameter."""
    arguments, place = [], 0
    declared = iter(parameters)
    for code in codes.split():
        slots = slots_of(code)
        for _ in range(1 if code[0] == ">" else slots):
            arguments.append(_taken(next(declared), place, is_handed_out=code[0] == ">"))
            place += slots if code[0] == ">" else 1
    lines, line = [], f"  return {name}("
    for position, argument in enumerate(arguments):
        piece = argument + (");" if position + 1 == len(arguments) else ", ")
        if len(line) + len(piece) > 115:
            lines.append(line.rstrip())
            line = "      "
        line += piece
    return "\n".join(["", f'extern "C" int {name}_slots(int64_t* slots) {{', *lines, line, "}", ""])


def _taken(parameter: str, place: int, *, is_handed_out: bool) -> str:
    kind = parameter.rpartition(" ")[0]
    if is_handed_out:
        return f"({kind})(slots + {place})"
    if kind.endswith("*"):
        return f"({kind})slots[{place}]"
    return f"*(double*)(slots + {place})" if kind in ("double", "float") else f"slots[{place}]"
