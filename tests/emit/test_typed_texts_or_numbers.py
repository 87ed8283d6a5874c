"""Dicts and lists of numbers and texts together, in typed programs: what is kept, handed out, stored and compared."""

import numpy as np
import pytest

from looplift import lift


def features(x, lags):
    found = {"mean": np.mean(x), "count": len(x)}
    for lag in lags:
        total = 0.0
        for i in range(len(x) - lag):
            total += x[i] * x[i + lag]
        found[f"lag_{lag}"] = total
    return found


def table(signals, width, lags):
    rows = []
    for device, signal in signals.items():
        for s in range(0, len(signal) - width + 1, width):
            row = features(signal[s : s + width], lags)
            row["device"] = device
            rows.append(row)
    names = [k for k in rows[0] if k != "device"]
    out = np.zeros((len(rows), len(names)))
    for i, row in enumerate(rows):
        for j, name in enumerate(names):
            out[i, j] = row[name]
    return out, names, [row["device"] for row in rows], rows[-1]


def compared(signals, width, lags):
    log = []
    for device, signal in signals.items():
        row = {}
        for lag in lags:
            row[f"at_{lag}"] = float(signal[lag])
            row[f"no_{lag}"] = lag
        row["device"] = device
        high = 0
        for lag in lags:
            if row[f"at_{lag}"] > 0 and row[f"no_{lag}"] + 1 < width:
                high += 1
        if row["device"] == "dev1":
            high += 100
        log.append(high)
        log.append(device)
        log.append(0.5 * (row[f"at_{lags[0]}"] + row[f"no_{lags[1]}"]))
    return log


def as_keys(signals, width, lags):
    counts = {}
    for device, signal in signals.items():
        seen = [device, len(signal)]
        for lag in lags:
            seen.append(lag)
        for one in seen:
            counts[one] = counts.get(one, 0) + 1
    return counts


def told(signals, width, lags):
    texts = []
    for device, signal in signals.items():
        for one in [device, len(signal), 0.5]:
            if isinstance(one, str):
                texts.append(one)
            elif isinstance(one, int):
                texts.append("whole")
    return texts


def signals(seed):
    """Their sums are exact in any order."""
    rng = np.random.default_rng(seed)
    return {f"dev{k}": rng.integers(-40, 40, 120 + k) / 8 for k in range(3)}


def shown(value):
    if isinstance(value, dict):
        return [(shown(key), shown(one)) for key, one in value.items()]
    if isinstance(value, list | tuple):
        return [type(value), *map(shown, value)]
    return (type(value), str(value.dtype), value.tobytes()) if isinstance(value, np.ndarray) else (type(value), value)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", [table, compared, as_keys, told], ids=lambda one: one.__name__)
def test_same_as_the_loop(function, backend):
    lifted = lift(function, backend=backend)
    for seed in range(4):
        assert shown(lifted(signals(seed), 12, (1, 2, 5))) == shown(function(signals(seed), 12, (1, 2, 5)))
    if backend != "torch" and function in (table, compared, as_keys):
        outer = lifted.report().loops[0]
        assert outer.decision == "native" or outer.code == "too-small", str(lifted.report())


def sums(rows, names):
    total = 0.0
    for row in rows:
        for name in names:
            total += row[name]
    return total


def rows(seed):
    rng = np.random.default_rng(seed)
    return [{"a b": float(rng.random()), "c": int(rng.integers(9)), "d": "x"} for _ in range(200)]


@pytest.mark.parametrize("backend", ["auto", "native"])
def test_a_text_where_a_number_must_be(backend):
    lifted = lift(sums, backend=backend)
    for seed in range(3):
        assert shown(lifted(rows(seed), ["a b", "c"])) == shown(sums(rows(seed), ["a b", "c"]))
    for _ in range(2):
        with pytest.raises(TypeError, match="unsupported operand type"):
            lifted(rows(0), ["a b", "d"])
