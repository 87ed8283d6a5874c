"""Plain statements around loops that a program has no form for: the loop is lifted with what it needs, they run behind
it, or before it, on what it hands out."""

import numpy as np
import pytest

from looplift import lift
from looplift.base.errors import LoopliftWarning


class Account:
    def __init__(self, cash):
        self.cash, self.shares, self.trades = cash, 0.0, []

    def sell(self, t, price):
        self.cash += self.shares * price
        self.shares = 0.0
        self.trades.append({"t": t, "side": "sell"})


def backtest(prices, w):
    account = Account(100.0)
    equity = []
    for t in range(len(prices)):
        price = float(prices[t])
        if t >= w:
            mean = np.mean(prices[t - w : t])
            if account.shares > 0:
                if price < mean:
                    account.sell(t, price)
            elif price > mean:
                account.shares, account.cash = account.cash / price, 0.0
        equity.append(account.cash + account.shares * price)
    equity = np.array(equity)
    low = np.percentile(equity, 5, method="nearest")
    return {"low": low, "equity": equity, "sold": [one["t"] for one in account.trades]}


def with_records(prices, w):
    held, log, values = False, [], []
    for t in range(w, len(prices)):
        if held and prices[t] < prices[t - w]:
            log.append({"t": t, "side": "stop"})
            held = False
        elif prices[t] > prices[t - w]:
            held = True
        values.append(float(prices[t]) if held else 0.0)
    row = np.array(values)
    return np.apply_along_axis(sum, 0, row), log, len(values)


def bound_anew(prices, w):
    values, log = [], []
    for t in range(w, len(prices)):
        if prices[t] > prices[t - w]:
            values.append(prices[t] - prices[t - w])
            log.append((t, "up"))
    values = np.array(values)
    top = np.apply_along_axis(max, 0, values)
    return values / top, log


def counted(prices, w):
    counts, places = {}, np.zeros(len(prices), np.int64)
    for t in range(len(prices)):
        k = int(prices[t]) % w
        counts[k] = counts.get(k, 0) + 1
        places[t] = k
    return np.arange(10.0)[places], counts


def two_behind(prices, w):
    log = []
    for t in range(w, len(prices)):
        if prices[t] > prices[t - 1]:
            log.append((t, float(prices[t])))
    names = {"n": len(log)}
    names["far"] = np.apply_along_axis(max, 0, prices)
    names["near"] = np.apply_along_axis(min, 0, prices)
    return names, log


FUNCTIONS = (backtest, with_records, bound_anew, counted, two_behind)


def prices(seed, n=400):
    return 100 + np.random.default_rng(seed).normal(size=n).cumsum()


def shown(value):
    """The value with the types and bits of all that it holds."""
    if isinstance(value, dict):
        return {key: shown(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [type(value), *map(shown, value)]
    return (type(value), str(value.dtype), value.tobytes()) if isinstance(value, np.ndarray) else (type(value), value)


@pytest.mark.filterwarnings(f"error::{LoopliftWarning.__module__}.{LoopliftWarning.__name__}")
@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_same_as_the_loop(function, backend):
    lifted = lift(function, backend=backend)
    for seed in range(4):
        assert shown(lifted(prices(seed), 5)) == shown(function(prices(seed), 5))
    if backend != "torch":
        first = lifted.report().loops[0]
        assert first.decision in ("native", "lanes") or first.code == "too-small", str(lifted.report())


def tail_raises(prices, w):
    values = []
    for t in range(w, len(prices)):
        if prices[t] > prices[t - w]:
            values.append({"t": t, "side": "up"})
    return np.apply_along_axis(max, 3, prices), values


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_what_raises_behind_the_loop_raises(backend):
    lifted = lift(tail_raises, backend=backend)
    for _ in range(3):
        with pytest.raises(np.exceptions.AxisError, match="axis 3 is out of bounds"):
            lifted(prices(0), 5)


def lacks_a_form(prices, w):
    c, log = 0.0, []
    for t in range(w, len(prices)):
        c = max(0.0, 0.9 * c + np.polyval(prices[:2], prices[t] - prices[t - w]))
        log.append({"t": t, "c": c, "side": "up"})
    return log


def test_the_reason_tells_what_a_program_lacks():
    lifted = lift(lacks_a_form)
    for seed in range(2):
        assert shown(lifted(prices(seed), 5)) == shown(lacks_a_form(prices(seed), 5))
    assert "as a program over numbers and containers, 'np.polyval" in lifted.report().loops[0].reason
