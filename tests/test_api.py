"""The decorator: what it accepts, what a lifted function still is, and that it never gets in the way."""

import asyncio
import copy
import functools
import inspect
import pickle
import subprocess
import sys
import textwrap
import types
import weakref
from pathlib import Path

import numpy as np
import pytest
import torch

import looplift
from looplift import lift, pipeline
from looplift.base.errors import NotLiftable
from looplift.base.report import LoopRecord
from looplift.runtime.variants import RegionCode


@pytest.fixture
def doubling(monkeypatch):
    """Every region becomes ``return 2 * x``; the calls of the compiler are counted."""
    calls = []

    def compile_region(program, values, settings):
        calls.append(program.name)
        return RegionCode(["return 2 * x"], decisions=[LoopRecord(program.file, program.line, "lanes")])

    monkeypatch.setattr(pipeline, "compile_region", compile_region)
    return calls


@pytest.fixture
def refusing(monkeypatch):
    def compile_region(program, values, settings):
        raise NotLiftable("carried", "each step needs the last")

    monkeypatch.setattr(pipeline, "compile_region", compile_region)


def twice(x):
    """Doubles."""
    out = torch.zeros_like(x)
    for i in range(len(x)):
        out[i] = x[i] + x[i]
    return out


@lift
def twice_at_once(x, *, unused: int = 3):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        out[i] = x[i] + x[i]
    return out


X = torch.arange(4.0)


# ---------------------------------------------------------------- what it accepts


def test_decorator_with_and_without_arguments(doubling):
    for lifted in (lift(twice), lift()(twice), lift(backend="torch", verify="always", memory=1 << 20)(twice)):
        assert torch.equal(lifted(X), 2 * X)
    assert len(doubling) == 3


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"backend": "tpu"}, "backend"),
        ({"verify": True}, "verify"),
        ({"memory": -1}, "memory"),
        ({"memory": 1.5}, "memory"),
    ],
)
def test_bad_options_are_named(options, word):
    with pytest.raises(ValueError, match=f"'{word}'"):
        lift(twice, **options)


@pytest.mark.parametrize("what", [3, "twice", torch.add, dict, torch.nn.Linear])
def test_bad_functions_are_named(what):
    with pytest.raises(TypeError, match="'fn'"):
        lift(what)


def test_methods_of_all_kinds(doubling):
    class Doubler:
        factor = 2

        @lift
        def plain(self, x):
            return torch.stack([self.factor * v for v in x])

        @lift
        @classmethod
        def of_class(cls, x):
            return torch.stack([cls.factor * v for v in x])

        @lift
        @staticmethod
        def of_none(x):
            return torch.stack([2 * v for v in x])

        @classmethod
        @lift
        def lifted_inside(cls, x):
            return torch.stack([cls.factor * v for v in x])

        def __private(self, x):
            return torch.stack([self.factor * v for v in x])

        through_private = lift(__private)

    one = Doubler()
    for call in (
        one.plain,
        one.of_class,
        one.of_none,
        one.lifted_inside,
        one.through_private,
        lift(one.plain),
        Doubler.of_class,
    ):
        assert torch.equal(call(X), 2 * X)
    assert one.plain.report().loops[0].decision == "lanes"
    assert lift(one.plain).__self__ is one


def test_partial_functions(doubling):
    assert torch.equal(lift(functools.partial(twice, X))(), 2 * X)


def test_lifting_twice_changes_nothing():
    lifted = lift(twice)
    assert lift(lifted) is lifted
    assert lift(lifted, verify="off") is not lifted
    assert lift(lifted, verify="off").original is twice


def test_a_wrapper_of_a_lifted_function_is_another_function(doubling):
    @functools.wraps(twice_at_once)
    def wrapper(x):
        total = 0
        for v in x:
            total = total + v
        return total

    assert lift(wrapper) is not wrapper
    assert lift(wrapper).original is wrapper


def test_decorators_below(doubling):
    @lift
    @torch.no_grad()
    def quiet(x):
        return torch.stack([2 * v for v in x])

    leaf = X.clone().requires_grad_()
    assert not quiet(leaf).requires_grad
    assert quiet.report().loops[0].decision == "lanes" and "return 2 * x" in quiet.source
    assert lift(quiet) is quiet and quiet.__name__ == "quiet"


# ---------------------------------------------------------------- what a lifted function still is


def test_metadata(doubling):
    assert twice_at_once.__name__ == "twice_at_once"
    assert twice_at_once.__wrapped__ is twice_at_once.original
    assert lift(twice).__doc__ == "Doubles."
    assert str(inspect.signature(twice_at_once)) == "(x, *, unused: int = 3)"
    twice_at_once(X)
    assert str(inspect.signature(twice_at_once)) == "(x, *, unused: int = 3)"
    assert isinstance(twice_at_once, types.FunctionType)


def test_pickle_copy_and_weak_references(doubling):
    assert pickle.loads(pickle.dumps(twice_at_once)) is twice_at_once
    assert copy.deepcopy(twice_at_once) is twice_at_once
    assert weakref.ref(twice_at_once)() is twice_at_once


