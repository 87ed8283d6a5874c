"""Compiling, caching, loading and interrupting kernels."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import torch
from tests.emit.native_cases import Build, dtw, recurrence
from tests.emit.native_programs import Native

from looplift import lift
from looplift.base.compare import difference
from looplift.base.errors import NotLiftable
from looplift.build import compiler
from looplift.build.native import load
from looplift.emit.native import kernel_of, standalone_text
from looplift.emit.native_standalone import FLAGS
from looplift.ir.kernel_parts import PARTS


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LOOPLIFT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def kernel(scale=torch.float64):
    a = torch.rand(3, dtype=scale)
    return kernel_of(*recurrence(a, a, a))


def runs(loaded, dtype=torch.float64):
    out = torch.zeros(2, dtype=dtype)
    loaded(1.0, 2, torch.ones(2, dtype=dtype), torch.ones(2, dtype=dtype), out)
    return out.tolist() == [2.0, 3.0]


def test_a_kernel_is_compiled_once(cache, monkeypatch):
    assert runs(load(kernel()))
    library = cache / f"kernel-{compiler.key(kernel().source)}.so"
    assert library.exists()
    monkeypatch.setattr(compiler, "_compile", None)
    assert runs(load(kernel()))
    assert library.with_suffix(".cpp").read_text() == kernel().source


def test_a_broken_library_is_built_again(cache):
    cache.mkdir()
    (cache / f"kernel-{compiler.key(kernel().source)}.so").write_bytes(b"no library")
    assert runs(load(kernel()))


@pytest.mark.parametrize("place", ["file", "missing"])
def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch, place):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("LOOPLIFT_CACHE", str(blocked if place == "file" else "/proc/nowhere"))
    assert runs(load(kernel()))


def test_several_processes_at_once(cache):
    text = standalone_text(kernel()).replace("tempfile.gettempdir()", repr(str(cache)))
    cache.mkdir()
    script = text + "\nout = torch.zeros(2, dtype=torch.float64)\nones = torch.ones(2, dtype=torch.float64)\n"
    script += f"{kernel().name}(1.0, 2, ones, ones, out)\nassert out.tolist() == [2.0, 3.0]\n"
    workers = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(3)]
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0, 0]


def test_the_standalone_text_needs_only_torch(tmp_path):
    case = dtw(
        torch.zeros(3, 3, dtype=torch.float64), torch.rand(2, dtype=torch.float64), torch.rand(2, dtype=torch.float64)
    )
    made = kernel_of(*case)
    assert "looplift" not in standalone_text(made)
    namespace = {}
    exec(standalone_text(made), namespace)
    R = torch.full((3, 3), float("inf"), dtype=torch.float64)
    R[0, 0] = 0
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    namespace[made.name](3, 2, x, x, R)
    assert R[2, 2] == 0


def test_standalone_kernels_are_compiled_alike():
    assert " ".join(compiler.FLAGS) == FLAGS


def test_no_compiler(monkeypatch, cache):
    compiler.compiler.cache_clear()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    try:
        with pytest.raises(NotLiftable, match="no C\\+\\+ compiler"):
            load(kernel())
    finally:
        compiler.compiler.cache_clear()


def endless():
    from looplift.ir.grammar import While

    b = Build()
    x = b.input("x", 1.0)
    inside, after = b.var("y", 1.0), b.var("y", 1.0)
    b.open()
    cond = b("ge", inside, 0.0)
    test = b.close()
    b.open()
    new = b("mul", inside, 1.0, hint="y")
    loop = b.loop(While(test, cond), None, [b.carry(inside, x, new, after)], b.close())
    return load(kernel_of(loop, b.facts))


@pytest.fixture
def interrupts():
    """Python's own handler for Ctrl-C; a shell has its background processes ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_endless_loops_can_be_interrupted():
    loaded = endless()
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        loaded(1.0)
    timer.join()


def geometric(n, h):
    for _ in range(n):
        h = 0.5 * h + 1.0
    return h


def generator(n, state):
    for _ in range(n):
        state = (state * 1103515245 + 12345) % 2147483648
    return state


def decays(x, n):
    for i in range(n):
        for j in range(x.shape[0]):
            if x[j] > 1.0:
                x[j] = x[j] * 0.5
        x[i % x.shape[0]] = x[i % x.shape[0]] + 1.0
    return x


def rows(x, n):
    for _ in range(n):
        x = x * 0.5 + 1.0
    return x


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (geometric, lambda n: (n, 1.0)),
        (generator, lambda n: (n, 1)),
        (decays, lambda n: (np.ones(3000), n)),
        (decays, lambda n: (torch.ones(3000), n)),
        (rows, lambda n: (np.ones(10), n)),
    ],
)
def test_long_ranges_can_be_interrupted(function, arguments):
    """They would take hours."""
    lifted = lift(function, backend="native", verify="off")
    lifted(*arguments(2))
    assert lifted.report().loops[0].decision == "native"
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        lifted(*arguments(10**14))
    timer.join()
    assert difference(lifted(*arguments(2)), function(*arguments(2))) is None


@pytest.mark.usefixtures("interrupts")
def test_other_threads_run_meanwhile():
    loaded = endless()
    counts = []

    def count():
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            counts.append(1)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=count)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        loaded(1.0)
    thread.join()
    assert len(counts) > 1000


def recurs(a, h):
    for t in range(len(a)):
        h = a[t] * h
    return h


def test_the_standalone_text_with_gradients():
    a = torch.rand(3, dtype=torch.float64, requires_grad=True)
    native = Native(recurs, a, torch.tensor(2.0, dtype=torch.float64), gradients=True)
    native(a, torch.tensor(2.0, dtype=torch.float64))
    (made,) = native.kernels.values()
    namespace = {}
    exec(standalone_text(made), namespace)
    values = {"h": torch.tensor(2.0, dtype=torch.float64), "a": a}
    (h,) = namespace[made.name](*(values.get(var.hint, 3) for var in made.inputs))
    h.backward()
    assert torch.allclose(a.grad, 2 * a.detach().prod() / a.detach())


def test_a_linker_without_the_few_libraries(cache, monkeypatch):
    monkeypatch.setattr(compiler._compile, "__defaults__", (("-lno_such_library",),))
    assert runs(load(kernel()))


def test_functions_of_several_versions_are_looked_for_in_the_library():
    assert "-lc" in compiler.few_libraries(PARTS, compiler.KERNELS) or not compiler.FEW_LIBRARIES
    assert "-lc" not in compiler.few_libraries(kernel().source, compiler.KERNELS)
    assert compiler.few_libraries(PARTS, compiler.OF_USERS) == ()
