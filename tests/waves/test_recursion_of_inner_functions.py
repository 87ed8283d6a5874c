"""Functions that are defined beside a loop and call themselves, or each other, are batched by waves."""

import random

import pytest
import torch

from looplift import lift


def shallow(trees, emb, weight):
    def encode(tree):
        if isinstance(tree, tuple):
            return torch.tanh(weight @ torch.cat([encode(tree[0]), encode(tree[1])]))
        return emb[tree]

    return torch.stack([encode(tree) for tree in trees])


def by_turns(trees, emb, weight):
    def left(tree):
        if isinstance(tree, int):
            return emb[tree]
        return torch.tanh(weight @ torch.cat([right(tree[0]), left(tree[1])]))

    def right(tree):
        if isinstance(tree, int):
            return -emb[tree]
        return torch.relu(weight @ torch.cat([left(tree[0]), right(tree[1])]))

    found = []
    for tree in trees:
        found.append(left(tree) + right(tree))
    return torch.stack(found)


def by_depth(trees, emb, weight):
    def encode(tree, depth=0):
        if isinstance(tree, int):
            return emb[tree] * 0.5**depth, 1
        (a, m), (b, n) = encode(tree[0], depth + 1), encode(tree[1], depth + 1)
        return torch.tanh(weight @ torch.cat([a * m, b * n]) / (m + n)), m + n

    total = 0.0
    for tree in trees:
        total = total + encode(tree)[0].sum()
    return total


def with_memo(trees, emb, weight):
    memo = {}

    def encode(tree):
        if tree in memo:
            return memo[tree]
        both = isinstance(tree, tuple)
        found = torch.tanh(weight @ torch.cat([encode(tree[0]), encode(tree[1])])) if both else emb[tree]
        memo[tree] = found
        return found

    return torch.stack([encode(tree) for tree in trees])


def memo_returned(trees, emb, weight):
    memo = {}

    def encode(tree):
        if tree not in memo:
            if isinstance(tree, tuple):
                memo[tree] = torch.tanh(weight @ torch.cat([encode(tree[0]), encode(tree[1])]))
            else:
                memo[tree] = emb[tree] * 2
        return memo[tree]

    total = 0.0
    for tree in trees:
        total = total + encode(tree).sum()
    return total, torch.stack([memo[tree] for tree in sorted(memo, key=str)])


def memo_in_a_function(trees, emb, weight):
    states = [None] * len(trees)

    def encode(tree):
        if isinstance(tree, int):
            return emb[tree]
        return torch.tanh(weight @ torch.cat([encode(tree[0]), encode(tree[1])]))

    def state(k):
        if states[k] is None:
            before = state(k - 1) if k else emb[0]
            states[k] = before + encode(trees[k])
        return states[k]

    last = torch.stack([state(k) for k in reversed(range(len(trees)))])
    return last, state(1), len(states)


def collected(trees, emb, weight):
    losses = []

    def encode(tree):
        if not isinstance(tree, tuple):
            return emb[tree]
        found = torch.tanh(weight @ torch.cat([encode(tree[0]), encode(tree[1])]))
        losses.append(found.sum())
        return found

    for tree in trees:
        encode(tree)
    return torch.stack(losses).sum() if losses else torch.zeros(())


def one_tree(tree, emb, weight, scale=1.0):
    memo, steps = {}, []

    def both(left, right, factor=0.5):
        steps.append(factor)
        return torch.tanh(weight @ torch.cat([encode(left), encode(right)])) * factor * scale

    def encode(tree):
        if tree in memo:
            return memo[tree]
        if isinstance(tree, tuple):
            left, right = tree
            found = both(left, right) if len(steps) % 2 else both(left, right, factor=0.25)
        else:
            found = emb[tree]
        memo[tree] = found
        return found

    return encode(tree), len(steps)


def in_a_helper(trees, emb, weight):
    found, counts = [], []
    for tree in trees:
        state, count = one_tree(tree, emb, weight, scale=2.0)
        found.append(state)
        counts.append(count)
    return torch.stack(found), counts


def forest(seed):
    rng = random.Random(seed)

    def grow(depth):
        if depth == 5 or rng.random() < 0.2:
            return rng.randrange(10)
        return (grow(depth + 1), grow(depth + 1))

    return [grow(0) for _ in range(8)]


def in_the_loop(trees, emb, weight):
    roots = []
    for k, tree in enumerate(trees):
        memo = {}
        scale = 1.0 / (k + 1)

        def leaf(word):
            return emb[word] * scale

        def walk(node):
            if node in memo:
                return memo[node]
            both = isinstance(node, tuple)
            found = torch.tanh(weight @ torch.cat([walk(node[0]), walk(node[1])])) if both else leaf(node)
            memo[node] = found
            return found

        roots.append(walk(tree))
    return torch.stack(roots)


