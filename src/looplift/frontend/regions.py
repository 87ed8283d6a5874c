"""A function's tree in, the regions that may be lifted out: runs of statements around loops, with their live names.

A region is one loop statement or several, with the allocations before them and the plain computations behind. Where
the compiler refuses one, ``smaller`` gives the pieces to try next, and ``inside`` the regions in a loop that stays.
"""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from looplift.base.data import dataclass, field
from looplift.base.syntax import children_of, nodes_of
from looplift.frontend.flow import Flow, flow_of
from looplift.frontend.holding import Receivers, held_names, imports_of
from looplift.frontend.names import (
    COMPREHENSIONS,
    FUNCTIONS,
    Names,
    free_names,
    names_of,
    parameters,
    position_of,
    walk_own,
)
from looplift.frontend.obstacles import has_return, obstacle
from looplift.frontend.simple import (
    is_allocation,
    is_loop,
    is_raise,
    is_simple,
    own_loops,
    shapes,
    starts_list,
    written_bases,
)
from looplift.frontend.source import Source

_FRAME_READERS = frozenset(("locals", "vars", "eval", "exec", "globals", "dir"))
_FRAME_METHODS = frozenset(("_getframe", "currentframe"))


@dataclass(eq=False)
class Scope:
    """One function: its tree, what flows where, and which names are whose."""

    function: ast.FunctionDef
    namespace: Mapping[str, Any]
    enclosing: frozenset[str] = frozenset()
    """Names of the functions around this one that it may read: its free variables."""
    closure: frozenset[str] = frozenset()
    """Those of them that are free variables of the function that is lifted, whose cells are known."""
    rebound_around: frozenset[str] = frozenset()
    """Those of them that some function rebinds."""
    refused: dict[tuple[int, int], tuple[str, str]] = field(default_factory=dict)
    """Loops that cannot be moved, by place: code and sentence. Shared with the functions inside."""
    imported_around: Mapping[str, Any] = field(default_factory=dict)
    """What the functions around this one import."""

    @cached_property
    def flow(self) -> Flow:
        return flow_of(self.function, self.find)

    @cached_property
    def locals(self) -> frozenset[str]:
        names = names_of(self.function.body)
        return frozenset(names.stores | set(parameters(self.function.args))) - names.outer

    @cached_property
    def captured(self) -> frozenset[str]:
        """Locals that functions and generators inside hold on to."""
        return held_names(self.function.body, self.receivers)

    @cached_property
    def doubted(self) -> frozenset[str]:
        """More of them, if parameters are no containers of Python's."""
        receivers = Receivers(self.function, self.receivers.find, may_ask=False)
        return held_names(self.function.body, receivers) - self.captured

    @cached_property
    def receivers(self) -> Receivers:
        return Receivers(self.function, self.find)

    def find(self, node: ast.expr) -> Any:
        """The object that a name or an attribute of a module stands for; modules that it imports are known, too."""
        if isinstance(node, ast.Attribute):
            owner = self.find(node.value)
            return getattr(owner, node.attr, None) if isinstance(owner, types.ModuleType) else None
        if not isinstance(node, ast.Name):
            return None
        return self.imported.get(node.id) or self.lookup(node.id)

    @cached_property
    def imported(self) -> dict[str, Any]:
        """What it or a function around it imports, by names that nothing else binds."""
        around = {name: one for name, one in self.imported_around.items() if name in self.enclosing - self.locals}
        return around | imports_of(self.function)

    @cached_property
    def helpers(self) -> dict[str, frozenset[str]]:
        """Functions that are defined in this one, by name, each with the locals that they and what they call read."""
        made = [(node.name, node) for node in _inner_functions(self.function)]
        for node in walk_own(self.function):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
                made += [(target.id, node.value) for target in node.targets if isinstance(target, ast.Name)]
        found: dict[str, frozenset[str]] = {}
        for name, node in made:
            found[name] = found.get(name, frozenset()) | free_names(node)
        for _ in found:
            found = {name: read.union(*(found.get(other, ()) for other in read)) for name, read in found.items()}
        return {name: read & self.locals for name, read in found.items()}

    def lookup(self, name: str) -> Any:
        """The value of a global or builtin name."""
        if name in self.locals or name in self.enclosing:
            return None
        return self.namespace.get(name, getattr(builtins, name, None))

    @cached_property
    def reads_frames(self) -> bool:
        """Whether the function looks at its own frame, where a region's names would be missed."""
        for node in nodes_of(self.function):
            if isinstance(node, ast.Name) and node.id in _FRAME_READERS:
                return True
            if isinstance(node, ast.Attribute) and node.attr in _FRAME_METHODS:
                return True
        return False


