"""Regions of functions: which statements they span, what goes in and out, and their pieces."""

import ast
import textwrap

import numpy as np
import pytest
import torch

from looplift.frontend.flow import flow_of
from looplift.frontend.regions import find_regions
from looplift.frontend.rewriting import RegionProgram, Table
from looplift.frontend.source import Source

NAMESPACE = {"torch": torch, "np": np, "__builtins__": __builtins__}


def regions(text, free=()):
    text = textwrap.dedent(text).strip()
    tree = ast.parse(text).body[0]
    return find_regions(Source(tree, tuple(text.splitlines(keepends=True)), "<test>", 1), NAMESPACE, free)


def lines(region):
    return region.statements[0].lineno, region.statements[-1].end_lineno


def only(text, free=()):
    (region,) = regions(text, free).regions
    return region


# ---------------------------------------------------------------- extent


def test_allocations_before_and_uses_behind():
    region = only("""
        def f(x, y):
            print(y)
            n = len(x)
            rows, cols = x.shape
            unused = 3
            out = torch.zeros((n, cols))
            for i in range(rows):
                out[i] = x[i] * 2
            total = out.sum()
            return total / n
    """)
    assert lines(region) == (3, 10)
    assert region.arguments == ["x"] and region.outside == ["len", "range", "torch"]
    assert region.live_out == [] and region.returns


def test_unrelated_statements_stay_outside():
    region = only("""
        def f(x, model, log):
            h = model(x)
            out = []
            for v in h:
                out.append(v * 2)
            log.write("done")
            return torch.stack(out)
    """)
    assert lines(region) == (3, 5)
    assert region.arguments == ["h"] and region.live_out == ["out"]


def test_several_loops_and_what_is_between():
    region = only("""
        def f(x):
            a = []
            for v in x:
                a.append(v)
            b = torch.stack(a) + 1
            out = []
            for v in b:
                out.append(v)
            return torch.stack(out)
    """)
    assert lines(region) == (2, 9)
    first, second = region.smaller(line=3)
    assert (lines(first), first.live_out) == ((2, 5), ["b"])
    assert (lines(second), second.arguments) == ((6, 9), ["b"])


def test_comprehensions_are_loops():
    assert lines(only("def f(x):\n    return torch.stack([2 * v for v in x])")) == (2, 2)
    assert only("def f(x):\n    y = sum(v for v in x)\n    print(y)").live_out == ["y"]
    assert only("def f(x, v):\n    return [v for v in x]").arguments == ["x"]


def test_blocks_of_ifs_and_withs():
    found = regions("""
        def f(x, flag):
            if flag:
                for i in range(3):
                    x[i] = 0
            else:
                with torch.no_grad():
                    for i in range(4):
                        x[i] = 1
            return x
    """).regions
    assert [lines(region) for region in found] == [(3, 4), (7, 8)]


def test_a_return_inside_needs_a_return_behind():
    region = only("""
        def f(x, y):
            for i in range(len(x)):
                if x[i] > y:
                    return i
            return -1
    """)
    assert lines(region) == (2, 5) and region.returns
    at_the_end = only("""
        def f(x, y):
            for i in range(len(x)):
                if x[i] > y:
                    return i
    """)
    assert at_the_end.returns and isinstance(at_the_end.statements[-1], ast.Return)
    left_alone = regions("""
        def f(x, y):
            for i in range(len(x)):
                for j in range(3):
                    y[j] = x[i]
                if x[i] > y:
                    return i
            print(y)
    """)
    assert [lines(region) for region in left_alone.regions] == [(3, 4)]
    assert list(left_alone.refused.values()) == [
        ("unsupported-syntax", "a return inside the loop, with more to do after it")
    ]


# ---------------------------------------------------------------- names


def test_loop_variables_are_private_where_nobody_reads_them():
    found = regions("""
        def f(x):
            for i in range(3):
                x[i] = 0
            print(x)
            for i in x:
                print(i)
    """).regions
    assert found[0].live_out == []


def test_values_that_pass_through():
    region = only("""
        def f(x, best):
            for v in x:
                if v > 3:
                    best = v
            print(best)
    """)
    assert region.arguments == ["best", "x"] and region.live_out == ["best"] and region.optional == []


def test_names_that_may_be_unbound():
    region = only("""
        def f(x):
            for v in x:
                last = v
            print(last)
    """)
    assert region.live_out == ["last"] == region.optional and region.arguments == ["x"]
    region = regions("""
        def f(x, flag):
            if flag:
                y = 1
            print(flag)
            for v in x:
                y = y + v
            print(y)
    """).regions[0]
    assert region.arguments == ["x", "y"] and region.uncertain == ["y"]


