"""A region and its compiler in; an entry that picks the variant for each call's arguments out.

The entry is generated Python: read torch's modes, test the guards of the variants, newest first, call the one that
fits. All else is slow and rare: no variant fits (compile one), a variant fails (put back, run the original), or the
compiler refuses (run the statements with smaller regions in them).
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from looplift.base.data import dataclass, field
from looplift.base.errors import LoopliftWarning, NotLiftable, RequirementFailed
from looplift.base.report import readable_seconds
from looplift.runtime import alternatives, awaited, entry, guards, rivals, second
from looplift.runtime.inside import Inside
from looplift.runtime.patience import Allowance, Patience
from looplift.runtime.records import Records, failed_check, is_beyond
from looplift.runtime.snapshot import Containers, GeneratorStates, generators_in, is_generator, root_of
from looplift.runtime.stopwatch import Stopwatch
from looplift.runtime.traced import Numbered, traced_entry
from looplift.runtime.trials import Trial, decided_together, size_class
from looplift.runtime.variants import Program, RegionCode, build_function
from looplift.runtime.verification import BUDGET, Outcome, Undo, Verdict, ended_in, verified_call

if TYPE_CHECKING:
    from looplift.runtime.graphs import Graphs

MAX_VARIANTS = 16
MAX_FAILURES = 3
"""So many failures in a row, and a variant is given up."""
COSTLY = 4.0
"""So many times longer than the loop took the copies and the comparison of a call, and other sizes are not compared."""
_PATIENCE, _OF_WAVES = 3.0, 1.5
"""How much slower than the loop a call may be where a backward pass follows, which batched code makes faster; less so
where it goes in waves."""

collect = False
"""Whether calls are timed, for ``looplift run``. Entries are made for it: set it before the first call."""

Compile = Callable[..., RegionCode]
"""Batched code for a region and the values of its names; keywords change the settings that the user chose."""


@dataclass(eq=False)
class Variant:
    """What to do for one kind of arguments: run ``call``, or, without one, the statements as they are.

    ``small`` is the variant for arguments of such a size that the loop as written was faster, or another form of the
    batched code, with ``guards`` of its own; ``plain`` marks the former.
    """

    conditions: list[str]
    modes: tuple[Any, ...]
    number: int
    code: RegionCode | None = None
    call: Callable[..., Any] | None = None
    failures: int = 0
    renewals: int = 0
    """How often another form took its place, as it did not hold."""
    watched: bool = False
    calm: int = 0
    """How many calls that are watched have held since one did not."""
    wanted: int = 1
    """After so many it is watched no more."""
    verified: bool = False
    plain: bool = False
    guards: list[str] = field(default_factory=list)
    trials: dict[tuple[int, ...], Trial] | None = None
    """By size of the arguments; None once the variant was taken."""
    small: Variant | None = None
    is_slow: bool = False
    seconds: float | None = None
    """Of the loop as written, where it was measured."""
    uneven: set[str] = field(default_factory=set)
    """Lists whose items differed in shape when it was made."""
    refusal: NotLiftable | None = None
    """Of the region, where the variant is another form of it that takes turns with its pieces; of one for small
    arguments, why the pieces run."""
    numbers: dict[str, int] = field(default_factory=dict)
    """Of one for small arguments: the greatest integers, which may be sizes or places, that it is known to be for."""
    is_divided: bool = False
    """Of a plain variant: the statements run with smaller regions in them."""
    contest: rivals.Contest | None = None
    """With another form of its code, which may be faster."""
    made_by: Callable[..., RegionCode] | None = None
    """Of another form of a variant's code: what compiles it."""
    is_rival: bool = False
    """Whether it is another form of a variant's code, for sizes at which it was faster."""
    heat: int = 0
    """Without batched code: how often the statements ran as written."""
    is_awaited: bool = False
    """Whether the loop ran in its place, as its library was being compiled."""
    is_costly: bool = False
    """Whether it took far longer to compare it with the loop than to run that."""
    postponed: NotLiftable | None = None
    """Of the region, if another form of it is tried once its loop has run for long enough."""


MAX_WANTED = 64
"""What holds in some calls and not in others is watched for so many at most: to watch it or not is a new entry."""
TURNS = 8
"""After so many calls of statements that stay it is asked whether what they call is still lifted."""


