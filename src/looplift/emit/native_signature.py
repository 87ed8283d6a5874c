"""The face of a kernel: the C++ parameters of its inputs and results, and how its variables see them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from looplift.base.data import dataclass, field, replace
from looplift.base.errors import NotLiftable
from looplift.emit import native_objects
from looplift.emit.native_joins import joined_variables
from looplift.emit.native_ops import COMPARE
from looplift.emit.native_types import FLOAT, INT, MIXED, Scalar, kind_of_scalar, scalar_of
from looplift.emit.native_values import Fixed, Items, Names, Number, Rows, Value, View
from looplift.emit.native_writer import Writer
from looplift.ir.facts import Facts, Kind, reads_of
from looplift.ir.grammar import Atom, Block, Carry, Function, If, Let, Loop, Var, uses, walk
from looplift.ir.kernel import Output


@dataclass
class Parameter:
    """One input: its name in C++, and the type of its elements.

    ``number``: its place among those that have memory. ``apart``: a 0-dim tensor that is known to share no memory
    with what the loop writes, so that it never changes. ``ragged``: a list of lists of different lengths. ``changed``:
    the variable that tells whether a tensor was written to. ``is_dense``: its elements are next to each other along the
    last axis, as far as is known.
    """

    var: Var
    kind: Kind
    name: str
    type: Scalar | None
    apart: bool = False
    number: int | None = None
    ragged: bool = False
    changed: str = ""
    is_dense: bool = False

    @property
    def is_pointer(self) -> bool:
        return self.kind.family in ("tensor", "array", "list")

    @property
    def rank(self) -> int:
        """The number of dimensions; of a list, how deep it is."""
        return _depth(self.kind) if self.kind.family == "list" else self.kind.rank

    def cpp(self, *, stored: bool) -> list[str]:
        """The C++ parameters."""
        if not self.is_pointer:
            return [f"{self.scalar.cpp} {self.name}"]
        if self.kind.family == "array":
            return [f"const NumPyArray* {self.name}_array"]
        pointer = f"{'' if stored else 'const '}{self.scalar.cpp}* {self.name}_data"
        if self.ragged:
            return [pointer, f"const int64_t* {self.name}_offsets", f"int64_t {self.name}_size0"]
        parts = ("size",) if self.kind.family == "list" else ("size", "step")
        extents = [f"int64_t {self.name}_{what}{axis}" for what in parts for axis in range(self.rank)]
        return [pointer, *extents]

    @property
    def scalar(self) -> Scalar:
        assert self.type is not None
        return self.type

    def openings(self, *, stored: bool) -> list[str]:
        """The lines that make a view of the pointer."""
        element = f"{'' if stored else 'const '}{self.scalar.cpp}"
        lines = []
        if self.kind.family == "array":
            array, view = f"{self.name}_array", f"View<{element}, {self.rank}>"
            lines.append(f"if (!suits<{element}>({array}, {self.rank})) return unsuitable_array;")
            if self.rank:
                return [*lines, f"const {view} {self.name} = view_of<{element}, {self.rank}>({array});"]
            lines.append(f"{element}* const {self.name}_data = ({element}*){array}->data;")
        return [*lines, self._opening(element)]

    def _opening(self, element: str) -> str:
        if self.rank == 0:
            return f"{element}{'' if self.apart else '&'} {self.name} = *{self.name}_data;"
        if self.ragged:
            return f"const Rows<{element}> {self.name}{{{self.name}_data, {self.name}_offsets, {{{self.name}_size0}}}};"
        names = [f"{self.name}_size{axis}" for axis in range(self.rank)]
        sizes = ", ".join(names)
        steps = ", ".join(f"{self.name}_step{axis}" for axis in range(self.rank))
        if self.kind.family == "list":
            steps = ", ".join(" * ".join(names[axis + 1 :]) or "1" for axis in range(self.rank))
        view = f"View<{element}, {self.rank}>"
        return f"const {view} {self.name}{{{self.name}_data, {{{sizes}}}, {{{steps}}}}};"

    def value(self) -> Value:
        if not self.is_pointer:
            return Number(self.name, self.scalar)
        if self.ragged:
            return Rows(self.name, self.scalar)
        if self.rank:
            return View(self.name, self.scalar, (None,) * self.rank, self.var)
        if self.apart:
            return Number(self.name, self.scalar, origin=self.var)
        is_live = self.kind.family == "tensor"
        return Number(self.name, self.scalar, reads=True, alias=is_live, place=self.name, origin=self.var)


@dataclass
class Signature:
    """All inputs of a kernel, in call order, the values that its loop starts from, and its device if not the CPU."""

    parameters: list[Parameter] = field(default_factory=list)
    fixed: dict[Var, Value] = field(default_factory=dict)
    kinds: dict[Var, Kind] = field(default_factory=dict)
    device: torch.device | None = None

    def prepare(self, writer: Writer) -> None:
        """Tell a writer what the inputs are."""
        writer.device = self.device
        for parameter in self.parameters:
            if parameter.var in writer.findings.mixed and parameter.type in (INT, FLOAT):
                parameter.type = MIXED
            writer.names.taken |= {f"{parameter.name}{suffix}" for suffix in ("", "_data", "_array", "_before")}
            writer.values[parameter.var] = parameter.value()
            if parameter.rank == 0:
                writer.findings.possible[parameter.var] = frozenset({parameter.scalar})
                if parameter.is_pointer and parameter.kind.family == "tensor" and not parameter.apart:
                    writer.findings.aliases.add(parameter.var)
            if parameter.is_pointer:
                writer.findings.origins[parameter.var] = parameter.var
                parameter.number = writer.inputs[parameter.var] = len(writer.inputs)
                writer.input_roots[parameter.var] = parameter.name
        for parameter in self.parameters:
            if parameter.kind.family == "tensor":
                parameter.changed = writer.flags[parameter.var] = writer.fresh(f"{parameter.name}_changed")
        writer.values.update(self.fixed)

    def openings(self, stored: set[Var]) -> list[str]:
        """The lines that make views of what the kernel is given; ``stored``: what it writes to."""
        pointers = (p for p in self.parameters if p.is_pointer)
        return [line for p in pointers for line in p.openings(stored=p.var in stored)]

    def has(self, var: Var | None) -> bool:
        return any(parameter.var is var for parameter in self.parameters)

    def of(self, var: Var) -> Parameter:
        return next(parameter for parameter in self.parameters if parameter.var is var)


def keep_apart(signature: Signature, facts: Facts, stored: set[Var]) -> bool:
    """Hold 0-dim inputs by value where they share no memory with what is stored; whether that changes anything."""
    changed = False
    for parameter in signature.parameters:
        if parameter.kind.family != "tensor" or parameter.kind.rank or parameter.var in stored or not stored:
            continue
        samples = (facts.of[var].sample for var in stored if var in facts.of)
        if not any(_share_storage(facts.of[parameter.var].sample, sample) for sample in samples):
            parameter.apart = changed = True
    return changed


def _share_storage(first, second) -> bool:
    if not isinstance(first, torch.Tensor) or not isinstance(second, torch.Tensor):
        return False
    return first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr()


def tensors_of(stored: tuple[Var, ...], signature: Signature) -> list[Parameter]:
    """The tensors of the caller that a kernel may write to: autograd counts their changes."""
    return [parameter for parameter in map(signature.of, stored) if parameter.kind.family == "tensor"]


def check_writable(stored: tuple[Var, ...], facts: Facts) -> None:
    """A tensor of inference mode is not changed outside of it: the loop raises there."""
    for var in stored:
        sample = facts.of[var].sample if var in facts.of else None
        if isinstance(sample, torch.Tensor) and sample.is_inference() and not torch.is_inference_mode_enabled():
            raise NotLiftable("requirement", f"'{var.hint}' is of inference mode, and is changed outside of it")


def separations(signature: Signature, stored: set[Var]) -> list[str]:
    """The lines that make sure that inputs held by value are not written to."""
    lines = []
    for parameter in signature.parameters:
        for var in stored if parameter.apart else ():
            root = signature.of(var)
            test = f"holds({root.name}, {parameter.name}_data)"
            if root.kind.family == "list":
                continue
            if root.kind.rank == 0:
                test = f"(const void*){root.name}_data == (const void*){parameter.name}_data"
            lines.append(f"if ({test}) return aliased;")
    return lines


def signature_of(inputs: tuple[Var, ...], facts: Facts, *, lists: bool = False, mixes: bool = False) -> Signature:
    """The parameters of a kernel; raises NotLiftable where an input is nothing that C++ can take.

    ``lists``: it may be a list of numbers; ``mixes``: one of integers and floats.
    """
    signature = Signature()
    names = Names()
    for var in inputs:
        kind = facts.kind(var)
        signature.kinds[var] = kind
        scalar = scalar_of(kind)
        if kind.family == "none":
            signature.fixed[var] = Fixed(None)
        elif kind.family == "tuple" and all(item.family in _NUMBERS for item in kind.items):
            _tuple_parameters(signature, var, kind, names)
        elif lists and kind.family == "list" and (depth := mixed_depth(facts.of[var].sample)):
            if not mixes or is_ragged(facts.of[var].sample):
                raise NotLiftable("mixed-kinds", f"'{var.hint}' holds integers and floats")
            signature.parameters.append(Parameter(var, _mixed_list(depth), names.fresh(var.hint), MIXED))
        elif lists and kind.family == "list" and (found := scalar_of(_innermost(kind))) is not None and found.is_python:
            ragged = is_ragged(facts.of[var].sample)
            if ragged and _depth(kind) != 2:
                raise NotLiftable("not-scalar", f"the lists in '{var.hint}' are not all of one length")
            signature.parameters.append(Parameter(var, kind, names.fresh(var.hint), found, ragged=ragged))
        elif scalar is None:
            raise NotLiftable("not-scalar", f"'{var.hint}' is neither a number nor a tensor of numbers")
        else:
            hint = "value" if var.hint == "t" else var.hint
            dense = _is_dense(facts.of[var].sample)
            signature.parameters.append(Parameter(var, kind, names.fresh(hint), scalar, is_dense=dense))
    return signature


def _is_dense(sample: Any) -> bool:
    if isinstance(sample, torch.Tensor):
        return sample.dim() > 0 and sample.stride(-1) == 1
    return isinstance(sample, np.ndarray) and sample.ndim > 0 and sample.strides[-1] == sample.itemsize


def _tuple_parameters(signature: Signature, var: Var, kind: Kind, names) -> None:
    items: list[Value] = []
    for item in range(len(kind.items)):
        name = names.fresh(f"{var.hint}_{item}")
        scalar = scalar_of(kind.items[item])
        assert scalar is not None
        signature.parameters.append(Parameter(Var(f"{var.name}[{item}]"), kind.items[item], name, scalar))
        items.append(Number(name, scalar))
    signature.fixed[var] = Items(tuple(items))


_NUMBERS = ("int", "float", "bool")


def _depth(kind: Kind) -> int:
    """How many lists are in one another; a tuple of equal kinds in a list counts as one."""
    return 1 + _depth(kind.items[0]) if kind.family in ("list", "tuple") and len(set(kind.items)) == 1 else 0


def is_ragged(rows: list) -> bool:
    """Whether lists in a list, however deep, have different lengths."""
    inner = [row for row in rows if isinstance(row, list | tuple)]
    if not inner:
        return False
    if len(set(map(len, inner))) > 1 or len(inner) < len(rows):
        return True
    return is_ragged([item for row in inner for item in row])


def mixed_depth(value: object) -> int:
    """How deep a list of integers and floats is; 0 for anything else."""
    depth, items = 0, [value]
    while items and all(type(item) is list for item in items):
        depth, items = depth + 1, [item for inner in items for item in inner]  # type: ignore[union-attr]
    return depth if {int, float} == set(map(type, items)) else 0


def _mixed_list(depth: int) -> Kind:
    return Kind("list", items=(_mixed_list(depth - 1),)) if depth else kind_of_scalar(MIXED)


def _innermost(kind: Kind) -> Kind:
    """The kind of the numbers in a list, however deep."""
    while kind.family in ("list", "tuple") and len(set(kind.items)) == 1:
        kind = kind.items[0]
    return kind


def function_head(start: str, parameters: list[str]) -> list[str]:
    """The parameters of a function, as many on a line as fit."""
    lines, current = [], start
    for position, parameter in enumerate(parameters):
        piece = parameter + (") {" if position + 1 == len(parameters) else ",")
        if len(current) + len(piece) > 110:
            lines.append(current.rstrip())
            current = "    "
        current += piece + " "
    return [*lines, current.rstrip()]


# ---------------------------------------------------------------- results


def read_after(loop: Loop, facts: Facts) -> set[Var]:
    """The variables that something outside of the loop reads; all that it leaves if that is not known."""
    after, function = {carry.after for carry in loop.carries}, facts.function
    if function is None or all(statement is not loop for statement in walk(function.body)):
        return after
    outside = facts.reads - reads_of(Block((loop,)))
    handed = {atom for _, atom in function.results if isinstance(atom, Var)}
    return {var for var in after if var in handed or outside[var] > 0}


@dataclass
class Result:
    """One output in C++: ``name`` is its pointer parameter."""

    output: Output
    number: Number
    name: str
    flag: str = ""
    bound: str = ""


@dataclass
class Wanted:
    """The variables that are read after the loop. ``strict``: each result has one kind, or else the kernel fails.

    ``returned``: what a kernel of a whole region hands out instead. ``witnesses``: flags that must be true at the end.
    ``finite``: the inputs that must be finite, and at most how large.
    """

    variables: set[Var]
    function: Function | None
    strict: bool = True
    returned: tuple[Atom, ...] | None = None
    witnesses: tuple[Var, ...] | None = None
    finite: tuple[tuple[Var, float], ...] = ()

    @property
    def kept(self) -> frozenset[Var]:
        """Variables that are read at the end."""
        return frozenset(atom for atom in self.returned or () if isinstance(atom, Var))


def results_of(writer: Writer, loop: Loop, wanted: Wanted, signature: Signature) -> list[Result]:
    """The outputs of the loop, in the order of its carries."""
    results = []
    for carry in loop.carries:
        if carry.after not in wanted.variables:
            continue
        value = writer.values[carry.after]
        writer.hint = carry.hint
        if not isinstance(value, Number):
            if isinstance(value, View) and _is_whole(value) and signature.has(value.origin):
                results.append(Result(_same(carry.after, value, signature), Number("", value.type), ""))
                continue
            raise writer.refuse("not-scalar", f"'{carry.hint}' is more than a single element after the loop")
        results.append(_result(writer, loop, carry, value, signature, wanted))
        if results[-1].output.same_as is None:
            _check_not_handed_on(writer, loop, carry, value, signature)
    made = [r.output.var for r in results if r.number.type.family == "tensor" and r.output.same_as is None]
    for position, var in enumerate(made):
        if (other := next((v for v in made[:position] if native_objects.may_be_one(loop, v, var)), None)) is not None:
            raise writer.refuse("aliasing", f"'{var.hint}' may be the same object as '{other.hint}'")
    return results


def _is_whole(view: View) -> bool:
    return view.rank == len(view.indices) and not view.is_part


def _check_not_handed_on(writer: Writer, loop: Loop, carry: Carry, value: Number, signature: Signature) -> None:
    """A result that may be an input, a 0-dim tensor, and equals it, may be that very tensor: then the loop runs."""
    for var in sorted(native_objects.objects_from(loop, carry), key=lambda var: var.name):
        if not signature.has(var) or signature.of(var).kind.family != "tensor" or signature.of(var).rank:
            continue
        a, b = value.at(COMPARE, strict=True), signature.of(var).name
        writer.fail_if(f"{a} == {b} || ({a} != {a} && {b} != {b})", "another_kind")


def _same(var: Var, value: View | Number, signature: Signature) -> Output:
    assert value.origin is not None
    return Output(var, signature.of(value.origin).kind, same_as=value.origin)


def _is_only_passed_on(function: Function | None, var: Var) -> bool:
    """Whether what follows the loop only chooses between this value and others, so that it may be unbound."""
    if function is None or any(atom is var for _, atom in function.results):
        return False
    for statement in walk(function.body):
        handed = list(uses(statement)).count(var)
        if isinstance(statement, If) and statement.cond is not var:
            handed -= sum((phi.then is var) + (phi.orelse is var) for phi in statement.phis)
        if isinstance(statement, Let) and statement.op.name == "tuple_or_none":
            handed -= sum(item is var for item in statement.op.args[1:])
        if handed:
            return False
    return True


def _result(writer: Writer, loop: Loop, carry: Carry, value: Number, signature: Signature, wanted: Wanted) -> Result:
    if value.alias and value.origin is not None and value.text == value.place:
        if signature.of(value.origin).kind.rank == 0:
            return Result(_same(carry.after, value, signature), value, "")
    if wanted.strict:
        return _strict_result(writer, loop, carry, value)
    join = writer.findings.joins[carry.after]
    init: object = None
    if value.other is not None and value.rounded:
        if join.leaves != {carry.init}:
            raise writer.refuse("mixed-kinds", f"'{carry.hint}' is a number at first and a tensor later")
        init = carry.init
    other = kind_of_scalar(value.other) if value.other is not None else None
    may_be_none = bool(value.bound) and value.absent is None
    may_be_unbound = bool(value.bound) and not may_be_none and _is_only_passed_on(wanted.function, carry.after)
    element_of = _is_element(writer, loop, carry)
    output = Output(carry.after, kind_of_scalar(value.type), other, init, None, may_be_none, may_be_unbound, element_of)
    name = writer.fresh(f"{carry.hint}_out")
    flag = writer.fresh(f"{carry.hint}_typed_out") if other is not None else ""
    bound = writer.fresh(f"{carry.hint}_bound_out") if may_be_none or may_be_unbound else ""
    return Result(output, value, name, flag, bound)


def _strict_result(writer: Writer, loop: Loop, carry: Carry, value: Number) -> Result:
    """A result that always has its own kind; where the loop would leave another, the kernel fails."""
    if value.bound:
        writer.fail_if(f"!{value.bound}", "unbound")
    if value.other is not None:
        writer.fail_if(f"!{value.flag}", "another_kind")
    number = replace(value, bound="", other=None, flag="")
    output = Output(carry.after, kind_of_scalar(value.type), element_of=_is_element(writer, loop, carry))
    return Result(output, number, writer.fresh(f"{carry.hint}_out"))


def _is_element(writer: Writer, loop: Loop, carry: Carry) -> bool:
    """Whether the result may be an element of a tensor, or a 0-dim tensor from outside, and no new tensor."""
    if carry.after not in writer.findings.aliases:
        return False
    sources = joined_variables(loop)
    pending: list[Atom] = [carry.next]
    seen: set[Atom] = set()
    while pending:
        atom = pending.pop()
        if atom is carry.inside or (atom not in sources and atom in writer.findings.aliases):
            return True
        if atom not in seen and isinstance(atom, Var):
            seen.add(atom)
            pending.extend(sources.get(atom, ()))
    writer.fail_if(f"!{writer.ran}", "another_kind")
    return False


@dataclass
class ArrayResult(Result):
    """An array that the kernel hands out: its number among the inputs if it is one, else where it is and how large.

    ``inputs``: those that it may be; ``adopted``: its number among those that its library allocates, and ``memory``:
    the C++ text that has it do so at the end, if it was not there before.
    """

    view: View | None = None
    inputs: tuple[Parameter, ...] = ()
    adopted: int | None = None
    memory: str = ""


def result_parameters(result: Result) -> list[str]:
    """The C++ parameters that a result is returned through."""
    if not result.name:
        return []
    if isinstance(result, ArrayResult):
        return [f"int64_t* {result.name}"]
    pointers = [f"{result.number.type.cpp}* {result.name}"]
    return pointers + [f"bool* {flag}" for flag in (result.flag, result.bound) if flag]


def write_result(writer: Writer, result: Result) -> None:
    if isinstance(result, ArrayResult):
        _write_array(writer, result)
        return
    if not result.name:
        return
    number = result.number
    if number.bound and not result.bound:
        writer.fail_if(f"!{number.bound}", "unbound")
    writer.line(f"*{result.name} = {number.text};")
    for pointer, flag in ((result.flag, number.flag or "false"), (result.bound, number.bound)):
        if pointer:
            writer.line(f"*{pointer} = {flag};")


def _write_array(writer: Writer, result: ArrayResult) -> None:
    assert result.view is not None
    root = result.view.root
    if result.memory:
        is_made = f"{root}.input < 0 && " if result.inputs else ""
        writer.line(f"if ({is_made}!copy_out({root}, {result.memory})) return out_of_memory;")
        if result.inputs:
            writer.line(f"*{result.name} = {root}.input;")
    elif result.name and result.adopted is not None:
        writer.line(f"*{result.name} = {root}.input;")
    elif result.name:
        writer.line(f"hand_out({root}, {result.name});")


def deciding_variables(loop: Loop, others: Iterable[Var] = ()) -> set[Var]:
    """Variables that a branch, an index, a comparison's outcome or a number of iterations depends on, or others."""
    sources: dict[Var, list] = {}
    found = set(others)
    for statement in walk(Block((loop,))):
        _collect_deciding(statement, sources, found)
    pending = list(found)
    while pending:
        for atom in sources.get(pending.pop(), ()):
            if isinstance(atom, Var) and atom not in found:
                found.add(atom)
                pending.append(atom)
    return found


