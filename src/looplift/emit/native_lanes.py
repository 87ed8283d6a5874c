"""What a loop does once for several of its iterations, and what each of them, its lane, for itself; by the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from looplift.base.data import dataclass, field
from looplift.emit.native_independent import NAME

FIRST, LAST, GIVES_UP = "@first", "@last", "@alone"
"""In lines that are the same in all lanes: the first index, the last one, and to go on with one iteration at a time."""

NEST = re.compile(r"for \(int64_t (\w+) = .*\) \{")
_NUMBER = r"(?:Held<(?:float|double|int64_t|int32_t)>|bool|float|double|int64_t|int32_t)"
DECLARED = re.compile(rf"(const )?({_NUMBER}) (\w+)(?: = (.*))?;")
_SET = re.compile(r"(\w+) (?:[-+*/|&^]|<<|>>)?= .*;")
_STORED = re.compile(r"\w+\(.*\) (?:[-+*/|&^]|<<|>>)?= .*;")
_CHANGED = re.compile(r"(?:^|\) )(\w+) (?:[-+*/|&^]|<<|>>)?= [^=].*;$")
_CHECKED = re.compile(r"if \((.*)\) return (\w+);")
_DOUBTED = re.compile(r"if \((doubt\.\w+\(.*\))\) return warned;")
_SHORT = re.compile(r"if \(.*\) (?:\w+ (?:[-+*/|&^]|<<|>>)?= .*|continue);|continue;")
_BRANCH = re.compile(r"if \(.*\) \{|\} else \{|\} else if \(.*\) \{|\}")
_PLAIN = (DECLARED, _SET, _STORED, _CHECKED, _SHORT, _BRANCH)
_OUTSIDE = re.compile(r"\boutside\(((?:\w+ [-+] )*\w+), ")
_CALLED = re.compile(r"(?<![\w.:])((?:math::|doubt\.)?[A-Za-z_]\w*)(?:<[\w ,]*>)?\(")
_OF_ALL = (re.compile("const .*;"), re.compile(r"\w+ = true;"), _CHECKED)
_AT_ONCE = frozenset(
    "outside from_end smaller larger math::fabs math::sqrt math::isnan doubt.later doubt.used __builtin_inf"
    " __builtin_inff __builtin_nan __builtin_nanf".split()
)
"""What several lanes compute with one instruction, or what is none."""
_MAY_WARN = re.compile(r" / |math::sqrt")
"""What a lane would compute, and throw away, that has taken the other side of a branch."""


class Line(NamedTuple):
    """A statement."""

    text: str


class Branch(NamedTuple):
    """The sides of an ``if``, each with its opening."""

    sides: tuple[tuple[str, tuple[Line | Branch | Nest, ...]], ...]


class Nest(NamedTuple):
    """A loop inside of another."""

    head: str
    body: tuple[Line | Branch | Nest, ...]


Body: TypeAlias = "tuple[Line | Branch | Nest, ...]"


@dataclass(frozen=True)
class Once:
    """A line that is the same in all lanes."""

    text: str


@dataclass(frozen=True)
class Run:
    """Lines that each lane has for itself; ``asks``: they may end the kernel."""

    lines: list[str] = field(default_factory=list)
    asks: bool = False


@dataclass(frozen=True)
class Around:
    """A loop that all lanes go through together, or a branch that all take or none; each part with its opening."""

    parts: list[tuple[str, list[Once | Run | Around]]]


Steps: TypeAlias = "list[Once | Run | Around]"


class NotEven(Exception):
    """Lanes part ways."""


# ---------------------------------------------------------------- statements


def without_unread(lines: list[str]) -> list[str]:
    """Without what is set, and never read."""
    for name in {match[3] for line in lines if (match := DECLARED.fullmatch(line)) and not match[1]}:
        mentions = [line for line in lines if re.search(rf"\b{name}\b", line)]
        own = re.compile(rf"(?:{_NUMBER} )?{name}(?: = [^=].*)?;")
        if all(own.fullmatch(line) and len(re.findall(rf"\b{name}\b", line)) == 1 for line in mentions):
            lines = [line for line in lines if line not in mentions]
    return lines


def parsed(lines: list[str]) -> Body:
    """Statements, branches and loops; raises NotEven where there is something else."""
    found: list[Line | Branch | Nest] = []
    at = 0
    while at < len(lines):
        end = _closing(lines, at) + 1 if lines[at].endswith("{") else at + 1
        part = lines[at:end]
        if NEST.fullmatch(part[0]):
            found.append(Nest(part[0], parsed(part[1:-1])))
        elif re.fullmatch(r"if \(.*\) \{", part[0]):
            found.append(Branch(tuple(_sides(part))))
        elif len(part) == 1 and not re.search(r"&\w", part[0]) and any(form.fullmatch(part[0]) for form in _PLAIN):
            found.append(Line(part[0]))
        else:
            raise NotEven
        at = end
    return tuple(found)


def _closing(lines: list[str], at: int) -> int:
    depth = 0
    for k in range(at, len(lines)):
        depth += lines[k].endswith("{") - lines[k].startswith("}")
        if depth == 0:
            return k
    return len(lines) - 1


def _sides(lines: list[str]) -> Iterator[tuple[str, Body]]:
    depth, start = 0, 0
    for k, line in enumerate(lines):
        if line.startswith("}") and depth == 1:
            yield lines[start], parsed(lines[start + 1 : k])
            start = k
        depth += line.endswith("{") - line.startswith("}")


def _lines_of(body: Iterable[Line | Branch | Nest]) -> Iterator[str]:
    """All lines, as they were."""
    for one in body:
        if isinstance(one, Line):
            yield one.text
            continue
        for head, inner in one.sides if isinstance(one, Branch) else [(one.head, one.body)]:
            yield head
            yield from _lines_of(inner)
        yield "}"


def varying_of(body: Body, index: str) -> tuple[frozenset[str], dict[str, str]]:
    """The names that differ from lane to lane, and the types of all that are declared."""
    varying, kinds = {index}, dict[str, str]()
    for line in _lines_of(body):
        if match := DECLARED.fullmatch(line):
            kinds[match[3]] = re.sub(r"Held<(\w+)>", r"\1", match[2])
            if not match[1] or not varying.isdisjoint(NAME.findall(line)):
                varying.add(match[3])
    return frozenset(varying), kinds


@dataclass(frozen=True)
class Taker:
    """Takes the body of a loop apart into what is done once for all lanes, and what by each."""

    varying: frozenset[str]
    index: str
    functions: frozenset[str]

    def of(self, body: Body, deep: bool = False) -> Steps:
        """Raises NotEven where lanes would not stay together. ``deep``: in a loop inside of that of the lanes."""
        found: Steps = []
        may_skip = False
        for one in body:
            if may_skip and not (isinstance(one, Line) and not _check_of(one.text)):
                raise NotEven
            match one:
                case Nest(head=head, body=inner):
                    if self.differs(head):
                        raise NotEven
                    found.append(Around([(head, self.of(inner, True))]))
                case Branch(sides=sides):
                    skips = any("continue;" in line for line in _lines_of((one,)))
                    if skips or any(self.differs(head) for head, _ in sides):
                        self.add_branch(found, one, deep)
                        may_skip = skips
                    else:
                        found.append(Around([(head, self.of(inner, deep)) for head, inner in sides]))
                case Line(text=line):
                    once = [] if may_skip else self.once(line)
                    found += map(Once, once)
                    if not once:
                        self.add(found, line, deep)
                    may_skip |= "continue;" in line
        return found

    def add(self, found: Steps, line: str, deep: bool) -> None:
        """A line that each lane has for itself, to the run before if there is one."""
        if not _check_of(line):
            _go_on(found, [self.checked(line, deep)])
        elif deep:
            raise NotEven
        else:
            found.append(Run([line], asks=True))

    def add_branch(self, found: Steps, branch: Branch, deep: bool) -> None:
        """A branch that lanes may take or not: what its sides ask of all lanes alike is asked before, and where it does
        not hold, lanes give up, since none may have come there."""
        lines: list[str] = []
        own = {match[3] for line in _lines_of((branch,)) if (match := DECLARED.fullmatch(line))}
        for line in _lines_of((branch,)):
            if NEST.fullmatch(line):
                raise NotEven
            if _check_of(line):
                if not own.isdisjoint(NAME.findall(line)) or not (once := self.once(line)):
                    raise NotEven
                found += [Once(re.sub(r"return \w+;$", GIVES_UP, text)) for text in once]
            else:
                lines.append(self.checked(line, deep))
        _go_on(found, lines)

    def differs(self, line: str) -> bool:
        return not self.varying.isdisjoint(NAME.findall(line))

    def once(self, line: str) -> list[str]:
        """The line as it stands for all lanes together; nothing where each has its own."""
        if not self.differs(line):
            return [line] if any(form.fullmatch(line) for form in _OF_ALL) else []
        check = _check_of(line)
        return _of_all(check, self.varying, self.index) if check else []

    def checked(self, line: str, deep: bool) -> str:
        """A line that lanes may have beside each other; those of inner loops must be worth it."""
        doubted = _DOUBTED.fullmatch(line)
        called = set(_CALLED.findall(line)) - {"if"}
        others = {n for n in called if n in self.functions or n.startswith(("math::", "doubt.", "__builtin_"))}
        if deep and not others <= _AT_ONCE:
            raise NotEven
        return f"{doubted[1]};" if doubted else line


def _go_on(found: Steps, lines: list[str]) -> None:
    """Lines of lanes, in the run before if there is one: that goes behind what is done once."""
    place = next((k for k in range(len(found), 0, -1) if not isinstance(found[k - 1], Once)), 0)
    last = found[place - 1] if place else None
    if isinstance(last, Run) and not last.asks:
        found.append(found.pop(place - 1))
        last.lines.extend(lines)
    else:
        found.append(Run(lines))


def _check_of(line: str) -> re.Match[str] | None:
    """A line that may end the kernel, for another reason than a doubt."""
    return None if _DOUBTED.fullmatch(line) else _CHECKED.fullmatch(line)


def _of_all(check: re.Match[str], varying: frozenset[str], index: str) -> list[str]:
    """A check of places that go up or down with the lane: of the first and of the last; nothing where it is another."""
    condition = check[1]
    rest = _OUTSIDE.sub("outside(, ", condition)
    places = [match[1].split() for match in _OUTSIDE.finditer(condition)]
    if not varying.isdisjoint(NAME.findall(rest)):
        return []
    if any(not varying.isdisjoint({*place} - {index}) or place.count(index) > 1 for place in places):
        return []
    ends = (re.sub(rf"\b{index}\b", end, condition) for end in (FIRST, LAST))
    return [f"if ({end}) return {check[2]};" for end in ends]


# ---------------------------------------------------------------- what they keep, and gain


def _runs(steps: Steps, deep: bool = False) -> Iterator[tuple[Run, bool]]:
    """Lines of lanes, and whether they are in an inner loop."""
    for one in steps:
        if isinstance(one, Around):
            for head, inner in one.parts:
                yield from _runs(inner, deep or head.startswith("for "))
        elif isinstance(one, Run):
            yield one, deep


def kept_of(steps: Steps, kinds: dict[str, str]) -> dict[str, str]:
    """The types of what lanes declare in one place, and need in another one."""
    times: dict[str, int] = {}
    declared = set[str]()
    for run, _ in _runs(steps):
        declared |= {match[3] for line in run.lines if (match := DECLARED.fullmatch(line))}
        for name in sorted(set(NAME.findall("\n".join(run.lines))) & kinds.keys()):
            times[name] = times.get(name, 0) + 1
    return {name: kinds[name] for name, count in times.items() if count > 1 and name in declared}


def gains(steps: Steps, kept: dict[str, str]) -> bool:
    """Whether an inner loop carries a number that is no integer, which makes its iterations wait for each other."""
    inner = [line for run, deep in _runs(steps) if deep for line in run.lines]
    changed = {match[1] for line in inner if (match := _CHANGED.search(line))}
    return any(kept.get(name) in ("float", "double") for name in changed)


def may_give_up(steps: Steps) -> bool:
    """Whether nothing is stored before the last place where lanes may give up, and be done one by one."""
    order = [*_in_order(steps)]
    last = max((k for k, line in enumerate(order) if GIVES_UP in line), default=-1)
    return not any(_STORED.fullmatch(line) for line in order[: max(last, 0)])


def may_be_repeated(steps: Steps) -> bool:
    """Whether nothing is read of the arrays that are stored into, so that an iteration may run twice."""
    text = "\n".join(_in_order(steps))
    stored = [line for line in text.split("\n") if _STORED.fullmatch(line)]
    names = [match[1] for line in stored if (match := re.match(r"(\w+)\(.*?\) = ", line))]
    return len(names) == len(stored) and all(len(re.findall(rf"\b{n}\(", text)) == names.count(n) for n in {*names})


def _in_order(steps: Steps) -> Iterator[str]:
    for one in steps:
        if isinstance(one, Around):
            # what is in a loop comes before itself, too
            for _ in range(2):
                for _, inner in one.parts:
                    yield from _in_order(inner)
        else:
            yield from [one.text] if isinstance(one, Once) else one.lines


def warns_for_others(steps: Steps) -> bool:
    """Whether what is computed on one side of a branch alone might overflow on the other one, and be noted."""
    for run, _ in _runs(steps):
        depth = 0
        for line in run.lines:
            if depth and line.startswith("doubt.") and _MAY_WARN.search("\n".join(run.lines)):
                return True
            depth += line.endswith("{") - line.startswith("}")
    return False
