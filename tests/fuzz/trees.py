"""Random recursions over trees: what a leaf reads of tables, by places that may not be there, and how nodes join."""

from __future__ import annotations

LEAVES = """table[tree]
table[classes[tree]]
F.one_hot(classes[tree], 4).to(table.dtype) @ table
F.embedding(classes[tree], table)
table[tree].clone()
table[tree].view(-1)
torch.gather(table[tree], 0, classes[tree : tree + 1]).expand(4)
torch.zeros_like(table[0])
table[tree].detach()
-F.nll_loss(F.log_softmax(table[tree], 0)[None], classes[tree][None]) * table[0]""".splitlines()
JOINS = """torch.tanh(a + b)
a * b
a - b.detach()
torch.tanh(F.linear(torch.cat([a, b]), weight))
torch.maximum(a, b)
torch.stack([a, b]).mean(0)
torch.cat([a, b]).view(2, -1).sum(0)
a / (1 + b.norm())
F.normalize(a - 0.5 * b, dim=0)
torch.where(a > 0, a, b)
torch.cosine_similarity(a, b, dim=0) * a
a if tree[0] == 0 else b
torch.stack([a, b])[0]
a.index_select(0, classes) + b
(a.unsqueeze(0) * b.unsqueeze(1)).sum(0)
torch.relu(a) + table[tree[0] if isinstance(tree[0], int) else 0]""".splitlines()
RESULTS = ("out", "torch.stack(out)", "sum(one.sum() for one in out)", "out[-1]")
ARGUMENTS = """
def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    trees = [((0, 1), (2, (3, 0))), 1, (2, 3), (((0, 0), (1, 1)), ((2, 2), 3))]
    trees = [trees, trees[:1], [], trees * 2][seed % 4]
    if seed == 3:
        trees = trees + [BAD]
    classes = torch.randint(0, 5 if seed % 2 else 4, (4,), generator=g)
    table, weight = torch.randn(4, 4, generator=g), torch.randn(4, 8, generator=g)
    return trees, table.requires_grad_(seed != 2), weight.requires_grad_(seed != 1), classes
"""
BAD = ("(0, 9)", "(0, None)", "(0,)", "((0, 1), -1)", "(1, 2)")


def tree_source(rng):
    """The source of one program; ``rng``: Python's random numbers."""
    join = rng.choice(JOINS)
    second = f"    if len(tree) == 2 and tree[0] == tree[1]:\n        return {rng.choice(JOINS)}\n"
    return (
        "import torch\nimport torch.nn.functional as F\n\n\n"
        "def fold(tree, table, weight, classes):\n"
        "    if isinstance(tree, int):\n"
        f"        return {rng.choice(LEAVES)}\n"
        "    a = fold(tree[0], table, weight, classes)\n"
        "    b = fold(tree[1], table, weight, classes)\n"
        f"{second if rng.random() < 0.3 else ''}"
        f"    return {join}\n\n\n"
        "def program(trees, table, weight, classes):\n"
        "    out = []\n"
        "    for tree in trees:\n"
        "        out.append(fold(tree, table, weight, classes))\n"
        f"    return {rng.choice(RESULTS)}\n\n\n"
    ) + ARGUMENTS.replace("BAD", rng.choice(BAD))
