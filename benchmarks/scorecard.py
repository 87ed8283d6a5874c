#!/usr/bin/env python3
"""Score looplift on a folder of corpus cases: is every answer equal, and how fast against the expert?

    python benchmarks/scorecard.py benchmarks/cases [--size full] [--only SUBSTRING] [--seconds 90] [--json OUT.json]

A case is one module with ``slow(*args)``, ``hand(*args)`` and ``inputs(size, seed)`` (see cases/README.md).
Each case runs in a process of its own, under a time limit, and gets one verdict:

    wrong    the lifted function differs from ``slow``: value, dtype, shape, gradient, mutation, aliasing,
             printed text, state of a random generator, or exception
    crash    it raised where ``slow`` does not, or the process died or ran out of time
    kept     equal, but not twice as fast as the loop: nothing was gained
    lifted   equal, and faster

``x loop`` is loop time / lifted time, ``x hand`` is hand time / lifted time (1.0 = as fast as the expert),
``x grad`` the same for forward plus backward: medians of interleaved runs in one process.  ``first`` is the first
call in a fresh process, less a later one.  Answers are checked with one and with two threads, times are
taken with ``--threads``.  With ``--device cuda`` tensors and modules of the inputs are put there first; a case whose
loop makes tensors elsewhere and so raises is not judged: ``raises`` is its verdict.  With ``--default-device`` torch
makes them there.  ``--backend`` is ``lift``'s: what the batched code runs on.  Exit status 1 if any case is wrong or
crashed.
"""

import argparse
import concurrent.futures
import contextlib
import copy
import importlib.util
import io
import json
import math
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # so that inspect.getsource works
    spec.loader.exec_module(module)
    return module


def tag(doc, name):
    for line in (doc or "").splitlines():
        if line.strip().lower().startswith(name + ":"):
            return line.split(":", 1)[1].strip()
    return ""


# ---------------------------------------------------------------- walking values


def children(value):
    """(key, child) pairs of a container, module or plain object; None for a leaf."""
    import numpy as np
    import torch

    if isinstance(value, (torch.Tensor, np.ndarray, np.generic, torch.Generator, np.random.Generator, random.Random)):
        return None
    if isinstance(value, torch.nn.Module):
        return [*value.named_parameters(), *value.named_buffers()]
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, (list, tuple)):
        return list(enumerate(value))
    if hasattr(value, "__dict__") and not callable(value):
        return list(vars(value).items())
    return None


def tensors(value, seen=None):
    import torch

    seen = set() if seen is None else seen
    if id(value) in seen:
        return []
    seen.add(id(value))
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for _, child in children(value) or [] for t in tensors(child, seen)]


def buffers_of(value):
    import torch

    if isinstance(value, torch.nn.Module):
        return list(value.buffers())
    return (
        [b for _, child in children(value) or [] for b in buffers_of(child)]
        if isinstance(value, (list, tuple, dict))
        else []
    )


def close(got, want, path="result", seen=None):
    """None when equal, else one line naming the first difference."""
    import numpy as np
    import torch

    seen = set() if seen is None else seen
    if id(want) in seen:
        return None
    seen.add(id(want))
    if isinstance(want, torch.Tensor):
        if not isinstance(got, torch.Tensor):
            return f"{path}: {type(got).__name__} instead of Tensor"
        if got.dtype != want.dtype or got.shape != want.shape:
            return f"{path}: {got.dtype} {tuple(got.shape)} instead of {want.dtype} {tuple(want.shape)}"
        if got.requires_grad != want.requires_grad:
            return f"{path}: requires_grad {got.requires_grad} instead of {want.requires_grad}"
        bounds = {"rtol": 0, "atol": 0}
        if want.is_floating_point() or want.is_complex():
            wide = want.dtype in (torch.float64, torch.complex128)
            bounds = {"rtol": 1e-7, "atol": 1e-9} if wide else {"rtol": 1e-4, "atol": 1e-5}
        try:
            torch.testing.assert_close(got.detach(), want.detach(), equal_nan=True, **bounds)
        except AssertionError as error:
            return f"{path}: " + " ".join(str(error).split())[:160]
        return None
    if isinstance(want, (np.ndarray, np.generic)):
        if type(got) is not type(want) or got.dtype != want.dtype or got.shape != want.shape:
            ours = f"{type(got).__name__} {getattr(got, 'dtype', '')} {getattr(got, 'shape', '')}"
            return f"{path}: {ours} instead of {type(want).__name__} {want.dtype} {want.shape}"
        if want.dtype.kind in "fc":
            bounds = {"rtol": 1e-4, "atol": 1e-6} if want.dtype.itemsize <= 4 else {"rtol": 1e-7, "atol": 1e-9}
            same = np.allclose(got, want, equal_nan=True, **bounds)
        else:
            same = bool(np.all(got == want))
        return None if same else f"{path}: arrays differ"
    if type(got) is not type(want):
        return f"{path}: {got!r:.60} instead of {want!r:.60}"
    if isinstance(want, (float, complex)):
        same = got == want or (got != got and want != want) or abs(got - want) <= 1e-5 + 1e-4 * abs(want)
        return None if same else f"{path}: {got!r} instead of {want!r}"
    inside = children(want)
    if inside is None:
        if isinstance(want, (int, str, bytes, bool, type(None), set, frozenset, range, slice)):
            return None if got == want else f"{path}: {got!r:.60} instead of {want!r:.60}"
        return None
    ours = children(got)
    if [k for k, _ in ours] != [k for k, _ in inside]:
        return f"{path}: {[k for k, _ in ours]!r:.60} instead of {[k for k, _ in inside]!r:.60}"
    for (k, g), (_, w) in zip(ours, inside):
        if why := close(g, w, f"{path}[{k!r}]", seen):
            return why
    return None


