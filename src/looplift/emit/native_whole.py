"""A function of the IR in; the kernel of the whole region and the Python text that calls it out."""

from __future__ import annotations

from typing import Any

from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable
from looplift.emit.guards import guarded_modules, guards_of
from looplift.emit.native import Draft, kernel_text, settle_types, write_draft
from looplift.emit.native_before import computed_before, lines_of, warns, without
from looplift.emit.native_caller import (
    argument_names,
    bumps,
    called,
    checks,
    function_lines,
    passed_values,
    result_places,
    returned,
)
from looplift.emit.native_doubts import may_run_again
from looplift.emit.native_entry import Passed, codes_of
from looplift.emit.native_flow import live_ins
from looplift.emit.native_handing import array_text, list_helpers, makers, places, stored_back
from looplift.emit.native_independent import fresh
from looplift.emit.native_prelude import prelude
from looplift.emit.native_region import Perhaps, RegionResults, Tree, as_loop
from looplift.emit.native_signature import (
    ArrayResult,
    Signature,
    Wanted,
    check_writable,
    deciding_variables,
    keep_apart,
    signature_of,
    tensors_of,
)
from looplift.emit.native_standalone import standalone_text
from looplift.emit.native_types import Scalar
from looplift.emit.native_values import Names
from looplift.ir.facts import Fact, Facts, kind_of, shape_of
from looplift.ir.grammar import Const, Function, Let, Loop, Var, walk
from looplift.ir.kernel import Kernel


@dataclass
class Whole:
    """A region as one kernel, with what its variant needs."""

    kernel: Kernel
    statements: list[str]
    standalone: list[str]
    guards: list[str]
    namespace: dict[str, Any]
    paths: list[str]
    mutated: list[str]
    facts: Facts
    notes: list[str] = field(default_factory=list)
    may_warn: bool = False
    sets: list[str] = field(default_factory=list)


@dataclass
class _Bare:
    """What guards are made of."""

    facts: Facts
    apart: frozenset = frozenset()
    whole: frozenset = frozenset()
    mutated: tuple[str, ...] = ()


def facts_of_arguments(function: Function) -> Facts:
    """The kinds of a region's live-ins; all else the kernel finds out by itself."""
    facts = Facts(function)
    for var in function.params:
        value = function.attributes["values"][var]
        facts.of[var] = Fact(kind_of(value), (), shape_of(value), value)
    return facts


def whole_region(function: Function, *, rows: bool = True) -> Whole:
    """One kernel for all that a region does; raises NotLiftable where something in it is not scalar work.

    Without ``rows`` work on whole rows is not either: a library is better at long ones.
    """
    if not any(isinstance(statement, Loop) for statement in walk(function.body)):
        raise NotLiftable("no-loop", "there is no loop here", function.span)
    before: tuple[Let, ...] = ()
    inner: Function | None = function
    while True:
        try:
            return _with_before(function, inner, before, rows=rows)
        except NotLiftable as refusal:
            before = computed_before(function, refusal.span, before)
            inner = without(function, before) if before else None
            if inner is None:
                raise


def _with_before(function: Function, inner: Function, before: tuple[Let, ...], *, rows: bool) -> Whole:
    """The region as a kernel of the ``inner`` function after what libraries compute ``before`` it."""
    try:
        return _whole_region(function, inner, before, rows=rows, mixes=False)
    except NotLiftable as refusal:
        if refusal.code != "mixed-kinds":
            raise
    return _whole_region(function, inner, before, rows=rows, mixes=True)


def _whole_region(outer: Function, function: Function, before: tuple[Let, ...], *, rows: bool, mixes: bool) -> Whole:
    """The same; ``mixes``: with a type for what is an integer of Python's or a float."""
    facts = facts_of_arguments(function)
    loop = as_loop(function)
    returned_atoms = tuple(atom for _, atom in function.results)
    inputs = tuple(dict.fromkeys([*live_ins(loop), *(atom for atom in returned_atoms if atom in facts.of)]))
    _check_inputs(inputs, facts)
    signature = signature_of(inputs, facts, lists=True, mixes=mixes)
    wanted = Wanted(set(), function, returned=returned_atoms)
    findings = settle_types(loop, facts, signature, wanted, mixes=mixes)
    if keep_apart(signature, facts, findings.stored):
        findings = settle_types(loop, facts, signature, wanted, mixes=mixes)
    if findings.has_rows and not rows:
        raise NotLiftable("not-scalar", "work on whole rows", function.span)
    draft = write_draft(loop, facts, signature, findings, wanted)
    stored = tuple(p.var for p in signature.parameters if p.var in draft.writer.findings.stored)
    check_writable(stored, facts)
    name = Names().fresh(f"{function.name}_kernel")
    passed = passed_values(inputs, signature, draft.results, stored, adopts=bool(draft.writer.adopted))
    body = kernel_text(name, signature, draft, set(stored), codes_of(passed))
    body += 'extern "C" void release(void* memory) { __builtin_free(memory); }\n' if _hands_out(draft.results) else ""
    inexact, deciding = draft.writer.findings.inexact, deciding_variables(loop)
    kernel = Kernel(
        name, prelude(body) + "\n" + body, _caller(name, inputs, signature, draft, stored, passed, may_run_again(body)),
        inputs, stored, (), (), tuple(inexact),
        tuple(short for short, variables in inexact.items() if variables & deciding or not variables),
    )  # fmt: skip
    return _whole(kernel, function, facts, signature, outer, before)


