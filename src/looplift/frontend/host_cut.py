"""From analysed routines to host code over handles and points: cuts each straight run of tensor work out of a routine.

i, o = self.leaf(x).chunk(2)                    h = encode_24(x)          # a point of lines 24 and 25
h = sigmoid(o) * tanh(i)            ->          stack.append(h)
stack.append(h)
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from looplift.base.errors import NotLiftable
from looplift.base.syntax import nodes_of
from looplift.frontend.host_filled import PLACES
from looplift.frontend.host_flow import Flow, refuse
from looplift.frontend.host_routine import Routine
from looplift.frontend.host_segments import ReadsRun, Run, Segments, finish, position_of
from looplift.frontend.host_stores import literal_part
from looplift.frontend.host_tables import REPEATS
from looplift.frontend.host_values import Atom, External, Lane, Live, Pack, is_none, is_tensor_atom
from looplift.runtime.waves_program import Apply, Point, Step, Uniform


class Program:
    """What the cuts of all routines share: points in order, dispatchers, which point made which tensor."""

    def __init__(self, flow: Flow):
        self.flow = flow
        self.points: list[Point] = []
        self.inputs: dict[Point, list[set[Atom]]] = {}
        self.made_by: dict[int, Point] = {}
        self.dispatchers: dict[tuple[Any, ...], tuple[str, str, dict[str, str]]] = {}


class Cut(Segments):
    """Rewrites one routine."""

    def __init__(self, program: Program, routine: Routine, live_outs: list[str]):
        super().__init__(program.flow, routine, self.inline)
        self.program = program
        self.live_outs = set(live_outs)
        self.loads = _loads(routine.body)
        self.consumed: set[ast.AST] = set()
        self.waiting: set[ast.AST] = set()
        self.loops: list[ast.For | ast.While] = []

    def rewrite(self) -> list[ast.stmt]:
        """The routine's statements over handles. A first pass finds what runs use themselves, so need not hand out."""
        program, names = self.program, self.flow.names
        kept = (
            set(names.taken),
            len(program.points),
            dict(program.dispatchers),
            dict(names.constants),
            dict(names.known),
        )
        self.block(self.routine.body)
        names.taken, count, program.dispatchers, names.constants, names.known = kept
        del program.points[count:]
        return self.block(self.routine.body)

    # ------------------------------------------------------------ statements

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        run = Run()
        for statement in statements:
            before = run.copy()
            try:
                made = self.accumulated(statement, run) or self.statement(statement, run)
            except ReadsRun:
                out += self.flush(before)
                run = Run()
                made = self.accumulated(statement, run) or self.statement(statement, run)
            if made is not None:
                out += self.flush(run)
                run = Run()
                out.append(made)
        out += self.flush(run)
        return out or [ast.Pass()]

    def statement(self, statement: ast.stmt, run: Run) -> ast.stmt | None:
        """The statement over handles, None if it went into the run as a whole."""
        if isinstance(statement, ast.AnnAssign):
            if statement.value is None:
                return ast.copy_location(ast.Pass(), statement)
            statement = ast.copy_location(ast.Assign([statement.target], statement.value), statement)
        if self.joins(statement, run):
            return None
        if (unknown := self.changes_unknown(statement)) is not None:
            return ast.copy_location(ast.Expr(unknown), statement)
        where = run if self.may_hoist(statement) else None
        match statement:
            case ast.Assign(targets=[ast.Attribute() as target], value=value):
                made = ast.Expr(self.assignment(target, self.expression(value, where)))
            case ast.AugAssign(target=ast.Attribute() as target, op=sign, value=value):
                before = ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
                self.flow.attributes.add(before)
                made = ast.Expr(self.assignment(target, ast.BinOp(self.inline(before), sign, self.inline(value))))
            case ast.If(test=test, body=body, orelse=orelse):
                made = ast.If(self.expression(test, where), self.block(body), self.block(orelse) if orelse else [])
            case ast.For(target=target, iter=iterable, orelse=orelse):
                iterable = self.expression(iterable, where)
                body = self.body_of(statement)
                made = ast.For(copy.deepcopy(target), iterable, body, self.block(orelse) if orelse else [])
            case ast.While(test=test, orelse=orelse):
                made = ast.While(
                    self.expression(test, None), self.body_of(statement), self.block(orelse) if orelse else []
                )
            case _:
                made = self._fields(statement, where)
        return ast.copy_location(made, statement)

    def body_of(self, loop: ast.For | ast.While) -> list[ast.stmt]:
        self.loops.append(loop)
        made = self.block(loop.body)
        self.loops.pop()
        return made

    def changes_unknown(self, statement: ast.stmt) -> ast.expr | None:
        """What raises in place of a store into an object of which nothing is known: it is not of the loop."""
        match statement:
            case ast.Assign(targets=targets) | ast.Delete(targets=targets):
                pass
            case ast.AugAssign(target=target):
                targets = [target]
            case _:
                return None
        parts = [part for one in targets for part in nodes_of(one) if isinstance(part, ast.Subscript | ast.Attribute)]
        owners = [part.value for part in parts if not isinstance(part.ctx, ast.Load)]
        return self.raising(statement) if not all(map(self.is_known, owners)) else None

    def is_known(self, node: ast.expr) -> bool:
        return not all(map(is_none, self.flow.values.get(node, ())))

    def raising(self, node: ast.AST) -> ast.expr:
        return self.scheduled("unknown", ast.Constant(ast.unparse(node)), node)

    def joins(self, statement: ast.stmt, run: Run) -> bool:
        """Takes the statement into the run if it only names results of tensor work."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if self.is_tensor_work(value, run):
                atoms = self.flow.values[value]
                pack = next((atom for atom in atoms if isinstance(atom, Pack)), None)
                run.steps.append(Step((self.emitted(name),), self.tree(value, run), statement.lineno))
                self.bind(run, name, self.flow.rank(atoms), pack)
                return True
            case ast.Assign(targets=[ast.Tuple(elts=parts)], value=value) if self.is_inside(value, run):
                if not all(isinstance(part, ast.Name) for part in parts):
                    return False
                atoms = self.flow.values[value]
                if not all(isinstance(atom, Pack) for atom in atoms):
                    refuse("unknown-op", f"'{ast.unparse(value)}' unpacks the rows of a tensor", value)
                names = [part.id for part in parts if isinstance(part, ast.Name)]
                tree = self.tree(value, run)
                run.steps.append(Step(tuple(map(self.emitted, names)), tree, statement.lineno, unpack=True))
                for name in names:
                    self.bind(run, name, self.flow.rank(atoms), None)
                return True
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))]) if statement in self.flow.operations:
                run.steps.append(Step((self.emitted(name),), self.apply_store(statement, run), statement.lineno))
                self.bind(run, name, self.flow.rank(self.flow.values[statement]), None)
                return True
            case ast.AugAssign(target=ast.Name(id=name)) if statement in self.flow.operations:
                run.steps.append(Step((self.emitted(name),), self.apply_update(statement, run), statement.lineno))
                self.bind(run, name, self.flow.rank(self.flow.values[statement]), None)
                return True
        return False

    def accumulated(self, statement: ast.stmt, run: Run) -> ast.stmt | None:
        """``total = total + value`` in a loop, with an addition of its own: all values are known before any sum."""
        match statement:
            case ast.Assign(targets=[ast.Name() | ast.Subscript() as target], value=ast.BinOp(op=ast.Add()) as node):
                owner, value = node.left, node.right
            case ast.AugAssign(target=ast.Name() as target, op=ast.Add(), value=value) as node:
                owner = target if node not in self.flow.operations else self.flow.operations[node].arguments[0]
            case _:
                return None
        if node not in self.flow.operations or not self.goes_on(owner, target, value, run):
            return None
        held = self.expression(value, run if self.may_hoist(statement) else None)
        addition = Run()
        operands = self.input(owner, addition), self.input(value, addition, expression=held)
        operation, site = self.flow.operations[node], self.flow.site(node)
        callee = f"{self.flow.scheduler}.in_place" if isinstance(node, ast.AugAssign) else ""
        rank = self.flow.ranks.get(site)
        tree = Apply(operation.name, operation.family, operation.kind, operands, {}, callee, rank, node)
        addition.sites.add(site)
        name = self.emitted(target.id) if isinstance(target, ast.Name) else self.flow.names.fresh("result")
        addition.steps.append(Step((name,), tree, statement.lineno))
        made = ast.Assign([self.expression(target, None)], self.make_point(addition, [(name, -1)]))
        return ast.copy_location(made, statement)

    def goes_on(self, owner: ast.expr, target: ast.expr, value: ast.expr, run: Run) -> bool:
        """Whether a loop adds to what the iteration before left, which nothing else in the loop reads."""
        place = ast.unparse(target)
        if not self.loops or ast.unparse(owner) != place or owner in self.flow.operations:
            return False
        atoms = self.flow.values.get(value, set())
        if not atoms or not all(map(is_tensor_atom, atoms)) or place in map(ast.unparse, _expressions(value)):
            return False
        if isinstance(target, ast.Name):
            inside = set(nodes_of(self.loops[-1]))
            others = [node for node in self.loads.get(target.id, ()) if node is not owner and node in inside]
            return target.id not in run.ranks and not others
        return True

    def bind(self, run: Run, name: str, rank: int | None, pack: Pack | None) -> None:
        run.ranks[name] = rank
        run.packs.pop(name, None)
        if pack is not None:
            run.packs[name] = pack.arity

    def apply_update(self, statement: ast.AugAssign, run: Run) -> Apply:
        operation = self.flow.operations[statement]
        run.sites.add(self.flow.site(statement))
        arguments = tuple(self.tree(item, run) for item in operation.arguments)
        rank = self.flow.ranks.get(self.flow.site(statement))
        callee = f"{self.flow.scheduler}.in_place"
        return Apply("update", "elementwise", "operator", arguments, {}, callee, rank, statement)

    def apply_store(self, statement: ast.Assign, run: Run) -> Apply:
        owner, index, value = self.flow.operations[statement].arguments
        run.sites.add(self.flow.site(statement))
        role = "tensor" if any(map(is_tensor_atom, self.flow.values[value])) else "number"
        stored = self.tree(value, run, role)  # before the subscript, as in Python
        rank, scheduler = self.flow.ranks.get(self.flow.site(statement)), self.flow.scheduler
        if (literals := literal_part(index)) is not None:
            arguments = self.tree(owner, run), Uniform(literals.text), stored
            return Apply("setitem", "part", "store", arguments, {}, f"{scheduler}.stored_part", rank, statement)
        arguments = self.tree(owner, run), self.tree(index, run, "index"), stored
        return Apply("setitem", "store", "store", arguments, {}, f"{scheduler}.stored", rank, statement)

    def may_hoist(self, statement: ast.stmt) -> bool:
        """Whether tensor work of the statement may run before the rest of it: no call can change what it reads."""
        match statement:
            case ast.For(iter=head) | ast.If(test=head):
                part: ast.AST = head
            case ast.While():
                return False
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(), attr="append" | "add"), args=[item])):
                part = item
            case _:
                part = statement
        return all(not isinstance(node, ast.Call) or node in self.flow.operations for node in nodes_of(part))

    def flush(self, run: Run) -> list[ast.stmt]:
        """The call of the run's point, with the names that others read."""
        if not run.steps:
            return []
        self.consumed |= run.consumed
        wanted = [name for name in run.ranks if self.is_read(name, run)] or [list(run.ranks)[-1]]
        outputs, targets, after = [], [], []
        for name in wanted:
            arity = -1
            if name in run.packs:
                arity = self.crossing(run, name)
            outputs.append((self.emitted(name), arity))
            if arity == -1 or len(wanted) == 1:
                targets.append(ast.Name(name, ast.Store()))
            else:
                parts = [f"{name}_{position}" for position in range(arity)]
                targets += [ast.Name(part, ast.Store()) for part in parts]
                gathered = ast.Tuple([ast.Name(part, ast.Load()) for part in parts], ast.Load())
                after.append(ast.Assign([ast.Name(name, ast.Store())], gathered))
        target = targets[0] if len(wanted) == 1 else ast.Tuple(targets, ast.Store())
        return [ast.Assign([target], self.make_point(run, outputs)), *after]

    def crossing(self, run: Run, name: str) -> int:
        """The number of tensors of a tuple that leaves its point."""
        step = next(step for step in reversed(run.steps) if step.names == (self.emitted(name),))
        arity = run.packs[name]
        whole = isinstance(step.tree, Apply) and step.tree.name in (
            "chunk",
            "split",
            "tensor_split",
            "LSTMCell",
            "unbind",
        )
        if arity is None or not whole:
            refuse("unknown-op", f"it is not known how many tensors '{name}' holds", self.routine.body[0])
        return arity

    def is_read(self, name: str, run: Run) -> bool:
        if name in run.temporaries or (self.routine is self.flow.region and name in self.live_outs):
            return True
        return any(node not in self.consumed for node in self.loads.get(name, ()))

    def make_point(self, run: Run, outputs: list[tuple[str, int]]) -> ast.Call:
        line = run.steps[0].line
        point = Point(self.flow.names.fresh(f"{self.routine.name}_{line}"), [], run.steps, outputs)
        point.scheduler = self.flow.scheduler
        point, arguments = finish(point, run)
        self.program.points.append(point)
        self.program.inputs[point] = run.atoms
        for site in run.sites:
            self.program.made_by[site] = point
        return ast.Call(ast.Name(point.name, ast.Load()), arguments, [])

    # ------------------------------------------------------------ expressions

    def inline(self, node: ast.expr) -> ast.expr:
        return self.expression(node, None)

    def expression(self, node: Any, run: Run | None) -> Any:
        """The expression over handles; its tensor work goes into the run, or where it stands if there is none."""
        flow = self.flow
        if flow.timing.is_waited(node) and isinstance(node, ast.expr) and node not in self.waiting:
            self.waiting.add(node)
            value = self.inline(node)
            self.waiting.discard(node)
            return self.scheduled("value", value, node)
        if node in flow.items and node not in self.waiting:
            self.waiting.add(node)
            value = self.inline(node)
            self.waiting.discard(node)
            return self.scheduled("rows", value, node, *self.length_of(node))
        if run is None and self.is_row(node):
            return self.row_call(node, None)
        if isinstance(node, ast.expr) and not isinstance(node, ast.Slice) and self.is_tensor_work(node, run):
            return self.point_call(node, run)
        if isinstance(node, ast.Attribute) and node.attr in flow.assigned and node in flow.attributes:
            owner = self.inline(node.value) if run is None else self.expression(node.value, run)
            return self.scheduled("get", owner, node, ast.Constant(node.attr))
        if isinstance(node, ast.Attribute) and node in flow.properties:
            return self.user_call(flow.properties[node], run)
        if isinstance(node, ast.Call) and node in flow.tests:
            return self.scheduled("is_tensor", self.expression(node.args[0], run), node)
        match node:
            case ast.Name(ctx=ast.Load()) if node.id not in self.routine.locals:
                return self.free_name(node)
            case ast.Call(func=ast.Name(id=name), args=[first, *others]) if name == PLACES:
                return self.scheduled("places", self.inline(first), node, *others)
            case ast.Attribute(value=owner) if node in flow.projections:
                made = ast.Subscript(self.expression(owner, run), position_of(node), ast.Load())
            case ast.IfExp(test=test, body=body, orelse=orelse):
                made = ast.IfExp(self.expression(test, run), self.inline(body), self.inline(orelse))
            case ast.BoolOp(op=op, values=[first, *others]):
                made = ast.BoolOp(op, [self.expression(first, run), *map(self.inline, others)])
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                made = self._fields(node, None)
            case ast.Call(func=ast.Attribute(value=owner) | owner) if not self.is_known(owner):
                return self.raising(node)
            case ast.Call() if node in self.flow.calls:
                made = self.user_call(node, run)
            case ast.AST():
                made = self._fields(node, run)
            case _:
                return node
        return ast.copy_location(made, node)

    def length_of(self, node: ast.AST) -> list[ast.expr]:
        """How many rows of a tensor are taken, where a list beside it tells."""
        if node not in self.flow.lengths:
            return []
        return [ast.Call(ast.Name("len", ast.Load()), [self.inline(self.flow.lengths[node])], [])]

    def assignment(self, target: ast.Attribute, value: ast.expr) -> ast.expr:
        """What keeps a value for an attribute of an object, which gets it when all is done."""
        names, kinds = self.flow.names, self.flow.assigned[target.attr]
        known = [ast.Name(names.constant(kind, kind.__name__), ast.Load()) for kind in kinds]
        owner = self.inline(target.value)
        return self.scheduled("put", value, target, owner, ast.Constant(target.attr), *known)

    def scheduled(self, name: str, value: ast.expr, node: ast.AST, *others: ast.expr) -> ast.expr:
        """``waves.name(value)``."""
        scheduler = ast.Name(self.flow.scheduler, ast.Load())
        made = ast.Call(ast.Attribute(scheduler, name, ast.Load()), [value, *others], [])
        return ast.copy_location(made, node)

    def _fields(self, node: Any, run: Run | None) -> Any:
        values = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                values[name] = [self.expression(item, run) if isinstance(item, ast.AST) else item for item in value]
            else:
                values[name] = self.expression(value, run) if isinstance(value, ast.AST) else value
        return ast.copy_location(type(node)(**values), node) if hasattr(node, "lineno") else type(node)(**values)

    def free_name(self, node: ast.Name) -> ast.Name:
        atoms = self.flow.values.get(node) or self.flow.lookup(self.routine, node.id, node)
        if self.flow.is_started(self.routine, node.id):
            return node
        for atom in atoms:
            if isinstance(atom, Live) and atom.path is not None:
                return ast.copy_location(ast.Name(atom.path, ast.Load()), node)
            if isinstance(atom, External):
                return ast.copy_location(ast.Name(atom.root, ast.Load()), node)
        refuse("unsupported-value", f"'{node.id}' cannot be reached from the loop", node)

    def point_call(self, node: ast.expr, run: Run | None) -> ast.expr:
        pack = next((atom for atom in self.flow.values[node] if isinstance(atom, Pack)), None)
        inner = Run() if run is None else run
        name = self.flow.names.fresh("result")
        inner.steps.append(Step((name,), self.tree(node, inner), node.lineno))
        inner.ranks[name] = self.flow.rank(self.flow.values[node])
        inner.temporaries.add(name)
        if pack is not None:
            inner.packs[name] = pack.arity
        if run is not None:
            return ast.copy_location(ast.Name(name, ast.Load()), node)
        arity = -1 if pack is None else self.crossing(inner, name)
        return self.make_point(inner, [(name, arity)])

    # ------------------------------------------------------------ calls of the user's functions

    def user_call(self, node: ast.Call, run: Run | None) -> ast.Call:
        routines = self.flow.calls[node]
        arguments = [self.expression(item, run) for item in node.args]
        keywords = [ast.keyword(item.arg, self.expression(item.value, run)) for item in node.keywords]
        if None in routines:
            if len(routines) > 1:
                refuse("unknown-call", f"it is not known what '{ast.unparse(node.func)}' calls", node)
            return ast.Call(ast.Name(routines[None].name, ast.Load()), arguments, keywords)
        receiver = node.func
        if isinstance(receiver, ast.Attribute) and not self._is_module_call(node):
            receiver = receiver.value
        name = receiver is not node.func and isinstance(node.func, ast.Attribute) and node.func.attr
        callee = self.callee(routines, self.flow.values[receiver], name or "forward")
        first = [] if self._is_static(routines) else [self.expression(receiver, run)]
        return ast.Call(ast.Name(callee, ast.Load()), [*first, *arguments], keywords)

    def _is_module_call(self, node: ast.Call) -> bool:
        """``self.child(x)``: the attribute itself is the module."""
        return any(isinstance(atom, Live) and _is_module(atom.value) for atom in self.flow.values.get(node.func, ()))

    def _is_static(self, routines: dict[Any, Routine]) -> bool:
        kinds = list(routines.items())
        static = [_static(kind, routine) for kind, routine in kinds]
        if any(static) and (not all(static) or len(kinds) > 1):
            raise NotLiftable("unknown-call", "a static method and another method are called in one place")
        return all(static)

    def callee(self, routines: dict[Any, Routine], receivers: set[Atom], name: str) -> str:
        """The function for receivers of one known class, or a dispatcher by class."""
        known = all(isinstance(atom, Live) and atom.path for atom in receivers)
        if (len(routines) == 1 and known) or self._is_static(routines):
            return next(iter(routines.values())).name
        key = (name, *sorted((id(kind), routine.name) for kind, routine in routines.items()))
        if key not in self.program.dispatchers:
            names = self.flow.names
            table = {names.constant(kind, kind.__name__): routine.name for kind, routine in routines.items()}
            self.program.dispatchers[key] = (names.fresh(f"{next(iter(table.values()))}_of"), name, table)
        return self.program.dispatchers[key][0]


