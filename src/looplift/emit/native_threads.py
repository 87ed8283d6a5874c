"""Loops of a written kernel whose iterations do not meet, as functions of a part of their range, for several threads.

Like ``native_independent``, which says what such loops are, it goes by the text.
"""

from __future__ import annotations

import re

from looplift.base.data import replace
from looplift.emit.native_independent import (
    LOOP,
    Context,
    Independent,
    Outer,
    end_of_block,
    fresh,
    independent,
    meeting_none,
)
from looplift.emit.native_jammed import Lanes, jammed

_NESTED = re.compile(r" *(?:for|while) \(.*\{| *(?:const )?auto \w+ = \[.*\{")


def shared_loops(lines: list[str], context: Context) -> list[str]:
    """The lines of a kernel, with its independent loops for several threads. ``context`` is in front of them."""
    found: list[str] = []
    at = 0
    while at < len(lines):
        end = at + 1
        if _NESTED.fullmatch(lines[at]):
            end = end_of_block(lines, at)
            loop = lines[at:end]
            if not (found and found[-1].lstrip().startswith("#")):
                place = context._replace(before=[*context.before, *found], after=(*context.after, *lines[end:]))
                loop = _faster(loop, place)
            found += loop
        else:
            found.append(lines[at])
        at = end
    return found


def around_a_loop(lines: list[str]) -> tuple[list[str], list[str], list[str]]:
    """The lines before the first loop among them, it, and those behind it."""
    at = next((k for k, line in enumerate(lines) if _NESTED.fullmatch(line)), len(lines))
    end = end_of_block(lines, at) if at < len(lines) else at
    return lines[:at], lines[at:end], lines[end:]


def _faster(loop: list[str], context: Context) -> list[str]:
    """A loop as a function of a part of its range, and its call, unless its iterations may meet; in both, what runs
    several iterations at once."""
    placed, listed = _placed(loop, context.before)
    found = independent(placed, context)
    if found is None:
        return jammed(loop, context)
    inner = jammed(placed, context)
    lanes = Lanes.of(placed, context) if inner == placed else None
    text = _as_function(replace(found, lines=inner), lanes, [*context.before, *context.after])
    return _lengthened(text, listed, found.low, found.high)


# ---------------------------------------------------------------- lists


def _placed(loop: list[str], before: list[str]) -> tuple[list[str], list[str]]:
    """A loop in which each list that is empty before, and to which each iteration appends one number, has that at the
    place of the iteration; and the names of these lists."""
    match = LOOP.fullmatch(loop[0])
    if match is None:
        return loop, []
    index, low, _ = match.groups()
    is_cut = "strip_end(" in "".join(loop[:4])
    start = " " * (len(loop[0]) - len(loop[0].lstrip()) + (4 if is_cut else 2))
    place = index if low == "0" else f"{index} - {low}"
    earlier = "\n".join(line for line in before if not line.lstrip().startswith("//"))
    found: list[str] = []
    lines = []
    for line in loop:
        appended = re.fullmatch(start + r"if \(!(\w+)\.push\((\w+(?:\([\w, ]*\))?)\)\) return out_of_memory;", line)
        if appended and re.fullmatch(r"\w+", low) and _is_new(appended[1], earlier, loop):
            found.append(appended[1])
            line = f"{start}{appended[1]}({place}) = {appended[2]};"
        lines.append(line)
    return (lines, found) if "continue;" not in "".join(loop) else (loop, [])


def _is_new(name: str, earlier: str, loop: list[str]) -> bool:
    """Whether nothing but its declaration mentions a list before a loop, and one line alone does in it."""
    mentions = re.findall(rf"\b{name}\b", "\n".join(line for line in loop if not line.lstrip().startswith("//")))
    declared = re.search(rf"^ *Array<\w+, 1> {name};", earlier, re.MULTILINE)
    return bool(declared) and len(mentions) == 1 and len(re.findall(rf"\b{name}\b", earlier)) == 1


def _lengthened(text: list[str], listed: list[str], low: str, high: str) -> list[str]:
    """With lists that are made as long as the loop puts numbers into them."""
    if not listed:
        return text
    indent = " " * (len(text[0]) - len(text[0].lstrip()))
    length = high if low == "0" else f"({high}) - {low}"
    grown = " || ".join(f"!{name}.lengthen({length})" for name in listed)
    return [f"{indent}if ({grown}) return out_of_memory;", *text]


# ---------------------------------------------------------------- the text


def _captured(arrays: list[str], flags: set[str], outer: Outer) -> str:
    """What the function keeps besides copies of numbers and views: arrays without a share in their memory."""
    kinds = outer.made | outer.renamed
    views = [f"{name} = View<{kinds[name]}>({name})" for name in arrays if name in kinds]
    return ", ".join(["=", *(f"&{name}" for name in sorted(flags)), *views])


def _as_function(found: Independent, lanes: Lanes | None, around: list[str]) -> list[str]:
    loop, index, bounds, given = found.lines, found.index, (found.low, found.high), found.given
    captured = _captured(found.arrays, found.flags, found.outer)
    indent = " " * (len(loop[0]) - len(loop[0].lstrip()))
    taken = "\n".join([*around, *loop, *bounds, *given, *found.others])
    part, first, last, outcome = fresh(("part", "first", "last", "outcome"), taken)
    head = re.sub(rf"{index} = [^;]+; {index} < [^;]+;", f"{index} = {first}; {index} < {last};", loop[0])
    rest = [re.sub(rf"strip_end\({index}, .*\);", f"strip_end({index}, {last});", line) for line in loop[1:]]
    whole = [head, *rest] if lanes is None else lanes.text([head, *rest])
    for flag in found.flags:
        whole = [re.sub(rf"\b{flag} = true;", f"__atomic_store_n(&{flag}, true, __ATOMIC_RELAXED);", r) for r in whole]
    look = [f"{indent}  if (doubt.any()) return doubtful;"] if any("doubt." in line for line in loop) else []
    call = f"shared(watch, {', '.join(bounds)}, {meeting_none(found) or 'true'}, {part})"
    return [
        *(line[2:] for line in look),
        f"{indent}const auto {part} = [{captured}](int64_t {first}, int64_t {last}, Watch& watch) -> int {{",
        *([f"{indent}  int64_t patience = watch.budget;"] if any("patience" in line for line in loop) else []),
        *([f"{indent}  Doubt doubt;"] if look else []),
        *(f"{indent}  if (!is_dense({name})) return strided;" for name in found.dense),
        *(line if line.startswith("#") else f"  {line}" for line in whole),
        *look,
        f"{indent}  return done;",
        f"{indent}}};",
        f"{indent}if (const int {outcome} = {call}) return {outcome};",
    ]
