"""Values that may raise when they are computed are computed where the loop does, also if nothing reads them there."""

from __future__ import annotations

from collections.abc import Container, Iterable

from looplift.ir.array import Assign, Choose, For, Forever, Node, Step, axis_nodes, operands_of, reachable
from looplift.ir.grammar import Append, If, Let, Store, Var
from looplift.ops.table import CREATION, base_name
from looplift.vectorize import extents
from looplift.vectorize.context import Context, Lowered
from looplift.vectorize.memory import only_shape
from looplift.vectorize.subscripts import Gather, Point, Whole

RAISING = frozenset(
    """gather vmapped matmul module cell leading join reshaped apply fold pack paired batched each
    custom slopes""".split()
)


def note(context: Context, var: Var, value: Node) -> None:
    """What a variable was lowered to; in a loop that stays, a value that nothing reads is computed there."""
    once = context.mask if context.mask is not None and not context.mask.axes else None
    if once is not None:
        context.lowered_where[var] = once
    if not _only_kept(context, var):
        steps = context.steps[-1]
        context.lowered.append((steps, len(steps), value, once))
    elif context.serial_loops:
        context.discarded.add(var)
        if _raising(context, [value]) or _points([value]):
            context.add(Assign("_", value))


def completed(context: Context, results: list[Node]) -> list[Step]:
    """The steps of the region, with the values that may raise and that are read nowhere, or not in every run."""
    steps = context.steps[0]
    _compute_early(context, results)
    read = {node.serial for node in reachable([*results, *_operands(steps)])}
    unused = [var for var in context.vals if _may_be_unread(context, var) and var not in context.discarded]
    made: list[Step] = []
    for var in sorted(unused, key=lambda var: var in context.lowered_where):
        value = [context.vals[var].node]
        found = _raising(context, value, read) + [node for node in _points(value) if node.serial not in read]
        made += [_where(context.lowered_where.get(var), Assign("_", node)) for node in found]
        read |= {node.serial for node in found}
    return [*steps, *made]


def _may_be_unread(context: Context, var: Var) -> bool:
    """Whether nothing reads a variable, or it only goes into lists and arrays, which may be read by no one, or decides
    between sides on which nothing may be left, or is asked for its shape alone."""
    users = context.flow.users.get(var, ())
    return all(isinstance(user, Append | Store | If) or _asks_for_shape(user) for user in users)


def _only_kept(context: Context, var: Var) -> bool:
    """Whether a value is read by nothing, or put into lists alone, which may be read by nothing, or has a shape."""
    return all(isinstance(user, Append) or _asks_for_shape(user) for user in context.flow.users.get(var, ()))


def _asks_for_shape(user: object) -> bool:
    """Whether a statement takes of a value only what is known without its elements."""
    if not isinstance(user, Let):
        return False
    return user.op.name in ("iter_len", "builtin.len") or user.op.name.endswith("_like") or only_shape(user.op)


def _compute_early(context: Context, results: list[Node]) -> None:
    """Values that are read only where a run may not come by are computed in front of that, if they may raise."""
    blocks: dict[int, list[Lowered]] = {}
    for entry in context.lowered:
        blocks.setdefault(id(entry[0]), []).append(entry)
    for lowered in blocks.values():
        steps = lowered[0][0]
        last = results if steps is context.steps[0] else []
        everything = [*_operands(steps), *last]
        if not _parts(steps, everything):
            continue
        sure = _sure([*_surely_read(steps), *last])
        doubtful = {node.serial for node in _raising(context, everything, sure)}
        early: list[tuple[int, Step]] = []
        for _, position, value, once in lowered if doubtful else ():
            sure_there = _sure([value])  # what the loop, too, computes for one side of a choice stays there
            found = [node for node in reachable([value]) if node.serial in doubtful & sure_there]
            early += [(position, _where(once, Assign("_", node))) for node in found]
            doubtful -= {node.serial for node in found}
        for position, step in reversed(early):
            steps.insert(position, step)


def _where(condition: Node | None, step: Step) -> Step:
    return step if condition is None else Choose(condition, [step], [])


def _parts(steps: list[Step], everything: list[Node]) -> bool:
    """Whether some of the code may not run."""
    return any(isinstance(step, Choose | For | Forever) for step in steps) or any(map(_chooses, reachable(everything)))


def _chooses(node: Node) -> bool:
    """Whether one side alone is computed: ``a if told else b``."""
    return node.op == "where" and not node.args[0].axes and node.args[0].kind.is_number


def _sure(roots: list[Node]) -> set[int]:
    """What is computed in every run for these values."""
    seen: set[int] = set()
    pending = list(roots)
    while pending:
        node = pending.pop()
        if node.serial not in seen:
            seen.add(node.serial)
            pending += node.args[:1] if _chooses(node) else node.args
            pending += [made for axis in node.axes for made in axis_nodes(axis)]
    return seen


def _operands(steps: Iterable[Step]) -> list[Node]:
    return [node for step in steps for node in operands_of(step)]


def _surely_read(steps: Iterable[Step]) -> list[Node]:
    """What steps read in every run: not in branches, nor in a loop that may have no iteration."""
    found: list[Node] = []
    for step in steps:
        match step:
            case Choose(cond=cond):
                found.append(cond)
            case For(bounds=bounds):
                found += bounds
            case Forever():
                pass
            case _:
                found += operands_of(step)
    return found


def _raising(context: Context, found: list[Node], computed: Container[int] = ()) -> list[Node]:
    """What may raise among the values that others are computed from, beside those that are computed anyway."""
    inner = [node for node in reachable(found) if node.serial not in computed]
    inner = [node for node in inner if (node.op in RAISING and not _is_sum(node)) or _may_not_fit(context, node)]
    return [node for node in inner if not _is_creation(node) and not _of_group(node)]


def _is_sum(node: Node) -> bool:
    """Whether values are added up, which nothing stops."""
    return node.op == "fold" and base_name(node.attrs["name"]) in ("sum", "mean")


def _may_not_fit(context: Context, node: Node) -> bool:
    """Whether the operands may be of shapes that are not broadcast to one."""
    if node.op != "elementwise" or sum(arg.kind.is_array and arg.kind.rank > 0 for arg in node.args) < 2:
        return False
    return None in extents.lane_extents(context, node)


def _of_group(node: Node) -> bool:
    """Whether rows are picked by the numbers of the members of groups, all of which were seen to be rows."""
    picked = [piece for piece in node.attrs.get("pieces", ()) if not isinstance(piece, Whole)]
    return bool(picked) and all(isinstance(p, Gather) and p.index.op == "member" for p in picked)


def _points(found: list[Node]) -> list[Node]:
    """Elements at one place for all lanes, which Python looks for when they are read, and not before."""
    slices = [node for node in reachable(found) if node.op == "slice"]
    return [node for node in slices if any(isinstance(piece, Point) for piece in node.attrs["pieces"])]


def _is_creation(node: Node) -> bool:
    name = node.attrs.get("name", "")
    return node.op == "apply" and (name in CREATION or name in ("builtin.bool", "method.item"))
