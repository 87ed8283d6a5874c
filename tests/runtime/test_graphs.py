"""Lifted functions in graphs of torch.compile and torch.export, and under the transforms of torch.func."""

import copy
import warnings

import pytest
import torch
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap

from looplift import lift
from looplift.runtime.operators import Operator

FACTOR = 3.0


@pytest.fixture(autouse=True)
def anew():
    torch.manual_seed(0)
    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class Nodes:
    """A backend of torch.compile that counts the nodes of each graph."""

    def __init__(self):
        self.counts = []

    def __call__(self, module, _):
        self.counts.append(sum(node.op.startswith("call") for node in module.graph.nodes))
        return module


def scaled(x):
    out = []
    for i in range(x.shape[0]):
        out.append(torch.tanh(x[i]) * FACTOR)
    return torch.stack(out)


def energy(x):
    total = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(i):
            total = total + torch.exp(-((x[i] - x[j]) ** 2).sum())
    return total


def filled(x):
    out = torch.zeros(x.shape[0], dtype=x.dtype)
    for i in range(x.shape[0]):
        out[i] = x[i] * 2
    return out


def shifted(x, out):
    for i in range(1, x.shape[0]):
        out[i] = x[i - 1] * 2
    return out


def roots(x):
    out = []
    for i in range(x.shape[0]):
        if x[i] > 0:
            out.append(torch.sqrt(x[i]))
        else:
            out.append(x[i] * 0)
    return torch.stack(out)


def noisy(x):
    out = []
    for i in range(x.shape[0]):
        out.append(x[i] + torch.rand(()))
    return torch.stack(out)


def smoothed(x):
    out = torch.zeros_like(x)
    out[0] = x[0]
    for i in range(1, x.shape[0]):
        out[i] = torch.sin(out[i - 1]) + x[i]
    return out


def squares(x):
    total = torch.zeros(())
    for k in range(x.shape[0]):
        total = total + x[k] ** 2
    return total


def product_of_helpers(x):
    return squares(x) * squares(x + 1)


def helper_inside(x):
    shift = x.sum()

    def moved(y):
        total = torch.zeros(())
        for k in range(y.shape[0]):
            total = total + y[k] * shift
        return total

    return moved(x) + moved(2 * x)


def clipped(x, limit):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = torch.exp(x[i]) if i < limit else x[i]
    return out


def of_list(xs):
    out = []
    for x in xs:
        out.append(x.sum() * 2)
    return torch.stack(out)


class Rows(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)
        self.scale = 2.0

    def forward(self, x):
        out = []
        for row in x:
            out.append(torch.tanh(self.linear(row)) * self.scale)
        return torch.stack(out)


def check_compiled(function, *arguments, whole=True, called_before=False):
    """Compare with the loop: results, writes, gradients. Returns the numbers of nodes."""
    nodes = Nodes()
    lifted = lift(copy.deepcopy(function))
    if called_before:
        lifted(*copy.deepcopy(arguments))
    compiled = torch.compile(lifted, backend=nodes, fullgraph=whole)
    found, wanted = (outcome(one, arguments) for one in (compiled, function))
    torch.testing.assert_close(found, wanted)
    return nodes.counts


def outcome(function, arguments):
    values = copy.deepcopy(arguments)
    torch.manual_seed(1)
    result = function(*values)
    sources = [one for one in values if isinstance(one, torch.Tensor) and one.requires_grad]
    gradients = torch.autograd.grad(result.sum(), sources) if sources else ()
    return result, [one for one in values if isinstance(one, torch.Tensor)], gradients


@pytest.mark.parametrize("called_before", [False, True])
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (scaled, (torch.randn(40, 3, requires_grad=True),)),
        (energy, (torch.randn(30, 3),)),
        (filled, (torch.randn(40, requires_grad=True),)),
        (shifted, (torch.randn(40), torch.zeros(40))),
        (roots, (torch.randn(40),)),
        (clipped, (torch.randn(40), 7)),
        (of_list, ([torch.randn(4) for _ in range(40)],)),
        (Rows(), (torch.randn(40, 3),)),
        (product_of_helpers, (torch.linspace(-1, 1, 40, requires_grad=True),)),
    ],
)
def test_batched_code_is_in_the_graph(function, arguments, called_before):
    (count,) = check_compiled(function, *arguments, called_before=called_before)
    assert count < 30


@pytest.mark.parametrize(
    ("function", "arguments", "whole"),
    [
        (noisy, (torch.randn(6),), False),
        (noisy, (torch.randn(6),), True),
        (energy, (torch.randn(4, 3, requires_grad=True),), False),
        (energy, (torch.randn(4, 3, requires_grad=True),), True),
        (helper_inside, (torch.randn(6, requires_grad=True),), False),
        (helper_inside, (torch.randn(6, requires_grad=True),), True),
        (smoothed, (torch.randn(6),), False),
        (smoothed, (torch.randn(6),), True),
        (roots, (torch.randn(6, requires_grad=True),), False),
    ],
)
def test_what_cannot_be_in_a_graph_is_as_without_one(function, arguments, whole):
    check_compiled(function, *arguments, whole=whole)


