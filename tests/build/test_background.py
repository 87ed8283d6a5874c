"""Typed programs and kernels that are compiled twice: in a moment, and as well as can be by a process of its own."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.build import background, compiler, native
from looplift.runtime import awaited, verification
from looplift.runtime.awaited import all_compiled

PROGRAM = """
import sys
from looplift import lift

def spans(texts):
    open_at, found = [], []
    for k, text in enumerate(texts):
        if text == "(":
            open_at.append(k)
        elif open_at:
            found.append((open_at.pop(), k))
    return found

lifted = lift(spans, verify="off")
print(lifted(list("(()(())")), lifted.report().loops[0].decision)
"""


def nearest(values, k):
    stack, found = [], {}
    for i, value in enumerate(values):
        while stack and values[stack[-1]] < value + k:
            found[stack.pop()] = i
        stack.append(i)
    return found, stack


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("LOOPLIFT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LOOPLIFT_BACKGROUND")
    return tmp_path / "cache"


def until(holds):
    for _ in range(3000):
        if holds():
            return
        time.sleep(0.02)
    raise TimeoutError


def settled(cache):
    """Whether all that is compiled is there: one library for each text, and no folder of a compilation."""
    return cache.is_dir() and not list(cache.glob("build-*")) and len(list(cache.glob("*.so"))) == 1


def test_the_better_library_takes_the_place_of_the_first(cache, monkeypatch):
    made = []
    program = native._program
    monkeypatch.setattr(native, "_program", lambda *given: made.append(given[2]) or program(*given))
    values = [3, 1, 4, 1, 5, 9, 2, 6]
    lifted = lift(nearest, verify="off")
    for _ in range(2):
        assert lifted(values, 0) == nearest(values, 0)
    assert lifted.report().loops[0].decision == "native" and made == [background.QUICK]
    until(lambda: settled(cache))
    time.sleep(2 * background.INTERVAL)
    for _ in range(2):
        assert lifted(values, 1) == nearest(values, 1)
    assert made == [background.QUICK, compiler.KERNELS]
    assert lift(nearest, verify="off")(values, 2) == nearest(values, 2)
    assert made == [background.QUICK, compiler.KERNELS, compiler.KERNELS]


def filtered(x, w, out):
    last = 0.0
    for t in range(len(x)):
        last = last * w + x[t] if x[t] > last else last * 0.5
        out[t] = last
    return last


def added(x):
    total = torch.zeros(())
    for value in x:
        total = total + value.exp()
    return total


def of_kernels(monkeypatch):
    made, loaded = [], native._loaded
    monkeypatch.setattr(native, "_loaded", lambda *given: made.append(given[1:]) or loaded(*given))
    return made


def test_a_better_kernel_takes_the_place_of_the_first(cache, monkeypatch):
    made, lifted = of_kernels(monkeypatch), lift(filtered)
    x, out, expected = np.linspace(-1, 1, 50), np.zeros(50), np.zeros(50)
    with all_compiled():
        assert lifted(x, 0.9, out) == filtered(x, 0.9, expected) and np.array_equal(out, expected)
    (code,) = (one.code for each in lifted.__looplift_state__.dispatchers for one in each.variants)
    assert made == [(background.QUICK,)] and code.growing
    until(lambda: settled(cache))
    time.sleep(2 * background.INTERVAL)
    for _ in range(2):
        assert lifted(x, 0.8, out) == filtered(x, 0.8, expected) and np.array_equal(out, expected)
    assert made == [(background.QUICK,), (compiler.KERNELS,)] and not code.growing


def test_the_first_kernel_stays_where_there_is_no_better_one(cache, monkeypatch):
    flags = ("-no_such_flag", *compiler.FLAGS)
    monkeypatch.setattr(background, "KERNELS", compiler.Options(flags, ()))
    made, lifted = of_kernels(monkeypatch), lift(filtered)
    x, out, expected = np.linspace(-1, 1, 50), np.zeros(50), np.zeros(50)
    with all_compiled():
        assert lifted(x, 0.9, out) == filtered(x, 0.9, expected)
    until(lambda: not list(cache.glob("build-*")))
    time.sleep(2 * background.INTERVAL)
    for _ in range(2):
        assert lifted(x, 0.8, out) == filtered(x, 0.8, expected) and np.array_equal(out, expected)
    (code,) = (one.code for each in lifted.__looplift_state__.dispatchers for one in each.variants)
    assert made == [(background.QUICK,)] and not code.growing


def test_a_long_loop_waits_for_the_better_kernel(cache, monkeypatch):
    made = of_kernels(monkeypatch)
    monkeypatch.setattr(awaited, "LONG", 0.0)
    monkeypatch.setattr(awaited, "BUDGET", 0.0)
    monkeypatch.setattr(native.Awaited, "is_coming", lambda self: self.run is None)
    monkeypatch.setattr(verification.Clock, "look_again", out_of_time)
    lifted, x, out, expected = lift(filtered), np.linspace(-1, 1, 50), np.zeros(50), np.zeros(50)
    assert lifted(x, 0.9, out) == filtered(x, 0.9, expected) and np.array_equal(out, expected)
    assert made == [(compiler.KERNELS,)]


def out_of_time(clock):
    raise verification.OutOfTime


def test_what_is_added_in_another_order_is_compiled_once(cache, monkeypatch):
    texts, begin = [], background.begin
    monkeypatch.setattr(background, "begin", lambda text, **more: texts.append((text, more)) or begin(text, **more))
    lifted, x = lift(added, backend="native"), torch.linspace(-1, 1, 50)
    with all_compiled():
        torch.testing.assert_close(lifted(x), added(x))
    assert all(more.get("quick", False) == ("reduction" not in text) for text, more in texts if "_slots(" in text)


def test_it_is_made_where_the_process_ends_before(cache):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    path = cache.parent / "spans.py"
    path.write_text(PROGRAM)
    done = subprocess.run([sys.executable, path], env=environment, capture_output=True, text=True)
    assert done.stdout == "[(1, 2), (4, 5), (3, 6)] native\n" and not done.stderr
    until(lambda: settled(cache))


def test_two_processes_share_one_compilation(cache):
    text = 'extern "C" int one() { return 1; }'
    first, second = background.begin(text), background.begin(text)
    assert first is not None and first.process is not None
    assert second is not None and second.process is None
    until(lambda: first.is_over() and second.is_over())
    assert first.library == second.library and first.library.exists()


def test_what_cannot_be_compiled_is_over_soon(cache):
    coming = background.begin("no C++")
    assert coming is not None
    until(coming.is_over)
    until(lambda: not list(cache.glob("build-*")))
    assert not coming.library.exists()


def test_what_is_over_stays_so(cache):
    coming, again = background.begin("no C++"), background.begin("no C++")
    assert coming is not None and again is not None
    until(coming.is_over)
    start = time.monotonic()
    for one in (coming, again):
        one.wait()
    assert time.monotonic() - start < 60


def test_nobody_waits_for_a_process_that_was_killed(cache):
    text = 'extern "C" int three() { return 3; }'
    folder = cache / f"build-kernel-{compiler.key(text)}"
    folder.mkdir(parents=True)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (folder / background.PROCESS).write_text(f"{dead.pid}\n")
    coming = background.begin(text)
    assert coming is not None and coming.process is None
    until(coming.is_over)
    assert not coming.library.exists()


def test_processes_that_have_ended_are_no_zombies(cache):
    first = background.begin('extern "C" int four() { return 4; }')
    assert first is not None and first.process is not None
    until(lambda: not first.workplace.exists())
    time.sleep(0.1)
    second = background.begin('extern "C" int five() { return 5; }')
    with pytest.raises(ChildProcessError):
        os.waitpid(first.process, os.WNOHANG)
    assert second is not None
    until(second.is_over)
    assert first.is_over()


def test_a_folder_that_was_left_behind_stops_nobody(cache):
    text = 'extern "C" int two() { return 2; }'
    folder = cache / f"build-kernel-{compiler.key(text)}"
    folder.mkdir(parents=True)
    os.utime(folder, (1, 1))
    coming = background.begin(text)
    assert coming is not None and coming.process is not None
    until(coming.is_over)
    assert coming.library.exists()


def test_where_nothing_can_be_written_the_first_library_is_the_best(cache, monkeypatch):
    cache.parent.joinpath("file").write_text("")
    monkeypatch.setenv("LOOPLIFT_CACHE", str(cache.parent / "file"))
    assert background.begin("int one() { return 1; }") is None
    values = [2, 7, 1, 8]
    lifted = lift(nearest, verify="off")
    assert lifted(values, 0) == nearest(values, 0)
    assert lifted.report().loops[0].decision == "native"


def test_what_no_process_can_be_started_for_leaves_nothing(cache, monkeypatch):
    def refuse(*given, **named):
        raise OSError("no process")

    monkeypatch.setattr(os, "posix_spawn", refuse)
    assert background.begin('extern "C" int one() { return 1; }') is None
    assert not list(cache.iterdir())
    values = [2, 7, 1, 8]
    assert lift(nearest, verify="off")(values, 0) == nearest(values, 0)


def test_it_can_be_turned_off(cache, monkeypatch):
    monkeypatch.setenv("LOOPLIFT_BACKGROUND", "0")
    assert not background.is_wanted("int one() { return 1; }")
    values = [2, 7, 1, 8]
    assert lift(nearest, verify="off")(values, 0) == nearest(values, 0)
    assert settled(cache)
