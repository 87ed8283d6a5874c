"""Loops of the IR as C++ loops: ranges, while, carried values, leaving early."""

from __future__ import annotations

import math
import re

from looplift.emit import native_renamed, native_statements
from looplift.emit.native_convert import convert, to_python, truth
from looplift.emit.native_flow import tail_of_body
from looplift.emit.native_mixed import as_integer
from looplift.emit.native_narrowing import where
from looplift.emit.native_ops import ADD, COMPARE, UNARY
from looplift.emit.native_prelude_host import STRIP
from looplift.emit.native_promoted import demote, promote
from looplift.emit.native_types import INT
from looplift.emit.native_values import Number, View
from looplift.emit.native_writer import Hoist, Writer
from looplift.ir.grammar import (
    UNDEFINED,
    Atom,
    Block,
    Carry,
    Const,
    Domain,
    If,
    Let,
    Loop,
    Op,
    Range,
    Var,
    While,
    walk,
)  # fmt: skip


def write_loop(writer: Writer, loop: Loop) -> None:
    """Declare what the loop carries, then write it."""
    writer.before_loop(loop)
    if loop is writer.flow.loop and any(carry.after in writer.findings.aliases for carry in loop.carries):
        writer.ran = writer.fresh("ran")
        writer.line(f"bool {writer.ran} = false;")
    carried = [carry for carry in loop.carries if _declare(writer, loop, carry)]
    promoted = promote(writer, loop)
    match loop.domain:
        case Range():
            _range(writer, loop, loop.domain, carried)
        case While():
            _while(writer, loop, loop.domain, carried)
    demote(writer, promoted)
    for carry in carried:
        if writer.flow.homes[carry.inside].array is None:
            writer.join(carry.after)
        writer.values[carry.after] = native_statements.joined(writer, carry.after)


# ---------------------------------------------------------------- carried values


def _declare(writer: Writer, loop: Loop, carry: Carry) -> bool:
    """Give a carried value its variable; False for one that stays the same object."""
    if (value := unchanged(writer, loop, carry)) is not None:
        writer.values[carry.inside] = writer.values[carry.after] = value
        if value.origin is not None:
            writer.findings.origins |= {carry.inside: value.origin, carry.after: value.origin}
        return False
    home = writer.flow.homes[carry.inside]
    init = writer.value(carry.init) if carry.init is not UNDEFINED else None
    if isinstance(init, View):
        native_renamed.declare(writer, home, carry, init)
        writer.values[carry.inside] = native_statements.joined(writer, carry.inside)
        return True
    join = writer.join(carry.inside, init)
    if join is None:
        raise writer.refuse("not-scalar", f"'{carry.hint}' is carried, and is no number")
    writer.hint = carry.hint
    if home.name:
        native_statements.assign(writer, home, writer.value(carry.init))
    else:
        home.is_element = writer.flow.holds_view(home)
        _declare_home(writer, home, carry)
    writer.values[carry.inside] = native_statements.joined(writer, carry.inside)
    return True


def _declare_home(writer: Writer, home, carry: Carry) -> None:
    join = writer.findings.joins[carry.inside]
    init = writer.value(carry.init)
    text = "0"
    if isinstance(init, Number):
        text = native_statements.stored_text(writer, home, init, join.type)
    native_statements.name_home(writer, home, carry.inside)
    writer.line(f"{native_statements.type_text(home, join.type)} {home.name} = {_of_type(text, home, join.type)};")
    if home.flag:
        flag = native_statements.flag_of(init, join.type) if isinstance(init, Number) else "false"
        writer.line(f"bool {home.flag} = {flag};")
    if home.bound:
        bound = (init.bound or "true") if isinstance(init, Number) else "false"
        writer.line(f"bool {home.bound} = {bound};")


def _of_type(text: str, home, scalar) -> str:
    return f"{scalar.cpp}({text})" if text == "0" and (home.is_element or scalar.is_half) else text


def unchanged(writer: Writer, loop: Loop, carry: Carry) -> View | Number | None:
    """The value of a carry that is the same tensor in every iteration, changed in place at most."""
    init = writer.value(carry.init) if carry.init is not UNDEFINED else None
    if init is None or not (isinstance(init, View) or (isinstance(init, Number) and init.alias and init.place)):
        return None
    return init if _same_tensor(loop, carry.next, carry.inside) else None


