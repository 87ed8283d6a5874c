"""An array program in, the lines of Python that an expert would have written out.

Nodes used once are written where they are used; the others get names, the author's where there is one. What an
array holds at some point is read before the next write to it.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any

from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable
from looplift.base.paths import roots_of
from looplift.emit import (
    arrays,
    batched,
    bounds,
    cells,
    contractions,
    convolutions,
    diagonals,
    differentiated,
    each,
    effects,
    extremes,
    failures,
    helpers,
    hoisted,
    loop_rows,
    ragged,
    ragged_writes,
    repeats,
    scans,
    softmax,
    structure,
    subscripts,
    text,
    writes,
)
from looplift.emit.apart import results_apart
from looplift.emit.guards import called_functions, device_of, guarded_modules, guards_of
from looplift.emit.own_numbers import keep_own_numbers
from looplift.emit.text import TRIVIAL, Text, into_buffer
from looplift.ir.array import (
    Assign,
    Axis,
    Check,
    Choose,
    Effect,
    For,
    Forever,
    LeaveUnless,
    Node,
    Program,
    Push,
    Run,
    Step,
    Write,
    changed_by,
    every_step,
    nodes_of,
    operands_of,
    reachable,
)
from looplift.ir.facts import Kind
from looplift.ops.names import OF_USERS, of_libraries

RARER = {
    op: module
    for module, ops in {
        subscripts: "slice stencil tiles turned gather",
        arrays: "assemble owned spread collect listed last last_item copied drawn",
        structure: """reduce fold along_dim method transposed unsqueezed reshaped stretched permuted merged join
            unflattened sorted_places first_places""",
        contractions: """matmul contract distances only_finite counted_both label_pairs counted_own label_table
            label_either label_sums leading module custom vmapped paired field identity""",
        cells: "cell part open_rows",
        convolutions: "convolution pooled as_axes taps",
        diagonals: "diagonal renamed on_diagonal",
        softmax: "axes_logsumexp axes_softmax",
        differentiated: "leaf slopes",
        batched: "batched",
        extremes: "extreme_in_order",
        each: "each",
        repeats: "place",
        ragged: """first_held member first entry entry_across relabel segment flattened split label_counts items
            item_lengths dense
            bound arange windows trailing key_place kept
            times""",
        ragged_writes: "segments_apart places_apart",
        scans: """narrowing of_lanes of_first_lanes flat_lanes places_of_steps split_steps of_step empty_list at
            history asking pieces put shift running_sum first_true running_last last_taken passes best_place best_of
            best_item at_best reach recurrence keeps_products finite unbound""",
    }.items()
    for op in ops.split()
}
"""The modules with the renderers of nodes that few programs have."""
WIDTH = 92


def _rendered(p: Printer, node: Node) -> Text:
    op = node.op
    render = text.RENDERERS.get(op) or RARER[op].RENDERERS[op]
    return render(p, node)


@dataclass
class Emitted:
    """The text of a region, what it needs around it, and what must hold for it to be right.

    ``guards`` are expressions over the region's names and ``namespace``; ``paths`` the values whose kinds are
    guarded; ``mutated`` those that the text writes to, ``commits_early`` whether it may fail after it has; ``may_warn``
    whether NumPy may warn in it, once for what the loop does many times; ``parts_ways`` whether lanes leave loops that
    stay at steps of their own.
    """

    statements: list[str]
    namespace: dict[str, Any] = field(default_factory=dict)
    standalone: list[str] = field(default_factory=list)
    imports: list[str] = field(default_factory=list)
    guards: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    mutated: list[str] = field(default_factory=list)
    sets: list[str] = field(default_factory=list)
    random: bool = False
    commits_early: bool = False
    may_warn: bool = False
    parts_ways: bool = False
    kernels: list[Any] = field(default_factory=list)


@dataclass
class Printer:
    """The state of printing one program."""

    library: str
    device: str = ""
    gradients: bool = True
    reserved: set[str] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)
    depth: int = 0
    names: dict[int, str] = field(default_factory=dict)
    uses: dict[int, int] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    helpers: dict[str, None] = field(default_factory=dict)
    entry_names: dict[tuple[Axis, Any], str] = field(default_factory=dict)
    position_names: dict[Axis, str] = field(default_factory=dict)
    scopes: list[list[int]] = field(default_factory=list)
    buffers: dict[int, str] = field(default_factory=dict)
    turned: dict[int, str] = field(default_factory=dict)
    """Names of matrices as they are multiplied with rows, by serial."""
    flat_places: dict[int, str] = field(default_factory=dict)
    """Of reads at places that a loop does not change: where these are kept."""
    numbers: dict[tuple[str, Any], str] = field(default_factory=dict)
    """Names of numbers as tensors of a dtype."""
    memory: dict[int, frozenset[str]] = field(default_factory=dict)
    """Nodes that are arrays to be written to, by serial, with the array's name."""

    def fail(self, code: str, message: str) -> None:
        raise NotLiftable(code, message)

    # ------------------------------------------------------------ what the renderers ask for

    def text(self, node: Node) -> Text:
        """The node's name if it has one, else its own text; a long one gets a name first."""
        if node.serial in self.names:
            return Text(self.names[node.serial])
        if node.op in TRIVIAL:
            return _rendered(self, node)
        made = _rendered(self, node)
        if node.serial in self.names:
            return made
        if self.uses.get(node.serial, 0) > 1 and _worth_a_name(node) and not made.text.isidentifier():
            return Text(self.bind(node, made))
        if len(made.text) > WIDTH - 12 and node.op not in ("linear", "display"):
            return Text(self.bind(node, made))
        return made

    def own_text(self, node: Node) -> Text:
        """The node's text where it gets a name anyway."""
        return Text(self.names[node.serial]) if node.serial in self.names else _rendered(self, node)

    def bind(self, node: Node, made: Text | None = None) -> str:
        if node.serial in self.names:
            return self.names[node.serial]
        made = made or _rendered(self, node)
        if node.serial in self.names:
            return self.names[node.serial]
        name = self.fresh(node.hint or _hint(node))
        self.line(f"{name} = {_plain(made.text)}")
        self.remember(node.serial, name)
        return name

    def remember(self, serial: int, name: str) -> None:
        self.names[serial] = name
        if self.scopes:
            self.scopes[-1].append(serial)

    def fresh(self, hint: str) -> str:
        hint = hint if hint.isidentifier() and not keyword.iskeyword(hint) else "value"
        hint = f"{hint}_value" if hasattr(builtins, hint) else hint
        name, count = hint, 1
        while name in self.taken or name in self.reserved:
            count += 1
            name = f"{hint}_{count}"
        self.taken.add(name)
        return name

    def line(self, content: str) -> None:
        self.lines.append("    " * self.depth + content)

    @contextmanager
    def block(self) -> Iterator[None]:
        """Lines in here stand one step further in: what gets a name there has none afterwards."""
        self.depth += 1
        self.scopes.append([])
        saved = dict(self.position_names), dict(self.entry_names), dict(self.turned), dict(self.numbers)
        flat_places = dict(self.flat_places)
        yield
        self.depth -= 1
        for serial in self.scopes.pop():
            self.names.pop(serial, None)
        self.position_names, self.entry_names, self.turned, self.numbers = saved
        self.flat_places = flat_places

    def need(self, helper: str) -> None:
        self.helpers.setdefault(helper)

    def dtype(self, kind: Kind) -> Any:
        import torch

        if kind.is_array:
            return kind.dtype
        numbers = {"int": torch.int64, "float": torch.float64, "bool": torch.bool, "complex": torch.complex128}
        return numbers[kind.family]

    def on_device(self, text: str) -> str:
        """What the host made, where the tensors are."""
        return f"{text}.to({self.device})" if self.device and self.library == "torch" else text

    def device_argument(self) -> str:
        return f", device={self.device}" if self.device else ""

    def extent(self, axis: Axis) -> str:
        return self.text(axis.extent).text

    def positions(self, axis: Axis) -> str:
        """A vector 0, 1, ... over the positions of an axis, under a name."""
        if axis not in self.position_names:
            name = self.fresh(axis.name)
            self.line(f"{name} = {self.library}.arange({self.extent(axis)}{self.device_argument()})")
            self.position_names[axis] = name
        return self.position_names[axis]

    def entries(self, axis: Axis, ancestor: Axis) -> str:
        """For each entry of a ragged axis the position of its lane on an outer axis, under a name."""
        return ragged.entries_text(self, axis, ancestor)

    def repeated(self, text: str, axis: Axis, rank: int) -> Text:
        """A value of each lane, once for each entry of a ragged axis."""
        return repeats.repeated_text(self, text, axis, rank)