@dataclass(eq=False)
class Region:
    """Statements ``start`` to ``stop`` of one block; those from ``first`` to ``last`` span the loops."""

    scope: Scope
    block: list[ast.stmt]
    start: int
    stop: int
    first: int
    last: int
    file: str = ""
    name: str = ""

    @property
    def statements(self) -> list[ast.stmt]:
        return self.block[self.start : self.stop]

    @property
    def line(self) -> int:
        return self.block[self.first].lineno

    @cached_property
    def names(self) -> Names:
        return names_of(self.statements)

    @property
    def returns(self) -> bool:
        """Whether the function ends with it: by a return, or by an exception if no return in it was reached."""
        return self.raises or isinstance(self.block[self.stop - 1], ast.Return)

    @property
    def raises(self) -> bool:
        return isinstance(self.block[self.stop - 1], ast.Raise)

    @cached_property
    def live_out(self) -> list[str]:
        """Names bound in the region and needed after it, in alphabetical order."""
        if self.returns:
            return []
        return sorted(self.names.stores & self.scope.locals & self.scope.flow.after[self.block[self.stop - 1]])

    @cached_property
    def _read(self) -> frozenset[str]:
        return self.scope.flow.before(self.statements, frozenset(self.live_out))

    @cached_property
    def arguments(self) -> list[str]:
        """Locals and free variables that the region, and the inner functions that it reads, need from before it."""
        scope, flow, start = self.scope, self.scope.flow, self.block[self.start]
        inner = (read for name in self._read if (read := scope.helpers.get(name)))
        names = (self._read & flow.possible[start]) | (frozenset().union(*inner) & flow.bound[start])
        return sorted(names | self._from_around)

    @cached_property
    def shared(self) -> list[str]:
        """Free variables that it reads where they are, as calls may rebind them while it runs, or after functions were
        made here that hold on to them."""
        scope = self.scope
        return sorted(self._from_around & (scope.closure | scope.rebound_around | self.held))

    @cached_property
    def handed_over(self) -> list[str]:
        """Those of them whose cells are known only where it is called."""
        return [name for name in self.shared if name not in self.scope.closure]

    @cached_property
    def _from_around(self) -> frozenset[str]:
        return (self._read & self.scope.enclosing) - self.scope.locals

    @cached_property
    def never_bound(self) -> frozenset[str]:
        """Locals that it reads and that nothing binds before or in it, whatever goes by their names outside."""
        possible = self.scope.flow.possible[self.block[self.start]]
        return (self._read & self.scope.locals) - possible - self.names.stores

    @cached_property
    def outside(self) -> list[str]:
        """Global and builtin names that it reads."""
        return sorted(self._read - self.scope.locals - self.scope.enclosing)

    @property
    def live_in(self) -> list[str]:
        return [*self.arguments, *self.outside]

    @cached_property
    def uncertain(self) -> list[str]:
        """Arguments that may not be bound when the region begins."""
        bound = self.scope.flow.bound[self.block[self.start]]
        return [name for name in self.arguments if name not in bound]

    @cached_property
    def optional(self) -> list[str]:
        """Live-outs that may not be bound when the region ends."""
        bound = self.scope.flow.bound_after(self.statements, self.block[self.start])
        return [name for name in self.live_out if name not in bound]

    @cached_property
    def loops(self) -> list[ast.AST]:
        return own_loops(self.statements)

    @cached_property
    def held(self) -> frozenset[str]:
        """Names that functions and generators made here hold on to."""
        return held_names(self.statements, self.scope.receivers)

    @cached_property
    def asked(self) -> list[str]:
        """Parameters that have to be containers of Python's, which keep no functions and generators for later."""
        doubted = self.scope.doubted & (self.names.stores | self.bound_later)
        return sorted(self.scope.receivers.asked) if doubted else []

    @cached_property
    def bound_later(self) -> frozenset[str]:
        """Names that may be bound by what runs after the region, which may be the region again."""
        body = self.scope.function.body
        if self.block is body:
            return frozenset(names_of(body[self.stop :]).stores)
        around = next(k for k, node in enumerate(body) if any(one is self.statements[0] for one in nodes_of(node)))
        return frozenset(names_of(body[around:]).stores)

    def covers(self, line: int) -> bool:
        return self.statements[0].lineno <= line <= (self.statements[-1].end_lineno or 0)

    # ------------------------------------------------------------ pieces

    def smaller(self, line: int = 0, reached: int = 0) -> list[Region]:
        """Pieces to try when this region was refused at ``line``, and as a program at ``reached`` (0: nobody knows
        where)."""
        loops = [k for k in range(self.first, self.last) if is_loop(self.block[k])]
        filled = self._loop_that_fills(loops, line) if len(loops) > 1 else None
        at_loop = filled is not None or any(_spans(self.block[k], line) for k in range(self.first, self.last))
        if self.stop > self.last and (not at_loop or self._cuts_items_later() or self._picks_later()):
            return _allowed([self._part(self.start, self.last)])
        if self.start < self.first and not at_loop and not self._fills_its_lists():
            return _allowed([self._part(self.first, self.stop)])
        if (kept := self._without(reached)) is not None:
            return _allowed([kept])
        if len(loops) < 2:
            return []
        hit = next((place for place, k in enumerate(loops) if k == filled or _spans(self.block[k], line)), None)
        if hit is None:
            return _allowed(self._split([[k] for k in loops]))
        if hit and self._is_filled_later(loops[hit]):
            return _allowed(self._split([loops[:hit], loops[hit:]]))
        return _allowed(self._split([part for part in (loops[:hit], loops[hit : hit + 1], loops[hit + 1 :]) if part]))

    def _without(self, line: int) -> Region | None:
        """The part with the loops that ends before a statement behind them, or begins behind one in front of them."""
        place = next((k for k in range(self.start, self.stop) if _spans(self.block[k], line)), None)
        if place is None or self.first <= place < self.last:
            return None
        return self._part(self.start, place) if place >= self.last else self._part(place + 1, self.stop)

    def _loop_that_fills(self, loops: list[int], line: int) -> int | None:
        """The loop that puts something into what is made at a line."""
        made = next(
            (node for node in self.block[self.start : self.last] if _spans(node, line) and not is_loop(node)), None
        )
        names = names_of([made]).stores if isinstance(made, ast.Assign) else ()
        return next((k for k in loops if written_bases([self.block[k]]) & {*names}), None)

    def _is_filled_later(self, place: int) -> bool:
        """Whether a comprehension makes what the next loop writes to: without it that loop cannot be lifted."""
        made = self.block[place]
        later = next((node for node in self.block[place + 1 : self.last] if is_loop(node)), None)
        names = names_of([made]).stores if isinstance(made, ast.Assign) else ()
        return later is not None and bool(written_bases([later]) & {*names})

    def _cuts_items_later(self) -> bool:
        """Whether what follows the loops takes a slice of what they read item by item: a string then stays whole."""
        read = {name for name, is_slice in subscripted(self.block[self.first : self.last]) if not is_slice}
        return any(is_slice and name in read for name, is_slice in subscripted(self.block[self.last : self.stop]))

    def _picks_later(self) -> bool:
        """Whether what follows the loops takes one of several constants by a number, which a kernel does not."""
        later = (inner for node in self.block[self.last : self.stop] for inner in nodes_of(node))
        return any(isinstance(one, ast.Subscript) and isinstance(one.value, ast.Tuple) for one in later)

    def _fills_its_lists(self) -> bool:
        """Whether the loops write to lists or dicts made right before them: without these nothing can be lifted."""
        made = {
            name
            for node in self.block[self.start : self.first]
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.List | ast.Dict | ast.Set)
            for name in names_of(node).stores
        }
        return bool(made & written_bases(self.block[self.first : self.last]))

    def _split(self, groups: list[list[int]]) -> list[Region]:
        """One region for each group of loop statements, with what belongs to it."""
        least = [self.start, *(group[-1] + 1 for group in groups)]
        leads = [_leading(self.scope, self.block, group[0], group[-1] + 1, low) for low, group in zip(least, groups)]
        pieces = []
        for group, lead, limit in zip(groups, leads, [*leads[1:], self.stop], strict=True):
            first, last = group[0], group[-1] + 1
            stop = min(_trailing(self.scope, self.block, lead, last), limit)
            pieces.append(Region(self.scope, self.block, lead, stop, first, last, self.file, self.name))
        return pieces

    def inside(self) -> list[Region]:
        """Regions in the bodies of loops that stay."""
        found: list[Region] = []
        for node in self.block[self.first : self.last]:
            if isinstance(node, ast.For | ast.While):
                found += regions_of_block(self.scope, node.body, self.file, self.name)
                found += regions_of_block(self.scope, node.orelse, self.file, self.name)
        return found

    def pieces(self, line: int = 0, reached: int = 0) -> list[Region]:
        """What to try when this region was refused: a smaller region, its loops one by one, or what is in them."""
        return self.smaller(line, reached) or self.inside()

    def _part(self, start: int, stop: int) -> Region:
        first, last = max(start, self.first), min(stop, self.last)
        return Region(self.scope, self.block, start, stop, first, last, self.file, self.name)


