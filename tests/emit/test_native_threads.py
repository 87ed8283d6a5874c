"""Kernels whose loops several threads share: which do, and that the answers stay the loop's."""

import copy
import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tests.emit.thread_programs import APART, MEETING, names_of_its_own
from tests.fuzz.sharing import share_at_once

from looplift import lift
from looplift.base.compare import difference
from looplift.base.errors import NotLiftable
from looplift.build import native

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def at_once(monkeypatch):
    """Four threads, however short a loop is."""
    monkeypatch.setattr(native, "PARTS", native.PARTS)
    threads = torch.get_num_threads()
    share_at_once()
    native._in_parts.cache_clear()
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(threads)
    monkeypatch.undo()
    native._in_parts.cache_clear()
    native._host().in_parts = None


def outcome(function, arguments):
    arguments = copy.deepcopy(arguments)
    try:
        return function(*arguments), arguments
    except Exception as error:
        return type(error), str(error)


def kernel(function):
    return lift(function, backend="native", verify="off")


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("function", APART + MEETING, ids=lambda function: function.__name__)
def test_answers_are_those_of_the_loop(function, at_once):
    lifted = kernel(function)
    for seed in (0, 1, 2, 3):
        arguments = function.arguments(seed)
        assert difference(outcome(lifted, arguments), outcome(function, arguments)) is None


@pytest.mark.parametrize("function", APART, ids=lambda function: function.__name__)
def test_iterations_that_do_not_meet_are_shared(function):
    lifted = kernel(function)
    lifted(*function.arguments(2))
    assert "shared(watch" in lifted.source


@pytest.mark.parametrize("function", MEETING, ids=lambda function: function.__name__)
def test_iterations_that_meet_are_not(function):
    lifted = kernel(function)
    lifted(*function.arguments(2))
    assert "Watch watch(host)" in lifted.source and "shared(watch" not in lifted.source


def test_a_process_that_forks_has_threads_too(at_once):
    lifted = kernel(names_of_its_own)
    arguments = names_of_its_own.arguments(0)
    wanted = lifted(*arguments)
    child = os.fork()
    if not child:
        os._exit(0 if torch.equal(lifted(*arguments), wanted) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_the_text_of_its_own_shares_loops(at_once):
    lifted = kernel(names_of_its_own)
    wanted = lifted(*names_of_its_own.arguments(0))
    namespace = {}
    exec(lifted.source, namespace)
    assert torch.equal(namespace["names_of_its_own"](*names_of_its_own.arguments(0)), wanted)
    assert namespace["_host"].in_parts


ENDLESS = """
import signal, threading, time, os
import torch
import looplift
from tests.fuzz.sharing import share_at_once

signal.signal(signal.SIGINT, signal.default_int_handler)  # background processes of a shell ignore it
share_at_once()
torch.set_num_threads(2)


def endless(x, stop):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        v = x[i]
        while v < stop:
            v = v * 0.5
        out[i] = v
    return out


lifted = looplift.lift(endless, backend="native", verify="off")
lifted(torch.ones(8), 0.5)
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    lifted(torch.ones(64), 2.0)
except KeyboardInterrupt:
    print("stopped", torch.equal(lifted(torch.ones(8), 0.5), torch.ones(8)))
"""


def test_ctrl_c_stops_all_threads(tmp_path):
    program = tmp_path / "endless.py"
    program.write_text(ENDLESS)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    command = [sys.executable, str(program)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)
    assert done.stdout == "stopped True\n", done.stderr


# ---------------------------------------------------------------- the C++ itself


ASKED = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
PIECE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
IN_PARTS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ASKED, PIECE, ASKED, ctypes.c_void_p)


def shared(begin, end, threads, fails=None):
    """The pieces of a range that threads take, and what comes of it; the piece that has ``fails`` in it gives 5."""
    pieces = []

    def piece(_, first, last):
        pieces.append((first, last))
        return 5 if fails is not None and first <= fails < last else 0

    function = native._library(native.PARTS).looplift_in_parts
    in_parts = ctypes.cast(function, IN_PARTS)
    return pieces, in_parts(begin, end, ASKED(lambda _: threads), PIECE(piece), ASKED(lambda _: 0), None)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 17, 1000])
def test_each_iteration_is_in_one_piece(threads, count, at_once):
    pieces, outcome = shared(-3, count - 3, threads)
    assert outcome == 0
    assert sorted(k for piece in pieces for k in range(*piece)) == list(range(-3, count - 3))


@pytest.mark.parametrize("fails", [0, 17, 999])
def test_a_piece_that_fails_ends_it(fails, at_once):
    assert shared(0, 1000, 3, fails)[1] == 5


def test_kernels_run_alone_where_nothing_can_be_compiled(at_once, monkeypatch):
    def refused(source):
        raise NotLiftable("backend", "no C++ compiler was found on this machine")

    with monkeypatch.context() as patch:
        patch.setattr(native, "_library", refused)
        assert native._in_parts() is None
    lifted = kernel(names_of_its_own)
    arguments = names_of_its_own.arguments(0)
    assert difference(lifted(*arguments), names_of_its_own(*arguments)) is None
    assert native._host().in_parts is None
