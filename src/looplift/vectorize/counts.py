"""An array that only whole numbers are added to, in; whether its sums are exact in any order.

deg = torch.zeros(n)            if deg[i] > 0: ...          what decides must have all digits of the loop's
deg[t] += 1
"""

from __future__ import annotations

from looplift.ir.array import Node
from looplift.ir.grammar import Atom, Const, Let, Store, Var, operands, walk
from looplift.ops.table import base_name
from looplift.vectorize import nodes
from looplift.vectorize.context import Array, Context

DIGITS = {"float32": 24, "float64": 53}
LARGE = 2**20
MAKERS = frozenset("zeros ones zeros_like ones_like new_zeros new_ones".split())


def is_counted(context: Context, array: Array, value: Node) -> bool:
    """Whether each sum that an array of floats holds is a whole number of few digits; that they are few is checked."""
    digits = DIGITS.get(str(array.kind.dtype).removeprefix("torch."))
    stays = bool(context.serial_loops) and array.home is not context.steps[-1]
    if digits is None or stays or value.op != "const" or not array.fresh:
        return False
    added = _whole_numbers(context, array.var)
    if not added:
        return False
    times = nodes.const(1)
    for axis in context.active_axes():
        times = nodes.elementwise("mul", [times, axis.extent], nodes.INT)
    context.check(nodes.compare("lt", times, nodes.const(2 ** (digits - 1) // max(1, sum(map(abs, added))))))
    return True


def _whole_numbers(context: Context, var: Var) -> list[int]:
    """What the stores into an array of whole numbers add, if they add such numbers alone; else nothing."""
    made = context.flow.definition.get(var)
    if not isinstance(made, Let) or base_name(made.op.name) not in MAKERS:
        return []
    found: list[int] = []
    for statement in walk(context.facts.function.body):
        if isinstance(statement, Store) and context.flow.root(statement.ref) is var:
            update = context.updates.of.get(statement)
            combine, added = (update.operator, update.value) if update else (statement.combine, statement.value)
            if combine not in ("add", "sub") or not _is_whole(added):
                return []
            found.append(int(added.value))  # type: ignore[union-attr]
        elif isinstance(statement, Let) and _changes(context, statement, var):
            return []
    return found


def _changes(context: Context, statement: Let, var: Var) -> bool:
    """Whether an operation in place changes an array, or what shares its memory."""
    name = statement.op.name
    in_place = name.startswith("inplace.") or (name.startswith("method.") and name.endswith("_"))
    return in_place and any(isinstance(one, Var) and context.flow.root(one) is var for one in operands(statement.op))


def _is_whole(atom: Atom) -> bool:
    if not isinstance(atom, Const) or type(atom.value) not in (int, float):
        return False
    return abs(atom.value) < LARGE and float(atom.value).is_integer()