@dataclass(eq=False)
class WholeBody(Region):
    """All that a function does: tried where it is numbers, text and containers of Python's; else its regions are."""

    hook: int = 0
    ordinary: list[Region] = field(default_factory=list)

    @property
    def returns(self) -> bool:
        return True

    @cached_property
    def loops(self) -> list[ast.AST]:
        kinds = (ast.For, ast.While, *COMPREHENSIONS)
        found: list[ast.AST] = [node for one in self.statements for node in nodes_of(one) if isinstance(node, kinds)]
        return sorted(found, key=position_of) or [self.scope.function]

    def pieces(self, line: int = 0, reached: int = 0) -> list[Region]:
        return self.ordinary


def subscripted(nodes: list[ast.stmt]) -> list[tuple[str, bool]]:
    """The names that are subscripted, and whether by a slice."""
    found = (inner for node in nodes for inner in nodes_of(node) if isinstance(inner, ast.Subscript))
    return [(one.value.id, isinstance(one.slice, ast.Slice)) for one in found if isinstance(one.value, ast.Name)]


def _spans(node: ast.stmt, line: int) -> bool:
    return bool(line) and node.lineno <= line <= (node.end_lineno or 0)


# ---------------------------------------------------------------- finding


def _allowed(regions: list[Region]) -> list[Region]:
    """The regions, those with an obstacle replaced by their pieces."""
    out: list[Region] = []
    for region in regions:
        why = obstacle(region)
        if why is None:
            out.append(region)
            continue
        for node in region.loops:
            region.scope.refused[position_of(node)] = why
        out += region.pieces()
    return out