def _same_tensor(loop: Loop, value: Atom, inside: Var) -> bool:
    """Whether ``value`` is ``inside``, perhaps after operations in place."""
    if value is inside:
        return True
    for statement in walk(Block(loop.body.statements)):
        match statement:
            case Let(var=var, op=Op(name=name, args=(source, *_))) if (
                var is value and name.startswith("inplace.") and isinstance(source, Var)
            ):
                return _same_tensor(loop, source, inside)
            case If(phis=phis):
                for phi in phis:
                    if phi.var is value:
                        return all(_same_tensor(loop, side, inside) for side in (phi.then, phi.orelse))
            case Loop(carries=carries):
                for inner in carries:
                    if inner.after is value:
                        is_inner = _same_tensor(statement, inner.next, inner.inside)
                        return is_inner and _same_tensor(loop, inner.init, inside)
    return False


# ---------------------------------------------------------------- ranges

UNROLLED = 4
"""Iterations of a loop inside of another that are written out: what a window's places decide is decided before."""


def _range(writer: Writer, loop: Loop, domain: Range, carried: list[Carry]) -> None:
    lo, hi, step = (bound(writer, atom) for atom in (domain.lo, domain.hi, domain.step))
    assert loop.index is not None
    name = writer.fresh(loop.index.hint)
    opening, index = _opening(writer, name, lo, hi, step)
    hoist = _hoist(writer, loop, name, lo, hi, step)
    writer.hoists.append(hoist)
    writer.values[loop.index] = index
    writer.findings.possible[loop.index] = frozenset({INT})
    if len(writer.hoists) > 1 and writer.device is None and _is_unrolled(loop):
        writer.line(f"#pragma GCC unroll {UNROLLED}")
    head = len(writer.lines)
    with writer.block(opening):
        _body(writer, loop, carried)
        is_watched = writer.device is None and len(writer.hoists) == 1 and not _may_last(loop)
        is_watched = is_watched and _is_serial(writer, carried, head + 1)
        if is_watched and step.constant != 1:
            writer.lines.insert(head + 1, "  " * writer.depth + poll(1))
    if is_watched and step.constant == 1:
        _cut_into_strips(writer, head, name, lo, hi)
    writer.hoists.pop()
    if hoist is not None:
        indent = "  " * writer.depth
        writer.lines[hoist.mark : hoist.mark] = [indent + line for line in hoist.lines()]


def _is_unrolled(loop: Loop) -> bool:
    """Whether it is written down that a loop, and those inside of it, run a few times each."""
    return all(1 < _trips(one.domain) <= UNROLLED for one in walk(Block((loop,))) if isinstance(one, Loop))


def _trips(domain: Domain) -> int:
    bounds = (domain.lo, domain.hi, domain.step) if isinstance(domain, Range) else ()
    known = [bound.value for bound in bounds if isinstance(bound, Const) and isinstance(bound.value, int)]
    return len(range(*known)) if len(known) == 3 and known[2] else 0


def _hoist(writer: Writer, loop: Loop, name: str, lo: Number, hi: Number, step: Number) -> Hoist | None:
    """Where the range checks of a loop may go that runs to its end."""
    if loop.stop is not None or step.constant not in (1, -1):
        return None
    comparison = "<" if step.constant == 1 else ">"
    end = (hi, -1) if step.constant == 1 else (lo, 0)
    guard = f"{lo.at(COMPARE)} {comparison} {hi.at(COMPARE)}"
    start = lo if step.constant == 1 else None
    return Hoist(name, guard, *end, len(writer.lines), frozenset(writer.names.taken - {name}), start)


def _cut_into_strips(writer: Writer, head: int, name: str, lo: Number, hi: Number) -> None:
    """Let a loop that was just written look for Ctrl-C between strips of its iterations."""
    indent, stop = "  " * writer.depth, writer.fresh("pause")
    opening = [
        f"for (int64_t {name} = {lo.text}; {name} < {hi.at(ADD)};) {{",
        f"  {poll(STRIP)}",
        f"  const int64_t {stop} = strip_end({name}, {hi.text});",
        f"  for (; {name} < {stop}; ++{name}) {{",
    ]
    body = ["  " + line for line in writer.lines[head + 1 :]]
    writer.lines[head:] = [*(indent + line for line in opening), *body, indent + "}"]


