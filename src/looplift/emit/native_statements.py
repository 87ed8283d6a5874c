"""Statements of the IR as C++: bindings, stores, branches, requirements; loops are next door."""

from __future__ import annotations

from looplift.base.data import replace
from looplift.emit import (
    native_conditions,
    native_lists,
    native_loops,
    native_objects,
    native_renamed,
    native_stores,
    native_vectors,
)
from looplift.emit.native_calls import compute
from looplift.emit.native_check import check_result
from looplift.emit.native_convert import convert, truth
from looplift.emit.native_flow import Flow, Home, is_temporary
from looplift.emit.native_joins import ABSENT, NONE
from looplift.emit.native_narrowing import where
from looplift.emit.native_ops import ARITHMETIC, ATOM
from looplift.emit.native_types import Scalar
from looplift.emit.native_values import Elements, Fixed, Items, Number, Unknown, Value, View, plain
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import (
    UNDEFINED,
    Append,
    Atom,
    Block,
    If,
    Let,
    Loop,
    Perform,
    Phi,
    Require,
    Statement,
    Store,
    Var,
)  # fmt: skip

LONGEST = 60
Homes = frozenset[Home]


def write_block(writer: Writer, block: Block, tail: tuple[Atom, ...]) -> None:
    """The statements of a block; ``tail`` is what is read at its end."""
    for position, statement in enumerate(block.statements):
        write(writer, statement, block.statements[position + 1 :], tail)


def write(writer: Writer, statement: Statement, rest: tuple[Statement, ...], tail: tuple[Atom, ...]) -> None:
    writer.span = statement.span if not isinstance(statement, Loop) or statement.span.line else writer.span
    writer.note(writer.span)
    match statement:
        case Let():
            _let(writer, statement, rest, tail)
        case Store():
            native_stores.store(writer, statement)
        case If():
            _branch(writer, statement, rest, tail)
        case Loop() if writer.provisional and _waits(writer) and native_lists.passed_over(writer, statement):
            pass
        case Loop():
            native_loops.write_loop(writer, statement)
        case Require(cond=cond):
            condition = truth(writer.number(cond))
            writer.fail_if(f"!{condition.at(1)}", "broken_requirement")
        case Append():
            native_lists.append_item(writer, statement)
        case Perform():
            raise writer.refuse("effect-order", "an effect that only Python has")


def _waits(writer: Writer) -> bool:
    """Whether there is a list of which nothing is known yet."""
    return any(isinstance(value, Unknown) for value in writer.values.values())


# ---------------------------------------------------------------- bindings


def _let(writer: Writer, statement: Let, rest: tuple[Statement, ...], tail: tuple[Atom, ...]) -> None:
    var = statement.var
    writer.hint, writer.current = var.hint, var
    writer.fleeting = _is_operand(writer, var, rest)
    if statement.op.name.startswith("inplace."):
        value = _in_place(writer, statement, rest, tail)
    elif statement.op.name == "list" and not statement.op.args:
        value = native_lists.empty_list(writer, var, rest)
    else:
        value = compute(writer, statement.op)
        check_result(writer, statement.op, value)
        if writer.flow.appends[var]:
            value = native_lists.started(writer, statement, value, rest)
    if isinstance(value, Number | View) and value.origin is not None:
        writer.findings.origins[var] = value.origin
    if isinstance(value, Number):
        _record(writer, var, value)
        value = named(writer, var, value, rest, tail)
    if isinstance(value, Items):
        value = _as_they_are(writer, value, *_until_last(writer.flow, var, rest, tail))
    if isinstance(value, Elements) and not _stays(writer, var, value, rest):
        native_vectors.check_no_view(writer, value)
        value = native_vectors.materialized(writer, value)
        writer.findings.origins[var] = var
    writer.values[var] = value


def _until_last(flow: Flow, var: Var, rest: tuple[Statement, ...], tail: tuple[Atom, ...]) -> tuple[bool, Homes]:
    """Whether something is stored before the last use of a value, and the variables that are assigned until then."""
    last = max((k for k, statement in enumerate(rest) if var in flow.reads(statement)), default=-1)
    is_read_later = var in tail or var in flow.kept or (last >= 0 and not isinstance(rest[last], Let | Store | Require))
    passed = rest if var in tail or var in flow.kept else rest[: last + is_read_later]
    return any(map(flow.writes, passed)), frozenset().union(*map(flow.assigned, passed))


def _as_they_are(writer: Writer, items: Items, changes: bool, assigned: Homes) -> Items:
    """A list whose items are what they are now, also where what they are made of is another one when it is read."""
    made: list[Value] = []
    for item in items.items:
        if isinstance(item, Items):
            item = _as_they_are(writer, item, changes, assigned)
        elif isinstance(item, Number) and (item.homes & assigned or (changes and item.reads and not item.alias)):
            if item.bound or item.alias:
                raise writer.refuse("mixed-kinds", "an item of a list is another one before the list is read")
            item = writer.bind(item)
        made.append(item)
    return replace(items, items=tuple(made))


