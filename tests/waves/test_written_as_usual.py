"""Ways to write recursive networks: results by name, modules as nodes, two names at once, places in tensors."""

import operator

import pytest
import torch
from harness import check
from torch import nn

from looplift import lift

WIDTH = 4


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(WIDTH, WIDTH)
        self.join = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, tree):
        if isinstance(tree, list):
            parts = [self.forward(part) for part in tree]
            best = torch.stack(parts).max(dim=0).values
            return torch.tanh(self.join(torch.cat([best, torch.stack(parts).min(0).values])))
        return self.lin(tree)


def trees(*shapes):
    def grown(shape):
        return torch.randn(WIDTH) if isinstance(shape, int) else [grown(part) for part in shape]

    torch.manual_seed(len(shapes))
    return [grown(shape) for shape in shapes]


NESTED = [[0, 0], 0, [[0, 0, 0], 0], [0]]


def encoded(model, roots):
    return torch.stack([model(root) for root in roots])


def by_names(model, roots):
    found = []
    for root in roots:
        values, places = torch.sort(model(root))
        top = torch.topk(model(root), 2)
        found.append(values * top.values.sum() + top.indices[0] * places)
    return torch.stack(found)


@pytest.mark.parametrize("program", [encoded, by_names], ids=lambda one: one.__name__)
def test_results_by_name(program):
    check(program, Encoder(), trees(*NESTED), others=((Encoder(), trees(0)), (Encoder(), trees(0, [0, 0]))))


def without_dimension(model, roots):
    return torch.stack([model(root).max().values for root in roots])


def test_a_maximum_over_all_has_no_values():
    lifted = lift(without_dimension)
    for _ in range(2):
        with pytest.raises(TypeError, match="builtin_function_or_method"):
            lifted(Encoder(), trees(*NESTED))


class Soft(nn.Module):
    """A node of a soft decision tree: leaves have no gate, inner nodes no logits."""

    def __init__(self, depth):
        super().__init__()
        self.is_leaf = depth == 0
        if self.is_leaf:
            self.logits = nn.Parameter(torch.randn(3))
        else:
            self.gate = nn.Linear(WIDTH, 1)
            self.left = Soft(depth - 1)
            self.right = Soft(depth - 1)

    def forward(self, x):
        if self.is_leaf:
            return torch.softmax(self.logits, dim=0)
        p = torch.sigmoid(self.gate(x))
        return p * self.left(x) + (1 - p) * self.right(x)


def likelihood(tree, rows, labels):
    loss = 0.0
    for row, label in zip(rows, labels):
        loss = loss - torch.log(tree(row)[label])
    return loss / len(rows)


def test_modules_as_nodes_of_a_tree_and_labels_as_places():
    def given(depth, count):
        torch.manual_seed(count)
        return Soft(depth), torch.randn(count, WIDTH), torch.randint(0, 3, (count,))

    check(likelihood, *given(2, 5), others=(given(2, 1), given(2, 7)))


def test_an_attribute_that_a_module_lacks():
    tree = Soft(2)
    rows, labels = torch.randn(4, WIDTH), torch.randint(0, 3, (4,))
    lifted = lift(likelihood)
    for _ in range(3):
        torch.testing.assert_close(lifted(tree, rows, labels), likelihood(tree, rows, labels))
    tree.left.is_leaf = True
    for _ in range(2):
        with pytest.raises(AttributeError, match="logits"):
            lifted(tree, rows, labels)


@pytest.mark.parametrize("label", [torch.tensor([1]), torch.tensor(True), torch.tensor(-1), torch.tensor(3)])
def test_other_tensors_as_places(label):
    tree, rows = Soft(1), torch.randn(2, WIDTH)
    lifted = lift(likelihood)
    for labels in ([torch.tensor(0), torch.tensor(2)], [torch.tensor(0), label]):
        for _ in range(2):
            try:
                wanted = likelihood(tree, rows, labels)
            except IndexError as error:
                with pytest.raises(IndexError, match=str(error)):
                    lifted(tree, rows, labels)
                continue
            torch.testing.assert_close(lifted(tree, rows, labels), wanted)