def test_wrong_arguments_raise_as_before(doubling):
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        twice_at_once()
    twice_at_once(X)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        twice_at_once()


def test_closures_see_their_variables_change(refusing):
    factor = 2

    @lift
    def scaled(x):
        out = []
        for v in x:
            out.append(v * factor)
        return torch.stack(out)

    assert torch.equal(scaled(X), 2 * X)
    factor = 5
    assert torch.equal(scaled(X), 5 * X)


def test_closure_over_a_list_is_shared(refusing):
    log = []

    @lift
    def logged(x):
        for v in x:
            log.append(v)

    assert logged(X) is None
    assert len(log) == 4


def test_recursion_super_and_defaults(refusing):
    class Base:
        def total(self, x, scale=1):
            return sum(v * scale for v in x)

    class Derived(Base):
        @lift
        def total(self, x, scale=3, *more, depth=1, **rest):
            parts = []
            for v in x:
                parts.append(super().total([v], scale))
            if depth:
                return self.total(x, scale, *more, depth=depth - 1, **rest)
            return sum(parts) + sum(more) + sum(rest.values())

    assert Derived().total([1, 2]) == 9
    assert Derived().total([1, 2], 1, 10, other=100) == 113


def tree_total(node):
    if node is None:
        return 0.0
    total = node[0]
    for child in node[1]:
        total = total + tree_total(child)
    return total


def test_a_function_that_calls_itself_by_its_global_name():
    lifted = lift(tree_total)
    tree = (1.0, [(2.0, [None]), (3.0, [(4.0, [])])])
    assert lifted(tree) == tree_total(tree) == 10.0
    assert "free variables" not in str(lifted.report())


def test_globals_stay_clean(doubling):
    before = set(globals())
    lift(twice)(X)
    assert set(globals()) == before


def test_nonlocal_counters_and_frames(refusing):
    count = 0

    @lift
    def counted(x):
        nonlocal count
        for _ in x:
            count += 1
        return sorted(locals())

    assert counted(X) == sorted(["x", "_", "count"])
    assert count == 4


# ---------------------------------------------------------------- modules


class Doubling(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(2.0))

    def forward(self, x):
        return torch.stack([self.scale * v for v in x])


def test_module(monkeypatch):
    monkeypatch.setattr(
        pipeline,
        "compile_region",
        lambda program, values, settings: RegionCode(["return self.scale * x"], paths=["self.scale"]),
    )
    net = Doubling()
    assert lift(net) is net
    assert lift(net) is net
    assert torch.equal(net(X), 2 * X)
    assert net.forward.report().loops[0].decision == "lanes"
    assert list(net.state_dict()) == ["scale"]
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net)), copy.copy(net)):
        if other is not net:
            with torch.no_grad():
                other.scale.fill_(3.0)
        assert torch.equal(other(X), other.scale * X)
        assert other.forward.source == net.forward.source
    assert copy.deepcopy(net).forward.args[0] is not net


# ---------------------------------------------------------------- what is left alone


def test_a_function_without_loops():
    @lift
    def plain(x):
        return x + 1

    assert plain(1) == 2
    assert plain.report().loops == []
    assert "no loops" in str(plain.report())
    assert "return x + 1" in plain.source


def test_functions_without_source():
    scope = {}
    exec("def hidden(x):\n    return [v for v in x]", scope)
    for fn in (scope["hidden"], lambda x: [v for v in x]):
        lifted = lift(fn)
        assert lifted([1]) == [1]
        assert [record.code for record in lifted.report().loops] == ["no-source"]


def test_generators_and_coroutines():
    @lift
    def generator(x):
        for v in x:
            yield v

    @lift
    async def coroutine(x):
        total = 0
        for v in x:
            total += v
        return total

    assert inspect.isgeneratorfunction(generator) and list(generator([1, 2])) == [1, 2]
    assert inspect.iscoroutinefunction(coroutine) and asyncio.run(coroutine([1, 2])) == 3
    assert generator.report().loops[0].code == "generator"
    assert coroutine.report().loops[0].decision == "kept"


@pytest.mark.internal
def test_a_failure_inside_runs_the_original(monkeypatch):
    def compile_region(program, values, settings):
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(pipeline, "compile_region", compile_region)
    lifted = lift(twice)
    assert torch.equal(lifted(X), 2 * X)
    record = lifted.report().loops[0]
    assert record.code == "internal" and "a defect" in record.reason


def test_a_stale_file_is_not_trusted(tmp_path):
    path = tmp_path / "stale.py"
    text = "def f(x):\n    out = []\n    for v in x:\n        out.append(v + 1)\n    return out\n"
    path.write_text(text)
    scope = {"__name__": "stale"}
    exec(compile(text, str(path), "exec"), scope)
    path.write_text(text.replace("v + 1", "v + 2"))
    lifted = lift(scope["f"])
    assert lifted([1]) == [2]
    assert lifted.report().loops[0].code == "no-source"


