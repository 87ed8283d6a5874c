"""The statements of a typed program's routine in, the same with fewer copies out.

A temporary that stands for a name, or for another temporary, that does not change while it is used is a reference. A
0-dim tensor that is an operand, and put into a container once at the most, needs no buffer until then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import repeat
from typing import NamedTuple

_MADE = re.compile(r"(?P<type>[A-Z][\w:<>, ]*) (?P<name>t\d+)(?: = (?P<value>.+))?;")
_SET = re.compile(r"(?P<name>[tv]_?\w+) = (?P<value>.+);")
_CHANGED = re.compile(r"\b(t\d+|v_\w+)(?:\.\w+|\[[^]]*\])*(?: [-+*/%&|^]?=(?!=) |\+\+|--)")
_ALIAS = re.compile(r"[tv]_?\w+")
_NUMBER = re.compile(r"Ten<(\w+), 0>")
_BOX = r"(?:\bAs<Either<\w+, Ten<\w+, 0>>>::of|\bTen<\w+, 0>)\({name}\)"
_PICK = "pick<0>("
_COMPUTED = re.compile(r"map[12]<.*\)")
_SHARED = ("Ten<", "Either<", "Ref<")
"""What counts its holders; text may grow where it stands."""


class _Temporary(NamedTuple):
    """Where a temporary is made, the statements in which it can be read, and its type and value there."""

    line: int
    scope: range
    type: str
    value: str | None


def without_copies(lines: list[str], variables: dict[str, str], shared: Iterable[str] = ()) -> list[str]:
    """Statements of one routine. ``variables``: the types of its names; ``shared``: names that other routines see."""
    return _Routine(lines, variables, {*shared}).written()


class _Routine:
    def __init__(self, lines: list[str], variables: dict[str, str], shared: set[str]):
        self.lines, self.shared = [_picked_at_once(line) for line in lines], shared
        self.types = {f"v_{name}": text for name, text in variables.items()}
        self.ends = _ends(self.lines)
        self.made = self._made()
        self.types |= {name: one.type for name, one in self.made.items()}
        self.references: dict[str, str] = {}
        """What temporaries that are references stand for in the end: a reference to one is one to that."""
        self.settings: dict[str, list[int]] = {}
        self.mentions: dict[str, list[int]] = {}
        for number, line in enumerate(self.lines):
            made = _MADE.fullmatch(line)
            for name in {*_CHANGED.findall(line)} - ({made["name"]} if made is not None else set()):
                self.settings.setdefault(name, []).append(number)
            for name in {*re.findall(r"\b(?:t\d+|v_\w+)\b", line)}:
                self.mentions.setdefault(name, []).append(number)

    def _made(self) -> dict[str, _Temporary]:
        """The temporaries, each with the rest of the block in which it is made."""
        found: dict[str, _Temporary] = {}
        for number, line in enumerate(self.lines):
            if (made := _MADE.fullmatch(line)) is not None:
                scope = range(number + 1, self.ends[number])
                found[made["name"]] = _Temporary(number, scope, made["type"], made["value"])
        return found

    def written(self) -> list[str]:
        numbers: set[str] = set()
        for name, one in self.made.items():
            if one.value in numbers or self._is_number(name):
                numbers.add(name)
                value = f" = {one.value}" if one.value is not None else ""
                number = _NUMBER.sub(r"Num<\1>", one.type)
                self.lines[one.line] = f"{number} {name}{value};"
            elif self._is_steady(name, one):
                self.references[name] = self._stands_for(str(one.value))
                self.lines[one.line] = f"{one.type}& {name} = {one.value};"
        return self.lines

    def _uses(self, name: str, one: _Temporary) -> list[int]:
        return [number for number in self.mentions.get(name, ()) if number in one.scope]

    def _is_steady(self, name: str, one: _Temporary) -> bool:
        """Whether what a temporary stands for is the same value as long as it is used."""
        source = one.value
        if source is None or not _ALIAS.fullmatch(source) or self.types.get(source) != one.type:
            return False
        if not one.type.startswith(_SHARED):
            return False
        uses = self._uses(name, one)
        if name in self.settings or not uses or source in self.shared:
            return False
        during = range(one.line + 1, uses[-1] + 1) if all(map(self._is_once, uses, repeat(one))) else one.scope
        return not any(number in during for number in self.settings.get(self._stands_for(source), ()))

    def _stands_for(self, source: str) -> str:
        return self.references.get(source, source)

    def _is_once(self, number: int, one: _Temporary) -> bool:
        """Whether a statement runs once for each time that a temporary is made: it is in no loop inside of that block,
        and begins none."""
        return self.ends[number] == one.scope.stop and not self.lines[number].endswith("{")

    def _is_number(self, name: str) -> bool:
        """Whether a 0-dim tensor is only computed with, but for one place at the most that it is put into."""
        one = self.made[name]
        if _NUMBER.fullmatch(one.type) is None:
            return False
        given = [one.value] if one.value is not None else [
            found["value"] if (found := _SET.fullmatch(self.lines[number])) is not None else ""
            for number in self.settings.get(name, ())
        ]  # fmt: skip
        if not given or (one.value is not None and name in self.settings):
            return False
        return all(map(_COMPUTED.fullmatch, given)) and self._weight(name, one) <= 2

    def _weight(self, name: str, one: _Temporary) -> int:
        """How much is done with a 0-dim tensor: 1 for each operation that takes it, at most two, 2 where it becomes an
        object of its own, 3 where it is used in another way."""
        operand = count = 0
        for number in self._uses(name, one):
            line = self.lines[number]
            if number in self.settings.get(name, ()):
                continue
            if _is_operand(line, name):
                operand = 1
                continue
            found = _MADE.fullmatch(line)
            if not self._is_once(number, one):
                count += 3
            elif found is not None and found["value"] == name:
                made = self.made[found["name"]]
                steady = made.type == one.type and found["name"] not in self.settings
                count += self._weight(found["name"], made) if steady else 3
            elif len(re.findall(rf"\b{name}\b", line)) == len(re.findall(_BOX.format(name=name), line)) == 1:
                count += 2
            else:
                count += 3
        return count + operand


def _is_operand(line: str, name: str) -> bool:
    """Whether a name is read by ``map1`` or ``map2`` alone: each is the last call that begins before it."""
    for found in re.finditer(rf"\b{name}\b", line):
        calls, depth = [], 0
        for place in range(found.start() - 1, -1, -1):
            letter = line[place]
            depth += (letter == ")") - (letter == "(")
            if depth < 0:
                calls.append(re.search(r"([\w:<>, ]+)$", line[:place]))
                break
        if not calls or calls[0] is None or not re.search(r"\bmap[12]<[\w, ]+>$", calls[0][1]):
            return False
    return True


def _picked_at_once(line: str) -> str:
    """``pick<0>(pick<0>(x, i), j)`` as ``picked(x, i, j)``, which makes no rows on the way."""
    start = line.find(_PICK + _PICK)
    if start < 0:
        return line
    depth, end = 0, start
    while line.startswith(_PICK, end):
        depth, end = depth + 1, end + len(_PICK)
    named = re.match(r"[tv]_?\w+, ", line[end:])
    index, pieces = end + len(named[0]) if named is not None else 0, []
    while named is not None and len(pieces) < depth:
        close = _closing(line, index)
        pieces.append(line[index:close])
        if not line.startswith("), ", close) and len(pieces) < depth:
            return line[:end] + _picked_at_once(line[end:])
        index = close + 3 if len(pieces) < depth else close + 1
    if named is None:
        return line[:end] + _picked_at_once(line[end:])
    made = f"picked({named[0]}{', '.join(map(_picked_at_once, pieces))})"
    return line[:start] + made + _picked_at_once(line[index:])


def _closing(line: str, start: int) -> int:
    """Where the call ends in whose arguments a place is."""
    depth = 0
    for place in range(start, len(line)):
        depth += (line[place] in "([{") - (line[place] in ")]}")
        if depth < 0:
            return place
    return len(line)


def _ends(lines: list[str]) -> list[int]:
    """For each line the end of the block that it is in."""
    ends, opened = [len(lines)] * len(lines), [[]]
    for number, line in enumerate(lines):
        depth = line.count("{") - line.count("}")
        if line.startswith("}"):
            for one in opened.pop():
                ends[one] = number
            depth += 1
        opened[-1].append(number)
        for _ in range(depth):
            opened.append([])
    return ends
