"""Values of ever the same few kinds, which no one program takes, do not have programs made for good."""

import pytest

import looplift.emit.typed as typed
from looplift import lift
from looplift.runtime.dispatch import Dispatcher


def longest_gap(visit):
    days, longest = [d for d in visit["days"] if d >= 0], 0
    for place, second in enumerate(days[1:]):
        first = days[place]
        if second - first > longest:
            longest = second - first
    return longest, days, "lab" in visit


KINDS = (
    {"name": "a", "days": [-1, 3, 9, 11]},
    {"name": "b", "days": [1, 2, 4, 8], "lab": [0.5]},
    {"name": "c", "days": []},
    {"name": "d", "days": [], "lab": [0.5, 0.25]},
    {"name": "e", "days": [5], "lab": []},
)


@pytest.fixture
def made(monkeypatch):
    """A list that has an entry for each program that was written."""
    found, written = [], typed.typed_code
    monkeypatch.setattr(typed, "typed_code", lambda *given: found.append(given) or written(*given))
    return found


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
def test_programs_of_a_few_forms_are_made_once_each(made, backend):
    lifted = lift(longest_gap, backend=backend)
    counts = []
    for _ in range(12):
        for kind in KINDS:
            assert lifted(kind) == longest_gap(kind)
        counts.append(len(made))
    assert counts[-1] == counts[-4] < 60


def test_what_fails_every_other_time_does_not_have_an_entry_made_each_time(monkeypatch):
    def shares(values, parts):
        found = []
        for value, part in zip(values, parts):
            found.append(value / part)
        return found

    made, install = [], Dispatcher.install
    monkeypatch.setattr(Dispatcher, "install", lambda self: made.append(self) or install(self))
    lifted = lift(shares)
    values, counts = [0.5 * k for k in range(200)], []
    for call in range(160):
        if call % 2:
            with pytest.raises(ZeroDivisionError):
                lifted(values, [1.0] * 199 + [0.0])
        else:
            assert lifted(values, [2.0] * 200) == [0.25 * k for k in range(200)]
        counts.append(len(made))
    assert counts[-1] - counts[39] <= 2
