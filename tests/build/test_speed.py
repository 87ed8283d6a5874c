"""How fast kernels are on this machine, which is measured once."""

import json
import math

import pytest
import torch

from looplift import lift
from looplift.build import cache, speed
from looplift.emit.work import work_of
from looplift.pipeline import planning


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("LOOPLIFT_CACHE", str(tmp_path))
    speed.speed.cache_clear()
    yield tmp_path
    speed.speed.cache_clear()


def test_it_is_measured_once_and_kept(empty_cache, monkeypatch):
    first = speed.speed()
    assert all(0 < each < 1e-6 for each in vars(first).values())
    (file,) = empty_cache.glob("speed-*.json")
    assert json.loads(file.read_text()) == vars(first)
    speed.speed.cache_clear()
    monkeypatch.setattr(speed, "_measured", lambda: pytest.fail("measured again"))
    assert speed.speed() == first


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"arithmetic": 1}', '{"arithmetic": "fast"}', "\x00"])
def test_a_file_that_is_broken_is_written_anew(empty_cache, text):
    speed.speed()
    (file,) = empty_cache.glob("speed-*.json")
    file.write_text(text)
    speed.speed.cache_clear()
    found = speed.speed()
    assert json.loads(file.read_text()) == vars(found)


def test_a_folder_that_cannot_be_written_is_no_error(monkeypatch):
    def full(place, found):
        raise OSError("No space left on device")

    monkeypatch.setattr(speed, "_keep", full)
    assert speed.speed().arithmetic > 0


def test_it_goes_with_the_kernels(empty_cache):
    speed.speed()
    cache.clear(older_than=100)
    assert list(empty_cache.glob("speed-*"))
    cache.clear()
    assert not list(empty_cache.glob("speed-*"))


def test_seconds_are_those_of_each_kind():
    found = speed.Speed(arithmetic=1e-9, functions=2e-9, additions=3e-9, touched=4e-9)
    work = {"arithmetic": 1e3, "functions": 1e3, "additions": 1e3, "touched": 1e3}
    assert math.isclose(found.seconds(work), speed.CALL + 10e-6)


def products(a, b):
    out = torch.zeros(len(a), len(b))
    for i in range(len(a)):
        for j in range(len(b)):
            out[i, j] = torch.exp(a[i] * b[j]) - 0.5
    return out


def total(a, b):
    found = torch.zeros(())
    for i in range(len(a)):
        found = found + a[i] * torch.dot(b, b)
    return found


@pytest.mark.parametrize(
    ("function", "counts"),
    [
        (products, {"arithmetic": 2 * 7 * 5, "functions": 7 * 5, "additions": 0, "touched": 4 * (7 + 5 + 7 * 5)}),
        (total, {"arithmetic": 2 * 7, "functions": 0, "additions": 7 * 5 + 7, "touched": 4 * (7 + 5 + 1)}),
    ],
)
def test_work_is_counted_by_what_an_iteration_computes(function, counts, monkeypatch):
    plans = []
    original = planning.planned
    monkeypatch.setattr(planning, "planned", lambda *given, **more: plans.append(original(*given, **more)) or plans[-1])
    a, b = torch.rand(7), torch.rand(5)
    lift(function, backend="torch")(a, b)
    assert work_of(plans[-1], {"a", "b"}).counts({"a": a, "b": b}) == counts
