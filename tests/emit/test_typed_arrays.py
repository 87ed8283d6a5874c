"""Programs over NumPy's arrays as one kernel: values, dtypes, identity, and what is raised are the loop's."""

import ast
import builtins
import inspect
import textwrap
from types import SimpleNamespace

import numpy as np
import pytest
import typed_arrays
import typed_dtypes

from looplift import lift
from looplift.base.errors import RequirementFailed
from looplift.build.native import load_program
from looplift.emit.typed import typed_code
from looplift.frontend.source import source_of

EVERY = [one for module in (typed_arrays, typed_dtypes) for one in vars(module).values() if hasattr(one, "arguments")]
LEFT = set(
    """
of_a_sum_that_wraps of_a_number_that_does_not_fit
of_numbers_that_turn_out_to_be_integers of_single_numbers_among_numbers
of_index_error of_divided_by_zero of_wrapped_integers of_arrays_that_share of_read_only
of_rows_that_lie_in_columns of_a_sum_in_columns of_a_logarithm_that_warns
""".split()
)
"""Those whose program leaves it to the loop, which raises or warns."""


def shown(value):
    """A value with all its types, and which of its containers and arrays are one object."""
    seen = {}

    def of(one):
        kind = type(one).__name__
        if isinstance(one, (list, tuple, dict, np.ndarray)) or kind == "deque":
            if id(one) in seen and not isinstance(one, tuple):
                return seen[id(one)]
            seen[id(one)] = f"object {len(seen)}"
            if isinstance(one, np.ndarray):
                return kind, str(one.dtype), one.shape, one.tolist()
            items = one.items() if isinstance(one, dict) else one
            return kind, [of(item) for item in items]
        return kind, repr(one)

    return of(value)


def outcome(function, arguments):
    try:
        return shown((function(*arguments), arguments))
    except Exception as error:
        return type(error), str(error), shown(arguments)


def program_of(function):
    """The whole function as one program, called as the function is."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    body = next(node for node in tree.body if isinstance(node, ast.FunctionDef)).body
    names = list(inspect.signature(function).parameters)
    values = {**vars(builtins), **function.__globals__, **dict(zip(names, function.arguments()))}
    region = SimpleNamespace(region=SimpleNamespace(statements=body), returns=True, live_out=())
    made = typed_code(region, values, source_of, [])
    program = load_program(made.program.text, made.caller)
    return lambda *arguments: program(*(arguments[names.index(name)] for name in made.program.inputs))


@pytest.mark.parametrize("function", EVERY, ids=lambda one: one.__name__)
def test_lifted_functions_do_what_the_loop_does(function):
    wanted = outcome(function, function.arguments())
    for backend in ("auto", "native"):
        lifted = lift(function, backend=backend, verify="off")
        for _ in range(2):
            assert outcome(lifted, function.arguments()) == wanted


WITHOUT = ("of_a_sum_that_wraps", "of_divided_by_zero", "of_wrapped_integers", "of_truncated_integers")
WITHIN = [one for one in EVERY if one.__name__ not in WITHOUT]


@pytest.mark.parametrize("function", WITHIN, ids=lambda one: one.__name__)
def test_programs_do_what_the_loop_does(function):
    program, arguments = program_of(function), function.arguments()
    before = shown(arguments)
    if function.__name__ in LEFT:
        with pytest.raises(RequirementFailed):
            program(*arguments)
        assert shown(arguments) == before
    else:
        assert outcome(program, arguments) == outcome(function, function.arguments())


def rows_of_tuples(xs):
    hits = []
    for s in range(len(xs)):
        best, q = 0, xs[s]
        while q < 50 and best < 7:
            q = q * 2 + 1
            best += q % 3
        hits.append((best, q, s))
    return np.array(hits), np.array(hits, dtype=np.float32), np.asarray([(a, b / 2) for a, b, _ in hits])


@pytest.mark.parametrize("backend", ["auto", "native"])
def test_arrays_of_tuples(backend):
    lifted = lift(rows_of_tuples, backend=backend, verify="off")
    for xs in ([3, 5, 7, 2] * 20, [1], [], np.arange(30), [2.5, 3.0]):
        for got, want in zip(lifted(xs), rows_of_tuples(xs), strict=True):
            assert got.dtype == want.dtype and got.shape == want.shape and (got == want).all()
