"""A condition that is folded over its own lanes is not the one that holds around the fold."""

from looplift.ir.array import Axis, Check, Node, Program
from looplift.ir.facts import Kind
from looplift.optimize.masks import chosen_anyway, held_anyway
from looplift.optimize.simplify import simplify

BOOL, INT = Kind("bool"), Kind("int")


def constant(value):
    return Node("const", (), (), Kind(type(value).__name__), {"value": value})


def named(text, axes=(), kind=BOOL):
    return Node("name", (), axes, kind, {"text": text}, text)


I, J = (Axis(name, order, named(f"n_{name}", kind=INT), constant(0)) for order, name in enumerate("ij"))


def both(a, b):
    return Node("elementwise", (a, b), (I, J), BOOL, {"name": "and_"})


def test_what_is_folded_stays():
    held, other = named("held", (I, J)), named("other", (I, J))
    first = Node("first_held", (both(held, other),), (I,), INT, {"axis": J})
    choice = Node("where", (held, first, constant(0)), (I, J), INT)
    assert chosen_anyway(choice) is None
    test = Node("elementwise", (first, constant(3)), (I,), BOOL, {"name": "lt"})
    assert held_anyway(both(held, test)) is None


def test_what_is_alike_in_all_that_is_folded_goes():
    held, other = named("held", (I,)), named("other", (I, J))
    first = Node("first_held", (both(held, other),), (I,), INT, {"axis": J})
    choice = Node("where", (held, first, constant(0)), (I,), INT)
    made = chosen_anyway(choice)
    assert made is not None
    assert made.args[1].args == (other,)


def test_a_choice_that_is_sure_keeps_its_lanes_and_its_type():
    sure = named("sure")
    lanes = named("x", (I,), INT)
    for then, orelse, axes, kind in (
        (constant(1), lanes, (I,), INT), (constant(1), named("y", (I,), Kind("float")), (I,), Kind("float")),
    ):  # fmt: skip
        choice = Node("where", (sure, then, orelse), axes, kind)
        made = simplify(Program([Check(sure)], [("found", choice)]))
        ((_, node),) = made.results
        assert (node.axes, node.kind) == (axes, kind)
    choice = Node("where", (sure, lanes, named("z", (I,), INT)), (I,), INT)
    ((_, node),) = simplify(Program([Check(sure)], [("found", choice)])).results
    assert node is lanes