def bound(writer: Writer, atom: Atom) -> Number:
    number = as_integer(writer, writer.number(atom))
    is_index = not (number.type.is_bool and number.type.family == "numpy")
    if number.type.is_float or number.other is not None or not is_index:
        raise writer.refuse("not-scalar", "the bound of a range is no integer")
    number = to_python(writer, number) if number.type.name == "uint64" else convert(writer, number, INT)
    return writer.bind(number, "bound") if number.homes or number.reads else number


def _opening(writer: Writer, name: str, lo: Number, hi: Number, step: Number) -> tuple[str, Number]:
    """The head of the ``for``, and its index with what is known of it."""
    index = index_of(name, lo, hi, step)
    match step.constant:
        case 1:
            return f"for (int64_t {name} = {lo.text}; {name} < {hi.at(ADD)}; ++{name})", index
        case -1:
            return f"for (int64_t {name} = {lo.text}; {name} > {hi.at(ADD)}; --{name})", index
    return _counted(writer, name, lo, hi, step), index


def index_of(name: str, lo: Number, hi: Number, step: Number) -> Number:
    """The index of a range, with what is known of it."""
    if step.low > 0:
        below = frozenset({hi.text}) | hi.below
        return Number(name, INT, low=lo.low, high=max(hi.high - 1, lo.low), below=below, affine=(name, 0))
    if step.high < 0:
        return Number(name, INT, low=min(hi.low + 1, lo.high), high=lo.high, below=lo.below, affine=(name, 0))
    return Number(name, INT, low=min(lo.low, hi.low), high=max(lo.high, hi.high))


def _counted(writer: Writer, name: str, lo: Number, hi: Number, step: Number) -> str:
    """Any other step: count the trips, so that no index passes the end of 64 bits."""
    if step.low <= 0 <= step.high:
        writer.fail_if(f"{step.at(COMPARE)} == 0", "broken_requirement")
    trips, trip = writer.fresh("trips"), writer.fresh("trip")
    writer.line(f"const int64_t {trips} = range_length({lo.text}, {hi.text}, {step.text});")
    advance = (
        f"{name} += {step.text}"
        if step.constant is None
        else f"{name} {'-' if step.constant < 0 else '+'}= {abs(step.constant)}"
    )
    return f"for (int64_t {trip} = 0, {name} = {lo.text}; {trip} < {trips}; ++{trip}, {advance})"


# ---------------------------------------------------------------- while, bodies


def _while(writer: Writer, loop: Loop, domain: While, carried: list[Carry]) -> None:
    mark = len(writer.lines)
    writer.hoists.append(None)
    with writer.block("while (true)"):
        start = len(writer.lines)
        native_statements.write_block(writer, domain.block, (domain.cond,))
        condition = truth(writer.number(domain.cond))
        if all(line.lstrip().startswith("//") for line in writer.lines[start:]):
            writer.lines[mark] = writer.lines[mark].replace("while (true)", f"while ({condition.text})")
        else:
            writer.line(f"if (!{condition.at(UNARY, strict=True)}) break;")
        with where(writer, domain.cond, True):
            _body(writer, loop, carried)
    writer.hoists.pop()


def _body(writer: Writer, loop: Loop, carried: list[Carry]) -> None:
    tail, start = tail_of_body(loop), len(writer.lines)
    if _may_last(loop) and not _is_short(loop) and (writer.device is None or len(writer.hoists) > 1):
        writer.line(poll(64 if holds_loop(loop) else 1))
    writer.count_trip(loop)
    if loop is writer.flow.loop and writer.ran:
        writer.line(f"{writer.ran} = true;")
    native_statements.write_block(writer, loop.body, tail)
    writer.end_block(loop.body)
    pairs = [(writer.flow.homes[carry.inside], carry.next) for carry in carried]
    stop = None
    if loop.stop is not None:
        stop = truth(writer.number(loop.stop))
        if stop.homes & {home for home, _ in pairs} and not _is_next(writer, loop, carried):
            stop = writer.bind(stop, "stop")
    end = len(writer.lines)
    native_statements.settle(writer, pairs, sized=True)
    if writer.device is None and len(writer.hoists) == 1:
        _move_early(writer, carried, start, end)
    if stop is not None:
        writer.line(f"if ({stop.text}) break;")