def _worth_a_name(node: Node) -> bool:
    return node.op not in ("extent", "linear", "none", "vector") and not (
        node.op == "attribute" or node.op == "length" or (node.op == "cut")
    )


def _hint(node: Node) -> str:
    if node.op == "index":
        return node.attrs["axis"].name
    if node.kind.family == "bool":
        return "mask"
    return {"reduce": "total", "fold": "folded", "gather": "picked", "slice": "part"}.get(node.op, "value")


def _plain(content: str) -> str:
    """Without parentheses around the whole."""
    if not content.startswith("(") or not content.endswith(")"):
        return content
    depth = 0
    for position, character in enumerate(content):
        depth += character == "("
        depth -= character == ")"
        if depth == 0 and position < len(content) - 1:
            return content
    inner = content[1:-1]
    if not inner.strip():
        return content
    return content if "," in inner and _top_level_comma(inner) else inner


def _top_level_comma(content: str) -> bool:
    depth = 0
    for character in content:
        depth += character in "([{"
        depth -= character in ")]}"
        if character == "," and depth == 0:
            return True
    return False


# ---------------------------------------------------------------- what is used where


def count_uses(roots: list[Node]) -> dict[int, int]:
    uses: dict[int, int] = {}
    for root in roots:
        uses[root.serial] = uses.get(root.serial, 0) + 1
    found = reachable(roots)
    for node in found:
        for arg in node.args:
            uses[arg.serial] = uses.get(arg.serial, 0) + 1
    for node in sorted(found, key=lambda one: one.serial, reverse=True):
        if node.op == "retype":  # it is written as its operand
            uses[node.args[0].serial] += max(uses[node.serial] - 1, 0)
    return uses


