"""Which functions and module loops are lifted, and that all else stays as it is."""

from __future__ import annotations

import inspect
import textwrap

import pytest

from looplift.cli.rewrite import rewrite
from looplift.cli.session import Session
from looplift.runtime.script import Origin, origin_of, register_source


class Recorder:
    """A lift that changes nothing and remembers what it was given."""

    def __init__(self):
        self.functions = []

    def __call__(self, function):
        self.functions.append(function)
        return function


def run(text, **names):
    lift = Recorder()
    session = Session(lift)
    source = textwrap.dedent(text).lstrip("\n")
    scope = {"__name__": "example", **names}
    exec(session.rewrite(source.encode(), source, "example.py"), scope)
    return scope, lift.functions, session


def lifted_names(text, **names):
    return [function.__name__ for function in run(text, **names)[1]]


def test_functions_with_loops_are_lifted():
    text = """
        def with_loop():
            for _ in range(2): pass
        def with_comprehension(): return [k for k in range(2)]
        def without(): return 1
        def never():
            for _ in range(2): pass
        def outer():
            def inner():
                for _ in range(2): pass
            return inner()
        with_loop(), with_comprehension(), without(), outer()
    """
    assert lifted_names(text) == ["with_loop", "with_comprehension", "never", "inner"]


LEFT = {
    "generator": "def f():\n  for k in range(2): yield k\nlist(f())",
    "recursion": "def f(n):\n  for k in range(n): f(n - 1)\nf(2)",
    "subclass": "def jit(f): return f\n@jit\ndef f():\n  for k in range(2): pass\nf()",
    "unknown-call": "def f():\n  for k in range(2): locals()\nf()",
    "unsupported-value": "class C:\n  def __getattr__(self, name):\n    for k in range(2): return k\nC().x",
    "effect-order": "def f(): return k\nfor k in range(2): f()",
    "unsupported-syntax": "for k in range(2):\n  def f(): return 1",
}


@pytest.mark.parametrize("code", LEFT)
def test_left_with_a_reason(code):
    _, functions, session = run(LEFT[code])
    assert functions == []
    assert [record.code for record in session.records()] == [code]
    assert session.records()[0].reason


AS_WRITTEN = {
    "deleted": "for k in range(2):\n  d = k\n  del d",
    "imported": "for k in range(2):\n  import math",
    "lambda": "fs = []\nfor k in range(2):\n  fs.append(lambda: k)",
    "handler": "for k in range(2):\n  try: 1 / k\n  except ZeroDivisionError as e: pass",
    "inside try": "try:\n  for k in range(2): pass\nfinally: pass",
    "inside unknown context": "import contextlib\nwith contextlib.suppress(ValueError):\n  for k in range(2): pass",
    "all names": "for k in range(2): globals()",
    "class": "class C:\n  for k in range(2): pass",
    "shared line": "a = [1]; b = [v for v in a]",
    "rebound by a function": "n = 0\ndef up():\n  global n\n  n += 1\nfor k in range(2):\n  up()\n  m = n",
    "comprehension without tensors": "a = [v for v in range(3)]",
    "compiled by torch": "import torch\nfor k in range(2): f = torch.jit.script",
}


@pytest.mark.parametrize("name", AS_WRITTEN)
def test_module_loops_left_as_written(name):
    scope, functions, _ = run(AS_WRITTEN[name])
    plain = {"__name__": "example"}
    exec(AS_WRITTEN[name], plain)
    assert functions == []
    assert [*scope] == [*plain]


def test_an_unbound_name_is_the_original_error():
    with pytest.raises(NameError, match="name 'total' is not defined") as raised:
        run("for k in range(2):\n  total += k")
    assert raised.type is NameError


def test_names_end_up_in_the_module():
    text = """
        total = 0
        for k, v in enumerate([1.0, 2.0]):
            total += v
            if k == 5:
                never = 1
        for late in range(0): pass
    """
    scope, functions, _ = run(text)
    assert (scope["total"], scope["k"], scope["v"]) == (3.0, 1, 2.0)
    assert not {"never", "late"} & scope.keys()
    assert len(functions) == 2
    assert [*inspect.signature(functions[0]).parameters] == ["total"]


def test_an_inner_loop_is_lifted_where_the_outer_stays():
    text = """
        def seen(): return i
        for i in range(2):
            s = 0
            for j in range(3):
                s += i * j + seen()
    """
    scope, functions, _ = run(text)
    assert (scope["i"], scope["j"], scope["s"]) == (1, 2, 6)
    assert [*inspect.signature(functions[0]).parameters] == ["i", "s"]
    assert len(functions) == 1


def test_the_made_function_can_be_read_and_knows_its_place():
    text = '''
        import torch


        x = torch.ones(2)
        if True:
            for v in x:
                text = """one
        two"""  # end
    '''
    _, (function,), _ = run(text)
    lines = inspect.getsource(function).split("\n")
    assert lines[:4] == ["def __looplift_loop(x):", "    for v in x:", '        text = """one', 'two"""']
    assert origin_of(function.__code__.co_filename) == Origin("example.py", 4, 0)


def test_closures_made_again_and_again_are_left():
    text = """
        def make():
            def f():
                for _ in range(1): pass
            return f
        made = list(map(lambda _: make(), range(5)))
        for f in made: f()
    """
    _, functions, _ = run(text)
    assert [function.__name__ for function in functions].count("f") == 2


def test_recursion_through_another_function_runs_plainly_inside():
    text = """
        def even(n):
            for _ in range(1):
                result = True if n == 0 else odd(n - 1)
            return result
        def odd(n):
            for _ in range(1):
                result = False if n == 0 else even(n - 1)
            return result
        answer = even(200)
    """
    assert run(text)[0]["answer"] is True


def test_no_name_is_added():
    code = rewrite(
        b"for k in range(2): pass\ndef f():\n  for _ in range(1): pass",
        "for k in range(2): pass\ndef f():\n  for _ in range(1): pass",
        "example.py",
        on_function=lambda function: function,
        on_loop=lambda loop: lambda: False,
    ).code
    assert set(code.co_names) == {"range", "k", "f"}


def test_two_texts_of_one_place_have_two_names():
    first = register_source("a\n", Origin("f.py", 3))
    assert register_source("a\n", Origin("f.py", 3)) == first
    assert register_source("b\n", Origin("f.py", 3)) != first
