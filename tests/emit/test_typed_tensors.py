"""Programs over small tensors against the loops that they are: values, gradients, changes and errors."""

import pytest
import torch
from tests.emit import (
    typed_tensors_answers,
    typed_tensors_loose,
    typed_tensors_programs,
    typed_tensors_small,
    typed_tensors_stored,
)
from tests.fuzz.sharing import programs_first

from looplift import lift, pipeline

KEPT = {
    "f_dtw_table_whole", "f_part_of_table", "f_same_twice", "f_int_zero", "f_stack_empty", "f_index_error",
    "f_modify_after_save", "f_row_store", "f_nms_argsort",
    "f_tensor_of_empty_list", "f_where_of_integers", "f_contiguous_copy", "f_one_view_twice", "f_slices_of_nothing",
    "f_detach", "f_chain_of_comparisons", "f_product_of_other_sizes",
    "f_filled_by_a_number", "f_out_of_range", "f_zeros_of_both_signs", "f_limits_that_are_nan", "f_truncated",
    "f_sizes", "f_places_beside_values", "f_part_of_itself", "f_view_twice_in_a_dict", "f_greater_of_zeros",
    "f_logarithm_of_no_integer", "f_stack_of_none", "f_two_numbers", "f_out_of_table", "f_into_the_callers_list",
    "f_tensor_of_ragged_tuples", "f_tensor_of_no_tuples", "f_beyond_a_byte", "f_stores_beyond_a_byte",
    "f_powers_of_zero", "f_rows_gone_through", "f_a_view_older_than_the_store", "f_kept_by_a_product",
    "f_powers_by_truths",
}  # fmt: skip
"""Those that raise, that change what autograd keeps or detach what asks for a gradient, and those whose tensors are
handed out in ways that a program has no form for."""


def programs(module):
    return [one for name, one in vars(module).items() if name.startswith("f_")]


def leaves(value):
    if isinstance(value, torch.Tensor):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else []
    return [leaf for item in items for leaf in leaves(item)]


def outcome(function, arguments):
    try:
        found = function(*arguments)
    except Exception as error:
        return type(error), str(error), arguments, None
    inputs = [one for one in leaves(arguments) if one.is_leaf and one.requires_grad]
    outputs = [one for one in leaves(found) if one.requires_grad]
    if not inputs or not outputs:
        return found, [one.requires_grad for one in leaves(found)], arguments, None
    total = sum((one * torch.linspace(0.5, 1.5, one.numel()).view(one.shape)).sum() for one in outputs)
    try:
        slopes = torch.autograd.grad(total, inputs, allow_unused=True)
    except RuntimeError as error:
        return found, type(error), arguments, None
    return found, [one.requires_grad for one in leaves(found)], arguments, slopes


def assert_same(got, wanted):
    assert type(got) is type(wanted)
    if isinstance(wanted, list | tuple):
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted):
            assert_same(one, other)
    elif isinstance(wanted, dict):
        assert list(got) == list(wanted)
        for key in wanted:
            assert_same(got[key], wanted[key])
    elif isinstance(wanted, torch.Tensor):
        torch.testing.assert_close(got, wanted, equal_nan=True)
    elif isinstance(wanted, float):
        assert got == pytest.approx(wanted, nan_ok=True)
    elif hasattr(wanted, "dtype"):
        assert (got == wanted).all()
    else:
        assert got == wanted


@pytest.fixture
def first(monkeypatch):
    """Typed programs are tried before any other form."""
    monkeypatch.setattr(pipeline, "compile_region", pipeline.compile_region)
    programs_first()


EVERY = [
    one
    for module in (
        typed_tensors_small,
        typed_tensors_programs,
        typed_tensors_answers,
        typed_tensors_loose,
        typed_tensors_stored,
    )
    for one in programs(module)
]


@pytest.mark.parametrize("program", EVERY, ids=lambda f: f.__name__)
def test_program(program, first):
    lifted = lift(program, verify="off")
    for _ in range(2):
        assert_same(outcome(lifted, program.args()), outcome(program, program.args()))
    if program.__name__ not in KEPT:
        assert any(loop.decision == "native" for loop in lifted.report().loops), lifted.report()


@pytest.mark.parametrize(
    "program", [one for one in programs(typed_tensors_programs) if one.__name__ not in KEPT], ids=lambda f: f.__name__
)
def test_no_other_form_is_needed(program):
    lifted = lift(program, verify="off")
    assert_same(outcome(lifted, program.args()), outcome(program, program.args()))
    assert all(loop.decision != "kept" for loop in lifted.report().loops), lifted.report()


