"""How a ``while`` in each lane fares as its lanes part ways: the loop, masks alone, and the lifted loop.

    python benchmarks/divergence.py [--lanes 300 3000 30000] [--write docs/divergence.md]

Each lane runs a map for a number of steps that is drawn from a distribution with a mean of about 20. Where the loop
would take long, the time of its first lanes is scaled by the steps. ``masks`` is what one writes by hand: all lanes
run until the last one is done. Times are the least of several interleaved runs, of the processor that one thread took:
other work on the machine counts little.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import torch

import looplift

LOOP_LANES = 1000
PAGE = """# Lanes that part ways

A loop whose trip count differs by lane runs until the last lane is done. Kernels (`auto` on a CPU) give each lane its
own loop. Batched code (`torch`) masks the lanes that are done; where no gradients flow, once half of 1024 lanes or
more are done, the others go on alone (`optimize/narrowing.py`), so that lanes cost about as much as the steps that
they take. Below 1024 lanes a step takes about as long for all lanes as for one.

Where one lane takes nearly all of the steps, masks do in each step what the loop does once, and more: 128 ms for 300
lanes of which one takes 4,000 steps and the others one, where the loop takes 91 ms (`auto` 0.1 ms). The first calls of
that size take turns with the loop (`runtime/trials.py`), which is used from then on where batched code takes 5 % longer
or more. Of a loop that does not end within the first 50 ms its first lanes do not tell how long it takes: it is timed
too, unless batched code is so fast that it does not matter.

What was found then holds for later calls of that size, whatever their values: lanes that part ways only afterwards are
not timed again, and in such a call batched code was seen to take up to 1.4 times as long as the loop. One call says
little about the next one, and to leave all of them to the loop for it would lose what batched code gains in the others.

Made by `python benchmarks/divergence.py --write docs/divergence.md`, in milliseconds of the processor, on one thread;
`steps` is the mean number of steps and that of the lane with the most, `masks` what one writes by hand without taking
lanes out. The two cores were shared with other work, which takes their caches: the order of magnitude is what counts.

"""


def iterated(x, steps):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        v, n = x[i], 0
        while n < steps[i]:
            v = 0.5 * (v + x[i] / v) + 0.1 * torch.sin(v)
            n += 1
        out[i] = v
    return out


def masked(x, steps):
    v, n = x, torch.zeros_like(steps)
    while (active := n < steps).any():
        v = torch.where(active, 0.5 * (v + x / v) + 0.1 * torch.sin(v), v)
        n = torch.where(active, n + 1, n)
    return v


def trip_counts(lanes: int) -> dict[str, torch.Tensor]:
    """Steps for each lane, from no divergence to the most."""
    generator = torch.Generator().manual_seed(0)
    chance = torch.rand(lanes, generator=generator, dtype=torch.float64)
    place = torch.arange(lanes)
    return {
        "all equal": torch.full((lanes,), 20),
        "uniform": torch.randint(1, 40, (lanes,), generator=generator),
        "geometric": (torch.log(chance) / torch.log(torch.tensor(0.95, dtype=torch.float64))).long() + 1,
        "one in 100 takes 100 times as long": torch.where(place % 100 == 0, 1000, 10),
        "one lane takes 400 times as long": torch.where(place == 7, 4000, 10),
    }


def least(functions: list[Callable[[], object]], runs: int) -> list[float]:
    """Milliseconds of each."""
    found = [float("inf")] * len(functions)
    for _ in range(runs):
        for k, function in enumerate(functions):
            start = time.thread_time()
            function()
            found[k] = min(found[k], 1e3 * (time.thread_time() - start))
    return found


def row(name: str, lanes: int, steps: torch.Tensor) -> str:
    x = torch.rand(lanes, generator=torch.Generator().manual_seed(1), dtype=torch.float64) + 1
    few = slice(0, min(lanes, LOOP_LANES))
    start = time.thread_time()
    wanted = iterated(x[few], steps[few])
    loop = 1e3 * (time.thread_time() - start) * float(steps.sum()) / float(steps[few].sum())
    forms = [masked]
    for backend in ("torch", "auto"):
        lifted = looplift.lift(iterated, backend=backend, verify="off")
        for _ in range(3):  # compiled, and found to be faster than the loop
            assert torch.allclose(lifted(x[few], steps[few]), wanted)
        forms.append(lifted)
    times = least([lambda form=form: form(x, steps) for form in forms], 3)
    cells = [f"{value:,.2f}" if value < 100 else f"{value:,.0f}" for value in (loop, *times)]
    mean, most = float(steps.double().mean()), int(steps.max())
    return f"| {lanes:,} | {name} | {mean:.0f}, {most:,} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanes", type=int, nargs="+", default=[300, 3000, 30000])
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    lines = ["| lanes | trip counts | steps | loop | masks | torch | auto |", "|---|---|---|---|---|---|---|"]
    print(*lines, sep="\n")
    for lanes in options.lanes:
        for name, steps in trip_counts(lanes).items():
            lines.append(row(name, lanes, steps))
            print(lines[-1], flush=True)
    if options.write:
        options.write.write_text(PAGE + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
