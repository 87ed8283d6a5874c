"""One loop of the IR as a C++ kernel: plain pointers, sizes and steps in, an outcome out.

The text is written in passes: the first finds the types of what is carried, the last writes with the author's own
variables. A loop that is not scalar work is refused with the reason.
"""

from __future__ import annotations

import linecache

from looplift.base.data import dataclass, replace
from looplift.base.errors import NotLiftable
from looplift.base.spans import Span
from looplift.emit import cuda, expanded
from looplift.emit.native_caller import caller_text, passed_values
from looplift.emit.native_doubts import may_run_again, settled_later, surely_used, with_doubts
from looplift.emit.native_entry import ENTERED, codes_of, slots_text
from looplift.emit.native_flow import Flow, live_ins, share_variables
from looplift.emit.native_growth import slow_sums
from looplift.emit.native_held import held_views
from looplift.emit.native_independent import Context
from looplift.emit.native_joins import first_guess, join_of, joined_variables, possible_objects, spread, sure_types
from looplift.emit.native_linear import checked_once
from looplift.emit.native_ops import CONVERSIONS, UNARY, canonical
from looplift.emit.native_overwritten import overwritten
from looplift.emit.native_prelude import PIECES, prelude
from looplift.emit.native_recurring import recurring
from looplift.emit.native_region import write_region
from looplift.emit.native_repeated import repeated
from looplift.emit.native_signature import (
    Result,
    Signature,
    Wanted,
    check_writable,
    deciding_variables,
    function_head,
    keep_apart,
    read_after,
    result_parameters,
    results_of,
    separations,
    signature_of,
    tensors_of,
    write_result,
)  # fmt: skip
from looplift.emit.native_standalone import standalone_text
from looplift.emit.native_statements import write
from looplift.emit.native_threads import shared_loops
from looplift.emit.native_types import Scalar
from looplift.emit.native_values import Names
from looplift.emit.native_writer import Findings, Writer
from looplift.ir.facts import Facts
from looplift.ir.grammar import Atom, Block, Let, Loop, Var, walk
from looplift.ir.kernel import Kernel

__all__ = ["kernel_of", "standalone_text"]

PASSES = 6


@dataclass
class Draft:
    """A kernel that is written: its lines and what it found."""

    writer: Writer
    results: list[Result]


def kernel_of(loop: Loop, facts: Facts, *, gradients: bool = False, strict: bool = True, rows: bool = False) -> Kernel:
    """The kernel of a loop; raises NotLiftable where something in it is not scalar work.

    Facts are read of the loop's live-ins, others only as hints. ``strict``: where a result would not have the one
    kind that it is declared with (``total = 0`` after no iteration), the kernel fails a requirement. ``rows``: also
    where it works on whole rows at once.
    """
    wanted, written = Wanted(read_after(loop, facts), facts.function, strict), loop
    if (numbers := expanded.expanded(loop, facts, gradients=gradients)) is not None:
        loop, facts, finite = numbers
        wanted = replace(wanted, finite=finite)
    inputs = live_ins(loop)
    signature = signature_of(inputs, facts)
    signature.device = cuda.home_of(loop, inputs, facts)
    if signature.device is not None:
        cuda.check(written, facts, gradients=gradients)
    name = Names().fresh(f"{facts.function.name if facts.function else 'loop'}_kernel")
    findings = settle_types(loop, facts, signature, wanted)
    if keep_apart(signature, facts, findings.stored):
        findings = settle_types(loop, facts, signature, wanted)
    if findings.has_vectors and not rows:
        raise NotLiftable("not-scalar", "work on whole rows")
    draft = write_draft(loop, facts, signature, findings, wanted)
    made = _kernel if signature.device is None else cuda.kernel_on_device
    kernel = made(name, loop, inputs, signature, draft)
    check_writable(kernel.stored, facts)
    if not gradients:
        return kernel
    kernel = replace(kernel, loop=written if set(live_ins(written)) <= set(inputs) else loop)
    from looplift.emit.adjoint import with_adjoint
    from looplift.emit.adjoint_witness import Doubtful, witnessed

    try:
        return with_adjoint(kernel, loop, facts, signature, findings, wanted)
    except Doubtful as doubt:
        watched, witnesses = witnessed(doubt)
    wanted = replace(wanted, witnesses=witnesses)
    return with_adjoint(kernel, watched, facts, signature, settle_types(watched, facts, signature, wanted), wanted)


# ---------------------------------------------------------------- passes


