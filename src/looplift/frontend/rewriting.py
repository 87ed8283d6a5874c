"""Regions in, code objects out: the function that calls its regions, and each region as a function of its own.

    x = []                                         x = __looplift_regions__[1](n)
    for i in range(n):            becomes
        x.append(f(i))

All else stays as it is: line numbers, globals, closure, defaults. The list ``__looplift_regions__`` is a free
variable of the rewritten code; its item 0 stands for a name that is not bound.
"""

from __future__ import annotations

import ast
import copy
import functools
import types
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any

from looplift.base.data import dataclass, field
from looplift.base.syntax import fresh_copy, nodes_of
from looplift.frontend.callees import Place, calls_of_users, hooked
from looplift.frontend.names import assigned_names, position_of
from looplift.frontend.regions import Region, WholeBody
from looplift.frontend.source import REGIONS_NAME, code_of
from looplift.runtime.cells import Within

CLOCK = "__looplift_clock__"
VALUE = "__looplift_value_{}"
"""The parameter for the value of a free variable that is read where it is."""
READY = "__looplift_ready__"
_CONTAINERS = "([].__class__, {}.__class__, {0}.__class__, ''.__class__)"
"""Types that nobody rebinds."""


@dataclass
class Table:
    """What rewritten code of one function shares: its regions by number, its globals."""

    namespace: dict[str, Any]
    file: str
    regions: list[Any] = field(default_factory=list)
    hook: int = 0
    """The number of what calls in statements that stay go through; 0 for none."""
    cells: Mapping[str, types.CellType] = field(default_factory=dict)
    """The free variables of the function that is lifted."""

    @functools.cached_property
    def cell(self) -> types.CellType:
        return types.CellType(self.regions)

    def reserve(self) -> int:
        self.regions.append(None)
        return len(self.regions) - 1


Numbered = Mapping[Region, int]


# ---------------------------------------------------------------- trees


def function_code(
    tree: ast.FunctionDef, free: tuple[str, ...], file: str, numbered: Numbered, hook: int
) -> tuple[types.CodeType, bool]:
    """The code of a function whose regions are replaced by calls; whether calls outside of them go through a hook."""
    names = tuple(sorted({*free, REGIONS_NAME}))
    replaced = _replaced(tree, numbered)
    changed = hooked(replaced, hook)
    has_hooks = changed is not replaced
    changed.body = changed.body + _kept_locals(changed.body, assigned_names(tree.body), tree)
    # never run: keeps every free variable of the original one of the rewritten code
    changed.body = [*changed.body, *located(f"if 0:\n    ({', '.join(names)},)", tree)]
    return code_of(changed, names, file), has_hooks


def _replaced(node: Any, numbered: Numbered) -> Any:
    """A copy of a statement in which the statements of each region are a call; shares what is not changed."""
    fields = {}
    for name, value in ast.iter_fields(node):
        if isinstance(value, list) and value and isinstance(value[0], (ast.stmt, ast.ExceptHandler, ast.match_case)):
            fields[name] = replaced_block(value, numbered)
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def replaced_block(block: list[Any], numbered: Numbered, offset: int = 0, whole: list[Any] | None = None) -> list[Any]:
    """A block with the regions that stand in it replaced; ``block`` may be a part of ``whole`` from ``offset`` on."""
    whole = block if whole is None else whole
    here = {region.start: region for region in numbered if region.block is whole}
    out: list[Any] = []
    position = offset
    while position < offset + len(block):
        region = here.get(position)
        if region is not None and region.stop <= offset + len(block):
            out += _call_of(region, numbered[region])
            position = region.stop
        else:
            out.append(_replaced(whole[position], numbered))
            position += 1
    return out


