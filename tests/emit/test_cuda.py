"""Kernels for CUDA devices: their text, run by the CPU thread after thread, and on a device where there is one."""

import contextlib
import copy
import ctypes
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.emit import device_stand_in, fake_device
from tests.emit.device_programs import APART, LEFT, RAISING, chosen, escape_time, mandelbrot, out_of_range, without_end

from looplift import lift
from looplift.base.compare import difference
from looplift.base.errors import NotLiftable
from looplift.build import cuda
from looplift.emit.cuda import home_of
from looplift.ir.kernel_launch import ENTRY, OPTIONS
from looplift.pipeline.kernels import kernel_of
from looplift.vectorize.plan import plan

SEEDS = (0, 1, 2, 3)
ORDERS = {
    "in order": np.arange,
    "backwards": lambda count: np.arange(count)[::-1],
    "shuffled": np.random.default_rng(0).permutation,
}
GOLDEN = Path(__file__).with_name("cuda_mandelbrot.txt")
DEEP = {"mandelbrot": 1, "from_the_middle": 1, "gaps": 1, "products": 2, "corners": 3}
"""How many loops inside of the outermost one are lanes, too."""


def by_name(function):
    return function.__name__


def outcome(function, arguments):
    arguments = copy.deepcopy(arguments)
    try:
        return function(*arguments), arguments
    except Exception as error:
        return type(error), str(error), arguments


def kernel(function):
    return lift(function, backend="native", verify="off")


@pytest.fixture(params=ORDERS)
def texts(request, monkeypatch):
    return device_stand_in.pretend(monkeypatch, ORDERS[request.param])


@pytest.fixture
def in_order(monkeypatch):
    return device_stand_in.pretend(monkeypatch)


@pytest.mark.parametrize("function", APART, ids=by_name)
def test_answers_are_those_of_the_loop(function, texts):
    lifted = kernel(function)
    for seed in SEEDS:
        arguments = function.arguments(seed)
        assert difference(outcome(lifted, arguments), outcome(function, arguments)) is None
    assert texts and {loop.decision for loop in lifted.report().loops} == {"native"}
    assert texts[0].count("const int64_t width_") == DEEP.get(function.__name__, 0)


@pytest.mark.parametrize("function", RAISING, ids=by_name)
def test_what_goes_wrong_goes_wrong_in_the_loop(function, texts):
    lifted = kernel(function)
    for seed in SEEDS:
        arguments = function.arguments(seed)
        assert difference(outcome(lifted, arguments), outcome(function, arguments)) is None
    assert texts


@pytest.mark.parametrize("function", LEFT, ids=by_name)
def test_loops_that_are_no_kernels(function, in_order):
    lifted = kernel(function)
    arguments = function.arguments(1)
    assert difference(outcome(lifted, arguments), outcome(function, arguments)) is None
    (loop, *_) = lifted.report().loops
    assert not in_order and loop.decision in ("kept", "sequential") and loop.reason


def test_a_thread_that_never_ends_is_stopped_by_another_that_fails(in_order):
    arguments = without_end.arguments(0)
    assert difference(outcome(kernel(without_end), arguments), outcome(without_end, arguments)) is None
    assert "stopped(state, patience)" in in_order[0]


def test_what_is_noted_is_the_first_iteration_that_fails(texts, monkeypatch):
    noted = []
    monkeypatch.setattr(cuda, "launcher", _noting(cuda.launcher, noted))
    x, index, out = out_of_range.arguments(1)
    with pytest.raises(IndexError):
        kernel(out_of_range)(x, index, out)
    assert noted == [32 * (int((index >= 30).nonzero()[0]) + 1) + 1]


def _noting(launcher, noted):
    def noting(text):
        launch = launcher(text)

        def launched(device, arguments):
            launch(device, arguments)
            noted.append(int(arguments[0][0]))

        return launched

    return noting


def test_autograd_is_told_of_what_changed(in_order):
    lifted = kernel(chosen)
    for x, changes in ((torch.ones(3), 1), (torch.zeros(3), 0)):
        out = torch.zeros(3)
        lifted(x, torch.zeros(3), out)
        assert out._version == changes


def test_nothing_changes_where_arguments_are_no_longer_the_same(in_order):
    lifted = kernel(chosen)
    for dtype in (torch.float32, torch.float64, torch.float32):
        arguments = [one.to(dtype) for one in chosen.arguments(3)]
        assert difference(outcome(lifted, arguments), outcome(chosen, arguments)) is None
    assert len(set(in_order)) == 2


# ---------------------------------------------------------------- the text


def test_the_text(in_order):
    lifted = kernel(mandelbrot)
    lifted(*mandelbrot.arguments(3))
    assert lifted.source == GOLDEN.read_text()


def test_the_text_runs_alone(in_order, monkeypatch):
    lifted = kernel(mandelbrot)
    wanted = lifted(*mandelbrot.arguments(3))
    namespace = {}
    exec(lifted.source, namespace)
    namespace["home_of"] = cuda.home_of
    namespace["_compiled"] = lambda source, device: (cuda.compiled(source, device), 2)
    assert torch.equal(namespace["mandelbrot"](*mandelbrot.arguments(3)), wanted)


def nvrtc():
    for version in (13, 12):
        with contextlib.suppress(OSError):
            return ctypes.CDLL(f"libnvrtc.so.{version}")
    return None


