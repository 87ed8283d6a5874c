"""Complex numbers that are stored into arrays and tensors."""

import numpy as np
import torch
from tests.vectorize.harness import check, outcome

from looplift import lift
from looplift.base.compare import difference


def spectra(x, window, hop):
    count = (x.shape[0] - window.shape[0]) // hop + 1
    out = torch.zeros(window.shape[0] // 2 + 1, count, dtype=torch.complex64)
    for t in range(count):
        out[:, t] = torch.fft.rfft(x[t * hop : t * hop + window.shape[0]] * window)
    return torch.view_as_real(out)


def steering(angles, n):
    out = torch.zeros(angles.shape[0], n, dtype=torch.complex64)
    for i in range(angles.shape[0]):
        for k in range(n):
            out[i, k] = torch.exp(1j * (k * torch.sin(angles[i])))
    return torch.view_as_real(out)


def channel(real, imaginary, x):
    taps = torch.complex(real, imaginary)
    out = torch.zeros(x.shape[0] + taps.shape[0] - 1, dtype=torch.complex64)
    for n in range(x.shape[0]):
        for k in range(taps.shape[0]):
            out[n + k] += taps[k] * x[n]
    return torch.view_as_real(out)


def of_real_ones(x):
    out = torch.zeros(x.shape[0], 3, dtype=torch.complex64)
    for i in range(x.shape[0]):
        out[i, 0] = x[i] * 2
        out[i, 1] = i
        out[i, 2] = 0.5
    return torch.view_as_real(out)


def test_tensors():
    check(spectra, [torch.randn(40), torch.hann_window(16), 4], decisions={"lanes"})
    check(steering, [torch.randn(6), 5], decisions={"lanes"})
    check(channel, [torch.randn(3), torch.randn(3), torch.randn(9)], decisions={"lanes"})
    check(of_real_ones, [torch.randn(6)], decisions={"lanes"})


def transformed(x):
    out = np.zeros(len(x), dtype=complex)
    for k in range(len(x)):
        for n in range(len(x)):
            out[k] += x[n] * np.exp(-2j * np.pi * k * n / len(x))
    return out


def frames(x, window, hop):
    out = np.zeros(((x.shape[0] - len(window)) // hop + 1, len(window) // 2 + 1), dtype=np.complex128)
    for t in range(out.shape[0]):
        out[t] = np.fft.rfft(x[t * hop : t * hop + len(window)] * window)
    return out


def counted(places, x):
    out = np.zeros(5, dtype=np.complex64)
    for i in range(len(places)):
        out[places[i]] += x[i]
    return out


def test_arrays():
    rng = np.random.default_rng(0)
    check(transformed, [rng.normal(size=12)], gradients=False, decisions={"lanes"})
    check(frames, [rng.normal(size=60), np.hanning(16), 4], gradients=False, decisions={"lanes"})
    values = (rng.normal(size=30) + 1j).astype(np.complex64)
    check(counted, [rng.integers(0, 5, 30), values], gradients=False, decisions={"lanes"})


def imaginary(x, out):
    for i in range(len(x)):
        out[i] = x[i] * 1j
    return out


def test_what_holds_real_numbers_takes_no_complex_ones():
    lifted = lift(imaginary, verify="off")
    for out in (np.zeros(4), torch.zeros(4), torch.zeros(4, dtype=torch.int64)):
        x = np.arange(4.0) if isinstance(out, np.ndarray) else torch.arange(4.0)
        try:
            wanted = outcome(imaginary, [x, out], gradients=False)
        except TypeError as error:
            wanted = {"error": str(error)}
        try:
            found = outcome(lifted, [x, out], gradients=False)
        except TypeError as error:
            found = {"error": str(error)}
        assert not difference(found, wanted, magnitude=1.0)
    assert "which holds real ones" in str(lifted.report())


def one_number(x, scale):
    out = torch.zeros(x.shape[0], dtype=torch.complex64)
    for i in range(1, x.shape[0]):
        out[i] = scale
    return out


def test_gradients_of_gradients_of_real_numbers_in_complex_places():
    scale = torch.tensor(0.5, requires_grad=True)
    found = lift(one_number, verify="off")(torch.zeros(4), scale)
    (slope,) = torch.autograd.grad(found.real.double().sum(), scale, create_graph=True)
    assert slope == 3.0