@dataclass
class Found:
    regions: list[Region] = field(default_factory=list)
    loops: list[ast.AST] = field(default_factory=list)
    """All loops of the function and of functions inside it, in the order of the source."""
    refused: dict[tuple[int, int], tuple[str, str]] = field(default_factory=dict)
    """Why loops that no region covers stay: code and sentence, by place."""
    reads_frames: bool = False
    """Whether the function looks at its own frame: then nothing of it may change."""


def find_regions(source: Source, namespace: Mapping[str, Any], free: tuple[str, ...] = ()) -> Found:
    """The regions of a function. ``namespace`` are its globals, ``free`` the names of its closure."""
    scope = Scope(source.tree, namespace, frozenset(free), frozenset(free))
    regions = _regions_of_scope(scope, source.file)
    kinds = (ast.For, ast.While, *COMPREHENSIONS)
    every: list[ast.AST] = [node for node in nodes_of(source.tree) if isinstance(node, kinds)]
    every.sort(key=position_of)
    covered = {position_of(node) for region in regions for node in region.loops}
    elsewhere = ("unsupported-syntax", "a loop in this place is not lifted by itself")
    if scope.reads_frames:
        elsewhere = ("unsupported-syntax", "the function looks at its own frame")
    places = [position_of(node) for node in every if position_of(node) not in covered]
    return Found(regions, every, {place: scope.refused.get(place, elsewhere) for place in places}, scope.reads_frames)


