"""Slices whose length differs from iteration to iteration: what is made of them, and stores into them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import appended, check, written

# bounds that are negative, past the end, or leave nothing
STARTS = torch.tensor([[0, 4], [-3, -1], [5, 5], [2, 99], [8, 3]])
# each slice has several elements
FILLED = torch.tensor([[0, 4], [-3, -1], [5, 8], [2, 99]])
FOLDS = """x[a[i, 0]:a[i, 1]].sum();
x[a[i, 0]:a[i, 1]].mean(); x[a[i, 0]:a[i, 1]].prod(); (x[a[i, 0]:a[i, 1]] > 0).any();
(x[a[i, 0]:a[i, 1]] < 1).all(); torch.count_nonzero(x[a[i, 0]:a[i, 1]] > 0); torch.norm(x[a[i, 0]:a[i, 1]]);
torch.logsumexp(x[a[i, 0]:a[i, 1]], 0); (x[a[i, 0]:a[i, 1]] * x[a[i, 0]:a[i, 1]].sum()).sum();
torch.softmax(x[a[i, 0]:a[i, 1]], 0).square().sum(); x[a[i, 0]:a[i, 1]].log_softmax(0).sum();
x[:a[i, 1]].sum(); x[a[i, 0]:].sum(); x[2:a[i, 1]].sum(); x[a[i, 0]:-2].sum(); x[:i].sum() + x[i:].mean();
(x[a[i, 0]:a[i, 1]] * 2 + x[i])[:2].sum(); x[a[i, 0]:a[i, 1]][-2:].sum(); x[a[i, 0]:a[i, 1]] @ x[a[i, 0]:a[i, 1]];
(x[a[i, 0]:a[i, 1]][:, None] * torch.ones(2)).sum(0); (x[a[i, 0]:a[i, 1]].double() * x[i]).sum();
x[x > x[i]].sum()"""
FILLED_FOLDS = """x[a[i, 0]:a[i, 1]].max();
x[a[i, 0]:a[i, 1]].amin(); x[a[i, 0]:a[i, 1]].var(); x[a[i, 0]:a[i, 1]].std();
x[a[i, 0]:a[i, 1]].var(unbiased=False); x[a[i, 0]:a[i, 1]][-1]; x[a[i, 0]:a[i, 1]][0] - x[a[i, 0]:a[i, 1]][1];
(x[a[i, 0]:a[i, 1]][1:] - x[a[i, 0]:a[i, 1]][:-1]).abs().sum(); x[a[i, 0]:a[i, 1]].argmax();
x[a[i, 0]:a[i, 1]].argmin()"""


def texts(many):
    return [text.strip() for text in many.split(";")]


@pytest.mark.parametrize("expression", texts(FOLDS))
def test_a_fold_of_a_slice(expression):
    loop = appended(expression, "a.shape[0]", {"torch": torch}, join="torch.stack")
    check(loop, [torch.randn(10, dtype=torch.float64), STARTS, None], [torch.randn(10).double(), FILLED, None])


@pytest.mark.parametrize("expression", texts(FILLED_FOLDS))
def test_a_fold_of_a_slice_that_holds_something(expression):
    loop = appended(expression, "a.shape[0]", {"torch": torch}, join="torch.stack")
    check(loop, [torch.randn(10, dtype=torch.float64), FILLED, None], [torch.zeros(10).double(), FILLED, None])


def test_the_greatest_of_nothing_raises_as_in_the_loop():
    def greatest(x, a):
        return torch.stack([x[a[i, 0] : a[i, 1]].max() for i in range(len(a))])

    from looplift import lift

    with pytest.raises(RuntimeError) as wanted:
        greatest(torch.ones(10), STARTS)
    with pytest.raises(RuntimeError) as given:
        lift(greatest, backend="torch")(torch.ones(10), STARTS)
    assert str(given.value) == str(wanted.value)


@pytest.mark.parametrize("expression", [
    "x[a[i, 0]:a[i, 1]].mean(0)", "x[a[i, 0]:a[i, 1], 1].sum()", "x[a[i, 0]:a[i, 1]].sum(1).square().sum()",
    "(x[a[i, 0]:a[i, 1]] - x[a[i, 0]:a[i, 1]].mean(0, keepdim=True)).square().sum()",
    "(x[i] @ x[a[i, 0]:a[i, 1]].T).sum()",
    "torch.softmax(x[a[i, 0]:a[i, 1]] @ x[i], 0) @ x[a[i, 0]:a[i, 1]]", "x[a[i, 0]:a[i, 1]].softmax(1).sum(0)",
    "x[a[i, 0]:a[i, 1]].T @ x[a[i, 0]:a[i, 1]]", "x[a[i, 0]:a[i, 1], a[i, 0]:a[i, 1]].sum()",
])  # fmt: skip
def test_a_fold_of_rows(expression):
    loop = appended(expression, "a.shape[0]", {"torch": torch}, join="torch.stack")
    check(loop, [torch.randn(10, 4), STARTS, None], [torch.randn(10, 4), FILLED, None])


@pytest.mark.parametrize("expression", [
    "x[a[i, 0]:a[i, 1]].sum()", "x[a[i, 0]:a[i, 1]].mean()", "np.max(x[a[i, 0]:a[i, 1]])", "x[a[i, 0]:a[i, 1]].std()",
    "x[a[i, 0]:a[i, 1]].var(ddof=1)", "x[a[i, 0]:a[i, 1]].argmin()", "np.sqrt(x[a[i, 0]:a[i, 1]] ** 2).sum()",
    "len(x[a[i, 0]:a[i, 1]])", "x[x > x[i]].sum()", "x[a[i, 0]:a[i, 0] + 2]", "np.linalg.norm(x[a[i, 0]:a[i, 1]])",
])  # fmt: skip
def test_a_fold_of_a_slice_of_an_array(expression):
    loop = appended(expression, "a.shape[0]", {"np": np}, join="np.array")
    inside = np.array([[0, 4], [3, 5], [5, 8]])
    check(loop, [np.random.default_rng(0).normal(size=10), inside, None], gradients=False)
    check(loop, [np.random.default_rng(0).integers(-9, 9, 10), inside, None], gradients=False)


def length_mask(lengths, longest):
    mask = torch.zeros(len(lengths), longest)
    for i, length in enumerate(lengths):
        mask[i, :length] = 1
    return mask


def softmax_of_prefix(scores, lengths):
    weights = torch.zeros_like(scores)
    for b in range(len(lengths)):
        n = lengths[b].item()
        weights[b, :n] = torch.softmax(scores[b, :n], dim=0)
    return weights


def numbered_segments(x, bounds):
    number = torch.zeros(len(x), dtype=torch.long)
    for s in range(len(bounds) - 1):
        number[int(bounds[s]) : int(bounds[s + 1])] = s
    return number


def added_windows(x, starts):
    out = torch.zeros_like(x)
    for i in range(len(starts)):
        out[starts[i] : starts[i] + 3] += x[starts[i] : starts[i] + 3] * 2
    return out


def raised_windows(x, starts):
    out = x * 2
    for i in range(len(starts)):
        out[starts[i] : starts[i] + 3] -= x[i]
    return out


def boxes(sides, height, width):
    mask = torch.zeros(len(sides), height, width, dtype=torch.bool)
    for i in range(len(sides)):
        mask[i, sides[i, 1] : sides[i, 3], sides[i, 0] : sides[i, 2]] = True
    return mask


def last_box(sides, height, width):
    owner = torch.zeros(height, width)
    for i in range(len(sides)):
        owner[sides[i, 1] : sides[i, 3], sides[i, 0] : sides[i, 2]] = i
    return owner


def heat(sides, height, width):
    count = torch.zeros(height, width)
    for i in range(len(sides)):
        count[sides[i, 1] : sides[i, 3], sides[i, 0] : sides[i, 2]] += 0.5
    return count


SIDES = torch.tensor([[0, 0, 3, 2], [1, 1, 9, 9], [2, 2, 2, 3], [-4, -3, -1, -1]])


@pytest.mark.parametrize("loop, calls", [
    (length_mask, [[torch.tensor([2, 0, 5, 9]), 6], [torch.tensor([-2, 0, 5]), 4]]),
    (softmax_of_prefix, [[torch.randn(4, 6), torch.tensor([1, 6, 3, 2])], [torch.randn(2, 3), torch.tensor([3, 1])]]),
    (numbered_segments, [[torch.randn(9), torch.tensor([0, 2, 2, 9])], [torch.randn(9), torch.tensor([0, 5, 3, 8])]]),
    (added_windows, [[torch.randn(9), torch.tensor([0, 1, 6])], [torch.randn(9), torch.tensor([6, 0, 0])]]),
    (raised_windows, [[torch.randn(9), torch.tensor([0, 1, 7])], [torch.randn(9), torch.tensor([8, 0, 0])]]),
    (boxes, [[SIDES, 5, 7]]), (last_box, [[SIDES, 5, 7]]), (heat, [[SIDES, 5, 7]]),
])  # fmt: skip
def test_a_store_into_a_slice(loop, calls):
    check(loop, *calls)


def test_a_store_into_a_slice_of_an_array():
    def centred(x, bounds):
        out = np.zeros_like(x)
        for lo, hi in bounds:
            out[lo:hi] = x[lo:hi] - x[lo:hi].mean()
        return out

    def spread(x, bounds):
        out = np.zeros_like(x)
        for lo, hi in bounds:
            out[lo:hi] += x[lo:hi].sum()
        return out

    for loop in (centred, spread):
        for bounds in ([[0, 3], [2, 7], [9, 12]], [[5, 7], [0, 6], [0, 1]]):
            check(loop, [np.random.default_rng(0).normal(size=12), np.array(bounds)], gradients=False)


def test_windows_of_one_width_are_a_dimension():
    def cropped(images, tops, lefts, height, width):
        out = torch.empty(len(tops), images.shape[1], height, width)
        for i in range(len(tops)):
            y, x = int(tops[i]), lefts[i].item()
            out[i] = images[i, :, y : y + height, x : x + width]
        return out

    def pieces(x, starts, width):
        return torch.stack([row[s : s + width] for row, s in zip(x, starts)])

    check(cropped, [torch.randn(3, 2, 8, 9), torch.tensor([0, 4, 2]), torch.tensor([3, 5, 0]), 4, 4])
    check(pieces, [torch.randn(3, 9), torch.tensor([0, 4, 2]), 5], [torch.randn(2, 9), torch.tensor([8, 7]), 1])


def normalised(data, bounds):
    for i in range(len(bounds) - 1):
        data[bounds[i] : bounds[i + 1]] = data[bounds[i] : bounds[i + 1]] / data[bounds[i] : bounds[i + 1]].sum()
    return data


def centred_twice(data, bounds):
    for i in range(len(bounds) - 1):
        data[bounds[i] : bounds[i + 1]] -= data[bounds[i] : bounds[i + 1]].mean()
        data[bounds[i] : bounds[i + 1]] /= 2.0
    return data


def doubled_places(data, places):
    for i in range(len(places)):
        data[places[i]] = data[places[i]] * 2 + 1
    return data


def scaled_places(data, places):
    for i in range(len(places)):
        data[places[i]] *= 3
    return data


def spans(data, starts, lengths):
    for start, length in zip(starts, lengths):
        part = data[start : start + length]
        data[start : start + length] = part / part.sum()
    return data


@pytest.mark.parametrize("loop", [normalised, centred_twice])
@pytest.mark.parametrize("bounds", [[0, 2, 5, 10], [2, 4, 4, 9], [0, 5, 3, 10], [0, -3, 9]])
def test_segments_are_changed_together_when_they_are_apart(loop, bounds):
    lasting = [torch.rand(10) + 0.1, torch.tensor([0, 2, 5, 10])]
    check(loop, lasting, [torch.rand(10) + 0.1, torch.tensor(bounds)], lasting, gradients=False)


@pytest.mark.parametrize("loop", [doubled_places, scaled_places])
@pytest.mark.parametrize("places", [[0, 2, 5], [0, 2, 0], [0, 2, -10]])
def test_places_are_changed_together_when_they_are_apart(loop, places):
    lasting = [torch.rand(10), torch.tensor([3, 1, 2])]
    check(loop, lasting, [torch.rand(10), torch.tensor(places)], lasting, gradients=False)


def test_segments_of_an_array_are_changed_together_when_they_are_apart():
    data = np.arange(1.0, 11.0)
    apart, meeting = [np.array([0, 2, 5]), np.array([2, 3, 5])], [np.array([0, 2, 3]), np.array([2, 3, 5])]
    check(spans, [data, *apart], [data, *meeting], [data, *apart], gradients=False)


def test_several_stores_into_a_row_of_its_own():
    def outside_cleared(masks, sides):
        for n in range(len(masks)):
            left, top, right, bottom = sides[n].round().long().tolist()
            mask = masks[n]
            mask[:top] = 0
            mask[bottom:] = 0
            mask[top:bottom, :left] = 0
            mask[top:bottom, right:] = 0
        return masks

    sides = torch.tensor([[0.0, 1, 4, 4], [2, 2, 3, 9], [1, 0, 9, 1]])
    check(outside_cleared, [torch.rand(3, 5, 6), sides], gradients=False)


def test_accumulated_boxes_in_an_array_of_each_iteration():
    def heat_maps(scores, boxes, height, width):
        maps = []
        for own_scores, own_boxes in zip(scores, boxes):
            heat = torch.zeros(own_scores.shape[1], height, width)
            for s, (x0, y0, x1, y1) in zip(own_scores, own_boxes):
                heat[:, y0:y1, x0:x1] += s[:, None, None]
            maps.append(heat)
        return torch.stack(maps)

    sides = torch.tensor([[[0, 0, 3, 2], [1, 1, 9, 9], [2, 2, 2, 3]], [[0, 0, 3, 2], [1, 1, 4, 3], [2, 2, 3, 3]]])
    check(heat_maps, [torch.rand(2, 3, 2), sides, 5, 4])


@pytest.mark.parametrize("fold", ["amax(dim=(1, 2))", "mean(dim=(1, 2))", "sum(2).sum(1)", "prod(1).sum(1)"])
def test_folds_of_boxes(fold):
    loop = appended(
        f"x[:, a[i, 1]:a[i, 3], a[i, 0]:a[i, 2]].{fold}", "a.shape[0]", {"torch": torch}, join="torch.stack"
    )
    sides = torch.tensor([[0, 0, 3, 2], [1, 1, 9, 9], [2, 2, 4, 3]])
    kept = {"kept"} if "prod" in fold else None
    check(loop, [torch.randn(2, 5, 6), sides, None], [torch.zeros(2, 5, 6), sides, None], decisions=kept)


@pytest.mark.parametrize("fold", ["max()", "mean()", "sum()", "std()", "sum(1).square().sum()"])
def test_folds_of_boxes_whose_sides_move_with_different_loops(fold):
    """Filters whose window is cut off at the border; pieces between lists of rows and columns."""
    text = f"""
