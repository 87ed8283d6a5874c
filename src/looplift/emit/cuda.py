"""A written kernel of a loop whose iterations do not meet in, CUDA C++ that runs them in many threads out.

The lines are those of the kernel for the CPU, without what is Python's there. Each thread runs what stands before the
loop, and then its own iterations. What goes wrong is noted with the number of the iteration, of which the least stays;
the caller puts back what was written, and the loop raises what it raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import torch

from looplift.base.errors import NotLiftable
from looplift.emit.cuda_caller import ROOM, State, caller_text
from looplift.emit.cuda_prelude import FUNCTIONS, is_known, prelude, without_builtins
from looplift.emit.native_independent import Context, Independent, declared, fresh, independent, meeting_none
from looplift.emit.native_signature import Signature, deciding_variables, function_head, separations, tensors_of
from looplift.emit.native_threads import around_a_loop
from looplift.emit.native_types import scalar_of
from looplift.ir.facts import Facts
from looplift.ir.grammar import Let, Loop, Statement, Store, Var, operands, walk
from looplift.ir.kernel import Kernel
from looplift.ir.kernel_launch import ENTRY

if TYPE_CHECKING:
    from looplift.emit.native import Draft


def home_of(loop: Loop, inputs: Iterable[Var], facts: Facts) -> torch.device | None:
    """The device that all tensors of a loop are on, None for the CPU; raises NotLiftable where there is none."""
    samples = [facts.of[var].sample for var in inputs]
    given = {device_of(sample) for sample in samples if isinstance(sample, torch.Tensor)}
    if given <= {torch.device("cpu")}:
        return None
    device, *others = given
    if others or device.type != "cuda":
        raise _refused("its tensors are on several devices, or on one that is not CUDA's", loop)
    for statement in walk(loop.body):
        fact = facts.of.get(statement.var) if isinstance(statement, Let) else None
        if fact is not None and isinstance(fact.sample, torch.Tensor) and device_of(fact.sample) != device:
            raise _refused("it makes tensors that are on the CPU", statement)
    return device


def check(loop: Loop, facts: Facts, *, gradients: bool) -> None:
    """Raises NotLiftable where a kernel for the CPU is none for a device, as its author wrote it."""
    if gradients:
        raise _refused("it has no gradients", loop)
    lets = [statement for statement in walk(loop.body) if isinstance(statement, Let) and statement.var in facts.of]
    whole = {atom for let in lets if _is_float(facts, let.var) is False for atom in _variables(let)}
    stores = [s for s in walk(loop.body) if isinstance(s, Store) and not _is_float(facts, s.ref)]
    whole |= {store.value for store in stores if isinstance(store.value, Var)}
    deciding = deciding_variables(loop, whole)
    for let in lets:
        is_row = any(facts.of[atom].shape for atom in _variables(let) if atom in facts.of)
        folds = is_row and not facts.of[let.var].shape and let.op.name.rpartition(".")[2] not in _PICKS
        if folds and let.var in deciding and _is_float(facts, let.var):
            raise _refused(f"a branch, an index or an integer depends on '{let.op.name}' of a row", let)


_PICKS = frozenset("getitem iter_item unpack max min amax amin".split())


def _is_float(facts: Facts, var: Var) -> bool | None:
    """Whether a value is made of floats; None if it is neither a number nor a tensor."""
    scalar = scalar_of(facts.kind(var))
    return None if scalar is None else scalar.is_float


def _variables(let: Let) -> set[Var]:
    return {atom for atom in operands(let.op) if isinstance(atom, Var)}


def device_of(tensor: torch.Tensor) -> torch.device:
    return tensor.device


def _refused(why: str, statement: Statement) -> NotLiftable:
    return NotLiftable("device", f"no kernel for a device: {why}", statement.span)


def kernel_on_device(name: str, loop: Loop, inputs: tuple[Var, ...], signature: Signature, draft: Draft) -> Kernel:
    """The kernel of a loop, of what was written of it; raises NotLiftable where a device can have none."""
    findings = draft.writer.findings
    stored = tuple(p.var for p in signature.parameters if p.var in findings.stored)
    if any(result.name or result.flag or result.bound for result in draft.results):
        raise _refused("its iterations leave a value for what follows", loop)
    if any(p.kind.family not in ("tensor", "int", "float", "bool") for p in signature.parameters):
        raise _refused("it takes more than tensors and numbers", loop)
    inexact = findings.inexact
    deciding = deciding_variables(loop, _of_integers(loop, signature, draft))
    if found := [short for short, variables in inexact.items() if variables & deciding or not variables]:
        raise _refused(f"a branch, an index or an integer depends on {', '.join(found)}, rounded otherwise there", loop)
    state = State(signature, tensors_of(stored, signature))
    source, may_fail = _source(loop, signature, draft, set(stored), state)
    caller = caller_text(name, inputs, signature, stored, state, may_fail=may_fail)
    return Kernel(name, source, caller, inputs, stored, (), (), tuple(inexact), device=signature.device)


_JUMPS = frozenset("floor ceil round trunc fix rint floordiv floor_divide mod remainder fmod sign sgn".split())
"""Functions of floats that a last digit may move to another integer."""


def _of_integers(loop: Loop, signature: Signature, draft: Draft) -> set[Var]:
    """What integers and booleans are computed from."""
    types, origins = draft.writer.findings.types, draft.writer.findings.origins
    integers = {p.var for p in signature.parameters if p.is_pointer and not p.scalar.is_float}
    found: set[Var] = set()
    for statement in walk(loop.body):
        match statement:
            case Let(var=var, op=op) if var in types:
                if not types[var].is_float or op.name.rpartition(".")[2] in _JUMPS:
                    found |= _variables(statement)
            case Store(ref=ref, value=Var() as value) if origins.get(ref, ref) in integers:
                found.add(value)
    return found


# ---------------------------------------------------------------- the text


DEEPEST = 4
"""So many loops of a nest are lanes at most."""


class Names(NamedTuple):
    """What the text of a kernel calls what its loop knows nothing of."""

    run: str
    state: str
    thread: str
    threads: str
    number: str
    lane: str
    lanes: str
    outcome: str
    width_1: str
    width_2: str
    width_3: str

    @property
    def widths(self) -> tuple[str, ...]:
        """Of the loops inside the outermost one."""
        return self[-3:]


def _source(loop: Loop, signature: Signature, draft: Draft, stored: set[Var], state: State) -> tuple[str, bool]:
    """The text of a kernel, and whether it may fail after something was written."""
    before, lines, after = around_a_loop(draft.writer.lines)
    if not lines or not all(map(_is_comment, after)):
        raise _refused("it is not one loop", loop)
    parameters = state.parameters(stored)
    views = [*signature.openings(stored), *separations(signature, stored)]
    names = Names(*fresh(Names._fields, "\n".join([*parameters, *views, *draft.writer.lines])))
    head = [f"  {line}" for line in (*state.openings(names.state), *views)]
    earlier = [f"({', '.join(parameters)})", *head, *before]
    found = independent(lines, Context(earlier, FUNCTIONS))
    if found is None or _mentions(before, {*found.outer.read, *found.outer.given, *found.outer.live}):
        raise _refused("its iterations may depend on one another, or need what only the CPU has", loop)
    alone = meeting_none(found)
    text = "\n".join([
        "// The iterations of one of many threads, and how they end.",
        *function_head(f"static inline int {names.run}(", [*_given(names, parameters), *_of_thread(names)]),
        *head,
        *(["  int64_t patience = 0;"] if any("patience" in line for line in lines) else []),
        *before,
        *([f"  if (!({alone})) return aliased;"] if alone else []),
        *_lanes(found, earlier, names),
        *(f"  if ({flag}) {names.state}[{place}] = 1;" for flag, place in state.flags()),
        "  return done;",
        "}",
        "",
        *_entry(parameters, names),
    ])  # fmt: skip
    text = without_builtins(text).replace("watch.interrupted(patience)", f"stopped({names.state}, patience)")
    if not is_known(text):
        raise _refused("it needs what only the CPU has", loop)
    return f"{prelude(text)}\n{text}\n", any(" return " in line for line in lines)


def _given(names: Names, parameters: list[str]) -> list[str]:
    return [f"int64_t* {names.state}", *parameters]


def _of_thread(names: Names) -> list[str]:
    return [f"int64_t {names.thread}", f"int64_t {names.threads}", f"int64_t* {names.number}"]


def _entry(parameters: list[str], names: Names) -> list[str]:
    """The function that is launched."""
    passed = ", ".join([names.state, *(parameter.rpartition(" ")[2] for parameter in parameters)])
    return [
        f"// What goes wrong first is noted in {names.state}[0], with the number of its iteration.",
        *function_head(f'extern "C" __global__ void {ENTRY}(', _given(names, parameters)),
        f"  const int64_t {names.thread} = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;",
        f"  const int64_t {names.threads} = int64_t(gridDim.x) * blockDim.x;",
        f"  int64_t {names.number} = 0;",
        f"  const int {names.outcome} = {names.run}({passed}, {names.thread}, {names.threads}, &{names.number});",
        f"  const uint64_t {names.lane} = {ROOM} * uint64_t({names.number}) + {names.outcome};",
        f"  if ({names.outcome} && {names.outcome} != interrupted)",
        f"    atomicMin((unsigned long long*){names.state}, (unsigned long long){names.lane});",
        "}",
    ]


def _lanes(found: Independent, earlier: list[str], names: Names) -> list[str]:
    """A loop over the lanes of one thread: the iterations of the loop, each with those of the loops that are all that
    it does, one in the other."""
    levels = _nest(found, earlier)
    low, high = levels[0].low, levels[0].high
    lane, lanes, body = names.lane, names.lanes, levels[-1].loop.lines[1:-1]
    if len(levels) == 1:
        return [
            f"  for (int64_t {found.index} = {_to(low, names.thread)}; {found.index} < {high}; "
            f"{found.index} += {names.threads}) {{",
            f"    *{names.number} = {_from(found.index, low)} + 1;",
            *body,
            "  }",
        ]
    opening, indices, guarded = [f"  int64_t {lanes} = {high} > {low} ? {_from(high, low)} : 0;"], [], []
    rest = lane
    for depth, (loop, low, high, first) in reversed([*enumerate(levels)][1:]):
        width = names.widths[depth - 1]
        opening.append(f"  const int64_t {width} = {high} > {low} ? {_from(high, low)} : 1;")
        opening.append(f"  if (mul_overflows({lanes}, {width}, &{lanes})) return integer_overflow;")
        indices.append(f"    const int64_t {loop.index} = {_to(low, f'{rest} % {width}')};")
        guarded = [*first, f"    if ({loop.index} >= {high}) continue;", *guarded]
        rest = f"{rest} / {width}"
    return [
        *opening,
        f"  for (int64_t {lane} = {names.thread}; {lane} < {lanes}; {lane} += {names.threads}) {{",
        f"    *{names.number} = {lane} + 1;",
        f"    const int64_t {found.index} = {_to(levels[0].low, rest)};",
        *reversed(indices),
        *guarded,
        *(line[2 * len(levels) - 2 :] for line in body),
        "  }",
    ]


def _from(value: str, low: str) -> str:
    return value if low == "0" else f"{value} - {low}"


def _to(low: str, value: str) -> str:
    return value if low == "0" else f"{low} + {value}"


class Level(NamedTuple):
    """A loop of a nest, its bounds by what is declared before the nest, and the lines in front of it in each iteration
    of the one around."""

    loop: Independent
    low: str
    high: str
    first: list[str]


def _nest(found: Independent, earlier: list[str]) -> list[Level]:
    """A loop, and the loops that are all that it does, if the iterations of these do not meet either, and the lines in
    front of them may run again: a lane is then an iteration of each."""
    levels = [Level(found, _whole(found.low), _whole(found.high), [])]
    while len(levels) < DEEPEST:
        around = levels[-1].loop
        first, lines, after = around_a_loop(around.lines[1:-1])
        if not lines or not all(map(_is_comment, after)) or not all(map(_REPEATABLE.fullmatch, first)):
            return levels
        earlier = [*earlier, around.lines[0], *first]
        inner = independent(lines, Context(earlier, FUNCTIONS))
        if inner is None or _mentions(first, found.given):
            return levels
        within = [line.strip() for level in levels for line in (level.loop.lines[0], *level.first)]
        within += [line.strip() for line in first]
        low, high = (_by_what_is_before(bound, within) for bound in (inner.low, inner.high))
        if low is None or high is None:
            return levels
        levels.append(Level(inner, low, high, [line[2 * len(levels) - 2 :] for line in first]))
    return levels


def _by_what_is_before(bound: str, within: list[str]) -> str | None:
    """A bound without the names that lines of a nest declare; None if it needs more than sums, products and sizes."""
    inside = declared(within)
    for line in reversed(within):
        if match := re.fullmatch(r"const int64_t (\w+) = ([-+*\w.\[\] ]+);", line):
            bound = re.sub(rf"(?<![\w.]){match[1]}\b", _whole(match[2]), bound)
    return None if inside & set(re.findall(r"(?<![\w.])\w+", bound)) else _whole(bound)


def _whole(text: str) -> str:
    return text if re.fullmatch(r"[\w.\[\]]+", text) else f"({text})"


_REPEATABLE = re.compile(r" *(?://.*|int64_t \w+;|const \w+ \w+ = .*;|\w+ = true;|if \(.*\) return \w+;)")
"""Lines that may run again without another outcome."""


def _mentions(lines: list[str], arrays: Iterable[str]) -> bool:
    """Whether lines read elements of arrays."""
    text = "\n".join(line for line in lines if not _is_comment(line))
    return any(re.search(rf"\b{name}\b(?!\.size\[)", text) for name in arrays)


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("//")