def whole_body(source: Source, namespace: Mapping[str, Any], free: tuple[str, ...], found: Found) -> Found:
    """The function as one region, which gives way to those that were found."""
    scope = Scope(source.tree, namespace, frozenset(free))
    body = source.tree.body
    if not isinstance(body[-1], ast.Return | ast.Raise):  # the end of a function returns None
        body.append(ast.copy_location(ast.Return(ast.copy_location(ast.Constant(None), body[-1])), body[-1]))
    region = WholeBody(scope, body, 0, len(body), 0, len(body), source.file, source.tree.name)
    region.ordinary = found.regions
    return Found([region], region.loops, {})


def _regions_of_scope(scope: Scope, file: str) -> list[Region]:
    if scope.reads_frames:
        return []
    regions = regions_of_block(scope, scope.function.body, file, scope.function.name)
    around = scope.locals | scope.enclosing
    rebound = scope.rebound_around | scope.flow.names.rebound | scope.flow.names.outer
    for node in _inner_functions(scope.function):
        if not any(isinstance(child, ast.Yield | ast.YieldFrom | ast.Await) for child in walk_own(node)):
            free = frozenset(free_names(node)) & around
            inner = Scope(node, scope.namespace, free, scope.closure - scope.locals, free & rebound, scope.refused)
            inner.imported_around = scope.imported
            inner.rebound_around |= free & inner.flow.names.outer
            regions += _regions_of_scope(inner, file)
    return regions


def _inner_functions(function: ast.FunctionDef) -> list[ast.FunctionDef]:
    """Functions defined directly in this one."""
    found: list[ast.FunctionDef] = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.FunctionDef):
            found.append(node)
        elif not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            for child in children_of(node):
                visit(child)

    for node in function.body:
        visit(node)
    return found


def regions_of_block(scope: Scope, block: list[ast.stmt], file: str, name: str) -> list[Region]:
    """The largest regions of one block and of the blocks in its "if", "with" and "try" statements."""
    found: list[Region] = []
    position = 0
    while position < len(block):
        node = block[position]
        if is_loop(node):
            region = _grown(scope, block, position, found[-1].stop if found and found[-1].block is block else 0)
            region.file, region.name = file, name
            found += _allowed([region])
            position = region.stop
            continue
        for inner in _blocks(node):
            found += regions_of_block(scope, inner, file, name)
        position += 1
    return found


