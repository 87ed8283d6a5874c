"""What the host slice hands to the emitter: host code that is left to Python, and points of tensor work.

Program = points, functions, dispatchers, region statements
Point   = name(parameters) steps -> outputs       a straight run of tensor operations, one instance per call
Step    = names = Tree
Tree    = Apply(operation, …) | Input | Local | Uniform | Display | Part | Item | Formula
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from looplift.base.data import dataclass, field


@dataclass(frozen=True, eq=False)
class Input:
    """A parameter of the point. ``listed``: a list of tensors of one shape.

    ``role``: tensor, shared, index, number, or weak. A shared one is a module that all calls of a batch take, a weak
    one a number beside a tensor: ``cast`` gives it the dtype that it has there.
    """

    name: str
    rank: int | None = None
    role: str = "tensor"
    cast: str = ""
    listed: bool = False


@dataclass(frozen=True, eq=False)
class Local:
    """A name bound by an earlier step of the point."""

    name: str
    rank: int | None


@dataclass(frozen=True, eq=False)
class Uniform:
    """An expression with one value for all instances; ``rank`` is -1 for what is no tensor."""

    text: str
    rank: int = -1


@dataclass(frozen=True, eq=False)
class Display:
    kind: str  # "list" | "tuple"
    items: tuple[Tree, ...]


@dataclass(frozen=True, eq=False)
class Part:
    """``lower:upper:step`` in a subscript."""

    lower: Tree | None
    upper: Tree | None
    step: Tree | None


@dataclass(frozen=True, eq=False)
class Item:
    """One result of an operation that has several."""

    base: Tree
    index: Tree
    rank: int | None


@dataclass(frozen=True, eq=False)
class Apply:
    """An operation on trees. ``callee`` is a text, or the Input that holds the function, or one of the ``modules``."""

    name: str
    family: str
    kind: str  # as in the analysis: function, method, module, operator, index, number, attribute
    arguments: tuple[Tree, ...]
    keywords: Mapping[str, Tree]
    callee: str | Input
    rank: int | None
    source: ast.expr | ast.stmt
    module: Any = None
    modules: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False)
class Formula:
    """A number that is made of sizes of tensors, ``(node, tensor, dimension)``; ``functions``: (node, text)."""

    node: ast.expr
    sizes: tuple[tuple[ast.expr, Tree, int], ...]
    functions: tuple[tuple[ast.expr, str], ...]


Tree = Input | Local | Uniform | Display | Part | Item | Apply | Formula


@dataclass(frozen=True, eq=False)
class Step:
    """``names = tree``: one name, or several for an operation with several results."""

    names: tuple[str, ...]
    tree: Tree
    line: int
    unpack: bool = False


@dataclass(eq=False)
class Point:
    """``outputs``: (name, arity), where an arity of -1 is a single tensor and another a tuple of so many."""

    name: str
    parameters: list[Input]
    steps: list[Step]
    outputs: list[tuple[str, int]]
    stage: int = 0
    scheduler: str = "waves"

    @property
    def width(self) -> int:
        """How many handles a call gives; -1 for a single one that is not in a tuple."""
        if len(self.outputs) == 1:
            return self.outputs[0][1]
        return sum(1 if arity == -1 else arity for _, arity in self.outputs)


@dataclass(eq=False)
class HostProgram:
    """Host code over handles with the points that it calls.

    ``constants`` are the objects that the text needs besides the live-ins, by name; ``guards`` are (expression,
    value) pairs that must hold for another call: evaluate the expression in ``guard_scope`` joined with the live-ins
    and compare by ``is`` or ``==``. ``assigned`` is the name of what is assigned to attributes of objects, if anything
    is.
    """

    points: list[Point]
    functions: list[ast.FunctionDef]
    dispatchers: list[tuple[str, str, dict[str, str]]]  # name, method, function for each class
    statements: list[ast.stmt]
    parameters: list[str]
    results: list[tuple[str, bool]]  # name, and whether there may be handles in its value
    returned: ast.expr | None = None
    scheduler: str = "waves"
    returned_name: str = "returned"
    assigned: str = ""
    constants: dict[str, Any] = field(default_factory=dict)
    guards: list[tuple[str, Any]] = field(default_factory=list)
    guard_scope: dict[str, Any] = field(default_factory=dict)
