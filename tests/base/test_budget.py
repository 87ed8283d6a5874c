"""How much memory intermediates may take."""

import pytest
import torch

from looplift.base import budget


@pytest.fixture
def free(monkeypatch):
    """Sets how many bytes are free."""
    return lambda size: monkeypatch.setattr(budget, "free_bytes", lambda device=None: size)


def test_little_always_fits(free):
    free(0)
    assert budget.fits(budget.SMALL)
    assert not budget.fits(budget.SMALL + 1)


def test_a_fourth_of_what_is_free(free):
    free(4 * 10**9)
    assert budget.fits(10**9)
    assert not budget.fits(10**9 + 1)


@pytest.mark.parametrize("device", [None, torch.device("cpu")])
def test_something_is_free_here(device):
    assert 0 < budget.free_bytes(device) < 1 << 60


def test_a_container_may_have_less_than_the_machine(monkeypatch):
    files = {"/proc/meminfo": 900, "/sys/fs/cgroup/memory.max": 500, "/sys/fs/cgroup/memory.current": 300,
             "/sys/fs/cgroup/memory.stat": 100}  # fmt: skip
    monkeypatch.setattr(budget, "_number_in", lambda path, word="", unit=1: files.get(path))
    assert budget._free_on_machine() == 300
    del files["/sys/fs/cgroup/memory.max"]
    assert budget._free_on_machine() == 900