def _blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    match node:
        case ast.If(body=body, orelse=orelse):
            return [body, orelse]
        case ast.With(body=body):
            return [body]
        case ast.Try(body=body, orelse=orelse, finalbody=final, handlers=handlers):
            return [body, *(handler.body for handler in handlers), orelse, final]
        case ast.Match(cases=cases):
            return [case.body for case in cases]
    return []


def _grown(scope: Scope, block: list[ast.stmt], first: int, least: int) -> Region:
    """The region around the loop at ``first``; it may begin at ``least`` or later."""
    last = first + 1
    position = last
    while position < len(block) and (is_loop(block[position]) or is_simple(block[position], scope.lookup)):
        position += 1
        if is_loop(block[position - 1]):
            last = position
        if isinstance(block[position - 1], ast.Return):
            break
    start = _leading(scope, block, first, last, least)
    stop = _trailing(scope, block, start, last)
    if stop == len(block) and block is scope.function.body and has_return(block[start:stop]):
        if not isinstance(block[-1], ast.Return | ast.Raise):  # the end of a function returns None
            block.append(ast.copy_location(ast.Return(ast.copy_location(ast.Constant(None), block[-1])), block[-1]))
            stop += 1
    return Region(scope, block, start, stop, first, last)


def _leading(scope: Scope, block: list[ast.stmt], first: int, last: int, least: int) -> int:
    """Where the allocations begin that the loops use."""
    used = names_of(block[first:last]).loads
    grown, bound = written_bases(block[first:last]), names_of(block[first:last]).stores
    start, between = first, False
    for position in range(first - 1, least - 1, -1):
        node = block[position]
        names = names_of(node)
        shaped = shapes(node) and bool(names.stores & bound)
        if not is_allocation(node, scope.lookup) and not starts_list(node, grown, scope.lookup):
            if not isinstance(node, ast.Assign | ast.Expr) or not is_simple(node, scope.lookup):
                break
            may_write = isinstance(node, ast.Expr) or _sets_an_element(node)
            if not written_bases([node]) <= (grown if may_write else set()):
                break
            between = True
            used |= names.loads
            start = position if shaped else start
        elif shaped or names.stores & (grown if between else used):
            start = position
            used |= names.loads
    return start


def _sets_an_element(node: ast.Assign) -> bool:
    """Whether it is the start of a table: ``cost[0, 0] = 0.0``, ``best[0] = values[0]``."""
    places = [target for target in node.targets if isinstance(target, ast.Subscript)]
    read = [node.value] if isinstance(node.value, ast.Subscript) else []
    atoms = [] if read else [node.value]
    for one in (*places, *read):
        atoms += [one.value, *(one.slice.elts if isinstance(one.slice, ast.Tuple) else [one.slice])]
    return len(places) == len(node.targets) and all(isinstance(atom, ast.Name | ast.Constant) for atom in atoms)


def _trailing(scope: Scope, block: list[ast.stmt], start: int, last: int) -> int:
    """Where the statements end that use what the loops made; a return is taken along, and so is an exception by which
    the function ends unless the loops return."""
    if has_return(block[start:last]) and (stop := _end_by_exception(scope, block, last)):
        return stop
    made = names_of(block[start:last]).stores | written_bases(block[start:last])
    stop = last
    for position in range(last, len(block)):
        node = block[position]
        if isinstance(block[position - 1], ast.Return) or not is_simple(node, scope.lookup):
            break
        names = names_of(node)
        if not (names.loads & made or isinstance(node, ast.Return)):
            break
        made |= names.stores | written_bases([node])
        if isinstance(node, ast.Return) or not has_return([node]):  # a return in an if needs one at the end
            stop = position + 1
    return stop


def _end_by_exception(scope: Scope, block: list[ast.stmt], last: int) -> int:
    """Behind the exception that is raised after plain computations, from ``last`` on; 0 where there is none."""
    for position in range(last, len(block)):
        if is_raise(block[position]):
            return position + 1
        if not is_simple(block[position], scope.lookup):
            break
    return 0
