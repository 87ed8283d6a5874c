"""Random loop programs: source texts with a function `program` and a matching `arguments(seed)`."""

import random

from .expressions import Expressions, bare
from .inputs import EDGE_SIZES, FLOAT_TYPES, MAIN_SIZES, NUMPY_FLOAT_TYPES, OTHER_SIZES, Inputs, arguments_source
from .mechanisms import Mechanisms
from .operations import operation_source
from .statements import Statements, indent
from .vocabulary import NUMPY, TORCH, Choices, Scope, Value

RAISING_PERCENT = 12
OPERATION_PERCENT = 15
SIMPLE_PERCENT = 45


def imports(body):
    """The import lines that a text needs."""
    lines = [f"import {word}" for word in ("itertools", "math", "random") if f"{word}." in body]
    lines += ["import numpy as np"] if "np." in body else []
    lines += ["import torch"] if "torch." in body else []
    return lines


def helper_lines(choices, write):
    """One helper of two 0-dim tensors, with a branch at times, and with an effect of its own now and then."""
    scope = Scope([Value("a"), Value("b")], depth=3)
    lines = ["def helper(a, b):"]
    if choices.chance(50):
        condition = write.condition(scope, 0)
        lines += [f"    if {condition}:", f"        return {write.tensor(scope, (), 'f', 1).text}"]
    local = write.tensor(scope, (), "f", 1).text
    if choices.chance(15):
        drawn = "torch.rand(())" if write.library.name == "torch" else "np.random.rand()"
        lines += [choices.pick((f"    a = a + {drawn}", f"    a = a * {drawn}", "    print('helped')"))]
    lines += [f"    c = {bare(local)}", f"    return {choices.pick(('c * a', 'c + 0.5', 'c - b'))}"]
    return [*lines, "", ""]


def extent_lines(choices, inputs):
    """Lines that find the extents in the arguments; extents found nowhere become arguments themselves."""
    lines = []
    for dim in inputs.extents:
        homes = [
            (v.text, v.dims.index(dim))
            for a in inputs.arguments
            for v in a.values
            if dim in v.dims and v.form == "tensor" and a.role == "value"
        ]
        if not homes or choices.chance(10):
            inputs.add(dim, [f"{dim} = {dim}"])
            continue
        text, axis = choices.pick(homes)
        forms = [f"{text}.shape[{axis}]"] * 3 + ([f"len({text})"] if axis == 0 else [])
        lines.append(f"{dim} = {choices.pick(forms)}")
    return lines


def effects_of(choices, statements, inputs):
    """The few effects of this program, most often none."""
    effects = []
    if choices.chance(7):
        effects.append(statements.printed)
    if choices.chance(7):
        effects.append(statements.drawn)
    if any(a.role == "log" for a in inputs.arguments):
        effects.append(statements.logged)
    if choices.chance(3):
        effects.append(statements.counted)
    if choices.chance(RAISING_PERCENT):
        effects.append(statements.hazard)
    return effects


def results(choices, goals, last):
    """The text of what the program returns."""
    texts = [g.finish() if g.finish else g.result for g in goals]
    texts = [t for t in dict.fromkeys(texts) if t] + last
    if not texts:
        return "None"
    if len(texts) == 1:
        return texts[0]
    return ", ".join(f"({t})" if " if " in t else t for t in texts)


def program_lines(choices, library, write, inputs, goal=""):
    """The text of `program` (its parameters come from the inputs, extents included)."""
    scope = Scope([v for a in inputs.arguments if a.role == "value" for v in a.values])
    prologue = extent_lines(choices, inputs)
    maker = Mechanisms(write, inputs)
    count = 1 if write.simple else choices.weighted(((4, 1), (6, 2), (3, 3), (1, 4)))
    goals = [getattr(maker, goal)() if goal and not made else maker.make() for made in range(count)]
    statements = Statements(write, inputs.arguments, goals, [])
    statements.effects = [] if write.simple else effects_of(choices, statements, inputs)
    for goal in goals:
        prologue += goal.prologue
    body = []
    if write.simple:
        body = statements.simple_nest(scope)
    scope.add(*[g.value for g in goals if g.value])
    for _ in range(0 if body else choices.weighted(((7, 1), (2, 2)))):
        body += statements.nest(scope.child())
    last = ["i"] if any(line.startswith("for i in range") for line in body) and choices.chance(6) else []
    if last and choices.chance(70):
        prologue.append("i = -1")
    if choices.chance(12):
        extra = [g.value for g in goals if g.value and g.value.dims]
        body += [f"{v.text} = {v.text} * 2" for v in extra[:1] if not v.text.startswith(("x", "y"))]
    parameters = ", ".join(a.name for a in inputs.arguments)
    returned = results(choices, goals, last)
    return [f"def program({parameters}):", *indent(prologue), *indent(body), f"    return {returned}"]


def sizes_of(choices, extents):
    """The sizes that seeds 0 to 3 get: an ordinary one, another one, then edge cases."""
    chosen = [choices.pick(MAIN_SIZES), choices.pick(OTHER_SIZES), choices.pick(EDGE_SIZES), choices.pick(EDGE_SIZES)]
    return [size[: len(extents)] for size in chosen]


def write_program(source_of_randomness, goal=""):
    """The source of one program; its first goal may be named."""
    choices = Choices(source_of_randomness)
    if not goal and choices.chance(OPERATION_PERCENT) and (source := operation_source(choices)):
        return source
    library = choices.weighted(((4, TORCH), (1, NUMPY)))
    float_type = choices.weighted(FLOAT_TYPES if library is TORCH else NUMPY_FLOAT_TYPES)
    gradients = library is TORCH and choices.chance(35)
    inputs = Inputs(choices, library, float_type, gradients)
    write = Expressions(choices, library, float_type)
    write.extents = inputs.extents
    write.simple = choices.chance(SIMPLE_PERCENT)
    helpers = helper_lines(choices, write) if not write.simple and choices.chance(20) else []
    write.helpers = ("helper",) if helpers else ()
    inputs.choose()
    program = program_lines(choices, library, write, inputs, goal)
    builders = arguments_source(inputs.arguments, sizes_of(choices, inputs.extents), inputs.extents, library)
    state = ["STATE = {}", ""] if any("STATE" in line for line in program) else []
    body = [*state, *helpers, *program, "", "", *builders]
    narrow = float_type != "float64" or any("float32" in line or "torch.tensor(0.0)" in line for line in body)
    note = [] if narrow else ["# precision: double"]
    return "\n".join([*note, *imports("\n".join(body)), "", *([""] if not state else []), *body]) + "\n"


def program_of(seed, goal=""):
    """The program of a number: the same text always."""
    return write_program(random.Random(seed), goal)
