"""A whole region as one kernel: all its loops, the arrays and lists that it makes, and what it hands out."""

from __future__ import annotations

from typing import Any

from looplift.base.data import dataclass, replace
from looplift.emit.native_allocation import adopted, is_adopted
from looplift.emit.native_convert import truth
from looplift.emit.native_flow import ArrayType
from looplift.emit.native_joins import objects_of, possible_objects
from looplift.emit.native_signature import ArrayResult, Result, Signature, Wanted, write_result
from looplift.emit.native_statements import write_block
from looplift.emit.native_types import BOOL, FLOAT, INT, MIXED, kind_of_scalar
from looplift.emit.native_values import Fixed, Items, Number, Value, View, plain
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import UNDEFINED, Atom, Const, Function, Let, Loop, Range, Var, walk
from looplift.ir.kernel import Output

Tree = Any
"""What a region hands out: a Result, a Var (an input as it is), a Const, or a tuple or list of trees."""


@dataclass(frozen=True)
class Perhaps:
    """A tuple that may be None: a Result that tells whether it is not, and the trees of its items."""

    there: Tree
    items: tuple[Tree, ...]


class RegionResults(list):
    """The results of a region one by one, and ``trees`` of them, one for each value that is handed out."""

    def __init__(self) -> None:
        super().__init__()
        self.trees: list[Tree] = []
        self.tensors: list[tuple[Var, set[Var], Result]] = []
        """Those that are 0-dim tensors, with the variables whose objects they may be."""


def as_loop(function: Function) -> Loop:
    """A region's statements as the body of a loop that runs once."""
    return Loop(Range(Const(0), Const(1), Const(1)), Var("once.0"), (), function.body, None, function.span)


def write_region(writer: Writer, loop: Loop, wanted: Wanted, signature: Signature) -> RegionResults:
    """All statements, and then the results."""
    assert wanted.returned is not None
    write_block(writer, loop.body, wanted.returned)
    results = RegionResults()
    for atom in wanted.returned:
        results.trees.append(_tree(writer, atom, writer.value(atom), signature, results))
    _keep_apart(writer, results)
    for result in sorted(results, key=lambda result: isinstance(result, ArrayResult)):
        if isinstance(result, ArrayResult):
            writer.last_look()  # before a holder is added
        write_result(writer, result)
    writer.last_look()
    if writer.findings.stored & writer.findings.renamed:
        writer.findings.stored |= writer.findings.lent
    return results


def _tree(writer: Writer, atom: Atom | None, value: Value, signature: Signature, results: RegionResults) -> Tree:
    match value:
        case Items(is_list=True):
            raise writer.refuse("not-scalar", "the region hands out a list that is not made of numbers of one kind")
        case Items(items=items, there=Number() as there):
            hint = atom.hint if isinstance(atom, Var) else "pair"
            flag = _number(writer, Var(f"{hint}_there.0"), plain(there), signature, results)
            return Perhaps(
                flag, tuple(_tree(writer, None, _if_there(writer, there, i), signature, results) for i in items)
            )
        case Items(items=items):
            inner = _items(writer, atom, len(items))
            return tuple(_tree(writer, a, i, signature, results) for a, i in zip(inner, items, strict=True))
        case Fixed():
            if atom is UNDEFINED or not (value.value is None or isinstance(value.value, str)):
                raise writer.refuse("unsupported-syntax", "a name may not be bound where the region ends")
            return Const(value.value)
        case View():
            return _array(writer, atom, value, signature, results)
        case Number():
            return _number(writer, atom, value, signature, results)
    raise writer.refuse("not-scalar", "the region hands out something that is no number and no array")


def _if_there(writer: Writer, there: Number, item: Value) -> Value:
    """A number that is read only where it is bound."""
    if isinstance(item, Items) and item.there is None:
        return replace(item, items=tuple(_if_there(writer, there, one) for one in item.items))
    if isinstance(item, Fixed) and isinstance(item.value, str | None):
        return item
    if not isinstance(item, Number) or item.other is not None or item.type not in (INT, FLOAT, BOOL):
        raise writer.refuse("mixed-kinds", "a tuple that may be None holds something else than numbers")
    zero = f"{item.type.cpp}(0)"
    return Number(f"({truth(there).text} ? {item.text} : {zero})", item.type, homes=item.homes | there.homes)


def _check_not_given(writer: Writer, number: Number, objects: set[Var], signature: Signature) -> None:
    """A result that equals a 0-dimensional tensor of the caller may be that very tensor: then the original runs."""
    for var in sorted(objects & set(writer.inputs), key=lambda var: var.name):
        parameter = signature.of(var)
        if parameter.kind.family == "tensor" and parameter.rank == 0:
            a, b = number.text, parameter.name
            writer.fail_if(f"{a} == {b} || ({a} != {a} && {b} != {b})", "another_kind")


def _items(writer: Writer, atom: Atom | None, count: int) -> list[Atom | None]:
    for statement in walk(writer.flow.loop.body):
        if isinstance(statement, Let) and statement.var is atom and statement.op.name == "tuple":
            return [item if isinstance(item, Var) else None for item in statement.op.args]
    return [None] * count