def filtered(x, r):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y0, y1 = max(0, i - r), min(x.shape[0], i + r + 1)
            out[i, j] = x[y0:y1, max(0, j - r):j + r + 1].{fold}
    return out

def between(x, rows, columns):
    found = []
    for lo, hi in rows:
        found.append(torch.stack([(x[lo:hi, left:right] - x[lo, left]).{fold} for left, right in columns]))
    return torch.stack(found)
"""
    loops = written(text, f"<folds of boxes by {fold}>", {"torch": torch})
    check(loops["filtered"], [torch.randn(6, 5).double(), 1], [torch.randn(3, 4).double(), 2])
    rows, columns = torch.tensor([[0, 4], [1, -1], [-4, 3]]), torch.tensor([[1, 5], [0, 2]])
    empty = [] if fold in ("max()", "std()") else [[torch.zeros(5, 5).double(), rows, torch.tensor([[2, 2], [0, 9]])]]
    check(loops["between"], [torch.randn(5, 5).double(), rows, columns], *empty)


def test_folds_of_boxes_of_arrays_in_rows_and_columns():
    def between(x, rows, columns):
        out = np.zeros((len(rows), len(columns), x.shape[2]))
        for i, (lo, hi) in enumerate(rows):
            for j, (left, right) in enumerate(columns):
                out[i, j] = x[lo:hi, left:right].sum((0, 1))
        return out

    x = np.random.default_rng(0).normal(size=(7, 6, 2))
    check(between, [x, np.array([[0, 3], [2, 2], [-3, 9]]), np.array([[1, 4], [0, 1]])], gradients=False)


def test_pieces_of_different_lengths_are_put_together():
    def concatenated(x, bounds):
        return torch.cat([x[lo:hi] * 2 for lo, hi in bounds])

    def listed(x, bounds):
        return [x[lo:hi].softmax(0) for lo, hi in bounds]

    def some(x, bounds):
        parts = []
        for lo, hi in bounds:
            if hi > lo + 1:
                parts.append(x[lo:hi] - x[lo:hi].mean(0))
        return torch.cat(parts)

    def stacked(x, bounds):
        return torch.stack([x[lo:hi] + 1 for lo, hi in bounds])

    for loop in (concatenated, listed, some):
        check(loop, [torch.randn(9), STARTS], [torch.randn(9, 2), FILLED])
    check(stacked, [torch.randn(9), torch.tensor([[0, 3], [5, 8]])])


def test_pieces_of_arrays_are_put_together():
    def concatenated(x, bounds):
        return np.concatenate([x[lo:hi] - x[lo:hi].mean() for lo, hi in bounds])

    def listed(x, bounds):
        return [x[lo:hi] * 2 for lo, hi in bounds]

    for loop in (concatenated, listed):
        check(loop, [np.arange(9.0), np.array([[0, 4], [3, 5], [5, 8]])], gradients=False)


LISTS = [[torch.randn(n, 4) for n in lengths] for lengths in ([3, 1, 4, 2], [2, 2, 1], [2, 5, 1])]


def test_lists_of_tensors_of_different_lengths():
    def means(items):
        return torch.stack([x.mean(0) for x in items])

    def pooled(items):
        out = []
        for x in items:
            weights = torch.softmax(x @ x[0], 0)
            out.append(weights @ x)
        return torch.stack(out)

    def lengths_counted(items):
        out = torch.zeros(len(items))
        for i in range(len(items)):
            out[i] = items[i].sum() / len(items[i])
        return out

    def rows(items):
        out = torch.zeros(len(items))
        for i, x in enumerate(items):
            total = torch.zeros(())
            for row in x:
                total = total + row.norm()
            out[i] = total
        return out

    def scaled(items):
        return [x / x.sum() for x in items]

    for loop in (means, pooled, lengths_counted, rows, scaled):
        check(loop, *([items] for items in LISTS), gradients=loop is not scaled)  # each has its own tensor's alone
        check(loop, [LISTS[0]], [[torch.randn(3, 4)] * 2], [[torch.randn(3, 4), torch.randn(3, 4)]], gradients=False)


def test_two_lists_of_tensors_of_the_same_lengths():
    def distances(one, other):
        return torch.stack([(x - y).abs().sum() for x, y in zip(one, other)])

    check(distances, [LISTS[0], [x * 2 + 1 for x in LISTS[0]]])


def test_items_that_no_iteration_takes_get_no_gradient():
    def some(items):
        out = torch.zeros(len(items))
        for i, x in enumerate(items):
            if i > 1:
                out[i] = x.sum()
        return out

    def rows(items):
        out = torch.zeros(len(items))
        for i, x in enumerate(items):
            for row in x:
                out[i] = out[i] + row.norm()
        return out

    equal, empty = [torch.randn(2, 4)] * 3, [torch.randn(2, 4), torch.randn(0, 4), torch.randn(1, 4)]
    for loop, items in ((some, LISTS[0]), (some, equal), (rows, empty)):
        gradients_of_loop_are_kept(loop, items)


def gradients_of_loop_are_kept(loop, items):
    from looplift import lift

    found = []
    for function in (loop, lift(loop, backend="torch", verify="off")):
        own = [item.clone().requires_grad_() for item in items]
        function(own).sum().backward()
        found.append([item.grad for item in own])
    for wanted, given in zip(*found, strict=True):
        assert (wanted is None) == (given is None)
        if wanted is not None:
            torch.testing.assert_close(given, wanted)


def test_lists_of_arrays_of_different_lengths():
    def means(items):
        return np.array([x.mean() for x in items])

    check(means, [[np.arange(n, dtype=float) for n in (3, 1, 4)]], gradients=False)
