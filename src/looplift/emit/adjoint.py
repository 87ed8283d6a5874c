"""The adjoint of a kernel: C++ that runs the loop with a tape, C++ that runs it backward, and the autograd function."""

from __future__ import annotations

import re

from looplift.base.data import dataclass, replace
from looplift.base.errors import NotLiftable
from looplift.emit.adjoint_backward import Reversal
from looplift.emit.adjoint_caller import AdjointCaller, Kept
from looplift.emit.adjoint_forward import TapedWriter
from looplift.emit.adjoint_inputs import reached_by_gradients, surely_reached, written_before
from looplift.emit.adjoint_plan import Needs, Plan, forward_active, useful
from looplift.emit.adjoint_reached import Reach
from looplift.emit.adjoint_saved import surely_saved
from looplift.emit.adjoint_tracked import TrackedReversal
from looplift.emit.adjoint_witness import Doubtful
from looplift.emit.native import Draft, new_writer, source_lines, watch, write_all
from looplift.emit.native_entry import ENTERED, codes_of, slots_text
from looplift.emit.native_flow import Flow, share_variables
from looplift.emit.native_joins import possible_of
from looplift.emit.native_ops import canonical
from looplift.emit.native_prelude import prelude
from looplift.emit.native_signature import (
    Parameter,
    Result,
    Signature,
    Wanted,
    function_head,
    result_parameters,
    separations,
)
from looplift.emit.native_values import Number
from looplift.emit.native_writer import Findings, Writer
from looplift.ir.facts import Facts
from looplift.ir.grammar import Atom, If, Let, Loop, Range, Var, as_atom, uses, walk
from looplift.ir.kernel import Kernel


@dataclass
class Adjoint:
    """``reaches``: the results and stored tensors that each differentiable input has a part in."""

    plan: Plan
    forward: Draft
    differentiable: tuple[Var, ...]
    roots: tuple[Var, ...]
    reaches: dict[Var, set[Var]]


def with_adjoint(
    kernel: Kernel, loop: Loop, facts: Facts, signature: Signature, findings: Findings, wanted: Wanted
) -> Kernel:
    """The kernel with its gradient; raises NotLiftable where the gradient cannot be had."""
    if findings.made or findings.renamed or findings.has_vectors:
        raise NotLiftable("not-scalar", "an array that the kernel makes has no gradient")
    plan, differentiable, reaches, running = _plan(
        kernel, loop, facts, signature, findings, witnesses=wanted.witnesses is not None
    )
    forward = _forward(loop, facts, signature, findings, wanted, plan)
    roots = tuple(p.var for p in signature.parameters if p.is_pointer and p.var in plan.active)
    adjoint = Adjoint(plan, forward, differentiable, roots, reaches)
    backward, read = _backward_text(kernel, signature, adjoint, facts)
    tracked = _tracked_text(kernel, signature, adjoint, facts)
    always = surely_saved(plan, {output.var for output in kernel.results} | set(kernel.stored), running)
    saved = Kept({var: always.tensors.get(var, set()) for var in read if var not in kernel.stored}, always.ends)
    caller = AdjointCaller(kernel, signature, forward.results, plan.active, roots, reaches, saved, wanted.finite)
    name, back = kernel.name, caller.passed_back
    body = "\n".join([
        "#ifndef TRACKED",
        _forward_text(kernel, signature, adjoint),
        slots_text(f"{name}_forward", _forward_parameters(kernel, signature, adjoint), codes_of(caller.passed())),
        backward,
        slots_text(f"{name}_backward", _backward_parameters(signature, adjoint), codes_of(back())),
        f'extern "C" void {kernel.name}_release(Tape* tape) {{ __builtin_free((void*)tape->words); }}\n',
        "#else  // Where the gradients above are all zeros or not finite: which inputs have one at all?",
        tracked,
        slots_text(f"{name}_tracked", _tracked_parameters(signature, adjoint), codes_of(back(tracked=True))),
        "#endif\n",
    ])  # fmt: skip
    return replace(
        kernel,
        adjoint=prelude(body) + "\n" + body,
        adjoint_caller=caller.text(),
        differentiable=differentiable,
        running=tuple(running),
        is_witnessed=wanted.witnesses is not None,
    )


# ---------------------------------------------------------------- planning


def _plan(kernel: Kernel, loop: Loop, facts: Facts, signature: Signature, findings: Findings, *, witnesses: bool):
    floats = {p.var for p in signature.parameters if p.kind.family == "tensor" and p.scalar.is_float}
    differentiable = tuple(var for var in kernel.inputs if var in floats and _wants_gradient(facts, var, loop))
    _check_detached(loop, findings)
    plan = Plan(loop, findings)
    ends = {output.var for output in kernel.results} | set(kernel.stored)
    active = forward_active(plan, set(differentiable), floats)
    plan.active = active & useful(plan, ends & active)
    _check_remainders(plan)
    _check_displays(plan, active)
    if any(
        var in findings.origins and signature.of(findings.origins[var]).kind.family == "array" for var in plan.active
    ):
        raise NotLiftable("not-scalar", "a NumPy array has no gradient")
    reach = Reach(plan, floats)
    sure = set(differentiable) & surely_reached(facts)
    graded = ends & plan.active
    doubtful = graded - reach.after(plan.top, sure)
    if not witnesses and (doubtful or any(running is not loop for running in reach.running)):
        raise Doubtful(plan, graded, sure, min((var.hint for var in doubtful or graded), default="a result"))
    reaches = {var: forward_active(plan, {var}, floats) & ends for var in differentiable}
    scalars = {p.var for p in signature.parameters if p.is_pointer and p.kind.rank == 0}
    Needs(plan, set(kernel.inputs), scalars).collect()
    running = [loop] if isinstance(loop.domain, Range) and loop.stop is None else []
    return plan, differentiable, reaches, running if witnesses else reach.running