def _call_of(region: Region, number: int) -> list[ast.stmt]:
    """The statements that stand for a region."""
    cells = [f"lambda: ({', '.join(region.handed_over)},)"] if region.handed_over else []
    arguments = ", ".join([*cells, *region.arguments])
    call = f"{REGIONS_NAME}[{number}]({arguments})"
    if region.returns:
        text = f"return {call}"
    else:
        text = f"{', '.join(region.live_out)} = {call}" if region.live_out else call
    for name in region.optional:
        text += f"\nif {name} is {REGIONS_NAME}[0]:\n    del {name}"
    statements = located(text, region.block[region.first])
    if not region.uncertain and not region.asked:
        return statements
    needed = " ".join(f"{name};" for name in region.uncertain)
    holds = " and ".join(f"{name}.__class__ in {_CONTAINERS}" for name in region.asked) or "True"
    test = f"try:\n    {needed} {READY} = {holds}\nexcept NameError:\n    {READY} = False"
    choose = f"if {READY}:\n    pass\nelse:\n    pass"
    guard, choice = located(f"{test}\n{choose}", region.block[region.first])
    assert isinstance(choice, ast.If)
    choice.body, choice.orelse = statements, region.statements
    return [guard, choice]


def located(text: str, place: ast.stmt) -> list[ast.stmt]:
    """Statements from text, all on the line of ``place``."""
    body = ast.parse(text).body
    for statement in body:
        for node in nodes_of(statement):
            if isinstance(node, (ast.stmt, ast.expr, ast.ExceptHandler)):
                node.lineno = node.end_lineno = place.lineno
                node.col_offset, node.end_col_offset = place.col_offset, place.col_offset + 1
    return body


# ---------------------------------------------------------------- regions as functions


def region_function(
    region: Region,
    table: Table,
    *,
    numbered: Numbered | None = None,
    clock: bool = False,
    places: Set[Place] = frozenset(),
    by_value: bool = False,
    within: Within | None = None,
) -> Callable[..., Any]:
    """The original statements of a region as a function of its arguments that returns its live-outs.

    With ``numbered``, regions inside are replaced by calls. With ``clock``, a last parameter is called with every
    iterable of a loop and with every condition of a ``while``, so that it can end a run that takes too long; it is told
    of exceptions, so that it can end a run in which they may not be made.
    Calls at ``places`` go through the hook of statements that stay. Free variables are read where they are, those that
    are handed over in the call that runs ``within``; ``by_value``: as the arguments say.
    """
    body = replaced_block(region.statements, numbered or {}, region.start, region.block)
    if numbered:
        body += _kept_locals(body, region.names.stores & region.scope.locals, region.statements[0])
    if clock:
        body = _Clocked().visit(ast.Module([fresh_copy(node) for node in body], [])).body
    body += _ending(region)
    shared = [] if by_value else region.shared
    values = [VALUE.format(name) if name in shared else name for name in region.arguments]
    parameters = [*values, *([CLOCK] if clock else [])]
    tree = ast.parse(f"def {region.name or 'region'}({', '.join(parameters)}): pass").body[0]
    assert isinstance(tree, ast.FunctionDef)
    tree.body = body
    for node in (tree, *nodes_of(tree.args)):
        ast.copy_location(node, region.statements[0])
    if numbered and isinstance(region, WholeBody):
        tree = hooked(tree, region.hook)
    elif places:
        tree = hooked(tree, table.hook, places)
    code = code_of(tree, (REGIONS_NAME, *shared), region.file)
    cells = {**table.cells, REGIONS_NAME: table.cell}
    if within is not None:
        on_values = region_function(region, table, numbered=numbered, clock=clock, places=places, by_value=True)
        return within.closing(code, table.namespace, cells, on_values)
    return types.FunctionType(code, table.namespace, tree.name, None, tuple(cells[name] for name in code.co_freevars))


def _kept_locals(body: list[ast.stmt], names: Iterable[str], place: ast.stmt) -> list[ast.stmt]:
    """What is never run: names that only regions bind now stay locals, and no globals, of the statements beside."""
    lost = sorted({*names}.difference(assigned_names(body)))
    return located(f"if 0:\n    {' = '.join(lost)} = None", place) if lost else []


def _ending(region: Region) -> list[ast.stmt]:
    place = region.statements[-1]
    if region.returns or not region.live_out:
        return []
    checks = [f"try: {name}\nexcept NameError: {name} = {REGIONS_NAME}[0]" for name in region.optional]
    return located("\n".join([*checks, f"return {', '.join(region.live_out)}"]), place)