def _number(writer: Writer, atom: Atom | None, number: Number, signature: Signature, results: RegionResults) -> Tree:
    hint = atom.hint if isinstance(atom, Var) else "result"
    if number.origin is not None and number.alias and number.text == number.place:
        if number.origin in writer.inputs and signature.of(number.origin).rank == 0:
            return number.origin
    if number.alias or (isinstance(atom, Var) and _may_be_element(writer, atom)):
        raise writer.refuse("aliasing", f"'{hint}' may be an element of a tensor, and shows its later changes")
    objects: set[Var] = set()
    if number.type.family == "tensor" and isinstance(atom, Var):
        objects = objects_of(writer.flow.loop, atom)
        _check_not_given(writer, number, objects, signature)
        for other, theirs, result in results.tensors:
            if other is atom:
                return result
            if objects & theirs:
                raise writer.refuse("aliasing", f"'{hint}' may be the same object as '{other.hint}'")
    init = _only_literal(writer, atom) if number.other is not None and number.rounded else None
    if number.other is not None and number.rounded and init is None:
        raise writer.refuse("mixed-kinds", f"'{hint}' is a number at first and a tensor of another dtype later")
    if number.type == MIXED:
        number = replace(writer.bind(number, hint), type=FLOAT, other=INT)
        number = replace(number, text=f"{number.text}.value", flag=f"{number.text}.real")
    may_be_none = bool(number.bound) and number.absent is None
    if number.bound and not may_be_none:
        writer.fail_if(f"!{number.bound}", "unbound")
        number = replace(number, bound="")
    other = kind_of_scalar(number.other) if number.other is not None else None
    output = Output(Var(f"{hint}.0"), kind_of_scalar(number.type), other, init, may_be_none=may_be_none)
    name = writer.fresh(f"{hint}_out")
    flag = writer.fresh(f"{hint}_typed_out") if other is not None else ""
    bound = writer.fresh(f"{hint}_bound_out") if may_be_none else ""
    results.append(Result(output, number, name, flag, bound))
    if isinstance(atom, Var) and objects:
        results.tensors.append((atom, objects, results[-1]))
    return results[-1]


def _only_literal(writer: Writer, atom: Atom | None) -> Const | None:
    """The literal that a value is wherever it is a number of Python's, if there is one such."""
    join = writer.findings.joins.get(atom) if isinstance(atom, Var) else None
    leaves = list(join.leaves) if join is not None else []
    return leaves[0] if len(leaves) == 1 and isinstance(leaves[0], Const) else None


def _may_be_element(writer: Writer, atom: Var) -> bool:
    """Whether a 0-dim tensor may be a live view of what outlives the kernel."""
    if atom not in writer.findings.aliases:
        return False
    sources = possible_objects(writer.flow.loop)
    pending: list[Atom] = [atom]
    seen: set[Atom] = set()
    while pending:
        current = pending.pop()
        if not isinstance(current, Var) or current in seen:
            continue
        seen.add(current)
        if current in sources:
            pending.extend(sources[current])
        elif current in writer.findings.aliases and _outlives(writer, writer.findings.origins.get(current)):
            return True
    return False


def _outlives(writer: Writer, origin: Any) -> bool:
    """Whether an array is not the kernel's own, or is handed out."""
    return origin not in writer.findings.made or origin in writer.findings.handed


def _array(writer: Writer, atom: Atom | None, view: View, signature: Signature, results: RegionResults) -> Tree:
    hint = atom.hint if isinstance(atom, Var) else "result"
    if view.origin in writer.inputs and view.root == writer.input_roots[view.origin]:
        if view.rank == len(view.indices) and not view.is_part:
            return view.origin
    if view.origin in writer.inputs or view.origin is None or view.rank < len(view.indices) or view.is_part:
        raise writer.refuse("aliasing", f"'{hint}' is a part of an array")
    if not view.homes and view.origin not in writer.findings.made:
        raise writer.refuse("aliasing", f"'{hint}' is a part of an array")
    for result in results:
        if isinstance(result, ArrayResult) and result.view is not None and result.view.root == view.root:
            return result
    kind = ArrayType(view.type, view.rank, view.holds_objects)
    inputs = tuple(p for p in signature.parameters if p.var in writer.findings.lent and _array_type(p) == kind)
    output = Output(Var(f"{hint}.0"), kind_of_scalar(view.type))
    if not view.homes and view.origin in writer.findings.made and not view.is_list:
        writer.findings.handed.add(view.origin)
    result = ArrayResult(output, Number("", view.type), "", view=view, inputs=inputs)
    if view.root in writer.adopted:
        result.adopted = list(writer.adopted).index(view.root)
    elif not view.is_list and is_adopted(kind):
        result.memory, _ = adopted(writer, writer.fresh(f"{hint}_made"), kind, f"{view.root}.size")
        result.adopted = len(writer.adopted) - 1
    if inputs or result.adopted is None:
        result.name = writer.fresh(f"{hint}_out")
    results.append(result)
    return result


def _array_type(parameter: Any) -> ArrayType | None:
    return ArrayType(parameter.scalar, parameter.rank) if parameter.is_pointer and parameter.rank else None


def _keep_apart(writer: Writer, results: RegionResults) -> None:
    """Two arrays that are handed out are two arrays."""
    views = [r.view for r in results if isinstance(r, ArrayResult) and r.view is not None]
    for position, first in enumerate(views):
        for second in views[:position]:
            if first.homes or second.homes:
                test = f"(const void*){first.root}.data == (const void*){second.root}.data"
                writer.fail_if(f"{first.root}.data && {test}", "aliased")