def _check_detached(loop: Loop, findings: Findings) -> None:
    """What shares memory with a tensor that has a gradient, and has none itself, may only be read as a number."""
    lets = [statement for statement in walk(loop.body) if isinstance(statement, Let)]
    shared = {let.var: let for let in lets if let.op.name == "method.detach" and let.var in findings.origins}
    numbers = {id(let) for let in lets if let.var in findings.types and findings.types[let.var].is_python}
    for statement in walk(loop.body) if shared else ():
        for var in shared.keys() & set(uses(statement)):
            if id(statement) not in numbers:
                raise NotLiftable("not-scalar", "'.detach()' of what is not copied, with gradients", shared[var].span)


def _check_displays(plan: Plan, active: set[Var]) -> None:
    """Operations on a list or tuple as a whole pass no gradient on to its items."""
    lets = [s for s in walk(plan.top) if isinstance(s, Let)]
    shown = {s.var: s.op.args for s in lets if s.op.name in ("list", "tuple")}
    origins = plan.findings.origins
    asking = {
        var
        for var, items in shown.items()
        if any(isinstance(one, Var) and not active.isdisjoint((one, origins.get(one, one))) for one in items)
    }
    for let in lets:
        if let.var not in shown and not asking.isdisjoint(uses(let)):
            raise NotLiftable("not-scalar", "a gradient flows through a list or tuple", let.span)


def _check_remainders(plan: Plan) -> None:
    """PyTorch has no derivative of a number's remainder by a tensor: the loop raises in its backward pass."""
    for statement in walk(plan.top):
        if not isinstance(statement, Let) or statement.var not in plan.active:
            continue
        if canonical(statement.op.name)[1] == "mod":
            first = as_atom(statement.op.args[0])
            if any(scalar.is_python for scalar in possible_of(first, plan.findings.possible)):
                raise NotLiftable("not-scalar", "'number % tensor' has no derivative", statement.span)


def _wants_gradient(facts: Facts, var: Var, loop: Loop) -> bool:
    """Whether a gradient may be asked for; what the region computes has samples that were made without gradients."""
    if var not in facts.function.params:
        return var in reached_by_gradients(facts)
    return bool(getattr(facts.of[var].sample, "requires_grad", True)) or var in written_before(facts, loop)


def _forward(loop: Loop, facts: Facts, signature: Signature, findings: Findings, wanted: Wanted, plan: Plan) -> Draft:
    template = new_writer(loop, facts, signature, findings, share=False)
    flow = Flow(loop, kept=plan.all_kept(), updates=findings.updates)
    share_variables(flow, template.may_share)
    writer = TapedWriter(flow, findings, template.source_line, plan=plan)
    signature.prepare(writer)
    writer.flags.clear()  # it changes copies
    results = write_all(writer, loop, wanted, signature, plan.top)
    return Draft(writer, results)


# ---------------------------------------------------------------- the texts


def _forward_parameters(kernel: Kernel, signature: Signature, adjoint: Adjoint) -> list[str]:
    parameters = ["const Host* host"]
    for parameter in signature.parameters:
        parameters += parameter.cpp(stored=parameter.var in kernel.stored)
    for result in adjoint.forward.results:
        parameters += result_parameters(result)
    return [*parameters, "Tape* recorded"]


def _forward_text(kernel: Kernel, signature: Signature, adjoint: Adjoint) -> str:
    parameters = _forward_parameters(kernel, signature, adjoint)
    openings = signature.openings(set(kernel.stored))
    openings += [*separations(signature, set(kernel.stored)), "Recorder tape(recorded);"]
    return _text(f"{kernel.name}_forward", parameters, openings, adjoint.forward.writer.lines)


def _backward_text(kernel: Kernel, signature: Signature, adjoint: Adjoint, facts: Facts) -> tuple[str, list[Var]]:
    """The function, and the tensors whose values it reads."""
    graded = _graded(adjoint)
    lines = _reversed(Reversal, signature, adjoint, facts, {r.output.var: f"{r.name}_grad" for r in graded})
    parameters = _backward_parameters(signature, adjoint)
    text = _text(f"{kernel.name}_backward", parameters, _openings_back(signature, adjoint, lines), lines)
    return text, [p.var for p in signature.parameters if p.is_pointer and _reads(lines, p)]


