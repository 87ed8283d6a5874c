"""Tells a program's loop from its lifted form: `difference(source, …)` is None or one line that says what differs."""

import collections
import contextlib
import functools
import io
import itertools
import linecache
import os
import random
import re
import sys
import traceback
import types
import warnings
from dataclasses import dataclass, field

import numpy as np
import torch

# (seed, with gradients) of the calls that one lifted function gets, in order: seeds choose sizes (by their rest of 4),
# values, and at times another layout, dtype or sharing of storage.
PLAN = ((0, True), (4, True), (1, True), (0, False), (2, True), (3, True))
SINGLE = re.compile(r"float32|\.float\(\)|torch\.(tensor\(0\.0\)|zeros\(\(\)\))")
NARROW = re.compile(r"float32|float16|bfloat16|complex64|half\b")
FLOAT_TEXT = re.compile(r"-?\d+\.\d*(?:[eE][-+]?\d+)?")
# Iterating a tensor makes views that autograd forbids to use once their base was stored to: bookkeeping, not an answer.
# PyTorch's median along a dimension of an expanded tensor reads memory that nobody has set.
MEDIAN = re.compile(r"\bmedian\((-?\d|dim|\w+, )")
UNTOLD = "the output of a function that returns multiple views"
EXACT = 0.0, 0.0


# ---------------------------------------------------------------- programs as modules


@dataclass
class Subject:
    """A source, executed twice: once for the literal loop and once for the lifted one."""

    source: str
    literal: types.ModuleType
    lifted: types.ModuleType
    filename: str

    def close(self):
        linecache.cache.pop(self.filename, None)
        for module in (self.literal, self.lifted):
            sys.modules.pop(module.__name__, None)


COUNT = iter(range(1 << 60))


def subject_of(source):
    """Executes a source into two fresh modules, known to linecache and sys.modules so that it can be inspected."""
    number = next(COUNT)
    filename = f"<fuzzed program {os.getpid()}.{number}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    code = compile(source, filename, "exec")
    modules = []
    for role in ("literal", "lifted"):
        module = types.ModuleType(f"fuzzed_{role}_{number}")
        module.__file__ = filename
        sys.modules[module.__name__] = module
        exec(code, module.__dict__)
        modules.append(module)
    return Subject(source, *modules, filename)


# ---------------------------------------------------------------- one call


@dataclass
class Outcome:
    """Everything that a caller can see of one call."""

    arguments: tuple
    result: object
    error: Exception | None
    text: str
    states: tuple
    globals: dict


START = torch.get_rng_state(), np.random.RandomState(7).get_state(), random.Random(7).getstate()


def restore_generators():
    torch.set_rng_state(START[0])
    np.random.set_state(START[1])
    random.setstate(START[2])


def generator_states():
    numpy_state = np.random.get_state()
    return torch.get_rng_state().numpy().tobytes(), numpy_state[1].tobytes(), *numpy_state[2:], random.getstate()


def observe(function, module, arguments):
    """Calls a function with everything that it could have an effect on watched."""
    restore_generators()
    text = io.StringIO()
    result = error = None
    with contextlib.redirect_stdout(text):
        try:
            result = function(*arguments)
        except Exception as raised:  # the exception is part of the behaviour
            error = raised
    visible = {k: v for k, v in vars(module).items() if k.isupper() and k != "SIZES"}
    return Outcome(arguments, result, error, text.getvalue(), generator_states(), visible)


# ---------------------------------------------------------------- values


def children(value):
    """(key, child) pairs of a container, None for a leaf."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, (list, tuple, set, collections.deque)):
        return list(enumerate(value))
    if is_object(value):
        slots = getattr(type(value), "__slots__", ())
        return [(name, getattr(value, name, None)) for name in slots] if slots else list(vars(value).items())
    return None


def is_object(value):
    """Whether a value is an object with attributes, of a class of a program's own."""
    return of_program(type(value)) and (hasattr(value, "__dict__") or bool(getattr(type(value), "__slots__", ())))


def of_program(kind):
    """Whether a class is one of a program's own: each way in which the program runs has another."""
    return str(kind.__module__).startswith("fuzzed_")