def two_at_once(model, roots):
    loss, hits = 0, 0
    logits, sizes = [], []
    for root in roots:
        h = model(root)
        logits.append(h)
        sizes.append(len(root) if isinstance(root, list) else 0)
        loss -= h[sizes[-1] % WIDTH]
        hits += sizes[-1]
    return loss / len(roots), hits, torch.stack(logits)


def maybe_numbers(model, roots):
    found = []
    for root in roots:
        total = 0
        for part in root if isinstance(root, list) else [root]:
            total = total + model(part)
        found.append(total)
    return torch.stack(found)


@pytest.mark.parametrize("program", [two_at_once, maybe_numbers], ids=lambda one: one.__name__)
def test_names_that_begin_as_numbers(program):
    check(program, Encoder(), trees(*NESTED), others=((Encoder(), trees(0)), (Encoder(), trees(0, [0, 0]))))


def test_a_number_in_a_list_that_is_stacked_raises():
    lifted = lift(maybe_numbers)
    lifted(Encoder(), trees(*NESTED))
    for _ in range(2):
        with pytest.raises(TypeError, match="expected Tensor as element 1"):
            lifted(Encoder(), trees([0], []))


def handed_out_late(x, model):
    later = []
    for i in range(len(x)):
        later.append(model(row).sum() * int(x[i, 0]) for row in x[i:])
    return later


def test_generators_read_when_they_are_asked():
    model = nn.Linear(WIDTH, WIDTH)
    lifted = lift(handed_out_late)
    for _ in range(3):
        x = torch.randn(3, WIDTH)
        later, wanted = lifted(x, model), handed_out_late(x, model)
        x += 100
        for one, other in zip(later, wanted, strict=True):
            torch.testing.assert_close(list(one), list(other))


OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "max": torch.maximum}


def evaluate(expression, given):
    if isinstance(expression, str):
        return given[expression]
    if isinstance(expression, float):
        return torch.tensor(expression)
    operation, *operands = expression
    if operation == "sin":
        return torch.sin(evaluate(operands[0], given))
    left, right = (evaluate(part, given) for part in operands)
    return OPERATIONS[operation](left, right)


def evaluated(model, expressions, rows):
    table = torch.zeros(len(expressions), len(rows))
    for i, expression in enumerate(expressions):
        for j, row in enumerate(rows):
            table[i, j] = evaluate(expression, {"x": row[0], "y": model.weight[0, 0]})
    return table


EXPRESSIONS = [("+", ("*", "x", "y"), 0.5), "x", ("max", ("sin", "x"), "y"), ("-", ("+", "x", "x"), "y"), 2.0]


def test_functions_by_key():
    rows = torch.randn(4, 2)
    others = ((nn.Linear(2, 2), EXPRESSIONS[:1], rows), (nn.Linear(2, 2), EXPRESSIONS * 2, rows[:1]))
    check(evaluated, nn.Linear(2, 2), EXPRESSIONS, rows, others=others)


def test_functions_of_numbers_by_key():
    def of_numbers(model, expressions, rows):
        return [model(row) * OPERATIONS[key](k, 2) for (key, k), row in zip(expressions, rows)]

    lifted, model, rows = lift(of_numbers), nn.Linear(2, 2), torch.randn(3, 2)
    for _ in range(2):
        given = [("+", 1), ("*", 3), ("-", 2)]
        for one, other in zip(lifted(model, given, rows), of_numbers(model, given, rows), strict=True):
            torch.testing.assert_close(one, other)


def test_another_function_under_a_key():
    lifted, model, rows = lift(evaluated), nn.Linear(2, 2), torch.randn(2, 2)
    for function in (operator.mul, operator.truediv, operator.mul):
        OPERATIONS["*"] = function
        for _ in range(2):
            wanted = evaluated(model, EXPRESSIONS, rows)
            torch.testing.assert_close(lifted(model, EXPRESSIONS, rows), wanted)
