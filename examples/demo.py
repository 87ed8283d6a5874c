"""Runs every example lifted, then compares each loop with its hand-batched and its lifted form.

    python examples/demo.py [--only NAME] [--json FILE] [--skip-runs] [--budget SECONDS]

All times are medians of runs that take turns in one process, on one thread. A loop of more than a fifth of a second
runs once. Answers are compared at full size, gradients and exceptions at sizes of a few elements.
Exit status 1 if a run fails or an answer differs.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path

import comparison
import torch
from rich.console import Console
from rich.table import Table

from looplift import lift

SMALL_SIZES = [(0, 0, 0), (1, 1, 1), (2, 2, 2), (4, 5, 6)]
SLOW = 0.2


@dataclass(frozen=True)
class Row:
    """One loop of one example; times in seconds."""

    example: str
    function: str
    loop: float
    hand: float
    lifted: float
    difference: str | None

    @property
    def times_loop(self):
        return self.loop / self.lifted

    @property
    def times_hand(self):
        return self.hand / self.lifted

    @property
    def overhead(self):
        """Microseconds that a lifted call takes beyond the hand-batched one."""
        return (self.lifted - self.hand) * 1e6


def run_lifted(path, console):
    """Runs one example by ``looplift run``, which ends with its table; whether it succeeded."""
    console.rule(f"looplift run examples/{path.name}", align="left")
    with console.status(f"running {path.name}"):
        command = [sys.executable, "-m", "looplift", "run", str(path)]
        wide = os.environ | {"COLUMNS": str(console.width)}
        done = subprocess.run(command, capture_output=True, text=True, env=wide)
    console.out(done.stdout, highlight=False)
    console.out(done.stderr, highlight=False)
    if done.returncode:
        console.print(f"failed with status {done.returncode}", style="bold red")
    return done.returncode == 0


def compare(example, loop, hand, make, *, budget):
    """The row of one loop: answers first, which also warms everything up, then times."""
    lifted = lift(loop)
    found = difference_at_small_sizes(lifted, loop, make)
    arguments = make()
    start = time.perf_counter()
    wanted = loop(*arguments)
    loop_seconds = time.perf_counter() - start
    found = found or comparison.difference(lifted(*arguments), wanted)
    if loop_seconds > SLOW:
        hand_seconds, lifted_seconds = comparison.median_times([hand, lifted], arguments, budget=budget)
    else:
        functions = [loop, hand, lifted]
        loop_seconds, hand_seconds, lifted_seconds = comparison.median_times(functions, arguments, budget=budget)
    return Row(example, loop.__name__, loop_seconds, hand_seconds, lifted_seconds, found)


def difference_at_small_sizes(lifted, loop, make):
    for sizes in SMALL_SIZES:
        if found := comparison.difference_of_calls(lifted, loop, lambda: comparison.small_arguments(make, *sizes)):
            return f"sizes {sizes}: {found}"
    return None


def time_text(seconds):
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.2f} {unit}"
    return f"{seconds * 1e6:.1f} µs"


def table_of(rows):
    table = Table(title="loop, hand-batched and lifted", title_justify="left")
    table.add_column("example")
    table.add_column("function", overflow="fold")
    for name in ("loop", "by hand", "lifted", "x loop", "x hand", "overhead µs"):
        table.add_column(name, justify="right")
    table.add_column("equal", overflow="fold")
    for row in rows:
        times = [time_text(seconds) for seconds in (row.loop, row.hand, row.lifted)]
        ratios = [f"{row.times_loop:,.1f}", f"{row.times_hand:.2f}", f"{row.overhead:+,.1f}"]
        verdict = f"[red]no: {row.difference}[/red]" if row.difference else "yes"
        table.add_row(row.example, row.function, *times, *ratios, verdict)
    return table


def compare_all(paths, console, *, budget):
    rows = []
    for path in paths:
        for loop, hand, make in comparison.load(path).PAIRS:
            with console.status(f"comparing {path.stem}: {loop.__name__}"), torch.no_grad():
                rows.append(compare(path.stem, loop, hand, make, budget=budget))
    return rows


def as_json(row):
    return asdict(row) | {"times_loop": row.times_loop, "times_hand": row.times_hand, "overhead": row.overhead}


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="examples whose name contains this")
    parser.add_argument("--json", type=Path, help="also write the rows of the table to this file")
    parser.add_argument("--skip-runs", action="store_true", help="compare only")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds of timing for each loop")
    return parser.parse_args()


def main():
    chosen = options()
    console = Console(width=max(120, Console().width))
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", message="Initializing zero-element tensors")
    paths = [path for path in comparison.example_paths() if chosen.only in path.stem]
    ran = [] if chosen.skip_runs else [run_lifted(path, console) for path in paths]
    rows = compare_all(paths, console, budget=chosen.budget)
    console.print(table_of(rows))
    if chosen.json:
        chosen.json.write_text(json.dumps([as_json(row) for row in rows], indent=1) + "\n")
    return 0 if all(ran) and not any(row.difference for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