def known_as(kind):
    return kind.__qualname__ if of_program(kind) else kind


def key_of(value):
    return (known_as(type(value)), repr(value) if of_program(type(value)) else value)


def leaves(value, seen=None):
    """All leaves in order; containers that contain themselves are entered once."""
    seen = set() if seen is None else seen
    inside = children(value)
    if inside is None:
        return [value]
    if id(value) in seen:
        return []
    seen.add(id(value))
    return [leaf for _, child in inside for leaf in leaves(child, seen)]


def tensors(value):
    return [v for v in leaves(value) if isinstance(v, torch.Tensor)]


def tolerance(dtype):
    """(relative, absolute) for a torch or NumPy floating dtype."""
    word = str(dtype).removeprefix("torch.")
    if word in ("float16", "bfloat16"):
        return 1e-2, 1e-2
    return (1e-7, 1e-9) if word in ("float64", "complex128") else (1e-4, 1e-5)


@dataclass
class Compare:
    """Compares values; `number` is the tolerance for Python floats; `rounding` collects differences of floats alone."""

    number: tuple = (1e-4, 1e-5)
    narrowest: tuple = (0.0, 0.0)
    rounding: list = field(default_factory=list)
    seen: set = field(default_factory=set)

    def __call__(self, got, want, path="result"):
        """None when equal, else one line that names the first difference."""
        if isinstance(want, torch.Tensor):
            return self.tensor(got, want, path)
        if isinstance(want, (np.ndarray, np.generic)):
            return self.array(got, want, path)
        if known_as(type(got)) != known_as(type(want)):
            return f"{path}: {type(got).__name__} {got!r:.60} instead of {type(want).__name__} {want!r:.60}"
        if isinstance(want, (float, complex)):
            return self.floats(np.asarray(got), np.asarray(want), self.number, path)
        # what generators go through, and functions give, is seen where the program asks for it
        if isinstance(want, types.GeneratorType | types.FunctionType) and type(got) is type(want):
            return None
        inside = children(want)
        if inside is None:
            return None if got == want else f"{path}: {got!r:.60} instead of {want!r:.60}"
        if id(want) in self.seen:
            return None
        self.seen.add(id(want))
        ours = children(got)
        if [key_of(k) for k, _ in ours] != [key_of(k) for k, _ in inside]:
            return f"{path}: entries {[k for k, _ in ours]!r:.60} instead of {[k for k, _ in inside]!r:.60}"
        for (key, g), (_, w) in zip(ours, inside):
            if why := self(g, w, f"{path}[{key!r}]"):
                return why
        return None

    def tensor(self, got, want, path):
        if not isinstance(got, torch.Tensor):
            return f"{path}: {type(got).__name__} instead of Tensor"
        if got.dtype != want.dtype or got.shape != want.shape:
            return f"{path}: {got.dtype} {tuple(got.shape)} instead of {want.dtype} {tuple(want.shape)}"
        if got.requires_grad != want.requires_grad:
            return f"{path}: requires_grad {got.requires_grad} instead of {want.requires_grad}"
        if not (want.is_floating_point() or want.is_complex()):
            return None if torch.equal(got, want) else f"{path}: {got.tolist()!r:.80} instead of {want.tolist()!r:.80}"
        return self.floats(plain(got), plain(want), tolerance(want.dtype), path)

    def array(self, got, want, path):
        if type(got) is not type(want) or got.dtype != want.dtype or got.shape != want.shape:
            mine = f"{type(got).__name__} {getattr(got, 'dtype', '')} {getattr(got, 'shape', '')}"
            return f"{path}: {mine} instead of {type(want).__name__} {want.dtype} {want.shape}"
        if want.dtype.kind in "fc":
            return self.floats(np.asarray(got), np.asarray(want), tolerance(want.dtype), path)
        return None if np.array_equal(got, want) else f"{path}: {got!r:.80} instead of {want!r:.80}"

    def floats(self, got, want, bounds, path):
        """Equal within tolerance, NaN and infinities in the same places; what is not may still be rounding."""
        bounds = max(bounds[0], self.narrowest[0]), max(bounds[1], self.narrowest[1])
        if got.tobytes() == want.tobytes():
            return None
        with np.errstate(all="ignore"):
            same = (got == want) & (np.signbit(got) == np.signbit(want)) if bounds == EXACT else got == want
            same |= np.isnan(got) & np.isnan(want)
            if bounds != EXACT:
                same |= np.isfinite(want) & (np.abs(got - want) <= bounds[1] + bounds[0] * np.abs(want))
        if same.all():
            return None
        at = tuple(int(k) for k in np.argwhere(~same)[0])
        self.rounding.append(path)
        return f"{path}: {got[at]!r} instead of {want[at]!r} at {at}"