def chain(x, w):
    alpha = {(0, "a"): x[0]}
    for i in range(1, len(x)):
        alpha[i, "a"] = torch.logsumexp(torch.stack([alpha[i - 1, "a"] + w[0], x[i] * w[1]]), 0)
    return alpha[len(x) - 1, "a"]


def test_gradients_are_there_once(first):
    lifted = lift(chain, verify="off")
    x, w = torch.randn(5, requires_grad=True), torch.randn(2, requires_grad=True)
    found = lifted(x, w)
    kept = torch.autograd.grad(found, [x, w], retain_graph=True)
    again = torch.autograd.grad(found, [x, w])
    assert all(map(torch.equal, kept, again))
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(found, [x, w])


def test_what_was_kept_must_not_change(first):
    lifted = lift(chain, verify="off")
    x, w = torch.randn(5, requires_grad=True), torch.randn(2, requires_grad=True)
    found = lifted(x, w)
    with torch.no_grad():
        w.add_(1)
    with pytest.raises(RuntimeError, match="inplace"):
        found.backward()


def test_what_was_kept_must_not_change_where_it_has_steps(first):
    lifted = lift(chain, verify="off")
    x, w = torch.randn(5, requires_grad=True), torch.randn(4)[::2]
    found = lifted(x, w)
    w.add_(1)
    with pytest.raises(RuntimeError, match="inplace"):
        found.backward()


def products(x, w):
    memo = {}
    for i in range(len(x)):
        memo[i] = x[i] * w[0] * 2 + (memo[i - 1] if i else x[i])
    return memo[len(x) - 1]


def test_what_was_kept_for_an_operand_without_a_name_must_not_change(first):
    lifted = lift(products, verify="off")
    x, w = torch.randn(5, requires_grad=True), torch.randn(2)
    assert_same(outcome(lifted, [x, w]), outcome(products, [x, w]))
    found = lifted(x, w)
    w.add_(1)
    with pytest.raises(RuntimeError, match="inplace"):
        found.backward()


def picked(x):
    best, memo = x[0], {}
    for i in range(1, len(x)):
        memo[i] = x[i]
        if x[i] > best:
            best = x[i]
    return best, best


def test_a_view_handed_out_twice_is_one_object(first):
    one, other = lift(picked, verify="off")(torch.arange(3.0))
    assert one is other


def test_modes(first):
    lifted = lift(chain, verify="off")
    x, w = torch.randn(5), torch.randn(2, requires_grad=True)
    assert lifted(x, w).requires_grad
    with torch.no_grad():
        assert not lifted(x, w).requires_grad
    assert not lifted(x, w.detach()).requires_grad
    torch.testing.assert_close(lifted(x.double(), w.detach().double()), chain(x.double(), w.detach().double()))


def detached_elements(x):
    found = {}
    for i in range(len(x)):
        found[i] = x[i][0].detach()
    return found


def elements_of_detached_rows(x):
    found = {}
    for i in range(len(x)):
        found[i] = x[i].detach()[0]
    return found


def elements_and_what_is_detached(x):
    found = {}
    for i in range(len(x)):
        found[i] = x[i][0] if i else x[i][0].detach()
    return found


def computed_of_detached(x):
    found = {}
    for i in range(len(x)):
        found[i] = x[i][0].detach() * 2
    return found


@pytest.mark.parametrize(
    "function", (detached_elements, elements_of_detached_rows, elements_and_what_is_detached, computed_of_detached)
)
def test_views_without_a_graph(first, function):
    """A view of what asks for gradients asks for one under ``no_grad`` as well, but where it was detached."""
    lifted = lift(function, verify="off")
    for asks in (True, False):
        for count in (1, 2, 5):
            x = torch.randn(count, 3, requires_grad=asks)
            with torch.no_grad():
                got, wanted = lifted(x), function(x)
            assert_same(got, wanted)
            assert [one.requires_grad for one in got.values()] == [one.requires_grad for one in wanted.values()]
    assert all(loop.decision == "native" for loop in lifted.report().loops), lifted.report()


def halves(counts):
    memo = {}
    for k in range(len(counts)):
        memo[k] = counts[k] / 2 + torch.tensor(0.5)
    return memo[0]


def test_the_default_dtype_counts(first):
    lifted = lift(halves, verify="off")
    counts, before = torch.arange(1, 4), torch.get_default_dtype()
    try:
        for dtype in (torch.float32, torch.float64, torch.float32):
            torch.set_default_dtype(dtype)
            assert lifted(counts).dtype == halves(counts).dtype == dtype
    finally:
        torch.set_default_dtype(before)


def compares(x):
    memo = {0: x[0] * 2}
    for k in range(1, len(x)):
        memo[k] = memo[k - 1] + x[k] if x[k] > 0 else memo[k - 1]
    return memo[len(x) - 1]


