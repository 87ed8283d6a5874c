"""The C++ that typed programs lean on, declaration by declaration, in; those that one program uses out."""

from __future__ import annotations

import re
from functools import cache

from looplift.base.data import dataclass

_START = re.compile(r"\n(?=[^\s}])")
_COMMENT = re.compile(r"//.*")
_WORD = re.compile(r"[A-Za-z_]\w*")
_STRUCT = re.compile(r"^(?:template <.*?> )?struct (\w+)(.*)")
_TEMPLATE = re.compile(r"^template <[^<>]*(?:<[^<>]*>[^<>]*)*> ")
_FUNCTION = re.compile(r"(\w+)(?:<\w+>)?\(")
_ATTRIBUTE = re.compile(r"\[\[\w+\]\] |__attribute__\(\(.*?\)\) |decltype\(.*?\)")
_VARIABLE = re.compile(r"([A-Za-z_]\w*)(?=(?:\[[^\]]*\])? *[=,;])")
_BODY = re.compile(r"\{.*\}", re.DOTALL)
_ANYWAY = ("#", "typedef", "enum", "extern", "inline", "namespace")
_ALWAYS = frozenset(("Dyn",))
"""What a number of any type becomes where it is an argument."""


@dataclass
class Part:
    """A declaration: the ``names`` it gives, and those types of its parameters without which nobody can use it."""

    text: str
    names: frozenset[str]
    types: frozenset[str]
    anyway: bool = False
    is_type: bool = False


def used(texts: list[str], program: str) -> str:
    """A program behind those declarations of the texts that it leans on, in their order.

    A function is used where something has its name, and where there are all types that its parameters have: overloads
    for others are nobody's. So each of several forms of a template.
    """
    parts = [part for text in texts for part in _parts(text)]
    types = frozenset(name for part in parts if part.is_type for name in part.names) - _ALWAYS
    known = set(_words(program))
    taken, waiting = set(), [(place, part, part.types & types) for place, part in enumerate(parts)]
    while True:
        left = []
        for one in waiting:
            place, part, needed = one
            if part.anyway or (not part.names.isdisjoint(known) and needed <= known):
                taken.add(place)
                known |= _words(part.text)
            else:
                left.append(one)
        if len(left) == len(waiting):
            return "\n".join([*(part.text for place, part in enumerate(parts) if place in taken), program])
        waiting = left


@cache
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(_COMMENT.sub("", text)))


@cache
def _parts(text: str) -> list[Part]:
    parts, comment = [], ""
    whole = text.startswith("namespace")
    for one in [text] if whole else _START.split(text.strip("\n")):
        if one.startswith("//"):
            comment += one + "\n"
            continue
        parts.append(_part(comment + one, one))
        comment = ""
    return parts


def _part(text: str, code: str) -> Part:
    nothing: frozenset[str] = frozenset()
    if code.startswith(_ANYWAY):
        return Part(text, nothing, nothing, anyway=True)
    if found := _STRUCT.match(code):
        name, rest = found.groups()
        return Part(text, frozenset((name,)), _words(re.split(" {| :", rest)[0]), is_type=True)
    head = _ATTRIBUTE.sub("", _TEMPLATE.sub("", code)).partition("{")[0]
    if function := _FUNCTION.search(head):
        return Part(text, frozenset((function[1],)), _words(head[function.end() :]))
    return Part(text, frozenset(_VARIABLE.findall(_BODY.sub("", code))), nothing)