def plain(tensor):
    """The values as a NumPy array of at least single precision."""
    detached = tensor.detach().resolve_conj().resolve_neg()
    wider = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.complex32: torch.complex64}
    return detached.to(wider.get(detached.dtype, detached.dtype)).numpy(force=True)


# ---------------------------------------------------------------- sharing of memory


def place(value):
    """(storage, first byte, strides in bytes) of a tensor or array; axes of one entry have no stride to speak of."""
    if isinstance(value, torch.Tensor):
        home = value.untyped_storage().data_ptr()
        strides = [s * value.element_size() for s in value.stride()]
        first = value.data_ptr()
    else:
        base = value
        while isinstance(base.base, np.ndarray):
            base = base.base
        home, first = base.__array_interface__["data"][0], value.__array_interface__["data"][0]
        if isinstance(base.base, torch.Tensor):
            home = base.base.untyped_storage().data_ptr()
        strides = value.strides
    return home, first, tuple(0 if n == 1 else s for s, n in zip(strides, value.shape))


def size_of(value):
    return value.numel() if isinstance(value, torch.Tensor) else value.size


def bytes_of(value, first, strides):
    """The addresses at which the entries lie."""
    addresses = np.array([first])
    for stride, extent in zip(strides, value.shape):
        addresses = np.add.outer(addresses, np.arange(extent) * stride).ravel()
    return set(addresses.tolist())


def relation(one, other, one_place, other_place):
    """How two views of one storage lie to each other, or None where neither a store nor autograd tells them apart."""
    tracked = any(isinstance(v, torch.Tensor) and v.requires_grad for v in (one, other))
    if not tracked and not bytes_of(one, *one_place[1:]) & bytes_of(other, *other_place[1:]):
        return None
    return other_place[1] - one_place[1], one_place[2], other_place[2]


def sharing(outcome):
    """({pair of arrays in sight: how they lie to each other in memory}, which arrays overlap themselves)."""
    sight = leaves([list(outcome.arguments), outcome.result, outcome.globals])
    arrays = [v for v in sight if isinstance(v, (torch.Tensor, np.ndarray)) and size_of(v)]
    places = [place(v) for v in arrays]
    homes = {}
    for at, (home, _, _) in enumerate(places):
        homes.setdefault(home, []).append(at)
    pairs = {}
    for members in homes.values():
        for a, b in itertools.combinations(members, 2):
            if found := relation(arrays[a], arrays[b], places[a], places[b]):
                pairs[a, b] = found
    overlapping = [any(s == 0 and n > 1 for s, n in zip(p[2], v.shape)) for v, p in zip(arrays, places)]
    return pairs, overlapping


def identities(value, numbers=None):
    """Which mutable objects are the same object, as numbers of first sight."""
    numbers = {} if numbers is None else numbers
    inside = children(value)
    mutable = isinstance(value, (list, dict, set, collections.deque, torch.Tensor, np.ndarray))
    mutable |= is_object(value) and not isinstance(value, tuple)
    known = id(value) in numbers
    mine = [numbers.setdefault(id(value), len(numbers))] if mutable else []
    if inside is None or known:
        return mine
    return mine + [n for _, child in inside for n in identities(child, numbers)]


# ---------------------------------------------------------------- gradients


def gradient_leaves(arguments):
    return [t for t in tensors(list(arguments)) if t.requires_grad and t.is_leaf]


def weights_like(tensor):
    return (torch.arange(tensor.numel(), dtype=torch.float64).mul(1.7).cos() + 0.3).reshape(tensor.shape)