def _check_inputs(inputs: tuple[Var, ...], facts: Facts) -> None:
    import torch

    for var in inputs:
        value: Any = facts.of[var].sample
        if facts.kind(var).family == "array" and value.ndim == 0:
            raise NotLiftable("not-scalar", f"'{var.hint}' is a NumPy array without a dimension")
        if not isinstance(value, torch.Tensor):
            continue
        if value.device.type != "cpu":
            raise NotLiftable("device", f"no kernel for a device: '{var.hint}' is on one, and it is not one loop alone")
        if type(value) not in (torch.Tensor, torch.nn.Parameter):
            raise NotLiftable("not-scalar", f"'{var.hint}' is no plain tensor in memory")
        if value.requires_grad:
            raise NotLiftable("backend", f"'{var.hint}' asks for gradients that the kernel does not give")


def _hands_out(results: list) -> bool:
    return any(isinstance(result, ArrayResult) and result.adopted is None for result in results)


def _handed_types(results: list) -> list[Scalar]:
    arrays = [result for result in results if isinstance(result, ArrayResult) and result.adopted is None]
    return [result.view.type for result in arrays if result.view]


def _whole(
    kernel: Kernel, function: Function, facts: Facts, signature: Signature, outer: Function, before: tuple[Let, ...]
) -> Whole:
    """The kernel with what its variant needs; ``outer``: the region, which computes by itself what comes ``before``."""
    paths, given = function.attributes["paths"], outer.attributes["paths"]
    call = f"{kernel.name}({', '.join(paths[var] for var in kernel.inputs)})"
    names = [name for name, _ in function.results]
    sets = function.attributes.get("sets", ())
    if names == ["return"]:
        statements = [f"return {call}[0]"]
    elif names[:1] == ["return"] and all("." in name for name in names[1:]):
        (made,) = fresh(("found",), " ".join([call, *names]))
        statements = [f"{', '.join([made, *names[1:]])} = {call}", f"return {made}"]
    elif "return" in names:
        raise NotLiftable("unsupported-syntax", "a region that ends the function and more")
    else:
        statements = [f"{', '.join(names)}{',' if len(names) == 1 else ''} = {call}" if names else call]
    mutated = tuple(paths[var] for var in kernel.stored if var in given)
    guards, namespace = guards_of(_Bare(facts_of_arguments(outer) if before else facts, mutated=mutated))
    note = f"a branch or an index depends on {', '.join(kernel.deciding)}, whose last digit may differ from torch's"
    return Whole(
        kernel, [*lines_of(before, paths), *statements], [standalone_text(kernel)], guards, namespace,
        list(given.values()) + guarded_modules(function), [*mutated, *function.attributes.get("grows", ())], facts,
        [note] if kernel.deciding else [], warns(before), list(sets),
    )  # fmt: skip


# ---------------------------------------------------------------- the caller


def _caller(name: str, inputs, signature: Signature, draft: Draft, stored, passed: list[Passed], doubts: bool) -> str:
    results: Any = draft.results
    adopted = draft.writer.adopted
    arguments = argument_names(inputs, signature)
    tensors = tensors_of(stored, signature)
    lines = checks(signature, arguments, stored) + result_places(results)
    lines += [places(adopted.values())] if adopted else []
    lines += called(passed, doubts)
    for result in results:
        if isinstance(result, ArrayResult) and result.name:
            lines.append(f"{result.name}_array = {array_text(result, arguments)}")
    lines += bumps(tensors, arguments) + stored_back(stored, signature, arguments)
    assert isinstance(results, RegionResults)
    values = ", ".join(_text(tree, arguments) for tree in results.trees)
    lines.append(f"return ({values}{',' if len(results.trees) == 1 else ''})")
    head = makers(adopted.values()) + function_lines(name, passed, doubts)
    lists = [f"{arguments[p.var]}_packed" for p in signature.parameters if p.kind.family == "list"]
    if len(lists) > 1 and any(signature.of(var).kind.family == "list" for var in stored):
        lines.insert(len(checks(signature, arguments, stored)), f"keep_apart({', '.join(lists)})")
    helpers = list_helpers([p.scalar for p in signature.parameters if p.kind.family == "list"], _handed_types(results))
    body = "\n".join(f"    {line}" for line in lines)
    return "\n".join(head) + f"\n{helpers}\n\ndef {name}({', '.join(arguments.values())}):\n{body}\n"


def _text(tree: Tree, arguments: dict[Var, str]) -> str:
    match tree:
        case tuple():
            return f"({''.join(f'{_text(item, arguments)}, ' for item in tree).strip()})"
        case Var():
            return arguments[tree]
        case Perhaps(there=there, items=items):
            return f"({_text(items, arguments)} if {_text(there, arguments)} else None)"
        case Const(value=value):
            return repr(value)
        case ArrayResult(name=name):
            return f"{name}_array" if name else array_text(tree, arguments)
    return returned(tree, arguments)
