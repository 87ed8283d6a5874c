"""Operators on CUDA devices: the text, run by the CPU with a stand-in for CUDA's threads, and on a device where there
is one."""

import ctypes
import functools

import pytest
import torch

import looplift
from looplift.build import compiler
from looplift.build.custom import on_cuda
from looplift.emit.custom import cuda_text
from looplift.runtime.signatures import parsed

STAND_IN = """
#define __global__
#define __device__
#include <stdint.h>
struct Index { unsigned x; };
static Index blockIdx, blockDim, threadIdx, gridDim;
"""
LAUNCH = """
extern "C" void launch(unsigned grid, unsigned block, void** a) {{
  gridDim.x = grid, blockDim.x = block;
  for (blockIdx.x = 0; blockIdx.x < grid; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < block; ++threadIdx.x)
      looplift_lanes({arguments});
}}
"""

SCALED = """
FUNCTION void scaled(const float* x, double factor, bool turned, float* y, int64_t* last, int64_t h, int64_t w) {
  for (int64_t k = 0; k < h * w; ++k) y[k] = (turned ? -1 : 1) * factor * x[k];
  *last = y[h * w - 1] > 0 ? h : w;
}
"""
SIGNATURE = "(x: float32[h, w], factor: float, turned: bool) -> (float32[h, w], int64[])"
HOST, DEVICE = SCALED.replace("FUNCTION", ""), SCALED.replace("FUNCTION", "__device__")
POOLED = """
FUNCTION void pooled(const double* x, int64_t width, double* means, int64_t n) {
  for (int64_t k = 0; k + width <= n; ++k) {
    means[k] = 0;
    for (int64_t j = 0; j < width; ++j) means[k] += x[k + j];
  }
}
"""


def on_a_stand_in(text, name):
    """What torch makes of the text, on the CPU: launches run one thread after the other."""
    parameters = text.rpartition(f"void {name}(")[2].partition(") {")[0].split(", ")
    types = [parameter.rpartition(" ")[0] for parameter in parameters]
    launch = LAUNCH.format(arguments=", ".join(f"({kind})a[{k}]" for k, kind in enumerate(types)))
    function = ctypes.CDLL(str(compiler.library(STAND_IN + text + launch, compiler.OF_USERS))).launch

    def kernel(*, grid, block, args):
        assert grid[1:] == block[1:] == (1, 1) and 0 < grid[0] <= 65_535
        function(grid[0], block[0], (ctypes.c_void_p * len(args))(*(one.data_ptr() for one in args)))

    return kernel


def of_both(name, source, signature):
    """An operator by its C++, and by its CUDA text on the stand-in."""
    host, device = source.replace("FUNCTION", ""), source.replace("FUNCTION", "__device__")
    one, other = (looplift.op(name, host, signature=signature) for _ in range(2))
    text = cuda_text(name, device, parsed(signature), f"{name}.cu")
    other.calls = {"cpu": on_cuda(text, name, on_a_stand_in)}
    return one, other


def test_the_text():
    text = cuda_text("scaled", DEVICE, parsed(SIGNATURE), "scaled.cu")
    kernel = text[text.index('extern "C" __global__') :]
    assert kernel.startswith(
        'extern "C" __global__ void looplift_lanes(const int64_t* layout, const bool* active, const float* a0, '
        "const double* a1, const bool* a2, float* a3, int64_t* a4) {"
    )
    assert (
        "scaled(a0 + place[0], a1[place[1]], a2[place[2]], a3 + place[3], a4 + place[4], size[0], size[1]);" in kernel
    )
    assert '#line 1 "scaled.cu"' in text


@pytest.mark.parametrize("lanes", [(), (1,), (5,), (300,), (2, 3), (0,), (3, 0)])
@pytest.mark.parametrize("masked", [False, True])
def test_a_thread_for_each_lane(lanes, masked):
    one, other = of_both("scaled", SCALED, SIGNATURE)
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(*lanes, 2, 3, generator=generator)
    factor = torch.randn(lanes[-1:], dtype=torch.float64, generator=generator)
    where = torch.rand(lanes, generator=generator) > 0.5 if masked else None
    for arguments in ((x, factor, True), (x.mT.contiguous().mT, 2.0, False), (x[..., :1, :1], factor, True)):
        assert all(map(torch.equal, one(*arguments, where=where), other(*arguments, where=where)))