def projection(outcome):
    """A fixed weighted sum of everything that comes out and carries a gradient, or None."""
    total = None
    for t in tensors([outcome.result, list(outcome.arguments)]):
        if t.requires_grad and t.grad_fn is not None:
            term = ((t.real if t.is_complex() else t).double() * weights_like(t)).sum()
            total = term if total is None else total + term
    return total


def gradients(outcome):
    """(gradients of all leaves, error) of the projection; ([], None) where there is nothing to derive."""
    try:
        wanted = gradient_leaves(outcome.arguments)
        total = projection(outcome) if wanted else None
        if total is None:
            return [], None
        return list(torch.autograd.grad(total, wanted, allow_unused=True, retain_graph=True)), None
    except RuntimeError as error:
        return [], error


def results_with_gradients(outcome):
    try:  # a view of what was changed in place since may not be asked
        return [t for t in tensors([outcome.result]) if t.requires_grad and t.grad_fn is not None]
    except RuntimeError:
        return []


def gradients_of_one(outcome, result):
    """The gradients of all leaves by one result alone, or None where there are none."""
    total = ((result.real if result.is_complex() else result).double() * weights_like(result)).sum()
    try:
        wanted = gradient_leaves(outcome.arguments)
        return list(torch.autograd.grad(total, wanted, allow_unused=True, retain_graph=True)) if wanted else None
    except RuntimeError:
        return None


def gradient_difference(got, want, compare):
    """The first difference between gradients: of the first and last results alone, then of everything together."""
    ours, theirs = results_with_gradients(got), results_with_gradients(want)
    if len(ours) == len(theirs) > 1:
        for at in (0, 1, -1):
            wanted = gradients_of_one(want, theirs[at])
            found = wanted and gradients_of_one(got, ours[at])
            if wanted and not found and gradients(want)[1]:
                continue  # a kernel is one node of autograd: it asks what the loop, too, may not ask
            if wanted and (why := pairs_difference(found, wanted, compare, f"gradient of result {at} by")):
                return why
    if why := second_difference(got, want):
        compare.rounding.append(why)
        return why
    wanted, want_error = gradients(want)
    found, got_error = gradients(got)
    if want_error:
        return None
    if got_error:
        return f"gradient: raised {got_error!r:.120}"
    if len(found) != len(wanted):
        return "gradient: there is none" if wanted else "gradient: there is one"
    return pairs_difference(found, wanted, compare, "gradient")


def second_gradients(outcome):
    """The gradients of all leaves of their gradients, zeros for none; or the error."""
    try:
        wanted = gradient_leaves(outcome.arguments)
        total = projection(outcome) if wanted else None
        if total is None:
            return []
        first = torch.autograd.grad(total, wanted, allow_unused=True, create_graph=True)
        terms = [((g.real if g.is_complex() else g).double() * weights_like(g)).sum() for g in first if g is not None]
        again = sum(terms)
        if not isinstance(again, torch.Tensor) or not again.requires_grad:
            return [torch.zeros_like(leaf) for leaf in wanted]
        second = torch.autograd.grad(again, wanted, allow_unused=True, retain_graph=True)
        return [torch.zeros_like(leaf) if g is None else g for g, leaf in zip(second, wanted)]
    except RuntimeError as error:
        return error


def share_of(dtype):
    """How much second gradients may differ, as a share of the largest: sums of many numbers, of 8 bits or more."""
    return 0.1 if dtype in (torch.float16, torch.bfloat16) else 0.02


def second_difference(got, want):
    """The first difference between gradients of gradients, which are far less exact than what they are made of."""
    theirs = second_gradients(want)
    if isinstance(theirs, RuntimeError):
        return None
    ours = second_gradients(got)
    if isinstance(ours, RuntimeError) and "cannot be differentiated again" in str(ours):
        return None  # a kernel that says so, as what its loop read has changed since
    if isinstance(ours, RuntimeError):
        return f"second gradient: raised {ours!r:.120}"
    for at, (g, w) in enumerate(zip(ours, theirs)):
        share = share_of(w.dtype)
        g, w = plain(g), plain(w)
        known = np.isfinite(w)
        size = np.abs(w[known]).max(initial=0.0)
        with np.errstate(all="ignore"):
            near = np.isfinite(g) & (np.abs(g - w) <= share * (1 + size))
        if known.all() and not near.all():
            return f"second gradient {at}: {g[~near].flat[0]!r} instead of {w[~near].flat[0]!r}"
    return None