def bound_anew(trees, emb, weight):
    roots, factor = [], 1.0
    for tree in trees:

        def walk(node):
            if isinstance(node, int):
                return emb[node] * factor
            return torch.tanh(weight @ torch.cat([walk(node[0]), walk(node[1])]))

        factor = factor + 1
        roots.append(walk(tree))
        factor = factor * 0.5
        roots.append(walk(tree))
    return torch.stack(roots)


LIFTED = [in_the_loop, bound_anew, shallow, by_turns, by_depth, with_memo, memo_returned, memo_in_a_function, collected]


@pytest.mark.parametrize("function", LIFTED)
def test_inner_functions_that_call_themselves(function):
    lifted = lift(function, verify="off")
    for seed in range(3):
        torch.manual_seed(seed)
        trees, found = forest(seed), []
        emb, weight = (torch.randn(*shape, dtype=torch.float64).requires_grad_() for shape in ((10, 6), (6, 12)))
        for run in (function, lifted):
            out = run(trees, emb, weight)
            out = out if isinstance(out, tuple) else (out,)
            tensors = [one for one in out if isinstance(one, torch.Tensor)]
            total = sum(one.square().sum() for one in tensors)
            found.append((*out, *torch.autograd.grad(total, (emb, weight))))
        for one, other in zip(*found, strict=True):
            torch.testing.assert_close(one, other)
    assert "waves" in [loop.decision for loop in lifted.report().loops]


def test_inner_functions_of_helpers():
    lifted = lift(in_a_helper, verify="off")
    for seed in range(3):
        torch.manual_seed(seed)
        trees = forest(seed)
        emb, weight = torch.randn(10, 6, dtype=torch.float64), torch.randn(6, 12, dtype=torch.float64)
        (got, counts), (want, wanted) = lifted(trees, emb, weight), in_a_helper(trees, emb, weight)
        torch.testing.assert_close(got, want)
        assert counts == wanted
    assert [loop.decision for loop in lifted.report().loops] == ["waves"], lifted.report()


# ---------------------------------------------------------------- what must not be taken for something else


def seen_before(trees, emb, weight):
    memo = {}
    box = memo

    def encode(tree):
        if tree not in memo:
            memo[tree] = emb[tree] if isinstance(tree, int) else weight @ torch.cat([encode(one) for one in tree])
        return memo[tree]

    return torch.stack([encode(tree) for tree in trees]), sorted(box, key=str)


def filled_before(trees, emb, weight):
    memo = {}
    memo[3] = emb[0] * 100

    def encode(tree):
        if tree not in memo:
            memo[tree] = emb[tree] if isinstance(tree, int) else weight @ torch.cat([encode(one) for one in tree])
        return memo[tree]

    return torch.stack([encode(tree) for tree in trees])


def called_before(trees, emb, weight):
    memo = {}

    def encode(tree, factor=1.0):
        if tree not in memo:
            both = isinstance(tree, tuple)
            memo[tree] = weight @ torch.cat([encode(one) for one in tree]) if both else emb[tree] * factor
        return memo[tree]

    first = encode(3, 50.0)
    return torch.stack([encode(tree) for tree in trees]) + first


def handed_out(trees, emb, weight):
    memo = {}

    def encode(tree):
        if tree not in memo:
            memo[tree] = emb[tree] if isinstance(tree, int) else weight @ torch.cat([encode(one) for one in tree])
        return memo[tree]

    total = torch.stack([encode(tree) for tree in trees])
    return total, (lambda: sorted(memo, key=str))()


def kept_between(trees, emb, weight):
    memo, out = {}, []
    for half in (trees[:4], trees[4:]):

        def encode(tree, half=len(half)):
            if tree not in memo:
                both = isinstance(tree, tuple)
                memo[tree] = weight @ torch.cat([encode(one) for one in tree]) if both else emb[tree] * half
            return memo[tree]

        out.append(torch.stack([encode(tree) for tree in half]).sum(0))
        emb = emb + 1
    return torch.stack(out)


memo = {"global": 1}


def global_of_the_name(tree, emb):
    return emb[0] * len(memo) if isinstance(tree, int) else global_of_the_name(tree[0], emb) * 0.5


def beside_a_global(trees, emb, weight):
    memo = {}

    def encode(tree):
        if tree not in memo:
            both = isinstance(tree, tuple)
            found = weight @ torch.cat([encode(one) for one in tree]) if both else emb[tree]
            memo[tree] = found + global_of_the_name(tree, emb)
        return memo[tree]

    return torch.stack([encode(tree) for tree in trees])


def shadowing(trees, emb, weight):
    def one(tree):
        def encode(tree, depth):
            return emb[tree] * depth if isinstance(tree, int) else sum(encode(part, depth + 1) for part in tree)

        return torch.stack([encode(tree, depth) for depth in (1, 2) for emb in (depth,)])

    return torch.stack([one(tree) for tree in trees]), weight