# ---------------------------------------------------------------- steps


def emit(plan: Any) -> Emitted:
    """The text of a plan."""
    function = plan.facts.function
    roots = {root for path in function.attributes["paths"].values() for root in roots_of(path)}
    roots |= {path.partition(".")[0] for path in function.attributes["modules"]}
    roots |= function.attributes.get("names", frozenset())
    mutated = set(plan.mutated)
    emitted = print_program(plan.program, reserved=roots, device=device_of(plan.facts), mutated=mutated)
    emitted.paths = list(function.attributes["paths"].values()) + guarded_modules(function)
    emitted.guards, names = guards_of(plan)
    emitted.guards += of_libraries(called_functions(emitted.statements), names)
    emitted.guards = list(dict.fromkeys(emitted.guards))
    emitted.namespace |= names
    emitted.mutated = [*plan.mutated, *function.attributes.get("grows", ())]
    emitted.sets = list(function.attributes.get("sets", ()))
    emitted.random = plan.random
    emitted.kernels = plan.kernels
    if plan.kernels:
        from looplift.emit.native_standalone import standalone_text

        emitted.standalone += [standalone_text(kernel) for kernel, _ in plan.kernels]
    emitted.may_warn = failures.may_warn(plan.program)
    left = [step for step in every_step(plan.program.steps) if isinstance(step, LeaveUnless)]
    emitted.parts_ways = any(step.cond.axes for step in left)
    return emitted


def print_program(
    program: Program, *, reserved: set[str], device: str = "", mutated: Set[str] = frozenset()
) -> Emitted:
    """The text of a program; the names it binds keep clear of ``reserved`` ones, except for its results. What may fail
    comes before writes into the ``mutated`` arrays of the caller, where it can."""
    keep_own_numbers(program)
    gradients = program.gradients or any(node.op == "slopes" for node in nodes_of(program))
    printer = Printer(program.library, device, gradients=gradients, reserved=set(reserved))
    named = results_apart(program)
    results = [node for _, node in named]
    printer.uses = count_uses([n for step in program.steps for n in operands_of(step)] + results)
    _take_names(printer, program.steps)
    loops = any(isinstance(step, For | Forever) for step in program.steps)
    steps = hoisted.checks_first(printer, program.steps) if loops else program.steps
    order = failures.in_order(program, steps, mutated)
    printed = [step for step in (*order.before, *order.after) if isinstance(step, Effect)]
    before, after = ([step for step in part if not isinstance(step, Effect)] for part in (order.before, order.after))
    later = [*(node for step in printed for node in step.operands), *results]
    _steps(printer, before, [*(node for step in after for node in operands_of(step)), *later])
    for node in order.early:
        printer.bind(node)
    _steps(printer, after, later)
    if printed:
        for node in results:
            if node.op not in TRIVIAL:
                printer.bind(node)
        _steps(printer, effects.together(printed), results)
    _results(printer, named)
    standalone = [helpers.HELPERS[name].strip() for name in printer.helpers]
    namespace = helpers.helper_functions(tuple(printer.helpers)) if printer.helpers else {}
    library = [f"import {'numpy as np' if program.library == 'np' else 'torch'}"]
    if any(OF_USERS in line for line in printer.lines):
        if "looplift" in reserved:
            printer.fail("unsupported-value", "'looplift' is another name here")
        import looplift.kernels

        namespace |= {"looplift": looplift}
        library.append("import looplift.kernels")
    if any("np." in helper for helper in standalone):
        library.append("import numpy as np")
    if any("(math." in line for line in printer.lines) or any("math." in helper for helper in standalone):
        library.append("import math")
    emitted = Emitted(printer.lines, namespace, standalone, sorted(set(library)))
    emitted.commits_early = failures.commits_early(program, order, mutated)
    return emitted