def _collect_deciding(statement, sources: dict[Var, list], found: set[Var]) -> None:
    from looplift.ir.grammar import Range, Store, While, atoms, operands

    match statement:
        case Let(var=var, op=op):
            sources[var] = list(operands(op))
            if op.name in ("getitem", "iter_item"):
                found.update(atom for atom in list(operands(op))[1:] if isinstance(atom, Var))
            if op.name in ("builtin.min", "builtin.max", "builtin.int", "math.floor", "math.ceil"):
                found.update(atom for atom in operands(op) if isinstance(atom, Var))
        case If(cond=cond, phis=phis):
            found.update({cond} if isinstance(cond, Var) else ())
            for phi in phis:
                sources[phi.var] = [phi.then, phi.orelse]
        case Store(ref=ref, index=index, value=value):
            found.update(atom for atom in atoms(index) if isinstance(atom, Var))
            sources.setdefault(ref, []).append(value)
        case Loop(domain=domain, carries=carries, stop=stop):
            bounds = (domain.lo, domain.hi, domain.step) if isinstance(domain, Range) else (domain.cond,)
            assert isinstance(domain, Range | While)
            found.update(atom for atom in (*bounds, stop) if isinstance(atom, Var))
            for carry in carries:
                sources[carry.inside] = sources[carry.after] = [carry.init, carry.next]