def test_a_graph_breaks_where_a_loop_runs_as_a_kernel():
    nodes = Nodes()
    lifted = lift(smoothed)
    x = torch.randn(3000)
    found = torch.compile(lambda x: lifted(x + 1) * 2, backend=nodes)(x)
    torch.testing.assert_close(found, smoothed(x + 1) * 2)
    assert sum(nodes.counts) < 10
    assert lifted.report().loops[0].decision == "native"


@pytest.mark.parametrize("same", [False, True])
def test_memory_that_arguments_share(same):
    base = torch.arange(6.0)

    def make():
        base = torch.arange(6.0)
        return (base, base) if same else (base[:5], base[1:])

    found, wanted = make(), make()
    result = torch.compile(lift(shifted), backend="aot_eager", fullgraph=True)(*found)
    torch.testing.assert_close(result, shifted(*wanted))
    torch.testing.assert_close(found, wanted)
    assert not torch.equal(found[0], base[: len(found[0])])


def test_sizes_that_change():
    nodes = Nodes()
    compiled = torch.compile(lift(scaled), backend=nodes, fullgraph=True)
    for n in (4, 5, 6, 7, 1, 2, 9):
        x = torch.randn(n, 3)
        torch.testing.assert_close(compiled(x), scaled(x))
    assert len(nodes.counts) == 3  # four rows, any number of rows, one row


def test_names_around_the_loop_that_change(monkeypatch):
    compiled = torch.compile(lift(scaled), backend="eager", fullgraph=True)
    x = torch.randn(5, 3)
    for factor in (2.0, 5.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        torch.testing.assert_close(compiled(x), scaled(x))


def test_parameters_of_a_module_that_change():
    lifted, plain, x = lift(Rows()), Rows(), torch.randn(5, 3)
    compiled = torch.compile(lifted, backend="eager", fullgraph=True)
    for scale in (2.0, 3.0):
        lifted.load_state_dict(plain.state_dict())
        lifted.scale = plain.scale = scale
        torch.testing.assert_close(compiled(x), plain(x))
        plain.linear.weight.requires_grad_(False)
        lifted.linear.weight.requires_grad_(False)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("called_before", [False, True])
def test_export(strict, called_before):
    lifted = lift(roots)

    class Model(torch.nn.Module):
        def forward(self, x):
            return lifted(x)

    x, y = torch.randn(40), torch.randn(40)
    if called_before:
        lifted(x)
    program = torch.export.export(Model(), (x,), strict=strict)
    assert len(program.graph.nodes) < 20
    torch.testing.assert_close(program.module()(y), roots(y))


def test_export_with_sizes_of_any_value():
    lifted = lift(scaled)

    class Model(torch.nn.Module):
        def forward(self, x):
            return lifted(x)

    sizes = {"x": {0: torch.export.Dim("n", min=2, max=100)}}
    program = torch.export.export(Model(), (torch.randn(7, 3),), dynamic_shapes=sizes)
    x = torch.randn(50, 3)
    torch.testing.assert_close(program.module()(x), scaled(x))


@pytest.mark.parametrize("called_before", [False, True])
@pytest.mark.parametrize(
    ("use", "function"),
    [
        (lambda f: grad(f)(X), energy),
        (lambda f: hessian(f)(X), energy),
        (lambda f: vmap(f)(torch.stack([X, 2 * X])), energy),
        (lambda f: vmap(grad(f))(torch.stack([X, 2 * X])), energy),
        (lambda f: vmap(f, in_dims=1)(torch.stack([X, 2 * X], 1)), scaled),
        (lambda f: jacrev(f)(X), scaled),
        (lambda f: jacfwd(f)(X), scaled),
        (lambda f: jvp(f, (X,), (X,)), scaled),
        (lambda f: jvp(f, (X[0],), (X[1],)), roots),
        (lambda f: vmap(f, randomness="different")(X), noisy),
        (lambda f: grad(lambda x: f(x, torch.zeros(5)).sum())(torch.ones(5)), shifted),
        (lambda f: torch.autograd.grad(grad(f)(V).sum(), V), energy),
    ],
)
def test_transforms(use, function, called_before):
    lifted = lift(function)
    if called_before and function is energy:
        lifted(X)
    torch.manual_seed(2)
    wanted = use(function)
    torch.manual_seed(2)
    torch.testing.assert_close(use(lifted), wanted)


X = torch.randn(5, 3, dtype=torch.float64)
V = X.clone().requires_grad_()


def test_vmap_takes_what_it_refuses_of_the_loop():
    lifted = lift(roots)
    x = torch.randn(4, 6)
    torch.testing.assert_close(vmap(lifted)(x), torch.stack([roots(row) for row in x]))
    torch.testing.assert_close(vmap(lift(filled))(x), 2 * x)


@pytest.mark.parametrize(
    "nested", [lambda f: grad(lambda x: vmap(f)(x).sum()), lambda f: vmap(grad(lambda x: f(x).sum()))]
)
def test_no_gradient_becomes_nan_where_values_are_not_seen(nested):
    """The square root of a negative number is computed in lanes that do not take it."""
    x = torch.tensor([[1.0, -1.0], [-4.0, 0.0]])
    with pytest.raises(RuntimeError, match="data-dependent"):
        nested(roots)(x)
    with pytest.raises(RuntimeError, match="data-dependent"):
        nested(lift(roots))(x)


def test_report_says_why_a_loop_is_traced_as_written():
    lifted = lift(noisy)
    torch.compile(lifted, backend="eager", fullgraph=True)(torch.randn(4))
    (loop,) = lifted.report().loops
    assert any("random numbers" in note for note in loop.notes)


def alignment(x, y):
    """Dynamic time warping."""
    n, m = x.shape[0], y.shape[0]
    table = torch.full((n + 1, m + 1), float("inf"), dtype=x.dtype)
    table[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            table[i, j] = abs(x[i - 1] - y[j - 1]) + min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
    return table[n, m]


def swept(x, steps):
    x = x.clone()
    for _ in range(steps):
        for i in range(1, x.shape[0] - 1):
            x[i] = 0.5 * (x[i - 1] + x[i + 1])
    return x


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (alignment, (torch.randn(12), torch.randn(9))),
        (alignment, (torch.randn(12, requires_grad=True), torch.randn(9))),
        (alignment, (torch.randn(9, requires_grad=True), torch.randn(7, dtype=torch.float32, requires_grad=True))),
        (swept, (torch.randn(20, dtype=torch.float64), 3)),
        (swept, (torch.randn(20, dtype=torch.float64, requires_grad=True), 3)),
        (smoothed, (torch.randn(50),)),
    ],
)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_kernels_are_operators_of_a_graph(function, arguments, backend):
    compiled = torch.compile(lift(function), backend=backend, fullgraph=True)
    torch.testing.assert_close(outcome(compiled, arguments), outcome(function, arguments))