def _take_names(p: Printer, steps: list[Step]) -> None:
    """Names that steps assign are not given to other values."""
    for step in steps:
        if isinstance(step, Run):
            p.taken.update(step.outputs, step.stored)
        elif isinstance(step, Assign):
            p.taken.update(step.name.split(","))
        elif isinstance(step, Choose):
            _take_names(p, [*step.then, *step.orelse])
        elif isinstance(step, For | Forever):
            if isinstance(step, For):
                p.taken.add(step.name)
            _take_names(p, step.body)


def _steps(p: Printer, steps: Sequence[Step], later: list[Node]) -> None:
    for position, step in enumerate(steps):
        rest = [n for s in steps[position + 1 :] for n in operands_of(s)] + later
        _step(p, step, rest)


def _step(p: Printer, step: Step, rest: list[Node]) -> None:
    match step:
        case Check(cond=cond):
            _check(p, cond)
        case Write():
            p.text(step.node)
            _settle(p, {step.array}, rest, step.serial)
            for line in writes.write_lines(p, step):
                p.line(line)
        case Assign(function=function) if function:
            _settle(p, {step.name}, rest, step.serial)
            p.line(f"{step.name} = {into_buffer(p, step)}")
        case Assign(name=name, node=node):
            if not step.memory:
                _settle(p, set(name.split(",")), rest, step.serial)
            named = node.serial in p.names or node.op in TRIVIAL or p.uses.get(node.serial, 0) > 1
            value = None if step.memory else arrays.carried_text(p, node)
            value = value or (p.text(node) if named and not step.memory else p.own_text(node))
            if value.text != name and not (name == "_" and value.text.isidentifier()):
                p.line(f"{name.replace(',', ', ')} = {_plain(value.text)}")
            if step.memory:
                p.memory[node.serial] = frozenset((name,))
                p.remember(node.serial, name)
        case Run():
            operands = [p.text(node).text for node in step.operands]
            _settle(p, set(step.outputs) | set(step.stored), rest, step.serial)
            names = step.outputs + (step.stored if step.gradients else [])
            target = f"{', '.join(names)}{',' if len(names) == 1 else ''} = " if names else ""
            p.line(f"{target}{step.kernel.name}({', '.join(operands)})")
        case LeaveUnless(cond=cond):
            value = p.text(cond).at(100)
            # torch counts booleans faster than it looks for one
            some = ".any()" if p.library == "np" or p.device else ".count_nonzero()"
            p.line(f"if not {value}{some if cond.axes else ''}:")
            p.line("    break")
        case Push(name=name, node=node):
            p.line(f"{name}.append({_plain(arrays.detached(p, node).text)})")
        case Choose():
            _choose(p, step, rest)
        case For() | Forever():
            _loop(p, step, rest)
        case Effect():
            effects.write(p, step)


def _check(p: Printer, cond: Node) -> None:
    if (test := bounds.bound_text(p, cond) or bounds.number_text(p, cond)) is not None:
        p.line(f"if not {test}:")
        p.line("    raise RequirementFailed")
        return
    value = p.text(cond)
    if cond.op == "const" and cond.attrs["value"] is True:
        return
    if cond.op == "const":
        p.line("raise RequirementFailed")
        return
    test = f"bool({value.at(100)}.all())" if cond.axes or cond.kind.is_array else value.at(30)
    p.line(f"if not {test}:")
    p.line("    raise RequirementFailed")


