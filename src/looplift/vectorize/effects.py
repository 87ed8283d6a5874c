"""Effects that must keep their order, each in a small loop of its own: random draws and printed text.

for i in range(n):                      noise = torch.stack([torch.randn(3) for _ in range(n)])
    noise = torch.randn(3)              for i in range(n):
    print(i)                                print(i)
    total += (x[i] * noise).sum()       total = total + (x * noise).sum()
"""

from __future__ import annotations

from looplift.ir.array import Assign, Axis, Effect, Node
from looplift.ir.facts import Fact
from looplift.ir.grammar import Group, Let, Loop, Op, Operand, Perform, Var, as_atom, constant, walk
from looplift.ops import table
from looplift.vectorize import nodes, sharing
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val


def perform(context: Context, statement: Perform) -> None:
    """Print in every iteration of the one axis in force, in the old order, where the conditions around it hold."""
    if len(context.axes) > 1 or context.serial_loops or len(context.steps) > 1:
        raise context.refuse("effect-order", "something is printed in an inner loop")
    operands: list[Node] = []
    texts = [_text(context, operand, operands) for operand in statement.op.args]
    texts += [f"{key}={_text(context, operand, operands)}" for key, operand in statement.op.kwargs]
    axis = context.axes[0] if context.axes else None
    text = f"print({', '.join(texts)})"
    if (mask := context.mask) is not None:
        text = f"if {_placed(Node('retype', (mask,), mask.axes, nodes.BOOL), operands)}: {text}"
    if axis is None:
        context.add(Effect(text, tuple(operands)))
        return
    context.add(Effect(text, (*operands, axis.extent), axis))


def _text(context: Context, operand: Operand, operands: list[Node]) -> str:
    """The operand in the printing loop, with ``{k}`` where the k-th operand's own text goes."""
    if isinstance(operand, Var):
        statement = context.flow.definition.get(operand)
        if isinstance(statement, Let) and statement.op.name == "format":
            return _formatted(context, statement.op, operands)
    return _value(context, operand, operands)


def _formatted(context: Context, op: Op, operands: list[Node]) -> str:
    parts = []
    for part in op.args:
        if isinstance(part, Group):
            value, conversion, spec = part.items
            text = _value(context, value, operands)
            suffix = {-1: "", 115: "!s", 114: "!r", 97: "!a"}[constant(conversion)]
            if constant(spec):
                suffix += f":{constant(spec)}"
            parts.append("{" + text + suffix + "}")
        else:
            parts.append(constant(part).replace("{", "{{").replace("}", "}}"))
    return "f" + repr("".join(parts)).replace("\\x00", "\x00").replace("\\x01", "\x01")


def _value(context: Context, operand: Operand, operands: list[Node]) -> str:
    node = context.node(as_atom(operand))
    if node.kind.is_array and (context.needs_grad or _asks(context, operand)):
        raise context.refuse("effect-order", "a tensor is printed with the name of its gradient")
    if node.kind.family == "object" and _is_shape(context, operand):
        raise context.refuse("effect-order", "a shape is printed, which is another kind of tuple")
    if node.axes and isinstance(operand, Var) and not _exact(context, operand, set()):
        raise context.refuse("effect-order", f"'{operand.hint}' is printed, and its last digit may differ when batched")
    return _placed(node, operands)


def _placed(node: Node, operands: list[Node]) -> str:
    """What stands for an operand in a text."""
    operands.append(node)
    return f"\x00{len(operands) - 1}\x01"


def _is_shape(context: Context, operand: Operand) -> bool:
    statement = context.flow.definition.get(operand) if isinstance(operand, Var) else None
    return isinstance(statement, Let) and statement.op.name in ("attribute", "method.size")


def _asks(context: Context, operand: Operand) -> bool:
    """Whether a value is a view of a tensor that asks for gradients: it says so also where they are switched off."""
    if not isinstance(operand, Var):
        return False
    owner = context.facts.of.get(sharing.origin(context, operand))
    return bool(getattr(owner.sample if owner else None, "requires_grad", False))


def _exact(context: Context, var: Var, seen: set[Var]) -> bool:
    """Whether a batched computation gives the very same bits."""
    if var in seen:
        return True
    seen.add(var)
    statement = context.flow.definition.get(var)
    if isinstance(statement, Let):
        name = statement.op.name
        fine = table.base_name(name) in table.EXACT or table.family(name) == "random" or name == "format"
        if not fine:
            return False
    if isinstance(statement, Loop) and "float" in str(context.facts.kind(var).dtype or context.facts.kind(var).family):
        return False  # a sum over iterations, perhaps in another order
    return all(_exact(context, a, seen) for a in context.flow.sources.get(var, ()) if isinstance(a, Var))


def drawn(context: Context, op: Op, fact: Fact, var: Var) -> Val:
    """Random numbers, drawn one iteration after the other as the loop draws them."""
    if context.mask is not None or len(context.axes) != 1 or context.serial_loops or not fact.kind.is_array:
        raise context.refuse("random-order", "random numbers are drawn in an inner loop or under an 'if'")
    if any(key in table.KNOWN_ELSEWHERE for key, _ in op.kwargs):
        raise context.refuse("random-order", "random numbers are drawn into a tensor, or get gradients")
    draws = [s for s in walk(context.facts.function.body) if isinstance(s, Let) and table.family(s.op.name) == "random"]
    if len(draws) > 1:
        raise context.refuse("random-order", "several statements draw random numbers, and their draws alternate")
    from looplift.vectorize.uniform import uniform

    axis: Axis = context.axes[0]
    context.facts.function.attributes["random"] = True
    made = uniform(context, op, fact, var, random=True)
    if any(arg.axes for arg in made.args):
        raise context.refuse("random-order", "random numbers whose shape or bounds differ by iteration")
    node = Node("drawn", (made, axis.extent), (axis,), fact.kind, {"extents": None}, var.hint)
    name = context.fresh_name(var.hint)
    context.add(Assign(name, node))
    return Val(Node("name", (), (axis,), fact.kind, {"text": name, "local": True}, name))