def pairs_difference(found, wanted, compare, name):
    if found is None:
        return f"{name} anything: there is none"
    for at, (g, w) in enumerate(zip(found, wanted)):
        if (g is None) != (w is None):
            return f"{name} {at}: {'none' if g is None else 'there'} instead of {'none' if w is None else 'there'}"
        if g is not None and (why := compare(g, w, f"{name} {at}")):
            return why
    return None


# ---------------------------------------------------------------- two outcomes


NODE_OF_AUTOGRAD = re.compile(r"grad_fn=<\w+>")


def same_text(got, want):
    """Texts are equal, but for the last digits of floats, and the names of what has computed a tensor."""
    got, want = (NODE_OF_AUTOGRAD.sub("grad_fn", text) for text in (got, want))
    if got == want:
        return True
    if FLOAT_TEXT.sub("#", got) != FLOAT_TEXT.sub("#", want):
        return False
    pairs = zip(FLOAT_TEXT.findall(got), FLOAT_TEXT.findall(want))
    return all(abs(float(g) - float(w)) <= 1e-4 + 1e-4 * abs(float(w)) for g, w in pairs)


def error_difference(got, want):
    if got is None and want is None:
        return None
    if got is None:
        return f"exception: none instead of {want!r:.120}"
    if want is None:
        where = traceback.extract_tb(got.__traceback__)[-1]
        return f"exception: {got!r:.120} (at {os.path.basename(where.filename)}:{where.lineno}) instead of none"
    if type(got) is not type(want) or not same_text(str(got), str(want)):
        return f"exception: {got!r:.120} instead of {want!r:.120}"
    return None


def outcome_difference(got, want, compare):
    """None, or the first thing in which two outcomes differ."""
    if want.error and UNTOLD in str(want.error):
        return None
    if why := error_difference(got.error, want.error):
        return why
    why = compare(got.result, want.result) or compare(list(got.arguments), list(want.arguments), "arguments")
    why = why or compare(got.globals, want.globals, "globals")
    if why:
        return why
    if identities([list(got.arguments), got.result, got.globals]) != identities(
        [list(want.arguments), want.result, want.globals]
    ):
        return "aliasing: other objects are the same one"
    for mine, theirs, word in zip(sharing(got), sharing(want), ("pairs in one memory", "self-overlaps")):
        if mine != theirs:
            return f"aliasing: {word}: {mine!r:.90} instead of {theirs!r:.90}"
    if not same_text(got.text, want.text):
        return f"printed: {got.text!r:.80} instead of {want.text!r:.80}"
    for mine, theirs, word in zip(got.states, want.states, ("torch", "numpy", "numpy", "numpy", "numpy", "random")):
        if mine != theirs:
            return f"generator: that of {word} was left in another state"
    return gradient_difference(got, want, compare)


# ---------------------------------------------------------------- a whole program


@dataclass
class Verdict:
    """What was found of one program: `why` is None when all calls agree; `loops` is the report after the first call."""

    why: str | None
    loops: list = field(default_factory=list)
    raised: bool = False
    rounded: int = 0


def lift_of():
    from looplift import lift

    return lift


def mismatch_warnings(caught):
    """The texts of looplift's own warnings that a verification found a mismatch."""
    looplift = sys.modules.get("looplift")
    category = getattr(looplift, "LoopliftWarning", None)
    texts = [str(w.message) for w in caught if category and issubclass(w.category, category)]
    return [t for t in texts if re.search(r"mismatch|differ|verif|disagree", t) and UNTOLD not in t]


def number_tolerance(source):
    """Python floats are compared tightly where nothing in a program is narrower than double precision."""
    if source.startswith("# precision: exact"):
        return EXACT
    wide = source.startswith("# precision: double") or ("torch" not in source and not NARROW.search(source))
    return (1e-7, 1e-9) if wide else (1e-4, 1e-5)


