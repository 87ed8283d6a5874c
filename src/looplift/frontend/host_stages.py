"""Orders the points: one that no cycle of recursion passes through waits for all its inputs, and runs once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from looplift.frontend.host_cut import Program
    from looplift.runtime.waves_program import Point


def set_stages(program: Program) -> None:
    """Numbers the strongly connected components of 'feeds' in topological order (Tarjan 1972)."""
    from looplift.frontend.host_cut import lanes_of

    needs: dict[Point, set[Point]] = {}
    for point in program.points:
        sites = set().union(*(lanes_of(program.flow, atoms) for atoms in program.inputs[point]))
        needs[point] = _makers(program, sites)
    for stage, component in enumerate(components(needs)):
        for point in component:
            point.stage = stage


def _makers(program: Program, sites: set[int]) -> set[Point]:
    """The points that tensors come from; of an item that the scheduler picks, those of its tensor."""
    from looplift.frontend.host_cut import lanes_of

    flow = program.flow
    nodes = {site: node for node, site in flow.sites.items()}
    found: set[Point] = set()
    seen, queue = set(sites), list(sites)
    while queue:
        site = queue.pop()
        if site in program.made_by:
            found.add(program.made_by[site])
        elif (operation := flow.operations.get(nodes[site])) is not None and operation.family == "index":
            inner = lanes_of(flow, flow.values.get(operation.arguments[0], set())) - seen
            seen |= inner
            queue += inner
    return found


def components(needs: dict[Point, set[Point]]) -> list[list[Point]]:
    """Strongly connected components, what is needed first."""
    order: dict[Point, int] = {}
    lowest: dict[Point, int] = {}
    stack: list[Point] = []
    found: list[list[Point]] = []

    def visit(point: Point) -> None:
        order[point] = lowest[point] = len(order)
        stack.append(point)
        for other in needs[point]:
            if other not in order:
                visit(other)
                lowest[point] = min(lowest[point], lowest[other])
            elif other in stack:
                lowest[point] = min(lowest[point], order[other])
        if lowest[point] == order[point]:
            position = stack.index(point)
            found.append(stack[position:])
            del stack[position:]

    for point in needs:
        if point not in order:
            visit(point)
    return found