def shadowed_in_the_loop(trees, emb, weight):
    roots = []
    for k, tree in enumerate(trees):

        def walk(node):
            if isinstance(node, int):
                return emb[node] * k
            return torch.tanh(weight @ torch.cat([walk(node[0]), walk(node[1])]))

        roots.append(torch.stack([walk(tree) for k in range(3)]))
    return torch.stack(roots)


def called_behind_the_loop(trees, emb, weight):
    total = 0.0
    for k, tree in enumerate(trees):

        def walk(node):
            if isinstance(node, int):
                return emb[node] * (k + 1)
            return torch.tanh(weight @ torch.cat([walk(node[0]), walk(node[1])]))

        total = total + walk(tree).sum()
    k = 100
    return total, walk(3), k


def handed_on(trees, emb, weight):
    walks = []
    for k in range(len(trees)):

        def walk(node):
            if isinstance(node, int):
                return emb[node] * k
            return torch.tanh(weight @ torch.cat([walk(node[0]), walk(node[1])]))

        walks.append(walk)
    return torch.stack([walk(tree) for walk, tree in zip(walks, trees)])


def returned_itself(trees, emb, weight):
    memo = {}

    def encode(tree):
        if tree not in memo:
            both = isinstance(tree, tuple)
            memo[tree] = weight @ torch.cat([encode(one) for one in tree]) if both else emb[tree]
        return memo[tree]

    found = torch.stack([encode(tree) for tree in trees])
    held = memo if len(trees) > 3 else {}
    memo["more"] = 1
    return found, len(held), held is memo, encode(9)


def put_elsewhere(trees, emb, weight):
    out, found = [], {}

    def encode(tree):
        both = isinstance(tree, tuple)
        out.append(weight @ torch.cat([encode(one) for one in tree]) if both else emb[tree])
        return out[-1]

    last = None
    for k, tree in enumerate(trees):
        found[k] = encode(tree)
        found["all"] = out
        if k > 2:
            last = out
    out.append(1)
    return len(found["all"]), found["all"] is out, last is out, len(out)


def shortened_before(trees, emb, weight):
    states = [None] * len(trees)
    dropped = trees.pop()

    def encode(k):
        if states[k] is None:
            states[k] = emb[k] + (encode(k - 1) if k else emb[0])
        return states[k]

    found = torch.stack([encode(k) for k in range(len(trees))])
    return found, len(states), dropped


TRAPS = [seen_before, filled_before, called_before, handed_out, kept_between, beside_a_global, shadowing,
         shadowed_in_the_loop, called_behind_the_loop, handed_on, shortened_before,
         returned_itself, put_elsewhere]  # fmt: skip


@pytest.mark.parametrize("function", TRAPS)
def test_traps(function):
    lifted = lift(function, verify="off")
    for seed in range(3):
        torch.manual_seed(seed)
        emb, weight = torch.randn(10, 6, dtype=torch.float64), torch.randn(6, 12, dtype=torch.float64)
        got, want = lifted(forest(seed), emb, weight), function(forest(seed), emb, weight)
        for one, other in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
            torch.testing.assert_close(one, other) if isinstance(other, torch.Tensor) else None
            assert isinstance(other, torch.Tensor) or one == other


@pytest.mark.parametrize("function", [with_memo, collected, in_a_helper])
def test_a_leaf_that_is_no_row(function):
    lifted = lift(function, verify="off")
    emb, weight = torch.randn(10, 6, dtype=torch.float64), torch.randn(6, 12, dtype=torch.float64)
    lifted(forest(0), emb, weight)
    for run in (function, lifted):
        with pytest.raises(IndexError):
            run([*forest(1), (1, (2, 77))], emb, weight)


def counted_leaves(trees, emb, weight, most):
    seen = []

    def encode(tree):
        if isinstance(tree, tuple):
            return torch.tanh(weight @ torch.cat([encode(one) for one in tree]))
        seen.append(tree)
        if len(seen) == most:
            raise ValueError(len(seen))
        return emb[tree] * len(seen)

    return torch.stack([encode(tree) for tree in trees])


@pytest.mark.parametrize("verify", ["first", "off", "always"])
def test_what_is_raised_for_what_inner_functions_fill(verify):
    lifted = lift(counted_leaves, verify=verify)
    emb, weight = torch.randn(10, 6, dtype=torch.float64), torch.randn(6, 12, dtype=torch.float64)
    for seed, most in ((0, 5), (0, 10**6), (0, 5), (1, 10**6), (2, 7), (0, 10**6)):
        outcomes = []
        for run in (counted_leaves, lifted):
            try:
                outcomes.append(run(forest(seed), emb, weight, most))
            except ValueError as error:
                outcomes.append(torch.tensor(error.args))
        torch.testing.assert_close(*outcomes[::-1])