def test_what_the_next_iteration_reads():
    outer = only("""
        def f(x, steps):
            h = x
            for step in range(steps):
                opaque(h)
                rows = []
                for i in range(3):
                    rows.append(h[i])
                g = torch.stack(rows)
                h = g
                print(g)
    """)
    (inner,) = outer.inside()
    assert lines(inner) == (5, 9)
    assert inner.arguments == ["h"] and inner.live_out == ["g", "h"]


def test_free_variables_and_globals():
    region = only("def f(x):\n    return [k * v + torch.pi for v in x]", free=("k",))
    assert region.arguments == ["k", "x"] and region.outside == ["torch"]
    assert region.uncertain == ["k"]


def test_functions_inside_have_regions_of_their_own():
    found = regions("""
        def f(x, k):
            def helper(y):
                out = []
                for v in y:
                    out.append(v * k)
                return out
            return helper(x)
    """).regions
    assert [lines(region) for region in found] == [(3, 6)]
    assert found[0].arguments == ["k", "y"]


# ---------------------------------------------------------------- left alone


@pytest.mark.parametrize(
    "body",
    [
        "for v in x:\n    global g\n    g = v",
        "for v in x:\n    y = v\ndef g():\n    return y",
        "fns = []\nfor v in x:\n    fns.append(lambda: v)\nv = 0",
        "y = 0\ndef bump():\n    nonlocal y\n    y += 1\nfor v in x:\n    bump()\n    print(y)",
        "for v in x:\n    pass\nreturn locals()",
        "try:\n    for v in x:\n        y = 1 / v\nexcept ZeroDivisionError:\n    print(y, v)",
        "with suppress():\n    for v in x:\n        y = 1 / v\nprint(y)",
        "for v in x:\n    super().step(v)",
    ],
)
def test_left_alone(body):
    found = regions("def f(x):\n" + textwrap.indent(body, "    "))
    assert found.regions == []
    assert all(code and sentence for code, sentence in found.refused.values()) and len(found.refused) >= 1


@pytest.mark.parametrize(
    "body",
    [
        "out = []\nfor v in sorted(x, key=lambda k: -k):\n    out.append(v)\nreturn out",
        "try:\n    for v in x:\n        v.fill_(0)\nfinally:\n    print('done')",
        "with torch.no_grad():\n    y = 0\n    for v in x:\n        y = y + v\nprint(y)",
        "x.eval()\nfor v in x.stack:\n    v.fill_(0)",
        "y = 0\ndef g():\n    return x\nfor v in x:\n    y = y + v\nreturn y",
    ],
)
def test_not_left_alone(body):
    assert len(regions("def f(x):\n" + textwrap.indent(body, "    ")).regions) == 1


# ---------------------------------------------------------------- pieces


def test_smaller_and_smaller():
    region = only("""
        def f(x):
            n = len(x)
            for i in range(n):
                for j in range(n):
                    x[i, j] = 0
            y = x + 1
            print(y)
    """)
    seen = []
    while region is not None:
        seen.append(lines(region))
        pieces = region.pieces()
        region = pieces[0] if pieces else None
    assert seen == [(2, 6), (2, 5), (3, 5), (4, 5)]


def test_where_it_was_refused_says_what_to_leave_out():
    region = only(
        "def f(x):\n    out = []\n    for v in x:\n        out.append(v)\n    y = torch.stack(out)\n    print(y)"
    )
    assert lines(region.smaller(line=5)[0]) == (2, 4)
    assert region.smaller(line=4) == []


def test_where_a_program_was_refused_says_what_to_leave_out():
    region = only("""
        def f(x):
            out = []
            n = torch.linalg.det(x)
            for v in x:
                out.append(v * n)
            y = torch.stack(out)
            z = torch.linalg.det(y)
            return z
    """)
    assert lines(region) == (2, 8)
    assert lines(region.smaller(line=5, reached=7)[0]) == (2, 6)
    assert lines(region.smaller(line=5, reached=3)[0]) == (4, 8)
    assert region.smaller(line=5, reached=5) == []


def test_original_statements_as_a_function():
    text = "def f(x, n):\n    out = []\n    for i in range(n):\n        out.append(x[i] * 2)\n    print(out, i)"
    region = only(text)
    program = RegionProgram(region, Table({}, "<test>", [None]), 1)
    assert program.arguments == ("n", "x") and program.live_out == ("i", "out") and program.optional
    assert program.original(2, [1, 2, 3]) == (1, [2, 4])
    assert program.original(0, []) == (None, [])  # item 0 of the table stands for what is not bound


def test_liveness_of_nested_loops_is_fast():
    depth = 9
    text = (
        "def f(x):\n"
        + "".join("    " * (k + 1) + f"for i{k} in range({k}):\n" for k in range(depth))
        + "    " * (depth + 1)
        + "x[i0] = i8\n"
    )
    flow = flow_of(ast.parse(text).body[0], lambda _: None)
    assert len(flow.after) == depth + 1