def _stays(writer: Writer, var: Var, value: Elements, rest: tuple[Statement, ...]) -> bool:
    """Whether a whole array is used once, soon, and by an operation, so that it need not be stored."""
    flow = writer.flow
    if flow.counts[var] != 1 or not is_temporary(var) or var in flow.kept:
        return False
    for statement in rest:
        if var in flow.reads(statement):
            return isinstance(statement, Let | Store)
        if flow.writes(statement) or value.homes & flow.assigned(statement):
            return False
    return False


def _is_operand(writer: Writer, var: Var, rest: tuple[Statement, ...]) -> bool:
    """Whether arithmetic in the next statement is all that a value is for."""
    if not rest or writer.flow.counts[var] != 1 or var in writer.flow.kept or not isinstance(rest[0], Let):
        return False
    return var in rest[0].op.args and rest[0].op.name in ARITHMETIC


def _record(writer: Writer, var: Var, number: Number) -> None:
    possible = {number.type} | ({number.other} if number.other is not None else set())
    if number.bound:
        possible.add(NONE if number.absent is None else ABSENT)
    writer.findings.possible[var] = frozenset(possible)
    writer.findings.types[var] = number.type
    if number.alias:
        writer.findings.aliases.add(var)
    if number.zero:
        writer.findings.zeros.add(var)


def named(writer: Writer, var: Var, number: Number, rest, tail) -> Number:
    """The value where later statements find it: in the author's variable, a constant, or in place."""
    home = writer.flow.homes.get(var)
    if home is not None:
        assign(writer, home, number)
        return replace(plain(number), text=home.name, level=ATOM, homes=frozenset({home}), reads=False)
    if number.bound or number.is_simple or _folds(writer, var, number, rest, tail):
        return number
    if number.alias and var in writer.flow.held:
        return _reference(writer, var, number)
    return writer.bind(number, var.hint)


def _owner(writer: Writer, home: Home) -> Var:
    return next(var for var, other in writer.flow.homes.items() if other is home and var in writer.findings.joins)


def _reference(writer: Writer, var: Var, number: Number) -> Number:
    """A live view: later stores show through it, as through a 0-dim tensor."""
    if not number.place:
        raise writer.refuse("aliasing", f"'{var.hint}' is one of several elements, and these change later")
    writer.before_reference(var)
    name = writer.fresh(var.hint)
    kind = "auto" if writer.flow.updates else f"const {number.type.cpp}"
    writer.line(f"{kind}& {name} = {number.place};")
    return replace(number, text=name, place=name, level=0, homes=frozenset())


def _folds(writer: Writer, var: Var, number: Number, rest, tail) -> bool:
    """Whether the expression may stand where its value is used, once."""
    flow = writer.flow
    if flow.counts[var] != 1 or not is_temporary(var) or var in flow.kept or len(number.text) > LONGEST:
        return False
    if number.other is not None or (number.alias and var in flow.held):
        return False
    for statement in rest:
        if var in flow.reads(statement):
            return _is_direct(statement, var)
        if (number.reads and flow.writes(statement)) or number.homes & flow.assigned(statement):
            return False
    return var in tail


def _is_direct(statement: Statement, var: Var) -> bool:
    match statement:
        case Let() | Store() | Require():
            return True
        case If(cond=cond):
            return cond is var
    return False


def _in_place(writer: Writer, statement: Let, rest, tail) -> Value:
    """``x += value`` of a name: of a 0-dim tensor it changes that tensor."""
    op = statement.op
    target = op.args[0]
    whole = writer.operand(target)
    if isinstance(whole, View) and whole.rank and not whole.is_list:
        return native_stores.whole_in_place(writer, statement, whole)
    old = writer.number(target)
    if old.type.family != "tensor" or (old.other is None and old.type.is_python):
        return compute(writer, op)
    if not old.alias and target in writer.findings.aliases:
        raise writer.refuse("aliasing", f"'{writer.hint}' is changed in place, and may be an element of a tensor")
    if not old.alias:
        _check_alone(writer, statement)
        number = native_stores.operated(writer, op.name.removeprefix("inplace."), old, writer.number(op.args[1]))
        if number.type != old.type:
            raise writer.refuse("mixed-kinds", f"'{writer.hint}' is changed in place, but its dtype is another")
        return number
    if isinstance(target, Var) and _is_read_later(writer, target, rest, tail):
        raise writer.refuse("aliasing", f"'{writer.hint}' is changed in place, and its old name is read later")
    if not old.place or old.origin is None:
        raise writer.refuse("aliasing", f"'{writer.hint}' is changed in place, and may be an element of a tensor")
    writer.findings.updates.add(statement.var)
    writer.changes(old.origin)
    writer.before_change(statement, old)
    native_stores.combine(writer, old.place, old, op.name.removeprefix("inplace."), writer.number(op.args[1]))
    return old