def settle_types(loop: Loop, facts: Facts, signature: Signature, wanted: Wanted, *, mixes: bool = False) -> Findings:
    """Write the loop again and again until the types of what it carries no longer change.

    ``mixes``: also where Python's integers and floats come together.
    """
    sources = joined_variables(loop)
    findings = Findings(possible=dict(first_guess(facts, sources)), updates=_changes_in_place(loop), mixes=mixes)
    _find_joins(findings, sources, signature, None, loop)
    for _ in range(2 * PASSES if mixes else PASSES):
        known = Findings(joins=findings.joins, items=findings.items, handed=findings.handed, mixes=mixes)
        known.mixed = set(findings.mixed)
        writer = new_writer(loop, facts, signature, known, share=False, kept=wanted.kept, before=findings)
        writer.provisional = True
        write_all(writer, loop, wanted, signature)
        found = writer.findings
        found.joins = {}
        _find_joins(found, sources, signature, found.zeros, loop)
        _spread_aliases(found, possible_objects(loop) | _handed_on(loop, found))
        settled = (found.joins, found.aliases, found.updates) == (findings.joins, findings.aliases, findings.updates)
        if settled and found.mixed == findings.mixed:
            return found
        if found.aliases != findings.aliases:
            found.updates = _changes_in_place(loop)
        findings = found
    raise NotLiftable("mixed-kinds", "the types of carried variables do not settle")


def _changes_in_place(loop: Loop) -> set[Var]:
    """Every ``x += value``, as long as it is not known which of them change an element."""
    return {s.var for s in walk(loop.body) if isinstance(s, Let) and s.op.name.startswith("inplace.")}


def _find_joins(findings: Findings, sources, signature: Signature, zeros: set[Var] | None, loop: Loop) -> None:
    for parameter in signature.parameters:
        if parameter.kind.rank == 0:
            findings.possible[parameter.var] = frozenset({parameter.scalar})
    spread(sources, findings.possible)
    sure = sure_types(loop, findings.possible)
    for var in sources:
        join = join_of(var, findings.possible, sources, zeros, NotLiftable, mixes=findings.mixes)
        if join is not None:
            findings.joins[var] = replace(join, sure=var in sure) if join.other is not None else join


def _handed_on(loop: Loop, findings: Findings) -> dict[Var, tuple[Atom, ...]]:
    """Methods that give a view of an element, or the element itself where it has the type already."""
    found: dict[Var, tuple[Atom, ...]] = {}
    for statement in walk(Block((loop,))):
        if not isinstance(statement, Let) or not statement.op.args or not isinstance(statement.op.args[0], Var):
            continue
        namespace, short = canonical(statement.op.name)
        same = findings.types.get(statement.var) == _type_of(findings, statement.op.args[0])
        if namespace == "method" and (short in ("detach", "cpu") or (same and short in ("to", "type", *CONVERSIONS))):
            found[statement.var] = (statement.op.args[0],)
    return found


def _type_of(findings: Findings, var: Var) -> Scalar | None:
    join = findings.joins.get(var)
    return findings.types.get(var) or (join.type if join is not None else None)


def _spread_aliases(findings: Findings, sources) -> None:
    changed = True
    while changed:
        more = {var for var, atoms in sources.items() if findings.aliases.intersection(atoms)} - findings.aliases
        findings.aliases |= more
        changed = bool(more)


def new_writer(
    loop: Loop,
    facts: Facts,
    signature: Signature,
    findings: Findings,
    *,
    share: bool,
    kept: frozenset[Var] = frozenset(),
    before: Findings | None = None,
) -> Writer:
    """The state to begin a kernel from; ``before``: what an earlier pass has found, if not the findings."""
    before = before or findings
    flow = Flow(loop, kept=kept, updates=before.updates)
    may_share = _may_share(findings, flow.writes(loop))
    share_variables(flow, may_share if share else lambda value, current: False)
    flow.held = held_views(flow, before.aliases, _handed_on(loop, before))
    writer = Writer(flow, findings, source_lines(facts), may_share=may_share)
    signature.prepare(writer)
    return writer


def _may_share(findings: Findings, writes: bool):
    def may_share(value: Var, current: Var) -> bool:
        target = findings.joins.get(current)
        if target is None:
            return False
        if (own := findings.joins.get(value)) is not None:
            plain = own.other is None and not own.absent
            same = (own.other, own.absent) == (target.other, target.absent)
            return own.type == target.type and (plain or same)
        is_number = findings.possible.get(value) == frozenset({target.type})
        return is_number and (value not in findings.aliases or not writes)

    return may_share