class _Clocked(ast.NodeTransformer):
    """``for x in xs`` becomes ``for x in clock(xs)``, ``while c`` becomes ``while clock.holds() and c``; the clock is
    told before an exception is made."""

    def visit_For(self, node: ast.For) -> ast.AST:
        node.iter = _wrapped(node.iter)
        return self.generic_visit(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        tick = ast.copy_location(ast.parse(f"{CLOCK}.holds()", mode="eval").body, node.test)
        node.test = ast.copy_location(ast.BoolOp(ast.And(), [tick, node.test]), node.test)
        return self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        node.iter = _wrapped(node.iter)
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> list[ast.stmt]:
        return [*located(f"{CLOCK}.raises()", node), node]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node


def _wrapped(iterable: ast.expr) -> ast.expr:
    clock = ast.copy_location(ast.Name(CLOCK, ast.Load()), iterable)
    return ast.copy_location(ast.Call(clock, [iterable], []), iterable)


# ---------------------------------------------------------------- what the runtime sees of a region


@dataclass(eq=False)
class RegionProgram:
    """A region with a number in the table of its function: its names, and its statements as functions."""

    region: Region
    table: Table
    number: int
    is_piece: bool = False
    """Of a larger region, which is no lifted whole."""

    def __post_init__(self) -> None:
        region = self.region
        self.name = f"{region.name or 'region'}_{self.number}"
        self.file, self.line = region.file, region.line
        self.arguments, self.outside = tuple(region.arguments), tuple(region.outside)
        self.live_out, self.returns = tuple(region.live_out), region.returns
        self.optional, self.raises = bool(region.optional), region.raises
        self.is_whole = isinstance(region, WholeBody)
        self.loops = [position_of(node) for node in region.loops]
        self.namespace = self.table.namespace
        self.within = Within(self.table.regions, self.number) if region.handed_over else None
        self.entry = self.number
        """The number of what is called in place of the statements."""
        if self.within is not None:
            self.entry = self.table.reserve()
            self.table.regions[self.entry] = self.within

    @functools.cached_property
    def original(self) -> Callable[..., Any]:
        return region_function(self.region, self.table, within=self.within)

    @functools.cached_property
    def on_values(self) -> types.FunctionType:
        """The statements as a function of their arguments alone: of copies, or of others than those of a call."""
        made: Any = region_function(self.region, self.table, by_value=True) if self.region.shared else self.original
        return made

    @functools.cached_property
    def clocked(self) -> Callable[..., Any]:
        return region_function(self.region, self.table, clock=True, by_value=True)

    @property
    def hook(self) -> int:
        return self.table.hook

    @functools.cached_property
    def calls(self) -> dict[Place, ast.expr]:
        """What the statements call that may be functions of the user's, which are lifted by themselves."""
        return calls_of_users(self.region.statements) if self.table.hook and not self.is_whole else {}

    def with_hooks(self, places: Set[Place]) -> Callable[..., Any]:
        """The statements, whose calls at some places go through the hook."""
        return region_function(self.region, self.table, places=places, within=self.within)

    def divide(
        self, line: int, reached: int, places: Set[Place]
    ) -> tuple[Callable[..., Any], list[RegionProgram]] | None:
        """The statements with smaller regions in them, to use when this region was refused at ``line``, and as a typed
        program at ``reached``; calls at some places go through the hook."""
        pieces = self.region.pieces(line if self.region.covers(line) else 0, reached)
        if not pieces and not self.is_whole:
            return None
        parts = [RegionProgram(piece, self.table, self.table.reserve(), not self.is_whole) for piece in pieces]
        numbered = {part.region: part.entry for part in parts}
        return region_function(self.region, self.table, numbered=numbered, places=places, within=self.within), parts

    @property
    def span(self) -> tuple[int, int, int]:
        """First line, last line and indentation of the statements."""
        nodes = self.region.statements
        return nodes[0].lineno, nodes[-1].end_lineno or nodes[-1].lineno, nodes[0].col_offset
