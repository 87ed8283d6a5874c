"""Fuzzes at any size: `python -m tests.fuzz.run --programs 10000 [--seed S] [--jobs 2] [--backend auto] [--out DIR]`.

Programs are numbered from the seed up, so a finding is repeated with `--seed NUMBER --programs 1`.  Worker processes
take them in chunks; one that dies, or is silent for longer than the limit, is a finding, and its chunk goes on in a
new process.  Exit status 1 if anything was wrong.
"""

import argparse
import collections
import gc
import importlib
import json
import os
import queue
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

CHUNK = 1000
FEW_CALLS = "three calls of each program, and three programs of four batched only, in a fourth of the time"
ROOT = Path(__file__).resolve().parents[2]


# ---------------------------------------------------------------- in a worker


def settings_of(number, backend):
    """Most programs run unverified, so that no mismatch is hidden; every fifth with its first call verified.

    Every sixth takes native kernels only, where nothing else was asked for; every seventh has so little memory that
    loops run piece by piece.
    """
    backend = "native" if number % 6 == 1 and backend == "auto" else backend
    memory = random.Random(number).choice((40, 100, 300, 1000)) if number % 7 == 3 else None
    return {"backend": backend, "verify": "first" if number % 5 == 4 else "off", "memory": memory}


def limit_memory(gibibytes):
    import resource

    if "ASAN_OPTIONS" in os.environ:  # its shadow memory takes all addresses
        return
    resource.setrlimit(resource.RLIMIT_AS, (gibibytes << 30, gibibytes << 30))


def named(path):
    """The object that `module:name` names, or None for nothing: another `lift`, to try out this tool."""
    if not path:
        return None
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


MIX = (
    "all all all operations hosts trees samples plain elements nests stored objects bridges strips contexts complexes "
    "aliases places late rounds gradients numeric kinds slots meters boxes mutants passes uses draws"
).split()


def part_of(number, part):
    """The part that a program is of; those of a mix take turns."""
    return MIX[number % len(MIX)] if part == "mix" else part


def source_of(number, part):
    """The program of a number: any, one around Python's containers, a recursion over trees, one of Python's own values
    or of complex numbers alone, a changed one of `regressions`, one of a row of the table of operations, or one with
    the goal of a name."""
    part = part_of(number, part)
    from . import (
        aliases,
        boxes,
        bridged,
        complexes,
        contexts,
        draws,
        elements,
        gradients,
        hosts,
        inner,
        kinds,
        late,
        meters,
        mutants,
        nests,
        numeric,
        objects,
        operations,
        passes,
        places,
        plain,
        programs,
        rounds,
        samples,
        slots,
        stored,
        strips,
        trees,
        uses,
    )

    makers = {
        "aliases": aliases.aliases_source,
        "boxes": boxes.boxes_source,
        "bridges": bridged.bridged_source,
        "complexes": complexes.complex_source,
        "draws": draws.draws_source,
        "elements": elements.elements_source,
        "gradients": gradients.gradients_source,
        "hosts": hosts.host_source,
        "inner": inner.inner_source,
        "kinds": kinds.kinds_source,
        "late": late.late_source,
        "meters": meters.meters_source,
        "mutants": mutants.mutants_source,
        "nests": nests.nests_source,
        "numeric": numeric.numeric_source,
        "objects": objects.objects_source,
        "passes": passes.passes_source,
        "places": places.places_source,
        "plain": plain.plain_source,
        "rounds": rounds.rounds_source,
        "samples": samples.samples_source,
        "slots": slots.slots_source,
        "stored": stored.stored_source,
        "strips": strips.strips_source,
        "trees": trees.tree_source,
        "uses": uses.uses_source,
    }
    if part in makers:
        return makers[part](random.Random(number))
    if part == "contexts":
        return contexts.context_of(number)
    if part == "operations":
        choices = operations.Choices(random.Random(number))
        rows = [row for row in operations.ROWS if row not in operations.NOT_COMPARED]
        return operations.operation_source(choices, rows[number % len(rows)]) or programs.program_of(number)
    return programs.program_of(number, goal="" if part == "all" else part)


