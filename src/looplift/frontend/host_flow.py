"""From statements and live values to what every expression may hold: a flow analysis over the region and what it calls.

Each function is analysed once for all its calls; sets only grow, and rounds are repeated until none does.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Mapping, Set
from typing import Any, NoReturn

from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable
from looplift.base.spans import span_of
from looplift.frontend.host_extents import parents_of
from looplift.frontend.host_narrowing import Asked, Restriction
from looplift.frontend.host_routine import Names, Routine, bound_names, resolve, routine_of
from looplift.frontend.host_tables import VIEWS
from looplift.frontend.host_timing import Timing
from looplift.frontend.host_values import (
    EMPTY,
    HOST,
    NONE,
    Atom,
    Container,
    Contents,
    External,
    Host,
    Lane,
    Live,
    Pack,
    Real,
    is_module,
    is_none,
    is_tensor,
    is_tensor_atom,
    sample,
)  # fmt: skip

Atoms = Iterable[Atom]


@dataclass(frozen=True, eq=False)
class Operation:
    """A tensor operation in the source: name in the table, operands (the receiver first), module that it calls."""

    name: str
    family: str
    kind: str  # "function" | "method" | "module" | "operator" | "index" | "number" | "attribute"
    arguments: tuple[ast.expr, ...] = ()
    keywords: Mapping[str, ast.expr] = field(default_factory=dict)
    module: Any = None


def refuse(code: str, message: str, node: ast.AST) -> NoReturn:
    raise NotLiftable(code, message, span_of(node))


class Flow:
    """The state of the analysis: the contents of containers, the operations found, ranks, routines."""

    def __init__(
        self,
        live_ins: Mapping[str, Any],
        globals: Mapping[str, Any],
        statements: list[ast.stmt],
        timing: Timing,
        started: Set[str] = frozenset(),
    ):
        self.timing = timing
        self.tests: set[ast.AST] = set()
        self.restrictions: list[Restriction | Asked] = []
        self.extents: set[ast.AST] = set()
        self.parents: dict[ast.AST, ast.AST] = {}
        self.has_empty_sums = self.sums_are_known = False
        self.properties: dict[ast.AST, ast.Call] = {}
        self.items: dict[ast.AST, ast.expr] = {}
        self.lengths: dict[ast.AST, ast.Name] = {}
        assigned = bound_names(statements)
        self.names = Names(globals, {*live_ins, *assigned})
        self.contents: dict[Atom, Contents] = {}
        self.operations: dict[ast.AST, Operation] = {}
        self.views: set[ast.AST] = set()
        self.enclosed: set[int] = set()
        self.projections: set[ast.AST] = set()
        self.values: dict[ast.AST, set[Atom]] = {}
        self.sites: dict[ast.AST, int] = {}
        self.ranks: dict[int, int | None] = {}
        self.routines: dict[types.CodeType, Routine] = {}
        self.calls: dict[ast.AST, dict[Any, Routine]] = {}
        self.homes: dict[int, str] = {}
        self.accumulations: dict[ast.AST, Routine] = {}
        self.stores: dict[ast.stmt, Routine] = {}
        self.assigned: dict[str, dict[type, set[Atom]]] = {}
        self.attributes: set[ast.AST] = set()
        self.live_ins = dict(live_ins)
        self.started = started
        self.changed = False
        self.scheduler = "waves"
        self.region = Routine("region", statements, list(live_ins))
        self.region.locals = {*live_ins, *assigned}
        for name, value in live_ins.items():
            if name in started:
                continue
            self.region.variables[name] = {self.atom(value, name, fixed=name not in assigned)}

    def run(self) -> None:
        """Repeats the analysis of all routines until nothing new is found."""
        from looplift.frontend.host_statements import visit_block

        for _ in range(60):
            self.changed = False
            visit_block(self, self.region, self.region.body)
            for routine in list(self.routines.values()):
                visit_block(self, routine, routine.body)
            if not self.changed and (self.sums_are_known or not self.has_empty_sums):
                return
            self.sums_are_known |= not self.changed
        refuse("internal", "the analysis of the loop did not come to an end", self.region.body[0])

    def atom(self, value: Any, path: str | None, fixed: bool = True) -> Atom:
        """The atom of a live value: itself where it is one known object, a sample of what it holds where it is data."""
        found = sample(value, path or "value", self.contents)  # type: ignore[arg-type]
        if isinstance(found, External):
            return found
        if value is None and not fixed:
            return NONE
        if isinstance(found, Live) or fixed:
            return Live(value, path if fixed else None)
        return found

    # ------------------------------------------------------------ sets that grow

    def add(self, target: set[Atom], atoms: Atoms) -> None:
        before = len(target)
        target.update(atoms)
        self.changed |= len(target) != before

    def record(self, node: ast.AST, atoms: Atoms) -> set[Atom]:
        known = self.values.setdefault(node, set())
        self.add(known, atoms)
        return known

    def site(self, node: ast.AST) -> int:
        return self.sites.setdefault(node, len(self.sites))

    def inside(self, atom: Atom) -> Contents:
        return self.contents.setdefault(atom, Contents())

    def container(
        self, node: ast.AST, kind: str, atoms: Atoms = (), fields: Mapping[Any, Atoms] | None = None
    ) -> Container:
        """The container made at a node, holding at least what is given."""
        made = Container(self.site(node), kind)
        contents = self.inside(made)
        self.add(contents.rest, atoms)
        for key, value in (fields or {}).items():
            self.add(contents.fields.setdefault(key, set()), value)
        return made

    def lane(self, node: ast.AST, operation: Operation, rank: int | None, pack: int | None = -1) -> set[Atom]:
        """The result of a tensor operation; ``pack`` is the number of results, -1 for a single tensor."""
        if self.timing.is_early(node) and pack == -1:
            self.timing.check_early(self, node, operation)
            return {Real(rank)}
        self.operations[node] = operation
        if operation.name in VIEWS:
            self.views.add(node)  # of several modules or functions that are called here, one may be a view
        site = self.site(node)
        if rank == -1:
            pass  # nothing is known of the operands yet
        elif site not in self.ranks:
            self.ranks[site] = rank
            self.changed = True
        elif self.ranks[site] != rank and self.ranks[site] is not None:
            self.ranks[site] = None
            self.changed = True
        return {Lane(site)} if pack == -1 else {Pack(site, pack)}

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node right above one of a routine."""
        if node not in self.parents:
            for routine in (self.region, *self.routines.values()):
                self.parents.update(parents_of(routine.body))
        return self.parents.get(node)

    # ------------------------------------------------------------ reading sets

    def elements(self, atoms: Atoms, node: ast.AST) -> set[Atom]:
        """What iterating the values gives."""
        found: set[Atom] = set()
        for atom in atoms:
            match atom:
                case _ if is_none(atom):
                    pass
                case Container(kind="dict"):
                    found |= self.inside(atom).keys
                case Container():
                    found |= self.inside(atom).everything()
                case External(types=kinds) if issubclass(kinds[-1], dict):
                    found |= self.inside(atom).keys
                case External(types=kinds):
                    if not issubclass(kinds[-1], (list, tuple, set, frozenset)) and kinds[-1].__name__ != "deque":
                        refuse("unknown-call", f"iterating a '{kinds[-1].__name__}' may have effects", node)
                    found |= self.inside(atom).everything()
                case Pack(site=site):
                    found.add(Lane(site))
                case Host():
                    found.add(HOST)
                case Live(value=value) if is_module(value):
                    found |= self.children(atom)
                case Live(value=value) if not is_tensor(value) and not callable(value):
                    found.add(HOST)
                case Real(rank=rank):
                    found |= set() if rank == 0 else {Real(None if rank is None else rank - 1)}  # else it raises
                case Live(value=value) if is_tensor(value):
                    found |= {Real(value.dim() - 1)} if value.dim() else set()
                case _:
                    refuse("recursion", "iterating this is not understood here", node)
        return found

    def iterated(self, node: ast.expr, atoms: Atoms) -> set[Atom]:
        """What iterating the value of an expression gives; the items of a tensor of the loop are picked one by one."""
        atoms = set(atoms)
        lanes = {atom for atom in atoms if isinstance(atom, Lane)}
        found = self.elements(atoms - lanes, node)
        for lane in lanes:
            item = self.items.setdefault(node, ast.copy_location(ast.Subscript(node, ast.Constant(0)), node))
            found |= self.lane(item, Operation("getitem", "index", "rows", (node,)), self.row_rank(lane.site))
        return found

    def row_rank(self, site: int) -> int | None:
        """The rank of an item of a tensor that the loop computes."""
        rank = self.ranks.get(site, -1)
        return rank - 1 if rank is not None and rank > 0 else rank

    def children(self, module: Live) -> set[Atom]:
        """The members of a ModuleList or ModuleDict, or parameters of a ParameterList."""
        kind = type(module.value).__name__
        if kind not in ("ModuleList", "ModuleDict", "ParameterList", "ParameterDict"):
            raise NotLiftable("unknown-call", f"a '{kind}' is not understood as a container")
        if module.path is None:
            raise NotLiftable("unknown-call", f"this '{kind}' cannot be reached by a name")
        self.guard(f"len({module.path})", len(module.value))
        keys = list(module.value.keys()) if kind.endswith("Dict") else range(len(module.value))
        for key in keys:
            self.guard(f"type({module.path}[{key!r}])", type(module.value[key]))
            self.homes[id(module.value[key])] = f"{module.path}[{key!r}]"
        return {Live(module.value[key], None) for key in keys}

    def rank(self, atoms: Atoms) -> int | None:
        """The one rank of the tensors among the atoms; -1 if there are none (yet), None if it is not known."""
        found = set()
        for atom in atoms:
            match atom:
                case Lane(site=site) | Pack(site=site) if site in self.ranks:
                    found.add(self.ranks[site])
                case Real(rank=rank):
                    found.add(rank)
                case Live(value=value) if is_tensor(value):
                    found.add(value.dim())
        if None in found or len(found) > 1:
            return None
        return found.pop() if found else -1

    def guard(self, text: str, value: Any) -> None:
        self.names.guards[text] = value

    # ------------------------------------------------------------ functions

    def routine(self, function: types.FunctionType) -> Routine:
        known = self.routines.get(function.__code__)
        if known is None:
            known = routine_of(function, self.names)
            self.routines[function.__code__] = known
            self.guard_defaults(known)
            self.changed = True
        elif known.function is not function:
            raise NotLiftable("unknown-call", f"two functions share the code of '{function.__name__}'")
        return known

    def lookup(self, routine: Routine, name: str, node: ast.AST) -> set[Atom]:
        if name in routine.locals:
            return routine.variables.setdefault(name, set())
        if name in routine.inner:
            self.enclosed.add(id(routine.inner[name]))
            return {Live(routine.inner[name], None)}
        if routine.function is not None and name in routine.function.__code__.co_freevars:
            return self.closure_variable(routine, name, node)
        found = resolve(routine, name, self.names)
        if routine.function is not None and found.path in routine.locals:
            found = Live(found.value, self.names.constant(found.value, self.names.fresh(name)))
        if found.path in self.names.constants:
            self.guard_global(routine, name, found)
        if isinstance(found.value, (list, dict, set)) or (not is_tensor(found.value) and _is_data(found.value)):
            return {self.atom(found.value, found.path)}
        return {found}

    def closure_variable(self, routine: Routine, name: str, node: ast.AST) -> set[Atom]:
        """A variable of an enclosing function: one of the region's own, or of a function that cannot run again."""
        cells = routine.cells()
        if name in cells and name in self.live_ins and cells[name] is self.live_ins[name]:
            position = routine.function.__code__.co_freevars.index(name)
            self.guard(f"{self.holder(routine)}.__closure__[{position}].cell_contents is {name}", True)
            return self.region.variables.setdefault(name, set())
        if isinstance(cells.get(name), types.FunctionType):
            self.enclosed.add(id(cells[name]))
            return {Live(cells[name], None)}
        message = f"'{name}' in '{routine.function.__name__}' belongs to a function that the loop cannot see"
        refuse("unsupported-value", message, node)

    def is_started(self, routine: Routine, name: str) -> bool:
        """Whether a name of an inner function is that of a container that the region makes anew."""
        is_free = routine.function is not None and name in routine.function.__code__.co_freevars
        return name in self.started and is_free and routine.cells().get(name) is self.live_ins[name]

    def holder(self, routine: Routine) -> str:
        """A name of the function itself, for guards."""
        own = routine.function.__name__
        if self.live_ins.get(own) is routine.function:
            return own
        return self.names.constant(routine.function, own)

    def guard_defaults(self, routine: Routine) -> None:
        """The function still has the defaults that its text shows."""
        function = routine.function
        if function.__defaults__ is None and function.__kwdefaults__ is None:
            return
        holder = self.holder(routine)
        for name in ("__defaults__", "__kwdefaults__"):
            self.guard(f"repr({holder}.{name})", repr(getattr(function, name)))

    def guard_class(self, kind: type, name: str) -> None:
        """The class still has the same method or property."""
        self.guard(f"{self.names.constant(kind, kind.__name__)}.{name}", getattr(kind, name))

    def guard_global(self, routine: Routine, name: str, found: Live) -> None:
        """The global is still the same object."""
        if isinstance(found.value, types.ModuleType):
            return
        scope = "__globals__" if routine.function is None else f"{self.holder(routine)}.__globals__"
        self.guard(f"{scope}[{name!r}] is {found.path}", True)


def _is_data(value: Any) -> bool:
    """An object whose attributes are data: not a function, class, module or scalar."""
    plain = (types.ModuleType, type, str, bytes, int, float, complex, range, slice)
    return (
        value is not None
        and not callable(value)
        and not isinstance(value, plain)
        and not type(value).__module__.startswith("torch")
    )


__all__ = ["EMPTY", "Flow", "Operation", "is_tensor_atom", "refuse"]
