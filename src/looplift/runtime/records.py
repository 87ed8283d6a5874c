"""What became of each loop of a function: decisions in, the records of its report out."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Iterable, Mapping

from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable
from looplift.base.report import LoopRecord, mark_at, source_line
from looplift.runtime.variants import Program, RegionCode

NOT_RUN = ("not-run", "this loop has not run yet")

Place = tuple[int, int]


@dataclass
class Records:
    """One record for each loop, by the line and column where it begins."""

    loops: dict[Place, LoopRecord] = field(default_factory=dict)

    def add(self, places: Iterable[Place], file: str, function: str) -> None:
        for place in places:
            code, reason = NOT_RUN
            record = LoopRecord(file, place[0], "kept", reason, code, source_line(file, place[0]), function=function)
            self.loops.setdefault(place, record)

    def keep(self, refused: Mapping[Place, tuple[str, str]]) -> None:
        """Loops that stay whatever their values are: code and sentence by place."""
        for place, (code, reason) in refused.items():
            self.loops[place].code, self.loops[place].reason = code, reason

    def of(self, program: Program) -> list[LoopRecord]:
        return [self.loops[place] for place in program.loops if place in self.loops]

    def code(self, program: Program) -> str:
        found = self.of(program)
        return found[0].code if found else ""

    def lifted(self, program: Program, code: RegionCode | None, notes: list[str], seconds: float | None) -> None:
        """A variant was made: each loop gets the decision for its line."""
        decisions = list(code.decisions) if code is not None else []
        main = next((one for one in decisions if one.decision != "kept"), None)
        for record in self.of(program):
            here = [one for one in decisions if one.line == record.line]
            found = here[0] if here else main
            if len(here) > 1:  # several loops on one line, in their order
                decisions.remove(found)
            record.decision = getattr(found, "decision", "lanes")
            record.reason, record.code = getattr(found, "reason", ""), getattr(found, "code", "")
            record.mark = getattr(found, "mark", None)
            for note in [*getattr(found, "notes", ()), *notes]:
                _note(record, note)
        for record in self.of(program)[:1]:
            record.original_seconds = seconds if record.original_seconds is None else record.original_seconds

    def refused(self, program: Program, refusal: NotLiftable, *, certain: bool = False) -> None:
        """The loops stay, except those that are lifted for other arguments; with ``certain`` these as well."""
        for record in self.of(program):
            if record.lifted and not certain:
                _note(record, f"kept for other kinds of arguments: {refusal.message}")
                continue
            record.decision, record.code, record.reason = "kept", refusal.code, refusal.message
            first, last, _ = program.span
            inside = first <= refusal.span.line <= last and refusal.span.line != record.line
            record.mark = mark_at(program.file, refusal.span) if inside else None

    def fell_back(self, program: Program, code: RegionCode | None, reason: str, text: str) -> None:
        """A call went to the original, for values that the batched code is not for."""
        for record in self.of(program):
            if record.code == NOT_RUN[0]:
                record.code, record.reason = reason, text
            else:
                _note(record, f"a call ran the loop as written: {text}")

    def raised_too(self, program: Program, text: str, error: str) -> None:
        """The loop raised as well as the batched code: what seemed a defect, in these words, is its own exception."""
        for record in self.of(program):
            if (record.code, record.reason) == ("internal", text):
                record.code, record.reason = "requirement", error

    def note(self, program: Program, text: str) -> None:
        for record in self.of(program):
            _note(record, text)

    def timed(self, program: Program, seconds: float, original: float | None) -> None:
        for record in self.of(program)[:1]:
            record.seconds += seconds
            record.calls += 1
            record.original_seconds = original * record.calls if original is not None else record.original_seconds

    def kept(self, program: Program, seconds: float) -> None:
        """A call of statements that stay."""
        for record in self.of(program)[:1]:
            if not record.lifted:
                record.calls += 1
                record.original_seconds = (record.original_seconds or 0.0) + seconds
                record.seconds += seconds

    def in_order(self) -> list[LoopRecord]:
        return [self.loops[place] for place in sorted(self.loops)]


def _note(record: LoopRecord, text: str) -> None:
    if text not in record.notes and len(record.notes) < 8:
        record.notes.append(text)


def is_beyond(failure: Exception) -> bool:
    """Whether PyTorch or NumPy was given an integer of more than 64 bits, as Python has them."""
    return isinstance(failure, OverflowError) or str(failure).startswith("Overflow when unpacking long")


def failed_check(failure: Exception) -> str:
    """The condition of the batched code that did not hold, read from the line before the one that raised; or what NumPy
    would have warned of, where it is told to raise (``without_warnings``)."""
    if isinstance(failure, FloatingPointError):
        return f"NumPy warns of these values: {failure}"
    if is_beyond(failure):
        return "an integer has more than 64 bits"
    if str(failure):
        return str(failure)
    frame = traceback.extract_tb(failure.__traceback__)[-1]
    check = linecache.getline(frame.filename, (frame.lineno or 1) - 1).strip()
    if not check.startswith("if not "):
        return "the batched code does not hold for these values"
    return f"this did not hold: {check.removeprefix('if not ').removesuffix(':')}"