# ---------------------------------------------------------------- source, report, clear


def test_source_before_and_after(doubling):
    lifted = lift(twice)
    assert lifted.source.startswith("# as written")
    assert "for i in range(len(x)):" in lifted.source
    lifted(X)
    assert lifted.source == 'def twice(x):\n    """Doubles."""\n    return 2 * x\n'


def test_report_before_the_first_call():
    record = lift(twice).report().loops[0]
    assert (record.decision, record.code) == ("kept", "not-run")
    assert record.line == twice.__code__.co_firstlineno + 3


def test_clear_starts_anew(doubling):
    lifted = lift(twice)
    lifted(X), lifted(X)
    assert len(doubling) == 1
    lifted.clear()
    assert lifted.source.startswith("# as written")
    assert torch.equal(lifted(X), 2 * X)
    assert len(doubling) == 2


def test_source_runs_without_looplift(monkeypatch):
    def compile_region(program, values, settings):
        return RegionCode(
            ["if not safe(x):", "    raise RequirementFailed('negative')", "return 2 * np.sqrt(x.numpy())"],
            namespace={"safe": lambda x: bool((x >= 0).all())},
            standalone=["def safe(x):\n    return bool((x >= 0).all())"],
        )

    monkeypatch.setattr(pipeline, "compile_region", compile_region)
    lifted = lift(twice, verify="off")
    assert lifted(X).shape == (4,)
    text = lifted.source
    assert "looplift" not in text and "import numpy as np" in text
    scope = {}
    exec(text, scope)
    assert scope["twice"](X).tolist() == (2 * X.sqrt()).tolist()
    with pytest.raises(Exception, match="negative"):
        scope["twice"](-X)


# ---------------------------------------------------------------- torch around it


def test_grad_modes(doubling):
    lifted = lift(twice)
    leaf = X.clone().requires_grad_()
    assert lifted(leaf).requires_grad
    with torch.no_grad():
        assert not lifted(leaf).requires_grad
    with torch.inference_mode():
        assert lifted(X).is_inference()
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(lifted(X), 2 * X)
    assert len(doubling) == 4


def test_function_modes_run_the_original(doubling):
    from torch.overrides import TorchFunctionMode

    seen = []

    class Watch(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    lifted = lift(twice)
    with Watch():
        lifted(X)
    assert len(seen) > 4 and not doubling


def test_transforms_run_batched_code(doubling):
    lifted = lift(twice)
    assert torch.equal(torch.func.jvp(lifted, (X,), (X,))[1], 2 * X)
    assert len(doubling) == 1


def test_compiled_callers(doubling):
    lifted = lift(twice)
    caller = torch.compile(lambda x: lifted(x) + 1, backend="eager", fullgraph=True)
    assert torch.equal(caller(X), 2 * X + 1)
    assert len(doubling) == 1
    assert torch.equal(lifted(X), 2 * X)
    assert len(doubling) == 2
    assert torch.equal(caller(X), 2 * X + 1)
    assert torch.equal(torch.compile(lifted, backend="eager", fullgraph=True)(X), 2 * X)


def test_callers_compiled_before_the_lift(doubling):
    function = twice
    caller = torch.compile(lambda x: function(x) + 1, backend="eager", fullgraph=True)
    assert torch.equal(caller(X), 2 * X + 1)
    function = lift(twice)
    assert torch.equal(caller(X), 2 * X + 1)
    assert torch.equal(function(X), 2 * X)
    assert torch.equal(caller(X), 2 * X + 1)


def test_import_is_light():
    text = """
        import sys, torch
        before = set(sys.modules)
        import looplift
        print(sorted(name for name in set(sys.modules) - before))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, check=True)
    loaded = done.stdout
    for room in ("frontend", "analysis", "vectorize", "emit", "runtime", "ops", "base.report", "base.reasons"):
        assert f"looplift.{room}" not in loaded


def test_the_version_is_there():
    assert looplift.__version__ and Path(looplift.__file__).exists()


def distances(x, y):
    out = torch.zeros(x.shape[0], y.shape[0])
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            out[i, j] = torch.exp(-((x[i] - y[j]) ** 2).sum())
    return out


def test_inductor_runs_the_batched_code_under_torch_compile():
    lifted = looplift.lift(distances, backend="inductor")
    for n in (4, 6):
        x, y = torch.randn(n, 3), torch.randn(n + 1, 3)
        torch.testing.assert_close(lifted(x, y), distances(x, y))
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}
    assert not any(loop.notes for loop in lifted.report().loops)


def scaled(x, out):
    for i in range(len(x)):
        out[i] = x[i] * 2
    return out


def test_inductor_leaves_numpy_as_it_is(monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda *_: pytest.fail("NumPy code is not compiled"))
    found = looplift.lift(scaled, backend="inductor")(np.arange(3.0), np.zeros(3))
    np.testing.assert_array_equal(found, [0.0, 2.0, 4.0])