def _check_alone(writer: Writer, change: Let) -> None:
    """A tensor of the kernel that is changed in place must not be read with its old value afterwards."""
    loop = writer.flow.loop
    results = (*writer.flow.kept, *(carry.after for carry in loop.carries))
    other = native_objects.read_as_before(loop, change, results)
    if other is not None:
        raise writer.refuse("aliasing", f"'{writer.hint}' is changed in place, and may be '{other.hint}' too")
    for var in native_objects.holders_before(loop, change) & set(writer.inputs):
        raise writer.refuse("aliasing", f"'{writer.hint}' is changed in place, and may be the caller's '{var.hint}'")


def _is_read_later(writer: Writer, var: Var, rest, tail) -> bool:
    return writer.flow.is_read_between(var, rest) or var in tail


def assign(writer: Writer, home: Home, value: Value, *, sized: bool = False) -> None:
    """Put a value into a shared variable, with what the flags must know of it.

    ``sized``: an array must have the sizes of the one before it.
    """
    if isinstance(value, View):
        native_renamed.assign(writer, home, value, sized=sized)
        return
    if home.array is not None:
        raise writer.refuse("not-scalar", f"'{home.hint}' is an array or list, and then none")
    join = writer.findings.joins[_owner(writer, home)]
    if isinstance(value, Fixed):
        if home.bound:
            writer.line(f"{home.bound} = false;")
        return
    if not isinstance(value, Number):
        raise writer.refuse("not-scalar", f"'{home.hint}' is more than a single element")
    text = stored_text(writer, home, value, join.type)
    if text == home.name:
        return
    writer.line(f"{home.name} = {text};")
    for flag, new in ((home.flag, flag_of(value, join.type)), (home.bound, value.bound or "true")):
        if flag and flag != new:
            writer.line(f"{flag} = {new};")


def stored_text(writer: Writer, home: Home, value: Number, scalar: Scalar) -> str:
    """The value as the variable's C++ type: a live view by its address."""
    if home.is_element and value.alias:
        held = next((other for other in value.homes if other.is_element), None)
        if held is not None and value.text == f"{scalar.cpp}({held.name})":
            return held.name
        if not value.place or value.origin in writer.findings.renamed or not _outlives(writer, value.origin):
            raise writer.refuse("aliasing", f"'{home.hint}' is one of several elements, and these change later")
        return f"&{value.place}"
    return convert(writer, replace(value, other=None, bound=""), scalar).text


def _outlives(writer: Writer, origin: Var | None) -> bool:
    """Whether an array stays until the kernel ends: one that it is given, or makes before all loops."""
    if origin not in writer.findings.made:
        return True
    return any(isinstance(s, Let) and s.var is origin for s in writer.flow.loop.body)


def flag_of(value: Number, scalar: Scalar) -> str:
    """Whether the value is of the joined type itself, and not a number that stands for it."""
    if value.other is not None:
        return value.flag or "false"
    return "true" if value.type == scalar else "false"


# ---------------------------------------------------------------- branches


def _branch(writer: Writer, statement: If, rest, tail) -> None:
    if native_conditions.as_expression(writer, statement, rest, tail):
        return
    condition = truth(writer.number(statement.cond))
    phis = [phi for phi in statement.phis if declare_phi(writer, phi, rest, tail)]
    with writer.block(f"if ({condition.text})"), where(writer, statement.cond, True):
        _side(writer, statement.then, phis, [phi.then for phi in phis])
    if statement.orelse or any(_assigns(writer, phi, phi.orelse) for phi in phis):
        writer.lines[-1] += " else {"
        writer.depth += 1
        saved, writer.proven = writer.proven, set(writer.proven)
        with where(writer, statement.cond, False):
            _side(writer, statement.orelse, phis, [phi.orelse for phi in phis])
        writer.depth -= 1
        writer.proven = saved
        writer.line("}")
    for phi in phis:
        native_conditions.guess_again(writer, phi)
        writer.values[phi.var] = joined(writer, phi.var)


