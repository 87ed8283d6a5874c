"""``match`` statements as chains of ``if``: what each pattern becomes, and that loops with them are lifted."""

import ast
import textwrap

import pytest
import torch

import looplift
from looplift.base.compare import difference
from looplift.frontend.matches import without_matches


def chained(text):
    tree = ast.parse("def f():\n" + textwrap.indent(textwrap.dedent(text), "    ")).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return "\n".join(map(ast.unparse, without_matches(tree).body))


def test_each_pattern():
    found = chained("""
        match op:
            case "add" | "plus": a
            case Mode.UP: b
            case None: c
            case n if n > 3: d
            case _: e
    """)
    assert found == textwrap.dedent("""
        _subject_0 = op
        if _subject_0 == 'add' or _subject_0 == 'plus':
            a
        elif _subject_0 == Mode.UP:
            b
        elif _subject_0 is None:
            c
        else:
            n = _subject_0
            if n > 3:
                d
            else:
                e
    """).strip().replace("_subject_0", "op").removeprefix("op = op\n")


def test_a_tuple_is_taken_apart_once():
    found = chained("""
        match f(), b:
            case 0, x: return x
            case (1, 2) | (3, _): pass
    """)
    assert found.splitlines()[:4] == [
        "_subject_0 = f()", "_subject_1 = b", "if _subject_0 == 0:", "    x = _subject_1",
    ]  # fmt: skip
    assert "elif _subject_0 == 1 and _subject_1 == 2 or _subject_0 == 3:" in found


def test_a_name_that_a_pattern_binds_is_kept_before():
    assert chained("match v:\n    case 0: a\n    case v: b").startswith("_subject_0 = v\nif _subject_0 == 0:")


def test_a_name_that_a_guard_may_bind_is_kept_before():
    text = "match mode:\n    case 1 if again(): a\n    case 2: b"
    assert chained(text).startswith("_subject_0 = mode\nif _subject_0 == 1 and again():")
    assert chained(f"mode = g()\n{text}").startswith("mode = g()\nif mode == 1 and again():")
    inner = "def again():\n    nonlocal mode\n    mode = 2"
    assert "_subject_0 = mode\nif _subject_0 == 1" in chained(f"mode = g()\n{inner}\n{text}")


@pytest.mark.parametrize(
    "pattern", ["int()", "{'a': v}", "[a, *rest]", "[0, 1]", "str() as s", "(0, x) if x", "(0,)"], ids=str
)
def test_other_patterns_stay(pattern):
    subject = "a, b" if pattern.startswith("(") else "a"
    text = f"match {subject}:\n    case {pattern}: b\n    case _: c"
    assert chained(text).startswith("match ")


def folded(ops, x):
    total = torch.zeros((), dtype=x.dtype)
    for i in range(len(ops)):
        match ops[i]:
            case 0:
                total = total + x[i]
            case 1 | 2:
                total = total * x[i]
            case -1:
                continue
            case k:
                total = total - k * x[i]
    return total


def kind(code, v):
    match code:
        case 0:
            return v
        case 1:
            return v * v
        case _ if v < -1:
            raise ValueError(f"{code}")
    return v + 10


def helped(ops, x):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        out[i] = kind(int(ops[i]), x[i])
    return out


def both(ops, x):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        match bool(x[i] > 0), int(ops[i]):
            case True, 1:
                out[i] = x[i]
            case (True, 2) | (False, -1):
                out[i] = -x[i]
            case True, _:
                out[i] = 7
    return out


def until(ops, x):
    places = []
    for i, op in enumerate(ops.tolist()):
        match op:
            case 3:
                break
            case 0:
                places.append(i)
    return places


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("program", [folded, helped, both, until], ids=lambda p: p.__name__)
def test_lifted(program, backend):
    lifted = looplift.lift(program, verify="off", backend=backend)
    generator = torch.Generator().manual_seed(1)
    for n in (0, 1, 2, 9, 30):
        ops = torch.randint(-1, 4, (n,), generator=generator)
        x = torch.randn(n, generator=generator, dtype=torch.float64).clamp(min=-1)
        assert difference(lifted(ops, x), program(ops, x), magnitude=10) is None
    kept = {"until"} if backend == "torch" else set()
    decisions = {loop.decision for loop in lifted.report().loops}
    assert ("kept" in decisions) <= (program.__name__ in kept), str(lifted.report())


def test_what_a_case_raises():
    lifted = looplift.lift(helped, verify="off")
    ops, x = torch.tensor([0, 1, 3, 1]), torch.tensor([1.0, -2, -3, 4])
    with pytest.raises(ValueError, match=r"^3$"):
        lifted(ops, x)


MODE = 1


def set_mode(mode):
    global MODE
    MODE = mode
    return False


def guarded_by_a_global(x):
    match MODE:
        case 1 if set_mode(2):
            factor = 1.0
        case 2:
            factor = 2.0
        case _:
            factor = 3.0
    total = torch.zeros(())
    for v in x:
        total = total + v * factor
    return total


def guarded_in_the_loop(x, code=0):
    def count(v):
        nonlocal code
        code = code + 1
        return bool(v > 1)

    total = 0.0
    for v in x:
        match code:
            case 0 if count(v):
                total += 1
            case 1:
                total += 10
            case _:
                total += 100
    return total, code


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", [guarded_by_a_global, guarded_in_the_loop])
def test_guards_that_bind_the_subject_anew(function, backend):
    lifted = looplift.lift(function, backend=backend, verify="off")
    for _ in range(2):
        set_mode(1)
        expected = function(torch.tensor([0.5, 2.0, -1.0]))
        set_mode(1)
        assert difference(lifted(torch.tensor([0.5, 2.0, -1.0])), expected) is None