@pytest.mark.parametrize("function", APART + RAISING, ids=by_name)
def test_nvrtc_compiles_the_text(function, in_order):
    if (library := nvrtc()) is None:
        pytest.skip("no NVRTC")
    outcome(kernel(function), function.arguments(3))
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), in_order[0].encode(), f"{ENTRY}.cu".encode(), 0, None, None)
    options = [option.encode() for option in ("--gpu-architecture=compute_80", *OPTIONS)]
    failed = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    log = ctypes.create_string_buffer(10**5)
    library.nvrtcGetProgramLog(program, log)
    assert not failed, log.value.decode()


# ---------------------------------------------------------------- devices


def test_which_device_a_loop_is_on():
    from torch._subclasses.fake_tensor import FakeTensorMode

    loop, facts, (x, y) = _loop_and_facts()
    with FakeTensorMode(allow_non_fake_inputs=True):
        on_cuda, elsewhere = torch.empty(3, device="cuda"), torch.empty(3, device="xpu")
    here = torch.empty(3)
    assert home_of(loop, (x, y), facts(here, here)) is None
    assert home_of(loop, (x, y), facts(on_cuda, on_cuda)) == torch.device("cuda", 0)
    for first, second in ((here, on_cuda), (elsewhere, elsewhere)):
        with pytest.raises(NotLiftable, match="its tensors are on several devices"):
            home_of(loop, (x, y), facts(first, second))
    with pytest.raises(NotLiftable, match="it makes tensors that are on the CPU"):
        home_of(loop, (x, y), facts(on_cuda, on_cuda, here))


def _loop_and_facts():
    from looplift.ir.facts import Fact, Facts, kind_of
    from looplift.ir.grammar import Block, Const, Function, Let, Loop, Op, Range, Var

    x, y, inside = Var("x.0"), Var("y.0"), Var("t.0")
    body = Block((Let(inside, Op("neg", (x,))),))
    loop = Loop(Range(Const(0), Const(3), Const(1)), Var("i.0"), (), body, None)

    def facts(first, second, made=None):
        samples = {x: first, y: second, inside: first if made is None else made}
        found = {var: Fact(kind_of(sample), (), (3,), sample) for var, sample in samples.items()}
        return Facts(Function("f", (), Block((loop,)), ()), found)

    return loop, facts, (x, y)


@pytest.mark.parametrize("function", APART, ids=by_name)
def test_loops_over_tensors_of_a_device_are_kernels(function, monkeypatch):
    seen = []
    monkeypatch.setattr(cuda, "compiled", lambda text, device: seen.append(device))
    facts = fake_device.facts_there(function, function.arguments(3), monkeypatch)
    made = plan(facts, backend="native", kernel_of=kernel_of)
    assert {one.decision for one in made.decisions} == {"native"}
    assert {kernel.device for kernel, _ in made.kernels} == {*seen} == {torch.device("cuda", 0)}


def with_numbers_of_the_cpu(x, out):
    for i in range(x.shape[0]):
        total, k = torch.zeros(()), 0
        while k < 3:
            total = total + x[i]
            k += 1
        out[i] = total
    return out


def test_numbers_of_the_cpu_beside_those_of_a_device(monkeypatch):
    facts = fake_device.facts_there(with_numbers_of_the_cpu, (torch.zeros(3), torch.zeros(3)), monkeypatch)
    with pytest.raises(NotLiftable, match="'total' is on cpu and on cuda:0, by iteration"):
        plan(facts, backend="native", kernel_of=kernel_of)


def test_what_cannot_be_compiled_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device", lambda device: device_stand_in.nullcontext())
    monkeypatch.setattr(torch.cuda, "_compile_kernel", None)
    with pytest.raises(NotLiftable, match=r"PyTorch 2\.8 or newer"):
        cuda.compiled("", torch.device("cuda", 0))

    def refusing(text, name, nvcc_options):
        raise RuntimeError("error: expected a ';'")

    monkeypatch.setattr(torch.cuda, "_compile_kernel", refusing)
    with pytest.raises(NotLiftable, match="it cannot be compiled: error: expected a ';'"):
        cuda.compiled("", torch.device("cuda", 0))


def test_tensors_elsewhere():
    with pytest.raises(TypeError, match="must all be on one CUDA device"):
        cuda.home_of(torch.zeros(2))


ON_A_DEVICE = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@pytest.mark.gpu
@ON_A_DEVICE
@pytest.mark.parametrize("function", APART + RAISING + LEFT, ids=by_name)
@pytest.mark.parametrize("backend", ["native", "auto"])
def test_answers_on_a_device_are_those_of_the_loop(function, backend, monkeypatch):
    launched = []
    monkeypatch.setattr(cuda, "launcher", _noting(cuda.launcher, launched))
    lifted = lift(function, backend=backend, verify="off")
    for seed in SEEDS:
        if function.__name__ == "overlapping" and seed % 2 == 0:
            continue  # a store into a tensor whose elements are one
        arguments = [one.cuda() if isinstance(one, torch.Tensor) else one for one in function.arguments(seed)]
        assert difference(outcome(lifted, arguments), outcome(function, arguments)) is None
    assert launched or backend == "auto" or function in LEFT


@pytest.mark.gpu
@ON_A_DEVICE
def test_many_iterations_on_a_device():
    generator = torch.Generator().manual_seed(0)
    reals, imaginaries = (torch.randn(300_000, generator=generator) for _ in range(2))
    counts = torch.zeros(300_000, dtype=torch.int64)
    found = kernel(escape_time)(reals.cuda(), imaginaries.cuda(), counts.cuda(), 200)
    assert torch.equal(found.cpu(), kernel(escape_time)(reals, imaginaries, counts, 200))
