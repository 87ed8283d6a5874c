"""From tensor expressions to the points of waves: builds the trees of one straight run of tensor statements."""

from __future__ import annotations

import ast
from typing import Any

from looplift.base.errors import NotLiftable
from looplift.base.spans import span_of
from looplift.base.syntax import nodes_of
from looplift.frontend.host_expressions import is_list, is_number
from looplift.frontend.host_extents import extent_of, is_formula
from looplift.frontend.host_flow import Flow, Operation, refuse
from looplift.frontend.host_routine import Routine
from looplift.frontend.host_tables import HOST_TENSOR_ATTRIBUTES, NAMED, torch_name
from looplift.frontend.host_values import (
    HOST,
    Atom,
    Container,
    Lane,
    Live,
    Pack,
    is_module,
    is_none,
    is_tensor,
    is_tensor_atom,
)
from looplift.runtime.waves_program import Apply, Display, Formula, Input, Item, Local, Part, Point, Step, Tree, Uniform


class ReadsRun(Exception):
    """A host expression reads what the run has not handed out yet."""


class Run:
    """Tensor statements collected so far, with the host expressions that they take."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.ranks: dict[str, int | None] = {}
        self.packs: dict[str, int | None] = {}
        self.parameters: list[Input] = []
        self.arguments: list[ast.expr] = []
        self.atoms: list[set[Atom]] = []
        self.by_name: dict[str, Input] = {}
        self.consumed: set[ast.AST] = set()
        self.sites: set[int] = set()
        self.temporaries: set[str] = set()

    def copy(self) -> Run:
        twin = Run()
        for name, value in vars(self).items():
            setattr(twin, name, value.copy())
        return twin


class Segments:
    """Builds trees for one routine. ``host`` rewrites a host expression that a tensor expression takes."""

    def __init__(self, flow: Flow, routine: Routine, host: Any):
        self.flow = flow
        self.routine = routine
        self.host = host

    def is_tensor_work(self, node: ast.AST, run: Run | None) -> bool:
        """Whether the expression is computed in a point, not on the host."""
        if node in self.flow.operations:
            return True
        if node in self.flow.projections and isinstance(node, ast.Subscript | ast.Attribute):
            return self.is_inside(node.value, run)
        return False

    def is_inside(self, node: ast.expr, run: Run | None) -> bool:
        return (isinstance(node, ast.Name) and run is not None and node.id in run.ranks) or self.is_tensor_work(
            node, run
        )

    def tree(self, node: ast.expr, run: Run, role: str = "tensor") -> Tree:
        flow = self.flow
        if isinstance(node, ast.Name) and node.id in run.ranks:
            run.consumed.add(node)
            return Local(self.emitted(node.id), run.ranks[node.id])
        if self.is_row(node):
            return self.row(node, run)
        if node in flow.operations:
            return self.apply(node, flow.operations[node], run)
        if node in flow.projections and isinstance(node, ast.Subscript | ast.Attribute):
            if self.is_inside(node.value, run):
                index = self.tree(position_of(node), run)
                return Item(self.tree(node.value, run), index, flow.rank(flow.values[node]))
        if (text := self.uniform(node)) is not None:
            return Uniform(text, self.uniform_rank(node))
        if is_formula(flow, node):
            return self.formula(node, run)
        match node:
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return Display(type(node).__name__.lower(), tuple(self.tree(item, run) for item in items))
            case ast.Slice(lower=lower, upper=upper, step=step):
                return Part(*(None if part is None else self.tree(part, run) for part in (lower, upper, step)))
        return self.leaf(node, run, role)

    def formula(self, node: ast.expr, run: Run) -> Formula:
        """A number that is made of sizes of tensors."""
        parts = [part for part in nodes_of(node) if isinstance(part, ast.expr)]
        found = [(part, place) for part in parts if part in self.flow.extents and (place := extent_of(part))]
        sizes = tuple((part, self.tree(owner, run), axis) for part, (owner, axis) in found)
        calls = [part.func for part in parts if isinstance(part, ast.Call) and part not in self.flow.extents]
        functions = tuple((function, text) for function in calls if (text := self.uniform(function)))
        if len(functions) < len(calls):
            refuse("unknown-call", f"'{ast.unparse(node)}' calls another function in each iteration", node)
        return Formula(node, sizes, functions)

    def is_row(self, node: ast.AST) -> bool:
        """``h[i]``, ``h[i, j]``: an item at numbers of the host, which no point can share as a text."""
        operation = self.flow.operations.get(node)
        if operation is None or operation.kind != "index":
            return False
        base, *parts = operation.arguments
        if not all(is_number(self.flow, part) for part in parts):
            return False
        if any(map(is_list, self.flow.values.get(base, ()))):  # as it may be as well, which the scheduler tells apart
            return True
        texts = [self.uniform(part) for part in parts]
        return None in texts and (len(parts) > 1 or self.uniform(base) is None)

    def row(self, node: ast.AST, run: Run) -> Input:
        """An item of a tensor, picked by the scheduler, as a parameter of the point."""
        assert isinstance(node, ast.Subscript)
        return self.input(node, run, expression=self.row_call(node, run))

    def row_call(self, node: ast.AST, run: Run | None) -> ast.expr:
        base, *parts = self.flow.operations[node].arguments
        if run is not None and any(isinstance(item, ast.Name) and item.id in run.ranks for item in nodes_of(node)):
            raise ReadsRun
        made: ast.expr = self.host(base)
        for part in parts:
            made = ast.Call(ast.Attribute(ast.Name(self.flow.scheduler), "row"), [made, self.host(part)], [])
        return ast.copy_location(made, node)

    def apply(self, node: Any, operation: Operation, run: Run) -> Tree:
        """The tree of one tensor operation."""
        run.sites.add(self.flow.site(node))
        rank = self.flow.ranks.get(self.flow.site(node))
        callee: str | Input = ""
        if operation.kind == "number" and self.uniform(operation.arguments[0]) is None:
            callee = f"{self.flow.scheduler}.number"
        elif operation.kind == "filled":
            callee = f"{self.flow.scheduler}.{operation.name}"
        elif operation.kind in ("function", "module", "number"):
            text = self.uniform(node.func)
            role = "shared" if operation.kind == "module" else "tensor"
            callee = text if text is not None else self.input(node.func, run, role, self.one_of(node.func))
        roles = ["tensor"] * len(operation.arguments)
        if operation.kind == "number":
            roles = ["number"]
        elif operation.kind == "index" and len(operation.arguments) == 2 and self.uniform(operation.arguments[0]):
            roles[1] = "index"
        elif operation.kind == "operator" and len(roles) == 2 and isinstance(node, ast.BinOp):
            roles = ["weak" if self.is_weak(item, node.op) else "tensor" for item in operation.arguments]
        arguments = tuple(self.tree(item, run, role) for item, role in zip(operation.arguments, roles))
        if "weak" in roles:
            arguments = tuple(self.named(item, run, node) for item in arguments)
        if roles[:1] == ["weak"] and isinstance(node.op, ast.Div):
            return self.inverse(arguments, rank, run, node)
        keywords = {name: self.tree(item, run) for name, item in operation.keywords.items()}
        modules = self.modules_of(node) if operation.kind == "module" else ()
        return Apply(
            operation.name, operation.family, operation.kind, arguments, keywords, callee, rank, node,
            operation.module, modules,
        )  # fmt: skip

    def modules_of(self, node: Any) -> tuple[Any, ...]:
        """The modules that a call may be of; none where it may be of something else too."""
        atoms = self.flow.values[node.func]
        found = tuple(atom.value for atom in atoms if isinstance(atom, Live) and is_module(atom.value))
        return found if len(found) == len(atoms) else ()

    def named(self, tree: Tree, run: Run, node: Any) -> Tree:
        """The tree under a name, where it is more than one: it is read more than once."""
        if not isinstance(tree, Apply | Item):
            return tree
        name = self.flow.names.fresh("operand")
        run.steps.append(Step((name,), tree, node.lineno))
        run.ranks[name] = tree.rank
        return Local(name, tree.rank)

    def inverse(self, arguments: tuple[Tree, ...], rank: int | None, run: Run, node: ast.BinOp) -> Tree:
        """A number by a tensor, which PyTorch computes as the tensor's reciprocal times the number."""
        number, tensor = arguments
        reciprocal = Apply("reciprocal", "elementwise", "method", (tensor,), {}, "", rank, node)
        product = ast.copy_location(ast.BinOp(node.right, ast.Mult(), node.left), node)
        factors = self.named(reciprocal, run, node), number
        return Apply("Mult", "elementwise", "operator", factors, {}, "", rank, product)

    def is_weak(self, node: ast.expr, sign: ast.operator) -> bool:
        """Whether an operand is a number of the host that differs from call to call."""
        plain = all(
            (isinstance(part.func, ast.Name) and part.func.id in ("len", "float", "int", "max", "min", "abs"))
            or (isinstance(part.func, ast.Attribute) and ast.unparse(part.func.value) == "math")
            for part in nodes_of(node)
            if isinstance(part, ast.Call)
        )
        simple = isinstance(sign, (ast.Add, ast.Sub, ast.Mult, ast.Div))
        return simple and plain and self.flow.values.get(node) == {HOST} and self.uniform(node) is None

    def one_of(self, node: ast.expr) -> ast.expr | None:
        """A function that is taken from data, checked to be one of those that were there when the program was made."""
        names = self.flow.names
        functions = [atom.value for atom in self.flow.values[node] if isinstance(atom, Live) and torch_name(atom.value)]
        if not functions:
            return None
        known: list[ast.expr] = [ast.Name(names.constant(value, f"torch_{torch_name(value)}")) for value in functions]
        made = ast.Call(ast.Attribute(ast.Name(self.flow.scheduler), "one_of"), [self.host(node), ast.Tuple(known)], [])
        return ast.copy_location(made, node)

    # ------------------------------------------------------------ what all instances share

    def uniform(self, node: ast.expr) -> str | None:
        """The text of an expression that has one value in the whole region, by the region's own names."""
        atoms = self.flow.values.get(node, set())
        if len(atoms) == 1:
            (atom,) = atoms
            if isinstance(atom, Live) and atom.path is not None:
                return atom.path
        match node:
            case ast.Constant(value=value):
                return repr(value) if value is not Ellipsis else "..."
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                text = self.uniform(operand)
                return None if text is None else f"-{text}"
            case ast.BinOp(left=left, right=right, op=sign) if not self.is_tensor_work(node, None):
                return self._joined(left, sign, right)
            case ast.Attribute(value=value, attr=name) if name in HOST_TENSOR_ATTRIBUTES:
                text = self.uniform(value)
                return None if text is None else f"{text}.{name}"
            case ast.Subscript(value=ast.Attribute(attr="shape") as shape, slice=ast.Constant(value=position)):
                text = self.uniform(shape)
                return None if text is None else f"{text}[{position!r}]"
            case ast.Call(func=ast.Attribute(value=value, attr="size"), args=[ast.Constant(value=position)]):
                text = self.uniform(value)
                return None if text is None else f"{text}.size({position!r})"
        return None

    def _joined(self, left: ast.expr, sign: ast.operator, right: ast.expr) -> str | None:
        first, second = self.uniform(left), self.uniform(right)
        if first is None or second is None:
            return None
        joined = ast.BinOp(ast.Name(first), sign, ast.Name(second))
        return f"({ast.unparse(joined)})"

    def uniform_rank(self, node: ast.expr) -> int:
        for atom in self.flow.values.get(node, ()):
            if isinstance(atom, Live) and is_tensor(atom.value):
                return atom.value.dim()
        return -1

    # ------------------------------------------------------------ what comes from the host

    def leaf(self, node: ast.expr, run: Run, role: str) -> Tree:
        atoms = self.flow.values.get(node, set())
        arity = self.tuple_arity(atoms) if any(isinstance(atom, (Pack, Container)) for atom in atoms) else None
        if arity is not None and isinstance(node, (ast.Name, ast.Subscript)) and not self.runs_code(node):
            parts = [ast.copy_location(ast.Subscript(node, ast.Constant(k), ast.Load()), node) for k in range(arity)]
            for position, part in enumerate(parts):
                self.flow.values[part] = self._at(atoms, position)
            return Display("tuple", tuple(self.input(part, run, role) for part in parts))
        return self.input(node, run, role)

    def runs_code(self, node: ast.expr) -> bool:
        """Whether an expression calls something, so that it must be evaluated once."""
        return any(isinstance(part, ast.Call) or part in self.flow.properties for part in nodes_of(node))

    def _at(self, atoms: set[Atom], position: int) -> set[Atom]:
        found: set[Atom] = set()
        for atom in atoms:
            if not is_none(atom):
                found |= {Lane(atom.site)} if isinstance(atom, Pack) else self.flow.inside(atom).at(position)
        return found

    def tuple_arity(self, atoms: set[Atom]) -> int | None:
        """The number of elements if every atom is a tuple of so many tensors."""
        arities = set()
        for atom in atoms:
            match atom:
                case _ if is_none(atom):
                    pass  # taking its elements raises, and the loop runs instead
                case Pack(arity=arity):
                    arities.add(arity)
                case Container(kind="tuple") if not self.flow.inside(atom).rest:
                    arities.add(len(self.flow.inside(atom).fields))
                case _:
                    return None
        return arities.pop() if len(arities) == 1 else None

    def input(self, node: ast.expr, run: Run, role: str = "tensor", expression: ast.expr | None = None) -> Input:
        """A parameter of the point for a host expression."""
        if any(isinstance(item, ast.Name) and item.id in run.ranks for item in nodes_of(node)):
            raise ReadsRun
        atoms = self.flow.values.get(node, set())
        if isinstance(node, ast.Name) and node.id in run.by_name and run.by_name[node.id].role == role:
            return run.by_name[node.id]
        listed = any(isinstance(atom, Container) for atom in atoms)
        taken: ast.expr = self.host(node) if expression is None else expression
        if listed:
            tensors = {atom for atom in self.flow.elements(atoms, node) if not is_none(atom)}
            some = any(map(is_tensor_atom, tensors)) and all(is_tensor_atom(atom) or atom == HOST for atom in tensors)
            if not all(isinstance(atom, Container) for atom in atoms) or not (some or not tensors):
                refuse("unknown-op", f"'{ast.unparse(node)}' is not a plain list of tensors", node)
            if any(atom.kind not in ("list", "tuple") for atom in atoms if isinstance(atom, Container)):
                taken = ast.Call(ast.Name("list", ast.Load()), [taken], [])
            atoms = tensors
        elif any(isinstance(atom, Pack) for atom in atoms):
            refuse("unknown-op", f"'{ast.unparse(node)}' has an unknown number of tensors", node)
        tensors = {atom for atom in atoms if not is_none(atom)}  # of None an operation raises, and the loop runs
        rank = self.flow.rank(atoms) if tensors and all(map(is_tensor_atom, tensors)) else None
        cast = f"{self.flow.scheduler}.weak" if role == "weak" else ""
        made = Input(self._name(node, run), rank, role, cast, listed)
        run.parameters.append(made)
        run.arguments.append(taken)
        run.atoms.append(atoms)
        if isinstance(node, ast.Name):
            run.by_name[node.id] = made
        return made

    def emitted(self, name: str) -> str:
        """The name of a local of the point: the author's, unless the region uses that name for something else."""
        flow = self.flow
        taken = name in flow.live_ins or name in flow.names.constants or name == flow.scheduler
        shadows = self.routine is not flow.region and taken
        return f"{name}_" if shadows else name

    def _name(self, node: ast.expr, run: Run) -> str:
        """The author's name of a host expression, or its last part; free in the point."""
        is_part = isinstance(node, ast.Subscript)
        while isinstance(node, ast.Subscript):
            node = node.value
        is_own = isinstance(node, ast.Name) and not (is_part and self.uniform(node))  # a point may read the whole, too
        hint = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else "value"
        hint = self.emitted(hint)
        taken = {item.name for item in run.parameters} | set(map(self.emitted, run.ranks))
        taken |= set() if is_own else set(self.flow.names.constants) | set(self.flow.live_ins)
        name, number = hint, 1
        while name in taken:
            name, number = f"{hint}_{number}", number + 1
        return name


def position_of(node: ast.Subscript | ast.Attribute) -> ast.expr:
    """Which of several results is taken."""
    return node.slice if isinstance(node, ast.Subscript) else ast.Constant(NAMED[node.attr][0])


ROLES = {"tensor": 0, "shared": 1}
"""What sets calls apart stands before the numbers of a point."""


def finish(point: Point, run: Run) -> tuple[Point, list[ast.expr]]:
    """Puts the tensor parameters first; the host arguments in the same order."""
    order = sorted(range(len(run.parameters)), key=lambda k: ROLES.get(run.parameters[k].role, 2))
    arguments = [run.arguments[k] for k in order]
    ordered = [run.arguments[k] for k in order if run.parameters[k].role != "weak"]
    calls = [item for item in ordered if any(isinstance(part, ast.Call) for part in nodes_of(item))]
    if order != sorted(order) and len(calls) > 1:
        raise NotLiftable("unknown-op", "the order of the calls in this expression would change", span_of(calls[0]))
    point.parameters = [run.parameters[k] for k in order]
    return point, arguments