def moved(value, device):
    """The value with its tensors and modules on a device; containers and objects are changed in place."""
    import torch

    if device == "cpu":
        return value
    if isinstance(value, (torch.Tensor, torch.nn.Module)):
        return value.to(device)
    if isinstance(value, tuple):
        items = [moved(item, device) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    inside = children(value) or []
    for key, item in inside:
        if isinstance(value, (list, dict)):
            value[key] = moved(item, device)
        else:
            setattr(value, key, moved(item, device))
    return value


def synchronised(fn, device):
    """The function, which returns when the device is done."""
    import torch

    def call(args):
        result = fn(args)
        torch.cuda.synchronize()
        return result

    return fn if device == "cpu" else call


def aliasing(result, args):
    """Which result tensors share storage with which argument tensors."""
    homes = {}
    for k, t in enumerate(tensors(list(args))):
        homes.setdefault(t.untyped_storage().data_ptr(), k)
    return [homes.get(t.untyped_storage().data_ptr()) if t.numel() else None for t in tensors(result)]


# ---------------------------------------------------------------- running


def observe(fn, args):
    """Everything that a caller can see of one call: result, exception, printed text, generators' states."""
    import numpy as np
    import torch

    torch.manual_seed(7)
    np.random.seed(7)
    random.seed(7)
    text = io.StringIO()
    result = error = None
    with contextlib.redirect_stdout(text):
        try:
            result = fn(*args)
        except Exception as raised:  # the exception is part of the behaviour
            error = raised
    states = (
        torch.get_rng_state().sum().item(),
        np.random.get_state()[1].sum().item() + np.random.get_state()[2],
        hash(random.getstate()),
    )
    return result, error, text.getvalue(), states


def difference(case, lifted, args):
    """None, or (verdict, why) for the first thing in which one call of the two differs."""
    ours, theirs = copy.deepcopy(args), copy.deepcopy(args)
    want, want_error, want_text, want_states = observe(case.slow, theirs)
    got, got_error, got_text, got_states = observe(lifted, ours)
    if type(want_error) is not type(got_error) or str(want_error) != str(got_error):
        return (
            "wrong" if got_error is None or want_error is not None else "crash",
            f"raised {got_error!r:.90} instead of {want_error!r:.90}",
        )
    why = None if want_error else close(got, want)
    why = why or close(list(ours), list(theirs), "arguments after the call")
    if not why and not want_error and aliasing(got, ours) != aliasing(want, theirs):
        why = "the result shares memory with other arguments than the loop's does"
    if not why and got_text != want_text:
        why = "printed text differs"
    if not why and got_states != want_states:
        why = "a random generator was left in another state"
    return ("wrong", why) if why else None


def gradient_run(fn, args):
    """Gradients of a fixed random projection of all float results, for every float leaf of the arguments."""
    import torch

    buffers = {id(b) for b in buffers_of(list(args))}
    params = [t for t in tensors(list(args)) if t.is_floating_point() and t.is_leaf and id(t) not in buffers]
    for p in params:
        p.requires_grad_(True)
        p.grad = None
    outs = [t for t in tensors(fn(*args)) if t.is_floating_point() and t.requires_grad]
    if not outs:
        return None
    generator = torch.Generator("cpu").manual_seed(1)
    total = sum(
        (t * torch.randn(t.shape, generator=generator, dtype=t.dtype, device="cpu").to(t.device)).sum() for t in outs
    )
    return torch.autograd.grad(total, params, allow_unused=True)


def gradient_difference(case, lifted, args):
    import torch

    def seeded(fn):
        torch.manual_seed(7)
        return gradient_run(fn, copy.deepcopy(args))

    want, got = seeded(case.slow), seeded(lifted)
    if (got is None) != (want is None):
        return "the result lost its gradient" if got is None else "the result gained a gradient"
    for k, (g, w) in enumerate(zip(got or (), want or ())):
        if (g is None) != (w is None):
            return f"gradient {k}: {'none' if g is None else 'there'} instead of {'none' if w is None else 'there'}"
        if (
            g is not None
            and (g - w).abs().max().nan_to_num(nan=1e9)
            > 1e-5 + (1e-7 if w.dtype.itemsize > 4 else 2e-4) * w.abs().max().nan_to_num()
        ):
            return f"gradient {k}: off by {(g - w).abs().max().item():.3g} of {w.abs().max().item():.3g}"
    return None


def medians(fns, make, budget, mutates):
    """Interleaved medians in seconds of several functions of freshly made arguments (copies are not timed)."""

    def once(fn, inner):
        batches = [make() for _ in range(inner)] if mutates else [make()] * inner
        start = time.perf_counter()
        for args in batches:
            fn(args)
        return (time.perf_counter() - start) / inner

    first = [min(once(fn, 1) for _ in range(2)) for fn in fns]
    rounds = max(3, min(200, int(budget / max(sum(first), 1e-6))))
    inner = [max(1, min(50 if mutates else 1000, int(2e-4 / max(t, 1e-7)))) for t in first]
    samples = [[once(fn, n) for fn, n in zip(fns, inner)] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*samples)]


