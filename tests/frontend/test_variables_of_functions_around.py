"""Variables of the functions around a lifted one, which what its loops call rebinds while they run."""

import threading

import pytest
import torch

import looplift

BACKENDS = ("auto", "torch", "native")


def tally():
    count = 0

    def bump(v):
        nonlocal count
        count += v
        return count

    def work(xs):
        out = []
        for x in xs:
            bump(x)
            out.append(str(count))
        return out

    return work


def flagged():
    done = False

    def visit(x):
        nonlocal done
        done = x > 2

    def work(xs):
        n = 0
        for x in xs:
            if done:
                break
            visit(x)
            n += 1
        return n

    return work


def scaled_tensors():
    scale = torch.ones(())

    def doubled(v):
        nonlocal scale
        scale = scale * 2
        return v

    def work(xs):
        out = torch.zeros(4)
        for i in range(4):
            out[i] = doubled(xs[i]) * scale
        return out.tolist()

    return work


def by_operators():
    count = 0

    class Meter:
        def __add__(self, v):
            nonlocal count
            count += v
            return self

        def __iter__(self):
            nonlocal count
            count += 1
            return iter((1, 2))

        @property
        def height(self):
            nonlocal count
            count += 100
            return count

    meter = Meter()

    def work(xs):
        out = []
        for x in xs:
            meter + x
            for y in meter:
                out.append(count + y)
            out.append(meter.height * 2 + count)
        return out

    return work


def by_an_iterator():
    count = 0

    def items(xs):
        nonlocal count
        for x in xs:
            count += x
            yield x

    def work(xs):
        out = []
        for x in items(xs):
            out.append((x, count))
        return out

    return work


def held_by_lambdas():
    scale = 2

    def rescale():
        nonlocal scale
        scale += 5

    def work(xs):
        made = []
        for x in xs:
            made.append(lambda v, x=x: v * scale + x)
        rescale()
        return [one(1) for one in made]

    return work


CLOSURES = (tally, flagged, scaled_tensors, by_operators, by_an_iterator, held_by_lambdas)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("make", CLOSURES)
def test_of_the_lifted_function_itself(make, backend):
    written, lifted = make(), looplift.lift(make(), backend=backend)
    for _ in range(4):
        assert lifted([1, 2, 3, 4]) == written([1, 2, 3, 4])


def counted_inside(xs):
    count = 0

    def bump(v):
        nonlocal count
        count += v
        print(end="")

    def work(ys):
        out = []
        for y in ys:
            bump(y)
            out.append(str(count) + repr(y))
        return out

    return work(xs), count


def best_inside(xs):
    best = 0

    def search(i, s):
        nonlocal best
        if s > best:
            best = s
            print(end="")
        for j in range(i, len(xs)):
            if s + xs[j] * 3 > best:
                search(j + 1, s + xs[j])

    search(0, 0)
    return best


def recursive_inside(xs):
    scale, log = 2.0, []

    def rescale():
        nonlocal scale
        scale = scale + 1

    def work(k):
        for i in range(len(xs)):
            if k:
                work(k - 1)
            rescale()
            log.append((k, str(scale)))

    work(2)
    return log


def made_by_a_class_inside(xs):
    count = 0

    class Bumper:
        def __call__(self, v):
            nonlocal count
            count += v

    bump, out = Bumper(), []
    for x in xs:
        bump(x)
        out.append(str(count))
    return out


def rebound_by_the_function_around(xs):
    scale = 2

    def work(ys):
        made = []
        for _ in ys:
            made.append(lambda v: v * scale)
        return made

    made = work(xs)
    scale = 5
    return [one(1) for one in made]


INSIDE = (counted_inside, best_inside, recursive_inside, made_by_a_class_inside, rebound_by_the_function_around)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", INSIDE)
def test_of_functions_inside(function, backend):
    lifted = looplift.lift(function, backend=backend)
    for xs in ([3, 1, 4, 1, 5], [1], [], [2, 7]):
        assert lifted(xs) == function(xs)


def test_each_thread_has_its_own():
    lifted = looplift.lift(recursive_inside)
    want, found = recursive_inside([1, 2, 3]), []
    lifted([1, 2, 3])
    threads = [threading.Thread(target=lambda: found.append(lifted([1, 2, 3]))) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [want] * 4


def set_between_calls():
    scale = 2.0

    def rescale(v):
        nonlocal scale
        scale = v

    def work(w):
        out = torch.zeros(len(w))
        for i in range(len(w)):
            out[i] = w[i] * scale
        rescale(scale + 1)
        return out

    return work


@pytest.mark.parametrize("backend", BACKENDS)
def test_loops_that_only_read_them_are_lifted(backend):
    written, lifted = set_between_calls(), looplift.lift(set_between_calls(), backend=backend, verify="off")
    w = torch.randn(5, requires_grad=True)
    for _ in range(3):
        (want,) = torch.autograd.grad(written(w).sum(), w)
        got = lifted(w)
        assert torch.equal(torch.autograd.grad(got.sum(), w)[0], want)
    assert lifted.report().loops[0].decision in ("lanes", "native")


def set_between_calls_inside(w):
    scale = 2.0

    def rescale():
        nonlocal scale
        scale = scale + 1

    def work():
        out = torch.zeros(len(w))
        for i in range(len(w)):
            out[i] = w[i] * scale
        rescale()
        return out

    return work() + work()


@pytest.mark.parametrize("backend", BACKENDS)
def test_loops_inside_that_only_read_them_are_lifted(backend):
    lifted, w = looplift.lift(set_between_calls_inside, backend=backend, verify="off"), torch.arange(5.0)
    for _ in range(2):
        assert torch.equal(lifted(w), set_between_calls_inside(w))
    assert lifted.report().loops[0].decision in ("lanes", "native")
    assert torch.equal(torch.compile(lifted, backend="eager")(w), set_between_calls_inside(w))