def narrowest_tolerance(source):
    """What was rounded to fewer bits on the way is no more exact in a wider type, nor is a gradient that was."""
    if re.search(r"float16|half\b", source):
        return tolerance("float16")
    return tolerance("float32") if SINGLE.search(source) else (0.0, 0.0)


def mode_of(with_gradients):
    return contextlib.nullcontext() if with_gradients else torch.no_grad()


def call_difference(subject, lifted, build_literal, build_lifted, seed, with_gradients, verdict):
    """None, or what differs in one call."""
    from .rounding import is_decided_by_rounding, only_rounding

    theirs, ours = build_literal(seed), build_lifted(seed)
    with mode_of(with_gradients):
        want = observe(subject.literal.program, subject.literal, theirs)
        got = observe(lifted, subject.lifted, ours)
    verdict.raised |= want.error is not None
    compare = Compare(number_tolerance(subject.source), narrowest_tolerance(subject.source))
    why = outcome_difference(got, want, compare)
    if why and number_tolerance(subject.source) == EXACT:
        return f"{why}  [seed {seed}]"
    if why and not want.error and not got.error:
        with mode_of(with_gradients):
            run = functools.partial(observe, subject.literal.program, subject.literal)
            build = functools.partial(build_literal, seed)
            if (compare.rounding and only_rounding(got, want, compare, run, build)) or (
                is_decided_by_rounding(got, compare, run, build)
            ):
                verdict.rounded += with_gradients
                return None
    if why and MEDIAN.search(subject.source) and ".expand(" in subject.source:
        return None
    return why and f"{why}  [seed {seed}{'' if with_gradients else ', no_grad'}]"


def check(source, make_arguments=None, settings=None, *, lift=None, plan=PLAN):
    """Compares all calls of the plan between the literal and one lifted function; a `Verdict`."""
    subject = subject_of(source)
    build_literal = make_arguments or subject.literal.arguments
    build_lifted = make_arguments or subject.lifted.arguments
    verdict = Verdict(None)
    lift = lift or lift_of()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            if category := getattr(sys.modules.get("looplift"), "LoopliftWarning", None):
                warnings.simplefilter("always", category)
            lifted = lift(subject.lifted.program, **(settings or {"verify": "off"}))
            for seed, with_gradients in plan:
                verdict.why = call_difference(
                    subject, lifted, build_literal, build_lifted, seed, with_gradients, verdict
                )
                verdict.loops = verdict.loops or loops_of(lifted)
                if verdict.why:
                    break
        if not verdict.why and (texts := mismatch_warnings(caught)):
            verdict.why = unless_rounded(f"warning: {texts[0]:.160}", source, make_arguments, settings, lift, plan)
    finally:
        subject.close()
    return verdict


def unless_rounded(warning, source, make_arguments, settings, lift, plan):
    """The warning of a verification, or None where the same calls without one differ, and in nothing but rounding."""
    alone = check(source, make_arguments, {**settings, "verify": "off"}, lift=lift, plan=plan)
    return None if alone.rounded and not alone.why else warning


def examine(source, settings=None, *, lift=None, plan=PLAN):
    """As `check`, but what the lift itself, its report or a program's arguments raise is a finding as well."""
    try:
        return check(source, settings=settings, lift=lift, plan=plan)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return Verdict(f"crash: {error!r:.200} (at {os.path.basename(where.filename)}:{where.lineno})")


def reason_to_shrink(verdict):
    """The difference, marked where the loop raises, so that shrinking goes from one sort to the other in no step."""
    return verdict.why and ("raising " if verdict.raised else "") + verdict.why


def loops_of(lifted):
    """(decision, reason) of each loop in the report, if there is one."""
    if not hasattr(lifted, "report"):
        return []
    return [(str(entry.decision), str(entry.reason or "")) for entry in lifted.report().loops]


def difference(source, make_arguments=None, settings=None, *, lift=None, plan=PLAN):
    """None, or one line that says in what the lifted program first differs from its loop.

    source: text with a function `program`, and `arguments(seed)` unless `make_arguments` is given, which is called once
    for each side.  settings: keywords for `lift`; `verify="off"` if none are given.
    """
    return check(source, make_arguments, settings, lift=lift, plan=plan).why