def score_one(path, size, budget, threads, device, default_device, backend):
    import torch

    import looplift

    case = load(path)

    def inputs(step, seed):
        with torch.device("cpu"):
            made = case.inputs(step, seed)
        return moved(made, device)

    doc = case.__doc__ or ""
    row = {"case": path.stem, "tags": tag(doc, "tags"), "verdict": "crash", "why": ""}
    if default_device:
        torch.set_default_device(device)
    if device != "cpu" and (raised := observe(case.slow, inputs("tiny", 0))[1]):
        return row | {"verdict": "raises", "why": f"{raised!r:.150}"}
    lifted = looplift.lift(case.slow, backend=backend)
    start = time.perf_counter()
    with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
        lifted(*inputs("tiny", 0))
    row["first_s"] = time.perf_counter() - start
    for _ in range(2):  # the second may wait for the compiler
        start = time.perf_counter()
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            lifted(*inputs("tiny", 0))
        later = time.perf_counter() - start
    row["first_s"] = max(0.0, row["first_s"] - later)
    for count, step, seed in ((1, "tiny", 0), (2, "tiny", 1), (1, "tiny", 2), (2, "small", 3), (threads, size, 4)):
        torch.set_num_threads(count)
        if found := difference(case, lifted, inputs(step, seed)):
            return row | {"verdict": found[0], "why": f"{step}: {found[1]}"}
    torch.set_num_threads(threads)
    grad = tag(doc, "grad").lower().startswith("yes")
    for step in ("tiny", "small") if grad else ():
        if why := gradient_difference(case, lifted, inputs(step, 5)):
            return row | {"verdict": "wrong", "why": f"{step}: {why}"}
    args = inputs(size, 4)
    if observe(case.slow, copy.deepcopy(args))[1]:
        return row | {"verdict": "kept", "why": "raises, as the loop does"}
    mutates = "mutates" in row["tags"]
    make = (lambda: copy.deepcopy(args)) if mutates else (lambda: args)
    racers = [synchronised(fn, device) for fn in (lambda a: lifted(*a), lambda a: case.hand(*a))]
    if device != "cpu" and observe(case.hand, copy.deepcopy(args))[1]:
        racers[1] = racers[0]  # the expert's version makes tensors elsewhere: x hand is 1
    with contextlib.redirect_stdout(io.StringIO()):
        lifted(*make())
        (loop,) = medians([synchronised(lambda a: case.slow(*a), device)], make, 0, mutates)
        if loop < 0.2:
            (loop,) = medians([synchronised(lambda a: case.slow(*a), device)], make, 5 * loop, mutates)
        # not in turns with the loop: sorting the small blocks that it freed falls to the call after it
        ours, hand = medians(racers, make, budget, mutates)
        row |= {"x_loop": loop / ours, "x_hand": hand / ours, "loop_s": loop, "hand_s": hand, "lifted_s": ours}
        if grad and loop >= 2 * ours:
            with contextlib.suppress(Exception):
                ours, hand = medians(
                    [synchronised(lambda a, fn=fn: gradient_run(fn, a), device) for fn in (lifted, case.hand)],
                    lambda: copy.deepcopy(args),
                    budget,
                    True,
                )
                row["x_grad"] = hand / ours
    row["verdict"] = "lifted" if row["x_loop"] >= 2 else "kept"
    try:
        row["loops"] = [
            {"line": e.line, "decision": e.decision, "reason": str(e.reason or "")} for e in lifted.report().loops
        ]
        row["why"] = "; ".join(sorted({e["reason"] for e in row["loops"] if e["decision"] == "kept"}))[:200]
    except Exception as error:
        row["why"] = f"report(): {error!r}"[:200]
    return row