def test_what_broadcasts_and_sizes_of_results():
    one, other = of_both("scaled", SCALED, SIGNATURE)
    x, factor = torch.randn(4, 1, 2, 3), torch.randn(5, dtype=torch.float64)
    assert all(map(torch.equal, one(x, factor, True), other(x, factor, True)))
    one, other = of_both("pooled", POOLED, "(float64[n], width: int) -> float64[n - width + 1]")
    x = torch.randn(3, 7, dtype=torch.float64)
    assert torch.equal(one(x, 3), other(x, 3))


def test_more_lanes_than_threads(monkeypatch):
    monkeypatch.setattr("looplift.build.custom.GRID", 2)
    one, other = of_both("scaled", SCALED, SIGNATURE)
    x = torch.randn(1000, 1, 2)
    assert all(map(torch.equal, one(x, 2, False), other(x, 2, False)))


def test_it_is_compiled_once_and_when_it_is_called():
    made = []

    def compiled(text, name):
        made.append(name)
        return on_a_stand_in(text, name)

    _, other = of_both("scaled", SCALED, SIGNATURE)
    other.calls = {"cpu": on_cuda(cuda_text("scaled", DEVICE, parsed(SIGNATURE), "scaled.cu"), "scaled", compiled)}
    assert not made
    for _ in range(2):
        other(torch.randn(2, 2), 1.0, True)
    assert made == ["looplift_lanes"]


def test_what_the_compiler_refuses():
    def compiled(text, name):
        raise RuntimeError("error: expected a ';'")

    call = on_cuda("", "scaled", compiled)
    with pytest.raises(RuntimeError, match=r"the CUDA compiler refused 'scaled':\n\nerror: expected a ';'"):
        call((), [torch.ones(1)], None, [])


def test_arguments_elsewhere():
    scaled = looplift.op("scaled", HOST, signature=SIGNATURE)
    both = looplift.op("scaled", HOST, DEVICE, signature=SIGNATURE)
    check = functools.partial(both.operator, factor=torch.tensor(1.0), turned=torch.tensor(True), where=None)
    assert check(torch.ones(3, 2, 2, device="meta"))[0].shape == (3, 2, 2)
    assert set(scaled.calls) == {"cpu"} and set(both.calls) == {"cpu", "cuda"}
    with pytest.raises(ValueError, match="'cuda' must be C"):
        looplift.op("scaled", HOST, "none.cu", signature=SIGNATURE)


def test_the_device_of_a_call():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode(allow_non_fake_inputs=True):
        x = torch.empty(2, 2, device="cuda")
        with pytest.raises(TypeError, match=r"'x' must be on the CPU, not on cuda:0; looplift.op\(..., cuda=...\)"):
            looplift.op("scaled", HOST, signature=SIGNATURE)(x, 1.0, True)
        y, _ = looplift.op("scaled", HOST, DEVICE, signature=SIGNATURE)(x, 1.0, True)
        assert y.device == x.device
        joined = looplift.op(
            "joined", "void joined(const bool*, const bool*, bool*, int64_t) {}", DEVICE,
            signature="(a: bool[n], b: bool[n]) -> bool[n]",
        )  # fmt: skip
        with pytest.raises(TypeError, match=r"'a' is on cpu, and 'b' on cuda:0"):
            joined(torch.ones(2).bool(), torch.ones(2, device="cuda").bool())


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_on_a_device():
    both = looplift.op("scaled", HOST, DEVICE, signature=SIGNATURE)
    x, factor = torch.randn(300, 2, 3), torch.randn(300, dtype=torch.float64)
    found = both(x.cuda(), factor.cuda(), True)
    torch.testing.assert_close([one.cpu() for one in found], list(both(x, factor, True)))
