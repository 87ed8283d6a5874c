"""Slices that have a name: programs read their bounds."""

import ast
import textwrap
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from looplift import lift
from looplift.frontend.slices import with_bounds_of_slices

BACKENDS = ("auto", "torch", "native")


def written_out(text, free=(), namespace=None):
    tree = ast.parse(textwrap.dedent(text)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    found = with_bounds_of_slices(tree, free, namespace or {})
    return None if found is tree else ast.unparse(found)


def test_bounds_have_names_of_their_own():
    found = written_out("""
        def f(x, a, b, part_stop):
            part, last = slice(a, b), 1
            part = slice(a, b + 1)
            x[part] = x[:, part] + x[2]
    """)
    assert found == textwrap.dedent("""\
        def f(x, a, b, part_stop):
            part_start = a
            part_stop_ = b
            last = 1
            part_start = a
            part_stop_ = b + 1
            x[part_start:part_stop_] = x[:, part_start:part_stop_] + x[2]""")
    found = written_out("""
        def f(x, a, b, part_stop):
            part = slice(a, b + 1)
            whole = slice(None)
            up, down = 1, 2
            x[part] = x[whole, part] + x[2, whole]
            if up:
                part = slice(down)
                x[part] += 1
    """)
    assert found == textwrap.dedent("""\
        def f(x, a, b, part_stop):
            part_start = a
            part_stop_ = b + 1
            pass
            up, down = (1, 2)
            x[part_start:part_stop_] = x[:, part_start:part_stop_] + x[2, :]
            if up:
                part_start = None
                part_stop_ = down
                x[part_start:part_stop_] += 1""")


@pytest.mark.parametrize(
    "body",
    [
        "part = slice(a)\nreturn part",
        "part = slice(a)\nreturn x[part], part.stop",
        "if a:\n    part = slice(a)\nreturn x[part]",
        "part = slice(a)\nreturn lambda: x[part]",
        "part = slice(a)\nfor part in x: pass\nreturn x[part]",
        "part = slice(a)\ndel part\nreturn x[part]",
        "global part\npart = slice(a)\nreturn x[part]",
        "slice = max\npart = slice(a, 2)\nreturn x[part]",
        "part = slice(*a)\nreturn x[part]",
        "part, n = slice(a), len(part)\nreturn x[part]",
        "part, n = slice(a), *b\nreturn x[part]",
        "n = 2\npart, n = slice(n), n + 1\nreturn x[part]",
        "k = 1\nf = lambda: k\npart, k = slice(f()), f()\nreturn x[part]",
        "part = slice(a)\nreturn x[part], locals()",
        "part = slice(a)\nreturn x[[part]]",
        "if (part := a):\n    part = slice(a)\n    return x[part]",
    ],
)
def test_others_stay(body):
    assert written_out("def f(x, a):\n" + textwrap.indent(body, "    ")) is None


def test_a_function_of_that_name_stays():
    text = "def f(x, a):\n    part = slice(a)\n    return x[part]"
    assert written_out(text) is not None
    assert written_out(text, ("slice",)) is None and written_out(text, namespace={"slice": max}) is None


def heads_of_rows(q, k, heads):
    width = q.shape[1] // heads
    out = []
    for i in range(len(q)):
        row = []
        for h in range(heads):
            part = slice(h * width, (h + 1) * width)
            row.append((q[i, part] * k[i, part]).sum())
        out.append(torch.stack(row))
    return torch.stack(out)


def by_words(q, words, width):
    out = []
    for i in range(len(q)):
        seen = {}
        for word in words[i]:
            part = slice(word, word + width)
            seen[word] = seen.get(word, 0.0) + q[i, part].sum().item()
            q[i, part] = 0.0
        out.append(max(seen.values()))
    return out


def across_pieces(q, steps):
    total = torch.zeros(())
    for step in steps:
        part = slice(step, step + 3, 2)
        print(end="")
        for i in range(len(q)):
            total = total + q[i, part].sum() * i
        total = torch.tanh(total)
    return total


@pytest.mark.parametrize("backend", BACKENDS)
def test_slices_in_loops(backend):
    lifted: Any = lift(heads_of_rows, backend=backend)
    for rows in (5, 3):
        q, k = (torch.randn(rows, 8, requires_grad=True) for _ in range(2))
        wanted, given = heads_of_rows(q, k, 2), lifted(q, k, 2)
        assert_close(given, wanted)
        slopes = [torch.autograd.grad((one**2).sum(), (q, k)) for one in (given, wanted)]
        assert_close(slopes[0], slopes[1])
    lifted = lift(by_words, backend=backend)
    for rows in (5, 3):
        q, words = torch.randn(rows, 8), [[(i * j) % 6 for j in range(4)] for i in range(rows)]
        mine, own = q.clone(), q.clone()
        assert lifted(mine, words, 2) == pytest.approx(by_words(own, words, 2), rel=1e-5)
        assert_close(mine, own)
    lifted = lift(across_pieces, backend=backend)
    q = torch.randn(6, 8)
    for _ in range(2):
        assert_close(lifted(q, [0, 3, 5]), across_pieces(q, [0, 3, 5]))


def test_what_is_no_bound_raises_as_in_the_loop():
    def read(x, a):
        out = []
        for i in range(len(x)):
            part = slice(a, i)
            out.append(x[part].sum())
        return torch.stack(out)

    lifted, x = lift(read), torch.randn(4)
    assert_close(lifted(x, 0), read(x, 0))
    assert_close(lifted(x, None), read(x, None))
    for wrong in (0.5, "0"):
        with pytest.raises(TypeError) as wanted:
            read(x, wrong)
        with pytest.raises(TypeError) as given:
            lifted(x, wrong)
        assert str(given.value) == str(wanted.value)


def patches(x, size, means):
    for i in range(x.shape[0] // size):
        for j in range(x.shape[1] // size):
            rows, columns = slice(i * size, (i + 1) * size), slice(j * size, (j + 1) * size)
            means[i, j] = x[rows, columns].mean()
            x[rows, columns] = x[rows, columns] - means[i, j]
    return x


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_slices_at_once(backend):
    lifted = lift(patches, verify="off", backend=backend)
    for shape, size in (((6, 4), 2), ((3, 3), 3), ((2, 2), 3), ((0, 4), 2)):
        x = torch.randn(shape, dtype=torch.float64)
        given = [(x.clone(), size, torch.zeros(4, 4, dtype=torch.float64)) for _ in range(2)]
        (found, _, means), (wanted, _, others) = given
        assert lifted(found, size, means) is found
        patches(wanted, size, others)
        assert_close(found, wanted)
        assert_close(means, others)