def spawn(path, args):
    command = [
        sys.executable,
        __file__,
        str(path),
        "--one",
        "--size",
        args.size,
        "--budget",
        str(args.budget),
        "--threads",
        str(args.threads),
        "--device",
        args.device,
        "--backend",
        args.backend,
        *(["--default-device"] if args.default_device else []),
    ]
    limits = {"OMP_NUM_THREADS": str(max(2, args.threads)), "OPENBLAS_NUM_THREADS": str(args.threads)}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=args.seconds, env=os.environ | limits)
    except subprocess.TimeoutExpired:
        return {
            "case": path.stem,
            "tags": path.parent.name,
            "verdict": "crash",
            "why": f"no answer in {args.seconds:g} s",
        }
    for line in reversed(done.stdout.splitlines()):
        if line.startswith('{"case"'):
            return json.loads(line)
    return {
        "case": path.stem,
        "tags": path.parent.name,
        "verdict": "crash",
        "why": (done.stderr.strip().splitlines() or ["died"])[-1][:200],
    }


def geomean(values):
    return math.exp(statistics.fmean(math.log(v) for v in values)) if values else float("nan")


def summary(rows):
    good = [r for r in rows if "x_hand" in r]
    free = [r for r in good if "trap" not in r["tags"]]
    traps = [r for r in rows if "trap" in r["tags"]]
    count = {v: sum(r["verdict"] == v for r in rows) for v in ("lifted", "kept", "wrong", "crash", "raises")}
    return {
        "cases": len(rows),
        **count,
        "traps_right": f"{sum(r['verdict'] in ('lifted', 'kept') for r in traps)}/{len(traps)}",
        "lifted_share": sum(r["verdict"] == "lifted" for r in rows if "trap" not in r["tags"])
        / max(1, len(rows) - len(traps)),
        "geomean_x_loop": geomean([r["x_loop"] for r in free]),
        "geomean_x_hand": geomean([r["x_hand"] for r in free]),
        "geomean_x_grad": geomean([r["x_grad"] for r in free if "x_grad" in r]),
        "share_at_least_hand": sum(r["x_hand"] >= 0.9 for r in free) / max(1, len(rows) - len(traps)),
        "median_first_s": statistics.median([r["first_s"] for r in good]) if good else float("nan"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--size", default="small", choices=["tiny", "small", "full"])
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=90, help="limit for one case")
    parser.add_argument("--budget", type=float, default=0.5, help="seconds of timing for one case")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="for timing; 1 is the steadiest on a shared machine")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--default-device", action="store_true", help="new tensors are made there, too")
    parser.add_argument("--backend", default="auto", choices=["auto", "torch", "native"])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        choices = args.size, args.budget, args.threads, args.device, args.default_device, args.backend
        print(json.dumps(score_one(args.cases[0], *choices)))
        return 0
    found = [p for c in args.cases for p in (sorted(c.rglob("*.py")) if c.is_dir() else [c])]
    paths = [p for p in found if args.only in p.stem]
    rows = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for row in pool.map(lambda p: spawn(p, args), paths):
            rows.append(row)
            speed = f"{row['x_loop']:9.1f}x loop {row['x_hand']:7.2f}x hand" if "x_hand" in row else " " * 29
            speed += f" {row['x_grad']:7.2f}x grad" if "x_grad" in row else " " * 14
            first = f"{row['first_s'] * 1e3:7.0f} ms first" if "first_s" in row else " " * 16
            print(f"{row['verdict']:7} {row['case'][:40]:40} {speed} {first}  {row['why']}", flush=True)
    total = summary(rows)
    print(json.dumps(total, indent=1))
    if args.json:
        args.json.write_text(json.dumps({"summary": total, "rows": rows}, indent=1))
    return 1 if total["wrong"] or total["crash"] else 0


if __name__ == "__main__":
    sys.exit(main())