def write_draft(loop: Loop, facts: Facts, signature: Signature, findings: Findings, wanted: Wanted) -> Draft:
    writer = new_writer(loop, facts, signature, findings, share=True, kept=wanted.kept)
    writer.overwritten = overwritten(loop, facts)
    writer.settled, writer.slow = settled_later(loop, writer.flow, findings.types), slow_sums(loop)
    ends = wanted.variables if wanted.returned is None else set(wanted.returned)
    writer.used = surely_used(loop, {atom for atom in ends if isinstance(atom, Var)})
    return Draft(writer, write_all(writer, loop, wanted, signature))


def write_all(
    writer: Writer,
    loop: Loop,
    wanted: Wanted,
    signature: Signature,
    whole: Block | None = None,
) -> list[Result]:
    """The loop and its results; ``whole`` is the block that a tape sees it in."""
    if wanted.returned is not None:
        return write_region(writer, loop, wanted, signature)
    write(writer, loop, (), ())
    if whole is not None:
        writer.end_block(whole)
    results = results_of(writer, loop, wanted, signature)
    for result in results:
        write_result(writer, result)
    writer.last_look()
    for flag in wanted.witnesses or ():
        writer.fail_if(f"!{writer.number(flag).at(UNARY)}", "without_gradient")
    return results


def source_lines(facts: Facts):
    function = facts.function
    if function is None or not function.file:
        return lambda span: ""

    def line_of(span: Span) -> str:
        return linecache.getline(function.file, span.line).strip() if span.line else ""

    return line_of


# ---------------------------------------------------------------- the text


def _kernel(name: str, loop: Loop, inputs: tuple[Var, ...], signature: Signature, draft: Draft) -> Kernel:
    stored = tuple(p.var for p in signature.parameters if p.var in draft.writer.findings.stored)
    passed = passed_values(inputs, signature, draft.results, stored, adopts=bool(draft.writer.adopted))
    body = kernel_text(name, signature, draft, set(stored), codes_of(passed))
    inexact = draft.writer.findings.inexact
    deciding = deciding_variables(loop)
    return Kernel(
        name=name,
        source=prelude(body) + "\n" + body,
        caller=caller_text(name, inputs, signature, draft.results, stored, passed, doubts=may_run_again(body)),
        inputs=inputs,
        stored=stored,
        outputs=tuple(result.output.var for result in draft.results),
        results=tuple(result.output for result in draft.results),
        inexact=tuple(inexact),
        deciding=tuple(short for short, variables in inexact.items() if variables & deciding or not variables),
    )


def kernel_text(name: str, signature: Signature, draft: Draft, stored: set[Var], codes: str) -> str:
    """The function itself, and the one that takes its parameters in slots."""
    parameters = ["const Host* host"]
    parameters += ["const Maker* maker", "void* made"] if draft.writer.adopted else []
    for parameter in signature.parameters:
        parameters += parameter.cpp(stored=parameter.var in stored)
    for result in draft.results:
        parameters += result_parameters(result)
    openings = signature.openings(stored)
    written = [p for p in signature.parameters if p.is_pointer and p.var in stored]
    doubts, statements = with_doubts(draft.writer.lines, written, writes_first=draft.writer.writes_first)
    dense = [f"if (!is_dense({p.name})) return strided;" for p in signature.parameters if p.is_dense]
    dense += [f"if (shares({one}, {other})) return strided;" for one, other in draft.writer.separate]
    lines = [*watch(statements), *openings, *dense, *separations(signature, stored), *doubts]
    findings = draft.writer.findings
    renamed = findings.lent if findings.stored & findings.renamed else set()
    tensors = tensors_of(tuple(p.var for p in signature.parameters if p.var in stored), signature)
    parameters += [f"bool* {p.changed}_out" for p in tensors]
    lines += [f"bool {p.changed} = {'true' if p.var in renamed else 'false'};" for p in tensors]
    head = function_head(f"{ENTERED}{name}(", parameters)
    context = Context([*head, *lines], frozenset(PIECES))
    statements, recurrent = recurring(checked_once(statements, context), context)
    lines += [f"if (meets_itself({p.name})) return aliased;" for p in written if p.name in recurrent]
    statements = repeated(shared_loops(statements, context))
    return "\n".join([
        *head,
        *(f"  {line}" for line in lines),
        *statements,
        *(f"  *{p.changed}_out = {p.changed};" for p in tensors),
        "  return done;",
        "}",
        slots_text(name, parameters, codes),
    ])  # fmt: skip


def watch(lines: list[str]) -> list[str]:
    """What opens a function: without Python's lock, and with patience where its loops look for Ctrl-C."""
    counter = ["int64_t patience = watch.budget;"] if any("watch.interrupted" in line for line in lines) else []
    return ["Watch watch(host);", *counter]