def declare_phi(writer: Writer, phi: Phi, rest, tail) -> bool:
    """Declare the variable that the sides assign; False for what is no number and needs none."""
    join = writer.join(phi.var) if _is_number(writer, phi) else None
    home = writer.flow.homes.setdefault(phi.var, Home(phi.var.hint))
    if join is None:
        known = [writer.values.get(a) if isinstance(a, Var) else writer.value(a) for a in (phi.then, phi.orelse)]
        views = [value for value in known if isinstance(value, View)]
        if known[0] == known[1] or not views or any(not isinstance(v, View | None) for v in known):
            writer.values[phi.var] = _same_object(writer, phi)
            return False
        native_renamed.declare_phi(writer, home, phi, views)
        return True
    if not home.name:
        home.is_element = writer.flow.holds_view(home)
        name_home(writer, home, phi.var)
        writer.line(f"{type_text(home, join.type)} {home.name};" if not home.is_element
                    else f"{type_text(home, join.type)} {home.name}({join.type.cpp}(0));")  # fmt: skip
        declare_flags(writer, home)
    return True


def _is_number(writer: Writer, phi: Phi) -> bool:
    """Whether a value of two is a number: nothing that is bound before the If says otherwise."""
    values = [writer.values.get(atom) for atom in (phi.then, phi.orelse) if isinstance(atom, Var)]
    return phi.var in writer.findings.joins or all(value is None or isinstance(value, Number) for value in values)


def _same_object(writer: Writer, phi: Phi) -> Value:
    then, orelse = (writer.values.get(a) if isinstance(a, Var) else writer.value(a) for a in (phi.then, phi.orelse))
    if then is not None and then == orelse:
        return then
    raise writer.refuse("not-scalar", f"'{phi.var.hint}' is one of several tensors")


def name_home(writer: Writer, home: Home, var: Var) -> None:
    """Choose the names of a shared variable and of the flags that go with it."""
    join = writer.findings.joins[var]
    home.name = writer.fresh(home.hint)
    if join.other is not None:
        suffix = "tensor" if join.type.family == "tensor" else join.type.family if not join.type.is_python else "float"
        home.flag = writer.fresh(f"{home.name}_is_{suffix}")
    if join.absent:
        home.bound = writer.fresh(f"{home.name}_is_bound")


def declare_flags(writer: Writer, home: Home) -> None:
    for flag in (home.flag, home.bound):
        if flag:
            writer.line(f"bool {flag} = false;")


def type_text(home: Home, scalar: Scalar) -> str:
    return f"Element<{scalar.cpp}>" if home.is_element else scalar.cpp


def joined(writer: Writer, var: Var) -> Number | View:
    """A joined variable as a value."""
    home = writer.flow.homes[var]
    if home.array is not None:
        return native_renamed.held(writer, home, var)
    return writer.of_home(writer.flow.homes[var], writer.findings.joins[var])


def _side(writer: Writer, block: Block, phis: list[Phi], arguments: list[Atom]) -> None:
    writer.hoists.append(None)
    write_block(writer, block, tuple(arguments))
    writer.hoists.pop()
    writer.end_block(block)
    settle(writer, [(writer.flow.homes[phi.var], argument) for phi, argument in zip(phis, arguments)])


def _assigns(writer: Writer, phi: Phi, argument: Atom) -> bool:
    if argument is UNDEFINED:
        return bool(writer.flow.homes[phi.var].bound)
    value = writer.values.get(argument) if isinstance(argument, Var) else None
    name = writer.flow.homes[phi.var].name
    return not (isinstance(value, Number) and value.text == name) and not (
        isinstance(value, View) and value.root == name
    )


def settle(writer: Writer, pairs: list[tuple[Home, Atom]], *, sized: bool = False) -> None:
    """Assign several variables at once: none of the new values may see another's."""
    targets = {home for home, _ in pairs}
    pending: list[tuple[Home, Value]] = []
    for position, (home, atom) in enumerate(pairs):
        value = writer.value(atom)
        earlier = {other for other, _ in pairs[:position]} & targets
        if isinstance(value, Number) and value.homes & earlier:
            value = _saved(writer, home, value)
        if isinstance(value, View) and value.homes & earlier:
            name = writer.fresh(f"next_{home.hint}")
            writer.line(f"const {home.array.cpp if home.array else 'auto'} {name} = {value.root};")
            value = replace(value, root=name, homes=frozenset())
        pending.append((home, value))
    for home, value in pending:
        assign(writer, home, value, sized=sized)


def _saved(writer: Writer, home: Home, value: Number) -> Number:
    """A copy of a value that the assignments before would change."""
    if value.alias and home.is_element:
        raise writer.refuse("aliasing", f"'{home.hint}' swaps elements of tensors")
    bound, flag = value.bound, value.flag
    if bound:
        bound = writer.fresh(f"{home.hint}_was_bound")
        writer.line(f"const bool {bound} = {value.bound};")
    if value.other is not None and flag:
        flag = writer.fresh(f"{home.hint}_was_typed")
        writer.line(f"const bool {flag} = {value.flag};")
    return replace(writer.bind(value, f"next_{home.hint}"), bound=bound, flag=flag)