def work(first, count, backend, shrink_seconds, lift, part, few_calls):
    """Checks programs and writes one JSON line for each event to the real standard output."""
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    limit_memory(12)
    import torch

    from .differential import examine, reason_to_shrink
    from .sharing import few_lanes, programs_first, share_at_once
    from .shrink import shrink
    from .turns import few_of, plan_of

    gc.set_threshold(50_000, 20, 20)  # programs leave little behind
    share_at_once()
    if part in ("stored", "rounds"):
        programs_first()
    for number in range(first, first + count):
        torch.set_num_threads(3 if number % 4 == 3 else 1)
        few_lanes(8 if number % 3 == 0 else 2)
        print(json.dumps({"event": "start", "number": number}), file=channel)
        compiled = not few_calls or number // len(MIX) % 4 == 0
        source = source_of(number, part)
        own = backend if compiled or backend != "auto" else "torch"
        settings = settings_of(number, own)
        if own == "torch":  # which adds in another order
            source = source.replace("# precision: exact", "# precision: double", 1)
        if part_of(number, part) == "hosts":
            settings = {"verify": "first"}  # other forms take turns with the loop
        plan = few_of(number) if few_calls else plan_of(number)
        if part_of(number, part) == "passes" and number % 4:
            plan = tuple((seed, True) for seed, _ in plan)  # where no gradients are recorded, such loops raise
        verdict = examine(source, settings, lift=lift, plan=plan)
        row = {"event": "done", "number": number, "why": verdict.why, "loops": verdict.loops}
        row |= {"raised": verdict.raised, "rounded": verdict.rounded, "source": source if verdict.why else ""}
        print(json.dumps(row), file=channel)
        if verdict.why and shrink_seconds:
            smaller = shrink(
                source,
                lambda text, settings=settings, plan=plan: reason_to_shrink(
                    examine(text, settings, lift=lift, plan=plan)
                ),
                seconds=shrink_seconds,
            )
            print(json.dumps({"event": "shrunk", "number": number, "source": smaller}), file=channel)


# ---------------------------------------------------------------- in the parent


class Findings:
    """Counts what workers report, and saves each wrong program."""

    def __init__(self, out, part):
        self.out, self.part = out, part
        self.lock = threading.Lock()
        self.programs = self.lifted = self.raised = self.rounded = 0
        self.decisions = collections.Counter()
        self.reasons = collections.Counter()
        self.wrong = {}

    def take(self, row):
        with self.lock:
            if row["event"] == "done":
                self.done(row)
            if row["event"] == "shrunk":
                self.save(row["number"], row["source"], "")

    def done(self, row):
        self.programs += 1
        self.raised += row.get("raised", False)
        self.rounded += bool(row.get("rounded", 0))
        loops = row.get("loops", [])
        self.lifted += any(decision != "kept" for decision, _ in loops)
        self.decisions.update(decision for decision, _ in loops)
        self.reasons.update(reason.split("\n")[0][:100] for decision, reason in loops if decision == "kept")
        if row.get("why"):
            self.wrong[row["number"]] = row["why"]
            print(f"\nwrong: program {row['number']}: {row['why']}", flush=True)
            self.save(row["number"], row["source"], "-whole")

    def save(self, number, source, suffix):
        self.out.mkdir(parents=True, exist_ok=True)
        note = f'"""Program {number}: {self.wrong.get(number, "")}"""\n\n'.replace("\\", "\\\\")
        head, _, rest = source.partition("\n")
        text = f"{head}\n{note}{rest}" if head.startswith("# precision") else note + source
        (self.out / f"program_{number}{suffix}.py").write_text(text)

    def died(self, number, why):
        sys.path.insert(0, str(ROOT))
        self.take({"event": "done", "number": number, "why": why, "source": source_of(number, self.part)})


def reader(stream, lines):
    for line in stream:
        lines.put(line)
    lines.put(None)


