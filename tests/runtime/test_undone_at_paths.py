"""What batched code wrote to attributes before it failed is put back, and so are generators that objects hold."""

import random
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.runtime.snapshot import CannotCopy, GeneratorStates, Saved, generators_in

SETTINGS = [(backend, verify) for backend in ("auto", "native", "torch") for verify in ("first", "off", "always")]


def sorted_rows(x, idx, h):
    for t in range(x.shape[0]):
        h.b[idx[t]] += torch.sort(x[t])[0]


def weights(x, idx, h):
    for t in range(x.shape[0]):
        h.b[idx[t]] = h.b[idx[t]] + torch.softmax(x[t], 0)


def products(x, idx, h):
    for t in range(x.shape[0]):
        h.b[idx[t]] += (x[t].unsqueeze(1) * x).sum(0) @ x.T @ x


def elements(x, idx, h):
    for t in range(x.shape[0]):
        for j in range(x.shape[1]):
            h.b[j, idx[t]] = h.b[j, idx[t]] + x[t, j]


def counted(x, idx, h):
    for t in range(x.shape[0]):
        h.seen = t
        h.rows[0][idx[t]] += torch.sort(x[t])[0]


@pytest.mark.parametrize(("backend", "verify"), SETTINGS)
@pytest.mark.parametrize("program", [sorted_rows, weights, products, elements, counted], ids=lambda one: one.__name__)
def test_places_that_are_out_of_range(program, backend, verify):
    lifted = lift(program, backend=backend, verify=verify)
    x = torch.arange(16.0).reshape(4, 4) / 8
    for places in ([0, 1, 9, 2], [0, 1, 1, 2], [3, -9, 0, 0], [1, 1, 1, 4]):
        found = []
        for function in (program, lifted):
            held = SimpleNamespace(b=torch.ones(4, 4), seen=-1, rows=[torch.ones(4, 4)])
            try:
                function(x, torch.tensor(places), held)
                error = ""
            except IndexError as raised:
                error = str(raised)
            found.append((held.b, held.rows[0], held.seen, error))
        want, got = found
        assert got[2:] == want[2:]
        torch.testing.assert_close(got[:2], want[:2])


def two_arrays(x, h):
    for i in range(x.shape[0]):
        h.b[i] += x[i]
        h.c[i] = x[i] * 2


def recurrences(x, h):
    for i in range(1, x.shape[0]):
        h.b[i] = h.b[i] + h.b[i - 1] + x[i]
        h.c[i] = h.c[i - 1] + x[i]


def view_without_history():
    leaf = torch.zeros(4, requires_grad=True)
    with torch.no_grad():
        return leaf[:]


def view_of_a_leaf():
    return torch.zeros(4, requires_grad=True)[:]


def of_inference():
    with torch.inference_mode():
        return torch.zeros(4)


def read_only():
    array = np.zeros(4)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(("backend", "verify"), SETTINGS)
@pytest.mark.parametrize("make", [view_without_history, view_of_a_leaf, of_inference, read_only])
@pytest.mark.parametrize("program", [two_arrays, recurrences])
def test_an_array_that_cannot_be_written_to(program, make, backend, verify):
    like = torch.ones if make is not read_only else np.ones
    x = like(4) * 3

    def outcome(function):
        found = []
        for is_good in (False, False, True, False):
            held = SimpleNamespace(b=like(4), c=like(4) if is_good else make())
            try:
                function(x, held)
                error = ""
            except (RuntimeError, ValueError) as raised:
                error = str(raised)
            found.append((held.b.tolist(), held.c.tolist(), error))
        return found

    assert outcome(lift(program, backend=backend, verify=verify)) == outcome(program)


def drawn_rows(x, h):
    for t in range(x.shape[0]):
        h.b[t % 3] += x[t] * torch.rand(4, generator=h.held["torch"])


def drawn_numbers(x, h):
    for t in range(x.shape[0]):
        h.b[t % 3] += x[t] * h.held["python"].random()


def drawn_and_out_of_range(x, h):
    for t in range(x.shape[0]):
        h.b[t] += torch.sort(x[t])[0] * torch.rand(4, generator=h.held["torch"])


@pytest.mark.parametrize(("backend", "verify"), SETTINGS)
@pytest.mark.parametrize("program", [drawn_rows, drawn_numbers, drawn_and_out_of_range])
def test_generators_that_objects_hold(program, backend, verify):
    x = torch.arange(20.0).reshape(5, 4)

    def outcome(function):
        held = {"torch": torch.Generator().manual_seed(5), "python": random.Random(7)}
        h, errors = SimpleNamespace(b=torch.zeros(4, 4), held=held), []
        for rows in (5, 3, 5):
            try:
                function(x[:rows], h)
            except IndexError as error:
                errors.append(str(error))
        return h.b, errors, torch.rand(1, generator=held["torch"]).item(), held["python"].random()

    (b, *want), (lifted_b, *got) = outcome(program), outcome(lift(program, backend=backend, verify=verify))
    assert got == want
    torch.testing.assert_close(lifted_b, b)


def test_generators_are_found_in_what_values_hold():
    mine = [random.Random(1), np.random.default_rng(2), torch.Generator()]
    held = SimpleNamespace(inner={"a": (mine[0],)}, other=mine[1], values=[1, 2, random.SystemRandom()])
    assert {*map(id, generators_in([held, [mine[2]], torch, 3, held]))} == {*map(id, mine)}
    model = torch.nn.Linear(2, 2)
    assert generators_in([model, type(model), np]) == []


def test_states_of_the_same_generators_later():
    own = random.Random(3)
    before = GeneratorStates([own])
    assert before.same(before.now())
    own.random()
    assert not before.same(before.now())
    before.restore()
    assert before.same(before.now())


def test_what_can_be_saved_of_values():
    rows, strange = [torch.zeros(2), object()], object()
    with pytest.raises(CannotCopy):
        Saved([rows, strange])
    saved = Saved([strange, rows], whole=False)
    rows[0] += 1
    rows.append(3)
    saved.restore()
    assert len(rows) == 2
    assert rows[0].tolist() == [0, 0]


def test_a_set_is_put_back_in_its_order():
    values = set(range(40))
    for gone in range(33):
        values.discard(gone)
    values.add(64)
    order = list(values)
    saved = Saved([values])
    values.add(1)
    values.discard(35)
    saved.restore()
    assert list(values) == order
    saved.restore()
    assert list(values) == order