def test_a_graph_with_a_kernel_is_small():
    nodes = Nodes()
    x, y = torch.randn(30, requires_grad=True), torch.randn(20)
    torch.compile(lift(alignment), backend=nodes, fullgraph=True)(x, y)
    assert len(nodes.counts) == 1
    assert nodes.counts[0] < 15


def test_export_of_a_kernel():
    lifted = lift(alignment)

    class Model(torch.nn.Module):
        def forward(self, x, y):
            return lifted(x, y)

    program = torch.export.export(Model(), (torch.randn(8), torch.randn(6)))
    assert len(program.graph.nodes) < 20
    x, y = torch.randn(8), torch.randn(6)
    torch.testing.assert_close(program.module()(x, y), alignment(x, y))


def test_operators_pass_the_checks_of_torch(monkeypatch):
    calls = []
    run = Operator._run
    monkeypatch.setattr(Operator, "_run", lambda self, values: calls.append((self, values)) or run(self, values))
    x, y = torch.randn(6, requires_grad=True), torch.randn(5)
    torch.compile(lift(alignment), backend="eager", fullgraph=True)(x, y)
    kernel, values = calls[-1]
    values = [one.detach().clone() if isinstance(one, torch.Tensor) else one for one in values]
    for position in kernel.definition.sources:
        values[position].requires_grad_()
    torch.library.opcheck(kernel.made.default, tuple(values))


def test_what_a_loop_raises_names_the_graph():
    def shifted_by(x, out, offset):
        for i in range(1, x.shape[0]):
            out[i + offset] = torch.sin(out[i - 1]) + x[i]
        return out

    arguments = (torch.randn(9), torch.zeros(9))
    compiled = torch.compile(lift(shifted_by), backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(*arguments, 0), shifted_by(*arguments, 0))
    with pytest.raises((RuntimeError, IndexError)):
        compiled(*arguments, 3)


def test_modules_whose_parameters_are_traced():
    model = Rows()
    lifted = lift(copy.deepcopy(model))
    stacked = {name: torch.stack([one.detach(), 2 * one.detach()]) for name, one in model.named_parameters()}
    x = torch.randn(5, 3)
    found, wanted = (
        vmap(lambda values, one=one: torch.func.functional_call(one, values, (x,)))(stacked) for one in (lifted, model)
    )
    torch.testing.assert_close(found, wanted)
    assert not any(loop.notes for loop in lifted.forward.report().loops)
    assert len(torch.export.export(lifted, (x,)).graph.nodes) < 10
    torch.testing.assert_close(lifted(x), model(x))


def stacked(n):
    found = [0] * n
    for i in range(1, n):
        found[i] = found[i - 1] + i
    stack = []
    for one in found:
        while stack and stack[-1] < one % 3:
            stack.pop()
        stack.append(one % 3)
    return len(stack), sum(found)


@pytest.mark.parametrize("called_before", [False, True])
def test_frames_that_are_left_to_python(called_before):
    lifted = lift(stacked)

    def scaled_by(t, n):
        count, total = lifted(n)
        return t * count + total

    t = torch.ones(2)
    if called_before:
        lifted(7)
    compiled = torch.compile(scaled_by, backend="eager")
    for n in (7, 9, 7):
        count, total = stacked(n)
        torch.testing.assert_close(compiled(t, n), t * count + total)
