"""From a point to the arguments that the gradients of each of its results reach."""

from __future__ import annotations

from looplift.runtime.waves_program import Apply, Display, Input, Item, Local, Point, Tree, Uniform

WITHOUT_GRADIENT = frozenset(
    """
detach zeros_like ones_like full_like Eq NotEq Lt LtE Gt GtE eq ne lt le gt ge logical_and logical_or logical_xor
logical_not isnan isinf isfinite signbit long int bool to type_as argmax argmin argsort sort topk all any one_hot
FloorDiv floor_divide
""".split()
)
"""Operations whose result, or a part of it, takes part in no gradient, whatever the operands."""


def reach_of(point: Point) -> tuple[tuple[int, ...], ...] | None:
    """For each result the places of the arguments; None where each result depends on all that the point is given."""
    found: dict[str, frozenset[str]] = {}
    for step in point.steps:
        found.update(dict.fromkeys(step.names, _reached(step.tree, found)))
    tensors = [item.name for item in point.parameters if item.role in ("tensor", "shared")]
    sets = [found[name] for name, arity in point.outputs for _ in range(abs(arity))]
    if len(set(sets)) == 1 and sets[0].issuperset(tensors):
        return None
    return tuple(tuple(k for k, name in enumerate(tensors) if name in one) for one in sets)


def _reached(tree: Tree | None, found: dict[str, frozenset[str]]) -> frozenset[str]:
    """Names of parameters, and texts of what all calls share."""
    match tree:
        case Input(name=name):
            return frozenset((name,))
        case Local(name=name):
            return found[name]
        case Uniform(text=text, rank=rank) if rank >= 0:
            return frozenset((text,))
        case Display(items=items):
            return frozenset().union(*(_reached(item, found) for item in items))
        case Item(base=base):
            return _reached(base, found)
        case Apply(name=name) if name in WITHOUT_GRADIENT or (name in ("max", "min") and _gives_places(tree)):
            return frozenset()
        case Apply(arguments=arguments, keywords=keywords, callee=callee, kind=kind):
            shared = (callee,) if kind == "module" and isinstance(callee, str) else ()
            inner = (_reached(item, found) for item in (*arguments, *keywords.values()))
            own = (callee.name,) if isinstance(callee, Input) else ()
            return frozenset((*shared, *own)).union(*inner)
    return frozenset()


def _gives_places(tree: Apply) -> bool:
    """Whether ``max`` and ``min`` give the places of what they find too."""
    return len(tree.arguments) > 1 or "dim" in tree.keywords