def _settle(p: Printer, arrays: set[str], rest: list[Node], serial: int) -> None:
    """Before arrays change: values that were read from them before and are needed afterwards get names of their own."""
    cache, seen, pending = dict(p.memory), set(p.memory), list(reversed(rest))
    while pending:
        node = pending.pop()
        if node.serial in seen or not hoisted.memory_of(node, cache) & arrays:
            continue
        seen.add(node.serial)
        if node.time > serial or node.op in TRIVIAL or node.op in ("extent", "length", "linear"):
            pending += reversed(node.args)
        else:
            _keep(p, node)


def _keep(p: Printer, node: Node) -> None:
    """Give a value a name, and memory of its own if it may be a view."""
    copy = "clone" if p.library == "torch" else "copy"
    shows = arrays.is_view(node) and (node.kind.is_array or bool(node.axes))
    if node.serial in p.names:
        if shows:
            p.line(f"{p.names[node.serial]} = {p.names[node.serial]}.{copy}()")
        return
    made = _rendered(p, node)
    if node.serial in p.names:
        return _keep(p, node)
    if shows:
        made = Text(f"{made.at(100)}.{copy}()")
    p.bind(node, made)


def _loop(p: Printer, step: For | Forever, rest: list[Node]) -> None:
    """What the loop does not change is computed before it."""
    inner = _always_read(step.body)
    changed = changed_by(step.body)
    bounds: list[str] = []
    if isinstance(step, For):
        changed.add(step.name)
        bounds = [p.text(b).text for b in step.bounds]
    _settle(p, changed, rest + [n for s in step.body for n in operands_of(s)], step.serial)
    hoisted.hoist(p, step.body, inner, changed)
    for inside in step.body:
        if isinstance(inside, Assign) and inside.function:
            p.buffers[inside.serial] = p.fresh("buffer")
            p.line(f"{p.buffers[inside.serial]} = None")
    rows = loop_rows.bind_rows(p, step, inner, changed) if isinstance(step, For) else []
    if isinstance(step, For):
        shown = bounds[1:2] if bounds[0] == "0" and bounds[2] == "1" else bounds[:2] if bounds[2] == "1" else bounds
        p.line(f"for {step.name} in range({', '.join(shown)}):")
    else:
        p.line("while True:")
    _indented(p, step.body)
    for serial in rows:
        del p.names[serial]


def _always_read(steps: list[Step]) -> list[Node]:
    """What steps read, except inside of an ``if`` that may not be taken."""
    found: list[Node] = []
    for step in steps:
        if isinstance(step, Choose):
            found.append(step.cond)
        elif isinstance(step, For | Forever):
            found += [*(step.bounds if isinstance(step, For) else ()), *_always_read(step.body)]
        else:
            found += operands_of(step)
    return found


def _choose(p: Printer, step: Choose, rest: list[Node]) -> None:
    inner = [n for s in (*step.then, *step.orelse) for n in operands_of(s)]
    cond = p.text(step.cond)
    _settle(p, changed_by([step]), rest + inner, step.serial)
    p.line(f"if {_plain(cond.text)}:")
    _indented(p, step.then)
    if step.orelse:
        p.line("else:")
        _indented(p, step.orelse)


def _indented(p: Printer, steps: list[Step]) -> None:
    """A block of its own: what gets a name in it has none after it."""
    before = len(p.lines)
    with p.block():
        _steps(p, steps, [])
        if len(p.lines) == before:
            p.line("pass")


def _results(p: Printer, results: list[tuple[str, Node]]) -> None:
    """Bind the results to their names, all at once where one is made of what another name held before, or where
    attributes are set: nothing fails after that."""
    sets = any("." in key for key, _ in results)
    returned = p.fresh("found") if sets else "return"
    values = [(key, _plain(p.text(node).text)) for key, node in results if sets or key != "return"]
    values = [(returned if key == "return" else key, value) for key, value in values if value != key]
    keys = {key for key, _ in values}
    if sets or any(_words(value) & (keys - {key}) for key, value in values):
        p.line(f"{', '.join(key for key, _ in values)} = {', '.join(_grouped(value) for _, value in values)}")
    else:
        for key, value in values:
            p.line(f"{key} = {value}")
    for key, node in results:
        if key == "return":
            p.line(f"return {returned if sets else _plain(p.text(node).text)}")


def _words(content: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", content))


def _grouped(content: str) -> str:
    return f"({content})" if _top_level_comma(content) else content