def _move_early(writer: Writer, carried: list[Carry], start: int, end: int) -> None:
    """Take what only moves on from one variable to another, as in a recurrence of second order, where an iteration
    begins: moved at its end, it stays in its register until the new value is there, which is moved in its place then.

    ``start``, ``end``: the lines of an iteration before what is carried is assigned.
    """
    homes = {carry.inside: writer.flow.homes[carry.inside] for carry in carried}
    body = [line for line in writer.lines[start:end] if not line.lstrip().startswith("//")]
    for carry in carried:
        source = homes.get(carry.next) if isinstance(carry.next, Var) else None
        join = writer.findings.joins.get(carry.inside)
        if source is None or source.name == homes[carry.inside].name or join is None:
            continue
        kind = native_statements.type_text(homes[carry.inside], join.type)
        taken = re.compile(rf" *(?:{homes[carry.inside].name}|const {kind} \w+) = ({source.name});")
        at = next((k for k in range(end, len(writer.lines)) if taken.fullmatch(writer.lines[k])), None)
        changed = re.compile(rf"(?<![\w.]){source.name} (?:[-+*/|&^]|<<|>>)?= |&{source.name}\b")
        if kind in ("double", "float") and at is not None and not any(map(changed.search, body)):
            name = writer.fresh(f"last_{carry.hint}")
            writer.lines[at] = f"{writer.lines[at][: -len(source.name) - 1]}{name};"
            writer.lines.insert(start, f"{'  ' * writer.depth}const {kind} {name} = moved_on({source.name});")
            end += 1


def _is_next(writer: Writer, loop: Loop, carried: list[Carry]) -> bool:
    """Whether the stop flag is carried itself, so that its variable holds it also after the assignments."""
    value = writer.values.get(loop.stop) if isinstance(loop.stop, Var) else None
    if not isinstance(value, Number):
        return False
    return any(carry.next is loop.stop and writer.flow.homes[carry.inside] in value.homes for carry in carried)


def _may_last(loop: Loop) -> bool:
    """Loops that may never end, or hold others, look for Ctrl-C; an innermost range is over soon."""
    return isinstance(loop.domain, While) or holds_loop(loop) or loop.stop is not None


SHORT = 256
"""So many steps at most are over before anyone could press Ctrl-C, and a compiler may write them all out."""


def _is_short(loop: Loop) -> bool:
    """Whether literals say that a loop, with those inside, is over after a few steps."""
    return _steps(loop) <= SHORT


def _steps(loop: Loop) -> float:
    domain = loop.domain
    bounds = (domain.lo, domain.hi, domain.step) if isinstance(domain, Range) else ()
    known = [one.value for one in bounds if isinstance(one, Const) and type(one.value) is int]
    if len(known) < 3 or known[2] == 0:
        return math.inf
    inner = [_steps(one) for one in walk(loop.body) if isinstance(one, Loop)]
    return len(range(*known)) * max([1, *inner])


def _is_serial(writer: Writer, carried: list[Carry], start: int) -> bool:
    """Whether one iteration runs after the other anyway, so that to look for Ctrl-C between them costs nothing."""
    joins = writer.findings.joins
    floats = any(carry.inside in joins and joins[carry.inside].type.is_float for carry in carried)
    return floats or any("return " in line for line in writer.lines[start:])


def poll(cost: int) -> str:
    """The line that looks for Ctrl-C now and then; ``cost`` is what an iteration takes, roughly."""
    count = "--patience" if cost == 1 else f"(patience -= {cost})"
    return f"if ({count} < 0 && watch.interrupted(patience)) return interrupted;"


def holds_loop(loop: Loop) -> bool:
    return any(isinstance(inner, Loop) for inner in walk(loop.body))