def test_what_is_compared_may_change(first):
    lifted = lift(compares, verify="off")
    x = torch.tensor([1.0, -1.0, 2.0], requires_grad=True)
    found = lifted(x)
    with torch.no_grad():
        x.add_(1)
    found.backward()
    assert x.grad.tolist() == [2.0, 0.0, 1.0]


def test_numbers_in_a_dict_change_in_place(first):
    lifted = lift(typed_tensors_answers.f_numbers_of_a_dict, verify="off")
    (given,) = typed_tensors_answers.f_numbers_of_a_dict.args()
    before = dict(given)
    assert lifted(given) is given
    assert all(given[key] is before[key] for key in before)


def fills(table, x):
    memo = {}
    for i in range(1, len(x)):
        memo[i] = table[i - 1] * 0.5 + x[i]
        table[i] = memo[i]
    return table[len(x) - 1]


def test_tables_of_the_caller(first):
    lifted = lift(fills, verify="off")
    for make in (lambda: torch.zeros(6), lambda: torch.zeros(12)[::2], lambda: torch.zeros(6, dtype=torch.float64)):
        for gradients in (False, True):
            x = torch.randn(6, requires_grad=gradients)
            one, other = make(), make()
            got, wanted = lifted(one, x), fills(other, x)
            torch.testing.assert_close(one, other)
            assert got.dtype == wanted.dtype and got.data_ptr() == one[5].data_ptr()
            assert one.requires_grad == other.requires_grad == gradients
            if gradients:
                slopes = [torch.autograd.grad(each.sum(), x)[0] for each in (one, other)]
                torch.testing.assert_close(*slopes)


def test_tables_that_share_memory(first):
    lifted = lift(fills, verify="off")
    base, other = torch.arange(6.0), torch.arange(6.0)
    lifted(base, base), fills(other, other)
    assert torch.equal(base, other)
    base, other = torch.arange(7.0), torch.arange(7.0)
    lifted(base[1:], base[:6]), fills(other[1:], other[:6])
    assert torch.equal(base, other)
    with pytest.raises(RuntimeError, match="leaf"):
        lifted(torch.zeros(6, requires_grad=True), base)


def without_a_derivative(x, y):
    out = []
    for i in range(len(y)):
        row = [y[j] // 3 for j in range(len(y))]
        for _ in range(3):
            row.append(torch.sum(x[i]))
        out.extend(row)
    return out


def changed_since(x, y):
    grid, out = torch.ones(len(y)), []
    for i in range(len(y)):
        found = [torch.minimum(y[i], grid[i]) * y[i]]
        for k in range(x.shape[1]):
            if x[i, k] > 0:
                found.append(x[i, k] * 2)
        out.extend(found)
        grid += 1
    return out


@pytest.mark.parametrize("function", [without_a_derivative, changed_since])
def test_a_graph_that_takes_no_part_is_not_run(function, first):
    draw = torch.Generator().manual_seed(0)
    inputs = [torch.randn(shape, generator=draw).requires_grad_() for shape in ((3, 4), (3,))]
    for got, wanted in zip(lift(function, verify="off")(*inputs), function(*inputs), strict=True):
        try:
            slopes = torch.autograd.grad(wanted, inputs, allow_unused=True, retain_graph=True)
        except RuntimeError:
            with pytest.raises(RuntimeError):
                torch.autograd.grad(got, inputs, allow_unused=True, retain_graph=True)
            continue
        torch.testing.assert_close(torch.autograd.grad(got, inputs, allow_unused=True, retain_graph=True), slopes)


def widened_dots(x):
    total = torch.zeros((), dtype=torch.float64)
    largest = {}
    for i, row in enumerate(x):
        total = torch.dot(row, row) * 0.5 + total
        largest[i % 3] = torch.max(row).item()
    return total, largest


@pytest.mark.parametrize("seed", range(8))
def test_doubles_of_single_precision_are_no_more_exact(seed, first):
    x = torch.randn(5, 802, generator=torch.Generator().manual_seed(seed))[:, 1::2]
    lifted = lift(widened_dots)
    assert_same(lifted(x)[1], widened_dots(x)[1])
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


def negated(x, places):
    out = {}
    for i in range(len(x)):
        out[places[i]] = x[i] * 2
    return torch.stack([out[place] for place in sorted(out)])


def test_tensors_whose_numbers_are_stored_with_the_other_sign(first):
    imaginary = torch.tensor([1 + 2j, 3 - 4j]).conj().imag
    items = [imaginary[0], imaginary[1]]
    assert all(one.is_neg() for one in items)
    lifted = lift(negated, verify="off")
    for _ in range(3):
        assert torch.equal(lifted(items, ["b", "a"]), negated(items, ["b", "a"]))
