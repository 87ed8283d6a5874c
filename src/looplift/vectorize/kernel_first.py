"""A function of the IR in; whether a kernel is tried before lanes out, from the kinds of its live-ins alone."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
import torch

from looplift.ir.array import Program, Write, nodes_of
from looplift.ir.facts import Facts
from looplift.ir.grammar import Atom, Function, If, Let, Loop, Op, Range, Store, Var, While, atoms, operands, walk
from looplift.ops.table import base_name

LIBRARY_WORK = frozenset(
    "exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh arcsin arccos arctan arctan2 arcsinh arccosh "
    "arctanh power float_power".split()
)
"""Functions that NumPy computes for many numbers at once, faster than the C library does for one."""


def suits_a_kernel(function: Function) -> bool:
    """Whether a kernel is better than lanes wherever it is possible.

    That is where lanes part ways, where the numbers are in lists, and where they are in NumPy arrays, whose every
    operation takes a pass through memory.
    """
    values = function.attributes["values"].values()
    if has_while(function):
        return True
    if not any(hasattr(type(value), "shape") for value in values):
        return any(type(value) is list for value in values)
    return _is_of_arrays(function, values) and not _is_library_work(function)


def has_while(function: Function) -> bool:
    """Whether lanes would part ways: kernels are tried first then."""
    return any(isinstance(s, Loop) and isinstance(s.domain, While) for s in walk(function.body))


def _is_of_arrays(function: Function, values: Any) -> bool:
    """Whether a region is about NumPy arrays alone."""
    made = any(isinstance(s, Let) and s.op.name.startswith("torch.") for s in walk(function.body))
    arrays = any(isinstance(value, np.ndarray) for value in values)
    return arrays and not made and not any(isinstance(value, torch.Tensor) for value in values)


def _is_library_work(function: Function) -> bool:
    """Whether a region calls what NumPy is better at, or is a contraction, which is a product of matrices."""
    varies = _loops_of_values(function)
    for statement in walk(function.body):
        if not isinstance(statement, Let):
            continue
        op = statement.op
        owner, _, short = op.name.rpartition(".")
        if (owner in ("np", "method") and short in LIBRARY_WORK) or short in (
            "matmul",
            "dot",
            "inner",
            "outer",
            "einsum",
        ):
            return True
        if short in ("mul", "multiply") and _contracts(op, varies):
            return True
        if short == "sqrt" and _is_row(function, op.args[0]):  # each of which a kernel checks for a warning
            return True
    return False


def _is_row(function: Function, atom: object) -> bool:
    """Whether a value is a row of an array of the caller."""
    values = function.attributes["values"]
    for statement in walk(function.body):
        if isinstance(statement, Let) and statement.var is atom and statement.op.name in ("getitem", "iter_item"):
            owner, index = statement.op.args[0], statement.op.args[1]
            return isinstance(index, Var) and getattr(values.get(owner), "ndim", 0) > 1
    return False


def _contracts(op: Op, varies: dict[Atom, frozenset[Var]]) -> bool:
    """Whether each factor of a product has a loop of its own and both have one in common: ``a[i, k] * b[k, j]``."""
    first, second = (varies.get(a, frozenset()) if isinstance(a, Var) else frozenset() for a in op.args[:2])
    return bool(first & second and first - second and second - first)


def _loops_of_values(function: Function) -> dict[Atom, frozenset[Var]]:
    """For each value the indices of the loops that it is computed from; of carried values only those of their start."""
    found: dict[Atom, frozenset[Var]] = {}

    def of(atoms: Any) -> frozenset[Var]:
        return frozenset().union(*(found.get(atom, frozenset()) for atom in atoms if isinstance(atom, Var)))

    for statement in [*walk(function.body)] * 2:  # a branch comes before what is in it
        match statement:
            case Let(var=var, op=op):
                found[var] = of(operands(op))
            case If(cond=cond, phis=phis):
                found |= {phi.var: of((cond, phi.then, phi.orelse)) for phi in phis}
            case Loop(index=index, carries=carries, domain=domain):
                if index is not None and isinstance(domain, Range):
                    found[index] = frozenset({index}) | of((domain.lo, domain.hi))
                for carry in carries:
                    found[carry.inside] = found[carry.after] = of((carry.init,))
    return found


SHORT = 64
"""So many elements of a row at most, and a call of a library costs more than its work."""
LONG = 4 * SHORT
"""More elements of a row than this, and a library has done its work in less time."""
SMALL = 16
"""So many elements of a matrix that is written out, and a product with another is few passes over the rows of that."""
_PRODUCTS = frozenset("matmul mm mv bmm addmm addmv linear einsum tensordot bilinear".split())


_FILLS = frozenset("zeros ones empty full zeros_like ones_like empty_like full_like".split())
"""What makes arrays that loops write to element by element, which is the work."""
_ALLOCATIONS = _FILLS | frozenset("eye identity clone copy cat concatenate hstack vstack column_stack getitem".split())
"""What is done once, before the loops, by passes through memory."""


def takes_short_rows(function: Function) -> bool:
    """Whether the rows of all arrays that a region is given are short, and it multiplies no matrices: what is known of
    a region that has no facts."""
    arrays = [value for value in function.attributes["values"].values() if hasattr(type(value), "shape")]
    if any(value.shape[-1] > SHORT for value in arrays if len(value.shape) > 1):
        return False
    names = {s.op.name for s in walk(function.body) if isinstance(s, Let)} - {"torch.dot"}  # which takes no matrices
    return bool(arrays) and not set(map(base_name, names)) & (_PRODUCTS | {"dot"})


def stay_short(function: Function) -> list[str]:
    """What is asked of the arrays of later calls, so that a kernel of short rows is not left with long ones."""
    values, paths = function.attributes["values"], function.attributes["paths"]
    arrays = [var for var in function.params if len(getattr(values[var], "shape", ())) > 1]
    return [f"min({paths[var]}.shape) <= {LONG}" for var in arrays if min(values[var].shape) <= SHORT]


def has_short_rows(facts: Facts, collecting: frozenset[str] = frozenset()) -> bool:
    """Whether what a region computes is numbers and short rows, and no product with a matrix, but for small ones in
    loops that iterations leave early: few of them are left in most steps. ``collecting``: what may make long ones."""
    body = facts.function.body
    leaves = any(isinstance(s, Loop) and s.stop is not None for s in walk(body))
    if _has_products_of_matrices(facts, SHORT if leaves else 0):
        return False
    apart = [s for s in body if isinstance(s, Let) and base_name(s.op.name) in _ALLOCATIONS]
    apart += [s for s in walk(body) if isinstance(s, Let) and base_name(s.op.name) in _FILLS]
    lets = [s for s in walk(body) if isinstance(s, Let) and s not in apart and s.var in facts.of]
    lets = [let for let in lets if not _is_view(facts, let) and base_name(let.op.name) not in collecting]
    return all(prod(facts.of[let.var].shape) <= _most_elements(let) for let in lets)


def collects_short_rows(facts: Facts) -> bool:
    """The same, where numbers and short rows may be put together to long ones."""
    return has_short_rows(facts, _COLLECTING)


_COLLECTING = frozenset("stack cat concatenate hstack vstack column_stack".split())
_READS = ("getitem", "iter_item", "zipped")


def _is_view(facts: Facts, let: Let) -> bool:
    """Whether an operation reads items, or a part of an array, as they are."""
    if let.op.name not in _READS:
        return False
    places = [atom for arg in let.op.args[1:] for atom in atoms(arg)] if let.op.name == "getitem" else []
    return not any(facts[atom].kind.is_array or facts[atom].kind.family == "list" for atom in places)


def scatters_numbers(facts: Facts) -> bool:
    """Whether a region stores single numbers at places of an array that the data tells, which lanes sort or count."""
    body = facts.function.body
    given = {*facts.function.params, *(s.var for s in body if isinstance(s, Let))}
    told: set[Atom] = set()
    for statement in walk(body):
        match statement:
            case Let(var=var, op=op) if op.name in _READS or told & set(operands(op)):
                told.add(var)
            case Store(ref=ref, index=index, value=value) if ref in given and told & set(atoms(index)):
                return not isinstance(value, Var) or not facts.of[value].shape
    return False


def _most_elements(let: Let) -> int:
    """Of how many elements an operation is short: four simple ones take no longer than one function of math."""
    return SHORT if base_name(let.op.name) in LIBRARY_WORK | {"tanh", "sigmoid", "softmax"} else 4 * SHORT


def suits_rows_in_a_kernel(facts: Facts) -> bool:
    """Whether a kernel of whole rows is worth a try where no other form is possible: a library is not much better."""
    if has_short_rows(facts):
        return True
    lets = {s.var: s.op for s in walk(facts.function.body) if isinstance(s, Let)}
    products = [atoms for atoms in _products_of_matrices(facts) if not _is_of_few_rows(atoms, facts, lets)]
    return not products and not {base_name(op.name) for op in lets.values()} & LIBRARY_WORK


def _is_of_few_rows(atoms: list[Var], facts: Facts, lets: dict[Var, Op]) -> bool:
    """Whether a product is that of a small matrix that is written out and another, as a rotation of two rows is."""
    if len(atoms) != 2 or any(len(facts.of[atom].shape) != 2 for atom in atoms):
        return False
    return any(prod(facts.of[atom].shape) <= SMALL and _is_written_out(atom, lets) for atom in atoms)


def _is_written_out(atom: Var, lets: dict[Var, Op]) -> bool:
    """Whether a matrix is made of a display, so that it has this size in every call."""
    op = lets.get(atom)
    if op is None or base_name(op.name) not in ("array", "tensor", "stack"):
        return False
    display = next(iter(operands(op)), None)
    return isinstance(display, Var) and display in lets and lets[display].name in ("list", "tuple")


def _has_products_of_matrices(facts: Facts, small: int = 0) -> bool:
    """Whether there are products with matrices of more than so many elements."""
    every = (facts.of[atom].shape for atoms in _products_of_matrices(facts) for atom in atoms)
    return any(len(shape) > 1 and prod(shape) > small for shape in every)


def _products_of_matrices(facts: Facts) -> Iterator[list[Var]]:
    """What each product with matrices takes."""
    for statement in walk(facts.function.body):
        if isinstance(statement, Let) and base_name(statement.op.name) in _PRODUCTS | {"dot"}:
            taken = [atom for atom in operands(statement.op) if isinstance(atom, Var) and atom in facts.of]
            if any(len(facts.of[atom].shape) > 1 for atom in taken):
                yield taken


_OF_ARITHMETIC = frozenset("""elementwise where reduce fold""".split())
_OF_PLACES = frozenset("best_of best_place last_taken".split())
"""What takes lanes several passes, and a kernel one."""
_BESIDE_ARITHMETIC = frozenset(
    """name extent const slice shift linear index gather along assemble collect owned full display apply renamed
    on_diagonal some settled retype cast turned arange unsqueezed spread finite attribute method length lengths
    relabel total distances place along_dim transposed permuted field part only_finite recurrence passes running_last
    running_sum last last_taken stencil join leading trailing entries segment entry first first_held at_best best_of
    best_item label_counts label_sums label_either pooled tiles bound axes_softmax axes_logsumexp windows dense
    flattened reshaped unflattened stretched vector moved split flat_lanes items item_lengths""".split()
)
"""What a kernel does beside arithmetic, in no more steps than lanes: it reads, and remembers what came before."""


def may_gain_as_a_kernel(program: Program) -> bool:
    """Whether lanes compute a region by arithmetic, a pass through memory for each operation, where a kernel has the
    same work to do: not where they do less of it, nor where a library has a better way, as for products of matrices.

    What is combined with the values at places that may repeat is arithmetic, too."""
    every = nodes_of(program)
    used = {node.op for node in every if node.axes}
    combines = any(isinstance(step, Write) and step.mode not in ("set", "last") for step in program.steps)
    works = combines or bool(used & _OF_ARITHMETIC) or any(node.op in _OF_PLACES for node in every)
    return works and used <= _OF_ARITHMETIC | _BESIDE_ARITHMETIC and not program.has_loops()