@dataclass(eq=False)
class Dispatcher:
    """One region of one function."""

    program: Program
    regions: list[Any]
    compile: Compile
    records: Records
    verify: str = "first"
    changed: Callable[[], None] = lambda: None
    variants: list[Variant] = field(default_factory=list)
    children: list[Dispatcher] = field(default_factory=list)
    gave_up: bool = False
    """Whether nothing is lifted for any of the kinds of arguments that were looked at, and no more are."""
    may_offer: bool = True
    """Whether a form that is only worth it where the pieces are slower may be tried."""
    allowance: Allowance = field(default_factory=Allowance)
    """Shared by a region and its pieces."""
    is_piece: bool = False

    def __post_init__(self) -> None:
        self.writer = guards.Writer()
        self.lock = threading.Lock()
        self.calls = Numbered()
        self.fallback: Callable[..., Any] | None = None  # the statements with smaller regions in them
        self.hooked: Callable[..., Any] | None = None  # the statements, whose callees are lifted
        self.places: frozenset[Any] = frozenset()
        self.turns = 0
        self.attempts = 0
        self.modes_matter = False
        self.patience = Patience()
        self.hot: list[str] = []  # what lets arguments through that are run as written
        self.began = [0.0]  # when a call came that is watched
        self.install()

    @cached_property
    def graphs(self) -> Graphs:
        from looplift.runtime.graphs import Graphs

        return Graphs(self)

    def install(self) -> None:
        """Make the entry anew; calls that run now finish with the old one."""
        self.regions[self.program.number] = entry.build_entry(self, timed=collect)
        self.changed()

    # ------------------------------------------------------------ no variant fits

    def miss(self, *arguments: Any) -> Any:
        """A call for which no variant was made yet."""
        if guards.foreign_mode(guards.modes()):
            return self.graphs.run(arguments)
        if not self.lock.acquire(blocking=False):
            return self.program.original(*arguments)
        try:
            if self.patience.is_over:
                self.records.note(self.program, "called with ever new kinds of arguments, runs as written meanwhile")
                return self.patience.wait(self.program.original, arguments)
            if self.is_piece and self.allowance.is_over:
                self._note_time()
                return self.program.original(*arguments)
            with self.allowance.spending() if self.is_piece else nullcontext():
                variant = self._new_variant(arguments)
            outcome = self._first_call(variant, arguments) if variant is not None and variant.call else None
        finally:
            self.lock.release()
        if variant is None:
            return self.program.original(*arguments)
        if outcome is None:
            return self.refused(*arguments)
        if outcome.failure is not None or outcome.verdict.agrees is False:
            return self._as_written(outcome.failure, arguments)
        return outcome.result

    def _note_time(self) -> None:
        self.records.note(
            self.program, "ran as written for a while, as compiling had taken longer than the loop had run"
        )

    def _new_variant(self, arguments: tuple[Any, ...]) -> Variant | None:
        if len(self.variants) >= MAX_VARIANTS or self.attempts >= 2 * MAX_VARIANTS:
            self.records.note(self.program, f"called with more than {MAX_VARIANTS} kinds of arguments")
            if not self.is_lifted:
                self.gave_up = True
                self.install()
            return None
        self.attempts += 1
        values = self.values_of(arguments)
        self.modes_matter = self.modes_matter or guards.may_call_torch(values)
        variant = Variant([], guards.modes(), len(self.variants), uneven=guards.uneven(values))
        with self.patience.compiling(may_wait=self.verify == "first" and not collect):
            self._make(variant, values)
        if not entry.holds(self, variant, arguments):
            self.records.note(self.program, "no guard was found for these arguments")
            return None
        self.variants.append(variant)
        if variant.call is None:
            self.install()
        return variant

    def _make(self, variant: Variant, values: dict[str, Any]) -> None:
        try:
            self._compile(variant, values)
        except NotLiftable as refusal:
            self.refuse(variant, values, refusal)
            if self.allowance.is_over:
                variant.postponed = refusal
            else:
                second.offer(self, variant, values, refusal)
        except Exception as error:
            self.refuse(variant, values, NotLiftable("internal", _said(error)))
        else:
            self._check_guards(variant, values)

    def values_of(self, arguments: Iterable[Any]) -> dict[str, Any]:
        """The value of each root name: arguments, globals and builtins."""
        values = dict(zip(self.program.arguments, arguments, strict=True))
        return values | entry.outside_values(self.program)

    def _compile(self, variant: Variant, values: dict[str, Any]) -> None:
        for name, value in values.items():
            guards.check_kind(name, value)
        self.take(variant, values, partial(self.compile, self.program))

    def take(self, variant: Variant, values: dict[str, Any], compiled: Callable[..., RegionCode]) -> None:
        """Let a variant run the code that is compiled for values; raises NotLiftable where there is none."""
        before, containers = GeneratorStates(generators_in(values.values())), Containers(values.values())
        try:
            code = compiled(values)
        finally:
            before.restore()
            containers.restore()
        for root in {root_of(path) for path in code.mutated} - values.keys():
            raise NotLiftable("unsupported-value", f"'{root}' is written to, and a global; pass it as an argument")
        if code.commits_early:
            self._check_saved(code, values)
        read = entry.reader(self.program, values)
        code.generators = [path for path in code.paths if path not in values and is_generator(read(path))]
        variant.conditions = entry.variant_conditions(self.writer, self.program, values, code)
        variant.call = build_function(self.program, code, values, variant.number)
        variant.code = code

    def _check_saved(self, code: RegionCode, values: dict[str, Any]) -> None:
        try:
            Undo(self.program, code, values, writes=True, draws=False)
        except RequirementFailed as why:
            raise NotLiftable("unsupported-value", str(why)) from None

    def _check_guards(self, variant: Variant, values: dict[str, Any]) -> None:
        """Refuse a variant whose guards do not hold for the very values that it was made for, and those like them."""
        code = variant.code
        if code is None or (guard := entry.broken_guard(self.program, values, code)) is None:
            return
        shared = entry.asks_for_memory(guard)
        message = "tensors share memory that the loop writes to" if shared else f"this did not hold: {guard}"
        self.refuse(variant, values, NotLiftable("aliasing" if shared else "requirement", message))
        variant.conditions = entry.without_guard(self.writer, values, code.namespace, guard)

    def refuse(self, variant: Variant, values: dict[str, Any], refusal: NotLiftable) -> None:
        variant.call = variant.code = None
        variant.conditions = entry.conditions_of_refusal(self.writer, values, refusal)
        self.records.refused(self.program, refusal, certain=refusal.code == "verification")
        if refusal.code not in ("verification", "too-small"):
            self._lift_callees(values)
            self.divide(refusal.span.line, refusal.reached)

    def _lift_callees(self, values: dict[str, Any]) -> None:
        """From now on functions with loops that the statements call are lifted by themselves."""
        hook = self.regions[self.program.hook] if self.program.hook else None
        if self.places or not isinstance(hook, Inside):
            return
        self.places = hook.with_loops(self.program.calls, values)
        if self.places:
            self.hooked = self.program.with_hooks(self.places)

    def divide(self, line: int, reached: int = 0) -> None:
        """Lift the pieces of the region instead, if it has any and they are not lifted already."""
        if self.fallback is not None:
            return
        found = self.program.divide(line, reached, self.places)
        if found is None:
            self.fallback = self.hooked
            return
        self.fallback, parts = found
        shared = (self.regions, self.compile, self.records, self.verify, self.changed)
        self.children = [Dispatcher(part, *shared, allowance=self.allowance, is_piece=True) for part in parts]

    # ------------------------------------------------------------ traced

    def traced(self, names: Sequence[str]) -> Callable[..., Any]:
        return traced_entry(self, names)

    def divided(self, refusal: NotLiftable) -> Callable[..., Any] | None:
        """The statements with smaller regions in them, if there are any."""
        self.divide(refusal.span.line, refusal.reached)
        return self.fallback

    # ------------------------------------------------------------ statements that stay

    def plain(self, *arguments: Any) -> Any:
        """Run the statements as they are, and time them."""
        start = time.perf_counter()
        result = self.program.original(*arguments)
        self.records.kept(self.program, time.perf_counter() - start)
        return result

    def refused(self, *arguments: Any) -> Any:
        """Run the statements with smaller regions in them, until it is known that these are not lifted either."""
        if self.fallback is None:
            return self.plain(*arguments) if collect else self.program.original(*arguments)
        start = time.perf_counter()
        with self.allowance.running():
            run = self.program.original if self._waits() else self.fallback
            result = run(*arguments)
        if collect:
            self.records.kept(self.program, time.perf_counter() - start)
        if any(variant.postponed for variant in self.variants) and not self.allowance.is_over:
            self._offer_late(arguments)
        if all(child.is_idle for child in self.children) and self._callees_are_idle(arguments):
            self._settle(arguments)
        return result

    def _waits(self) -> bool:
        """Whether the loop has to run as written for some time, as nothing of it is lifted so far."""
        if self.hooked is not None or not self.allowance.is_over or any(child.is_lifted for child in self.children):
            return False
        self._note_time()
        return True

    def _offer_late(self, arguments: tuple[Any, ...]) -> None:
        """Have another form run from the next call on, if one was not tried when the region was refused."""
        if not self.lock.acquire(blocking=False):
            return
        try:
            for variant in self.variants:
                refusal = variant.postponed
                if refusal is None or not entry.holds(self, variant, arguments):
                    continue
                variant.postponed, conditions = None, variant.conditions
                second.offer(self, variant, self.values_of(arguments), refusal)
                variant.watched = variant.call is not None
                if not entry.holds(self, variant, arguments):
                    variant.call, variant.code, variant.conditions = None, None, conditions
                self.install()
                break
        finally:
            self.lock.release()

    def _callees_are_idle(self, arguments: tuple[Any, ...]) -> bool:
        """Whether nothing is lifted in what the statements call."""
        if self.hooked is None:
            return True
        self.turns += 1
        if self.turns % TURNS:
            return False
        calls = {place: callee for place, callee in self.program.calls.items() if place in self.places}
        return self.regions[self.program.hook].are_idle(calls, self.values_of(arguments), self)

    def _settle(self, arguments: tuple[Any, ...]) -> None:
        """Nothing inside is lifted: run the statements as they are, at this size if that is why."""
        if second.undivide(self):
            self.install()
        elif not any(child.has_small for child in self.children):
            self.fallback, self.hooked, self.children = None, None, []
            self.install()
        else:
            conditions = entry.root_conditions(self.writer, self.values_of(arguments))
            self.add_small(Variant(conditions, guards.modes(), -1), self.sizes_of(arguments))

    def sizes_of(self, arguments: Iterable[Any]) -> dict[str, Any]:
        """The size of each value that has one."""
        return {name: guards.size_of(value) for name, value in self.values_of(arguments).items()}

    def add_small(self, variant: Variant, sizes: dict[str, Any]) -> bool:
        """From now on values up to twice their sizes run as written; False if there are no sizes."""
        before = {} if variant.small is None else variant.small.numbers
        numbers = {name: max(abs(size), before.get(name, 0)) for name, size in sizes.items() if type(size) is int}
        sizes = {**sizes, **numbers}
        limits = [text for name, size in sizes.items() for text in guards.limits_of_size(self.writer, name, size)]
        if not limits or sum(one.plain for one in self.variants) >= MAX_VARIANTS:
            return False
        if variant.small is None:
            variant.small = Variant([], variant.modes, -1, plain=True)
            self.variants.append(variant.small)
        variant.small.numbers = numbers
        variant.small.conditions = [*variant.conditions, *variant.small.guards, *limits]
        self.install()
        return True

    @property
    def is_lifted(self) -> bool:
        """Whether something in here runs as batched code for some arguments."""
        return any(one.call is not None for one in self.variants) or any(child.is_lifted for child in self.children)

    @property
    def is_idle(self) -> bool:
        """Whether nothing in here is lifted now."""
        return self.hooked is None and self._has_settled and all(child.is_idle for child in self.children)

    @property
    def is_idle_itself(self) -> bool:
        """The same but for what the statements call."""
        return self._has_settled and all(child.is_idle_itself for child in self.children)

    @property
    def _has_settled(self) -> bool:
        """Whether it has run, and nothing of it as a whole is lifted."""
        lifted = any(variant.call is not None and not variant.is_slow for variant in self.variants)
        return bool(self.variants) and not lifted

    @property
    def has_small(self) -> bool:
        """Whether that may change when arguments grow."""
        small = any(variant.plain for variant in self.variants) or self.records.code(self.program) == "too-small"
        return small or any(child.has_small for child in self.children)

    # ------------------------------------------------------------ calls that are watched

    def _first_call(self, variant: Variant, arguments: tuple[Any, ...]) -> Outcome:
        outcome = self._watched_call(variant, arguments)
        if variant.call is not None:
            self.install()
        return outcome

    def _watched_call(self, variant: Variant, arguments: tuple[Any, ...], entered: float = 0.0) -> Outcome:
        values = self.values_of(arguments)
        trial = None if variant.trials is None else variant.trials.get(size_class(arguments))
        new = not variant.verified or (variant.trials is not None and trial is None)
        if new and variant.verified and variant.is_costly and variant.trials is not None:
            trial = variant.trials[size_class(arguments)] = Trial(0.0, sizes=self.sizes_of(arguments))
            new = False
        if self.verify == "always" or (self.verify == "first" and new):
            return self._verified(variant, values)
        outcome = Outcome(Verdict(None), *self._attempt(variant, arguments, values, trial, entered))
        if outcome.failure is not None:
            self._failed(variant, outcome.failure, values)
        elif not variant.verified:
            variant.verified = True
            self.accept(variant)
            self._compete(variant)
        return outcome

    def _verified(self, variant: Variant, values: dict[str, Any]) -> Outcome:
        code, call = variant.code, variant.call
        if code is None or call is None:  # another thread has given it up meanwhile
            return Outcome(
                Verdict(None), self.program.original(*(values[name] for name in self.program.arguments)), None
            )
        ran = None
        if self.verify == "first" and code.awaited():
            outcome, ran = awaited.meanwhile(self, variant, code, values)
            if outcome is not None:
                return outcome
            call = variant.call or call
        seconds = BUDGET if self.verify == "first" else float("inf")
        arguments = [values[name] for name in self.program.arguments]
        size, sizes = size_class(arguments), self.sizes_of(arguments)  # before the call, which may add items
        outcome = verified_call(self.program, call, code, values, seconds=seconds, ran=ran)
        variant.seconds = outcome.verdict.seconds
        variant.is_costly = outcome.aside > max(BUDGET, COSTLY * (variant.seconds or 0.0))
        self.allowance.spent += outcome.aside if self.is_piece else 0.0
        if outcome.failure is not None:
            self._failed(variant, outcome.failure, values)
        elif outcome.verdict.agrees is False:
            self._disagrees(variant, values, outcome.verdict.reason)
        else:
            self._passed(variant, values, (size, sizes), outcome.verdict)
        return outcome

    def _passed(
        self,
        variant: Variant,
        values: dict[str, Any],
        before: tuple[tuple[int, ...], dict[str, Any]],
        verdict: Verdict,
    ) -> None:
        """Nothing speaks against a variant; what is left to see is whether it is fast at this size."""
        size, sizes = before
        is_first, variant.verified = not variant.verified, True
        if is_first:
            variant.trials = {} if self.verify == "first" else None
        if variant.trials is not None:
            patience = _patience(variant) if entry.trains(variant, values) else 1.0
            is_estimate, spent = verdict.agrees is None, verdict.spent
            trial = second.trial_of(variant, patience, is_estimate=is_estimate, spent=spent)
            variant.trials[size], trial.sizes = trial, sizes
            variant.is_slow = False  # that is open again
        if not second.is_worth_it(variant):
            if alternatives.takes_over(self, variant, values, sizes, variant.seconds or 0.0):
                variant.trials, variant.is_slow = {}, True
                self.install()
            else:
                second.step_back(self, variant, sizes)
        elif is_first or variant.refusal is not None:
            self.accept(variant, verdict.reason)

    def accept(self, variant: Variant, note: str = "") -> None:
        self.records.lifted(self.program, variant.code, [note] if note else [], variant.seconds)

    def _disagrees(self, variant: Variant, values: dict[str, Any], why: str) -> None:
        place = f"{self.program.file}:{self.program.line}"
        text = f"{place}: batched code and loop gave different results, the loop is kept ({why})"
        warnings.warn(text, LoopliftWarning, stacklevel=4)
        self.refuse(variant, values, NotLiftable("verification", why))
        self.install()

    def careful(self, variant: Variant, *arguments: Any) -> Any:
        """A call that is timed, verified, watched after a failure, or may have to be undone."""
        entered = time.perf_counter() - self.began[0]
        if (code := variant.code) is not None and code.growing:
            awaited.grow(self, variant, code, arguments)
        trial = (variant.trials or {}).get(size_class(arguments))
        if variant.verified and trial is not None and trial.waits and variant.code is not None:
            if variant.code.growing or variant.code.is_preliminary():
                return (self.fallback or self.program.original)(*arguments)
            trial.waits = False
        if trial is not None and trial.loop is None and not trial.written:
            trial.can_end = variant.refusal is None and self._has_no_effects(variant, arguments)
        if variant.verified and trial is not None and trial.turn_of_loop:
            return self._turn_of_loop(variant, trial, arguments)
        grows = variant.code is not None and variant.code.growing
        if variant.contest is not None and variant.trials is None and not variant.watched and not grows:
            return rivals.call(self, variant, arguments)
        start = time.perf_counter()
        outcome = self._watched_call(variant, arguments, entered)
        if outcome.failure is not None or outcome.verdict.agrees is False:
            return self._as_written(outcome.failure, arguments)
        if collect:
            self.records.timed(self.program, time.perf_counter() - start, variant.seconds)
        if variant.watched:
            variant.failures, variant.calm = 0, variant.calm + 1
            if not self.program.raises and variant.calm >= variant.wanted:  # it may do so every other time
                variant.watched, variant.wanted = False, min(2 * variant.wanted, MAX_WANTED)
                self.install()
        if trial is not None:
            self._judge(variant, trial, arguments)
        return outcome.result

    def _has_no_effects(self, variant: Variant, arguments: tuple[Any, ...]) -> bool:
        """Whether the loop has none; of objects of which only the class matters it is known what is done with them."""
        objects = variant.code.objects if variant.code is not None else ()
        named = zip(self.program.arguments, arguments, strict=True)
        return second.has_no_effects(variant, [value for name, value in named if name not in objects])

    def _turn_of_loop(self, variant: Variant, trial: Trial, arguments: tuple[Any, ...]) -> Any:
        if variant.refusal is not None:
            result = second.turn_of_pieces(self, trial, arguments)
        elif (bound := trial.bound) is not None and self._has_no_effects(variant, arguments):
            if (ended := ended_in(self.program, arguments, bound)) is None:
                trial.ran_out(bound)
                self._judge(variant, trial, arguments)
                return self.careful(variant, *arguments)
            trial.is_bounded, (result, seconds) = False, ended
            trial.written += [] if seconds is None else [seconds]
        else:
            watch = Stopwatch()
            result = self.program.original(*arguments)
            trial.written.append(watch.seconds())
        self._judge(variant, trial, arguments)
        return result

    def _judge(self, variant: Variant, trial: Trial, arguments: tuple[Any, ...]) -> None:
        """End the trials of a variant once it is clear whether it is faster than the loop."""
        if variant.trials is None:
            return
        passed, own = trial.passed(), trial
        if passed is None and trial.is_no_slower and variant.code is not None and variant.code.rival is not None:
            passed = True  # which of the two forms is faster is what matters
        if passed is None:
            passed = decided_together(variant.trials.values())
            trial = max(variant.trials.values(), key=lambda one: (one.pairs, len(one.batched)))
        if passed is None:
            return
        if passed and variant.refusal is not None and second.meets_the_loop(self, trial):
            return
        little = passed is False or trial.gains_little
        if little and variant.code is not None and _gets_faster(variant.code, trial):
            trial.begin_anew()
            trial.waits = passed is False
            return
        variant.is_slow = passed is False
        # a form that beats the loop does not give way to its rival, but is timed beside it
        gives_way = little and not (passed and variant.code is not None and variant.code.rival is not None)
        given = self.values_of(arguments)
        if gives_way and alternatives.takes_over(self, variant, given, trial.sizes, trial.typical()[0]):
            variant.trials, variant.is_slow = {}, True
        elif passed is False:
            self._step_back(variant, trial)
        else:
            variant.trials = None
            self.accept(variant)
            self._compete(variant)
            if variant.contest is not None and trial is own:
                rivals.challenge_at_once(self, variant, trial, arguments)
        self.install()

    def _compete(self, variant: Variant) -> None:
        """Have a variant that was taken timed beside another form of its code, if there is one that may be faster."""
        if not collect and self.verify != "always":
            rivals.begin(variant)

    def _step_back(self, variant: Variant, trial: Trial) -> None:
        """Leave arguments of this size to the loop; at others the variant is tried again."""
        if variant.refusal is not None:
            second.step_back(self, variant, trial.sizes, by_loop=trial.is_against_loop)
            return
        loop, batched = map(readable_seconds, trial.typical())
        refusal = NotLiftable("too-small", f"a call of the loop takes {loop}, of batched code {batched}")
        self.records.refused(self.program, refusal, certain=True)
        if not self.add_small(variant, trial.sizes):
            variant.call = None
            return
        variant.trials = {}
        if trial.typical()[0] > alternatives.LONG:
            second.divide_small(self, variant, refusal)

    def _attempt(
        self,
        variant: Variant,
        arguments: tuple[Any, ...],
        values: dict[str, Any],
        trial: Trial | None,
        entered: float,
    ) -> tuple[Any, Exception | None]:
        """The result, or the exception after everything was put back."""
        code, call = variant.code, variant.call
        if code is None or call is None:  # another thread has given it up meanwhile
            return self.program.original(*arguments), None
        watch = Stopwatch()
        try:
            writes = code.commits_early or not variant.verified
            undo = Undo(self.program, code, values, writes=writes, draws=code.random)
        except RequirementFailed as failure:
            return None, failure
        if not (code.random or code.commits_early):
            watch = Stopwatch()  # what is saved for others is saved in the first call alone
        try:
            result = call(*arguments)
            if trial is not None:
                trial.took(watch.seconds(), entered)
            return result, None
        except Exception as failure:
            undo.restore()
            return None, failure

    def failed(self, variant: Variant, failure: Exception, *arguments: Any) -> Any:
        """Batched statements raised before they changed anything: the original decides what is right."""
        self._failed(variant, failure, self.values_of(arguments))
        return self._as_written(failure, arguments)

    def _as_written(self, failure: Exception | None, arguments: tuple[Any, ...]) -> Any:
        """The loop after batched statements failed. Where it raises too, its values are why, and not a defect; what
        ends by an exception in ordinary calls has its pieces lifted for them."""
        try:
            if self.program.raises and self.fallback is not None:
                return self.fallback(*arguments)
            return self.program.original(*arguments)
        except Exception as error:
            if failure is not None:
                self.records.raised_too(self.program, _said(failure), _said(error))
            raise

    def _failed(self, variant: Variant, failure: Exception, values: dict[str, Any]) -> None:
        if variant.is_rival:
            rivals.failed(self, variant)
            return
        if found := guards.uneven(values) - variant.uneven:
            self._leave_uneven(variant, found)
            return
        if variant.refusal is not None:
            second.withdraw(self, variant)
            return
        variant.failures, variant.calm = variant.failures + 1, 0
        was_watched, variant.watched = variant.watched, True
        is_required = isinstance(failure, RequirementFailed | FloatingPointError) or is_beyond(failure)
        code = "requirement" if is_required else "internal"
        text = failed_check(failure) if code == "requirement" else _said(failure)
        enough = 1 if variant.code is not None and (variant.code.renewable or variant.code.weaker) else MAX_FAILURES
        if (
            (ran := variant.code) is not None
            and variant.failures >= enough
            and alternatives.replaces(self, variant, values)
        ):
            self.records.fell_back(self.program, ran, code, text)  # the next call is a first call of the other form
        elif variant.failures >= MAX_FAILURES:
            variant.call = None
            self.records.refused(self.program, NotLiftable(code, text), certain=True)
            self.records.note(self.program, f"given up after {MAX_FAILURES} failures in a row")
            self.divide(self.program.span[0])
            second.restate_pieces(self)
        else:
            self.records.fell_back(self.program, variant.code, code, text)
            if self.program.raises:
                self.divide(self.program.span[0])
            if was_watched:
                return
        self.install()

    def _leave_uneven(self, variant: Variant, names: set[str]) -> None:
        """A variant was made for lists whose items have one shape: the next call with others makes one for them."""
        check = self.writer.constant(guards.has_one_shape)
        variant.conditions += [f"{check}({name})" for name in sorted(names)]
        variant.uneven |= names
        self.install()


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _gets_faster(code: RegionCode, trial: Trial) -> bool:
    """Whether better code of the same may change what a trial says."""
    return bool(code.growing) or (not trial.is_hopeless and code.is_preliminary())


def _patience(variant: Variant) -> float:
    waves = variant.code is not None and any(one.decision == "waves" for one in variant.code.decisions)
    return _OF_WAVES if waves else _PATIENCE