def _expressions(node: ast.expr) -> list[ast.expr]:
    return [part for part in nodes_of(node) if isinstance(part, ast.expr)]


def _is_module(value: Any) -> bool:
    from looplift.frontend.host_values import is_module

    return is_module(value)


def _static(kind: type, routine: Routine) -> bool:
    assert routine.function is not None
    for cls in kind.__mro__:
        if routine.function.__name__ in cls.__dict__:
            return isinstance(cls.__dict__[routine.function.__name__], staticmethod)
    return False


def _loads(statements: list[ast.stmt]) -> dict[str, list[ast.AST]]:
    """Where each name is read; an update of a name reads it too."""
    found: dict[str, list[ast.AST]] = {}
    for statement in statements:
        for node in nodes_of(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.setdefault(node.id, []).append(node)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                read = getattr(node.target, "_as_load", None)
                if read is not None:
                    found.setdefault(node.target.id, []).append(read)
    return found


def view_sites(flow: Flow) -> set[int]:
    """The sites whose tensor may share memory with one that something else names."""
    return {flow.site(node) for node in flow.operations if not _owns_memory(flow, node)}


def _owns_memory(flow: Flow, node: ast.AST) -> bool:
    """Whether the operation makes a new tensor, or a view of one that only this expression has seen."""
    operation = flow.operations.get(node)
    if operation is None:
        return False
    if node not in flow.views:
        return True
    several = any(isinstance(atom, Pack) for atom in flow.values.get(node, ()))
    return not several and operation.name not in REPEATS and _owns_memory(flow, operation.arguments[0])


def lanes_of(flow: Flow, atoms: set[Atom]) -> set[int]:
    """The sites of all tensors that the values hold, at any depth."""
    return {atom.site for atom in held_by(flow, atoms) if isinstance(atom, (Lane, Pack))}


def held_by(flow: Flow, atoms: set[Atom]) -> set[Atom]:
    """The values, and all that they hold, at any depth."""
    found: set[Atom] = set()
    queue = list(atoms)
    while queue:
        atom = queue.pop()
        if atom in found:
            continue
        found.add(atom)
        if atom in flow.contents:
            queue += [*flow.contents[atom].everything(), *flow.contents[atom].keys]
    return found