def start_worker(first, count, options):
    command = [sys.executable, "-m", "tests.fuzz.run", "--worker", str(first), str(count)]
    command += [
        "--backend",
        options.backend,
        "--shrink",
        str(options.shrink),
        "--lift",
        options.lift,
        "--part",
        options.part,
        *(["--few-calls"] if options.few_calls else []),
    ]
    limits = {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    return subprocess.Popen(command, cwd=ROOT, env=os.environ | limits, **pipes)


def run_chunk(first, count, options, findings):
    """Runs one chunk, starting further processes after a crash or a silence."""
    end = first + count
    while first < end:
        last = follow(start_worker(first, end - first, options), options, findings)
        if last is None:
            findings.wrong[first] = "worker: it did not start; run with --worker to see why"
            return
        first = last + 1


def follow(process, options, findings):
    """Takes a worker's lines until it ends or falls silent; the number of the last program that it began, if any."""
    lines, last, busy, patience = queue.Queue(), None, False, 120.0
    threading.Thread(target=reader, args=(process.stdout, lines), daemon=True).start()
    while line := next_line(lines, patience):
        row = json.loads(line)
        last, busy = row["number"], row["event"] == "start"
        patience = options.seconds if busy else options.seconds + 2 * options.shrink + 30
        if not busy:
            findings.take(row)
    silent = process.poll() is None and line == ""
    process.kill()
    status = process.wait()
    if busy:
        findings.died(last, f"time: no answer in {patience:.0f} s" if silent else f"crash: ended with status {status}")
    return last


def next_line(lines, patience):
    """The next line, None at the end, an empty text when none came in time."""
    try:
        return lines.get(timeout=patience)
    except queue.Empty:
        return ""


def progress(findings, total, start, stop):
    while not stop.wait(2.0 if sys.stdout.isatty() else 15.0):
        rate = findings.programs / max(time.monotonic() - start, 1e-9)
        print(
            f"\r{findings.programs}/{total} programs, {rate:.0f} a second, {len(findings.wrong)} wrong",
            end="",
            flush=True,
        )


def summary(findings, seconds):
    done = max(findings.programs, 1)
    print(f"\n{findings.programs} programs in {seconds:.0f} s; {findings.lifted / done:.1%} had a loop lifted")
    print(f"{findings.raised / done:.1%} raised in some call; {findings.rounded} differed by rounding alone")
    print(
        "decisions:",
        ", ".join(f"{word} {count}" for word, count in findings.decisions.most_common()) or "none reported",
    )
    for reason, count in findings.reasons.most_common(25):
        print(f"{count:7} kept: {reason}")
    for number, why in sorted(findings.wrong.items()):
        print(f"wrong: {findings.out / f'program_{number}.py'}: {why}")
    print(f"{len(findings.wrong)} wrong answers")


def options_of(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz.run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="number of the first program")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--backend", default="auto", choices=["auto", "torch", "native", "inductor"])
    parser.add_argument("--seconds", type=float, default=20, help="limit for one program")
    parser.add_argument("--shrink", type=float, default=30, help="seconds for making a finding smaller; 0 for none")
    parser.add_argument("--out", type=Path, default=Path("fuzz-findings"), help="folder for what is found")
    parser.add_argument("--show", action="store_true", help="print the programs instead of running them")
    parser.add_argument("--lift", default="", help="module:name of a stand-in for looplift.lift")
    parser.add_argument(
        "--part",
        default="all",
        help="operations: each row in turn; hosts; trees; samples; plain; elements; nests; stored; objects; bridges; "
        "strips; contexts; complexes; aliases; places; late; rounds; gradients; numeric; kinds; slots; meters; boxes; "
        "mutants; passes; uses; draws; mix: these in turn; or a goal",
    )
    parser.add_argument("--few-calls", action="store_true", help=FEW_CALLS)
    parser.add_argument("--worker", type=int, nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def show(options):
    for number in range(options.seed, options.seed + options.programs):
        print(f"# program {number}\n{source_of(number, options.part)}")


def main(arguments=None):
    options = options_of(arguments)
    if options.worker:
        return work(
            *options.worker, options.backend, options.shrink, named(options.lift), options.part, options.few_calls
        )
    if options.show:
        return show(options)
    options.out = options.out.resolve()
    findings, stop, start = Findings(options.out, options.part), threading.Event(), time.monotonic()
    chunks = queue.Queue()
    end = options.seed + options.programs
    for first in range(options.seed, end, CHUNK):
        chunks.put((first, min(CHUNK, end - first)))

    def serve():
        while True:
            try:
                chunk = chunks.get_nowait()
            except queue.Empty:
                return
            run_chunk(*chunk, options, findings)

    threading.Thread(target=progress, args=(findings, options.programs, start, stop), daemon=True).start()
    workers = [threading.Thread(target=serve) for _ in range(options.jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    stop.set()
    summary(findings, time.monotonic() - start)
    return 1 if findings.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