def _tracked_text(kernel: Kernel, signature: Signature, adjoint: Adjoint, facts: Facts) -> str:
    """The same function with gradients that may not be there; ``marks`` says of each input whether it has one."""
    graded = _graded(adjoint)
    lines = _reversed(TrackedReversal, signature, adjoint, facts, {r.output.var: f"{r.name}_seed" for r in graded})
    openings = _openings_back(signature, adjoint, lines)
    openings += [f"const Gradient {r.name}_seed{{{r.name}_grad, {r.name}_there != 0}};" for r in graded]
    openings += [f"int& {signature.of(var).name}_there = marks[{n}];" for n, var in enumerate(adjoint.roots)]
    return _text(f"{kernel.name}_tracked", _tracked_parameters(signature, adjoint), openings, lines)


def _graded(adjoint: Adjoint) -> list[Result]:
    return [r for r in adjoint.forward.results if r.name and r.output.var in adjoint.plan.active]


def _backward_parameters(signature: Signature, adjoint: Adjoint) -> list[str]:
    return _parameters_back(signature, adjoint, [f"double {result.name}_grad" for result in _graded(adjoint)])


def _tracked_parameters(signature: Signature, adjoint: Adjoint) -> list[str]:
    given = [text for r in _graded(adjoint) for text in (f"double {r.name}_grad", f"int {r.name}_there")]
    return [*_parameters_back(signature, adjoint, given), "int* marks"]


def _parameters_back(signature: Signature, adjoint: Adjoint, given: list[str]) -> list[str]:
    """``given``: the gradients of results."""
    inputs = [text for parameter in signature.parameters for text in parameter.cpp(stored=False)]
    roots = [f"{grad_type(signature.of(var))}* {signature.of(var).name}_grad_data" for var in adjoint.roots]
    return ["const Host* host", *inputs, "const Tape* recorded", *given, *roots]


def _openings_back(signature: Signature, adjoint: Adjoint, lines: list[str]) -> list[str]:
    """The tensors that statements read; a number that they do not read may not be handed over at all."""
    read = [p for p in signature.parameters if p.is_pointer and (p.kind.rank or _reads(lines, p))]
    openings = [line for p in read for line in p.openings(stored=False)]
    return ["Tape tape = *recorded;", *openings, *(_gradient_view(signature.of(var)) for var in adjoint.roots)]


def _reversed(
    kind: type[Reversal], signature: Signature, adjoint: Adjoint, facts: Facts, gradients: dict[Var, str]
) -> list[str]:
    """The statements of the loop in reverse; ``gradients``: those that come in for its results."""
    plan = adjoint.plan
    writer = Writer(Flow(plan.loop), plan.findings, source_lines(facts), checks=False)
    signature.prepare(writer)
    roots = [signature.of(var).name for var in adjoint.roots]
    writer.names.taken |= {f"{name}_{suffix}" for name in roots for suffix in ("grad", "there")}
    reversal = kind(writer, plan, signature, _branch_ends(plan), gradients=gradients)
    reversal.flowing |= {f"{name}_grad" for name in roots}
    kept = ((var, adjoint.forward.writer.values.get(var)) for var in plan.all_kept())
    reversal.forward_names = {v: n.text for v, n in kept if isinstance(n, Number) and n.text.isidentifier()}
    reversal.block(plan.top)
    reversal.statements(plan.top)
    return writer.lines


def _reads(lines: list[str], parameter: Parameter) -> bool:
    """Whether statements read elements of a tensor, not only its sizes."""
    pattern = re.compile(rf"(?<!\.)\b{parameter.name}\b(?!\.(size|step)\b)")
    return parameter.kind.family == "tensor" and any(pattern.search(line.partition("//")[0]) for line in lines)


def _branch_ends(plan: Plan) -> set[Atom]:
    """Values that leave a branch: their gradient is handed out inside of it."""
    branches = [statement for statement in walk(plan.top) if isinstance(statement, If)]
    return {side for branch in branches for phi in branch.phis for side in (phi.then, phi.orelse)}


def grad_type(parameter: Parameter) -> str:
    """Gradients are collected in the type of the tensor, those of halves in float."""
    return "double" if parameter.scalar.name == "float64" else "float"


def _gradient_view(parameter: Parameter) -> str:
    """The view of a gradient: dense, with the sizes of its tensor."""
    name, rank, element = parameter.name, parameter.kind.rank, grad_type(parameter)
    if rank == 0:
        return f"{element}& {name}_grad = *{name}_grad_data;"
    sizes = [f"{name}_size{axis}" for axis in range(rank)]
    steps = [" * ".join(sizes[axis + 1 :]) or "1" for axis in range(rank)]
    fields = f"{name}_grad_data, {{{', '.join(sizes)}}}, {{{', '.join(steps)}}}"
    return f"const View<{element}, {rank}> {name}_grad{{{fields}}};"


def _text(name: str, parameters: list[str], openings: list[str], lines: list[str]) -> str:
    start = [*watch(lines), *openings]
    return "\n".join([
        *function_head(f"{ENTERED}{name}(", parameters),
        *(f"  {line}" for line in start),
        *lines,
        "  return done;",
        "}",
        "",
    ])  # fmt: skip
