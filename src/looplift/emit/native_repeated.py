"""Loops that change elements at computed places, with several iterations written out.

for (; i < pause; ++i) {           for (; pause - i >= 4;)
  const int64_t k = key(i);          for (int64_t once = 0; once < 4; ++once, ++i) {
  counts(k) += 1;                      const int64_t k = key(i);
}                                      counts(k) += 1;
                                     }
                                   for (; i < pause; ++i) { ... }

A processor notes by instruction which loads had to wait for a store, and lets them wait for the next one too. With one
instruction for all iterations, two near each other that meet make every iteration wait for the one before, twice as
long as all the rest takes; with some of them, few do. It goes by the text, like ``native_independent``.
"""

from __future__ import annotations

import re

from looplift.emit.native_independent import code_of, fresh

TIMES = 4
LONGEST = 24
"""So many lines of a body at most are repeated: a compiler writes out no longer ones."""
_STRIP = re.compile(r"( *)for \(; (\w+) < (\w+); \+\+\2\) \{")
_CHANGED = re.compile(r"^ *(\w+)\(([^()]*)\) ([-+*/&|^]|<<|>>)?= ", re.MULTILINE)


def repeated(lines: list[str]) -> list[str]:
    """The lines of a kernel, with such loops that come in long strips written out."""
    found: list[str] = []
    at = 0
    while at < len(lines):
        head = _STRIP.fullmatch(lines[at])
        end = lines.index(head[1] + "}", at) if head else at
        body = lines[at + 1 : end]
        if head is not None and _is_small(body) and _changes_at_computed(body, head[2]):
            found += _written_out(head, body, lines)
        else:
            found += lines[at : end + 1]
        at = end + 1
    return found


def _is_small(body: list[str]) -> bool:
    """Whether iterations may be written out: they are short, hold no loop, and none is the last one by itself."""
    return len(body) <= LONGEST and not re.search(r"\b(?:for|while|break)\b|^#", code_of(body), re.MULTILINE)


def _changes_at_computed(body: list[str], index: str) -> bool:
    """Whether an element is read and stored whose place the iteration computes."""
    code = code_of(body)
    for changed in re.finditer(_CHANGED, code):
        name, place, operator = changed.groups()
        names = re.findall(r"[A-Za-z_]\w*", place)
        is_computed = any(re.search(rf"\bint64_t {one} = ", code) for one in names) and index not in names
        if is_computed and (operator or len(re.findall(rf"\b{name}\(", code)) > 1):
            return True
    return False


def _written_out(head: re.Match[str], body: list[str], taken: list[str]) -> list[str]:
    indent, index, stop = head.groups()
    (once,) = fresh(("once",), "\n".join(taken))
    return [
        f"{indent}for (; {stop} - {index} >= {TIMES};)",
        f"{indent}  for (int64_t {once} = 0; {once} < {TIMES}; ++{once}, ++{index}) {{",
        *("  " + line for line in body),
        f"{indent}  }}",
        head[0],
        *code_of(body).splitlines(),
        indent + "}",
    ]
