#!/usr/bin/env python3
"""What lifting costs: each loop of the examples, its calls against the hand-batched ones, and its first lift.

    python benchmarks/overhead.py [--only SUBSTRING] [--budget 1.0] [--processes 3]

``over`` is how many microseconds a lifted call takes more than the hand-batched one, ``x hand`` the hand-batched time
divided by the lifted one: medians of interleaved runs in one process, on one thread, without gradients. ``first`` is
the first call of the first lifted function in a process that has imported torch and has run the loop, on a few
elements; ``again`` the same for a second lifted function in that process; ``import`` is ``import looplift``. These
three are medians over processes of their own.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "examples"))

SMALL = (4, 5, 6)


def first_lift(example, function):
    """Seconds of the import, of the first lift in this process, and of one after it."""
    import comparison
    import torch

    path = next(path for path in comparison.example_paths() if path.stem == example)
    start = time.perf_counter()
    import looplift

    imported = time.perf_counter() - start
    loop, _, make = next(pair for pair in comparison.load(path).PAIRS if pair[0].__name__ == function)
    seconds = [imported]
    with torch.no_grad():
        arguments = comparison.small_arguments(make, *SMALL)
        loop(*arguments)
        for verify in ("first", "off"):  # other options, or the second one would be the first
            lifted = looplift.lift(loop, verify=verify)
            start = time.perf_counter()
            lifted(*arguments)
            seconds.append(time.perf_counter() - start)
    return seconds


def first_lifts(example, function, processes):
    """Medians of the above over fresh processes."""
    command = [sys.executable, __file__, "--first", example, function]
    done = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(processes)]
    samples = [json.loads(one.stdout.splitlines()[-1]) for one in done]
    return [statistics.median(column) for column in zip(*samples, strict=True)]


def rows(only, budget, processes):
    import comparison
    import torch

    from looplift import lift

    torch.set_num_threads(1)
    for path in comparison.example_paths():
        for loop, hand, make in comparison.load(path).PAIRS:
            if only not in f"{path.stem} {loop.__name__}":
                continue
            lifted = lift(loop)
            with torch.no_grad():
                arguments = make()
                for _ in range(10):  # past the comparison with the loop and the calls that take turns
                    lifted(*arguments)
                by_hand, ours = comparison.median_times([hand, lifted], arguments, budget=budget)
            yield path.stem, loop.__name__, by_hand, ours, *first_lifts(path.stem, loop.__name__, processes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="examples whose name contains this")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds of timing for each loop")
    parser.add_argument("--processes", type=int, default=3, help="processes for the first lift of each loop")
    parser.add_argument("--first", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    warnings.filterwarnings("ignore")
    if chosen.first:
        print(json.dumps(first_lift(*chosen.first)))
        return
    heading = ("hand µs", "lifted µs", "over µs", "x hand", "import ms", "first ms", "again ms")
    print(f"{'example':42}" + "".join(f"{name:>11}" for name in heading))
    for example, function, hand, ours, imported, first, again in rows(chosen.only, chosen.budget, chosen.processes):
        times = f"{hand * 1e6:11.1f}{ours * 1e6:11.1f}{(ours - hand) * 1e6:+11.1f}{hand / ours:11.2f}"
        lifts = f"{imported * 1e3:11.1f}{first * 1e3:11.0f}{again * 1e3:11.0f}"
        print(f"{example + ' ' + function:42}{times}{lifts}", flush=True)


if __name__ == "__main__":
    main()
