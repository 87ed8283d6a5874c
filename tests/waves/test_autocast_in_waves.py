"""Under autocast a point that runs through `torch.vmap` is the loop's: autocast would cast what that makes of it."""

import torch

from looplift import lift
from looplift.base.compare import difference


def spread(v, depth):
    if depth == 0:
        return torch.mv(v[:, None] * v, v) + torch.dot(v, v)
    return spread(v * 0.9, depth - 1) + spread(v + 0.1, depth - 1)


def leaves(vectors):
    return [spread(v, 3) for v in vectors]


def test_products_in_waves_are_rounded_as_in_the_loop():
    vectors = list((torch.arange(12).view(4, 3) / 1024 + 1).unbind())
    lifted = lift(leaves, verify="off")
    assert difference(lifted(vectors), leaves(vectors)) is None
    assert [loop.decision for loop in lifted.report().loops] == ["waves"]
    lifted = lift(leaves, verify="off")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert difference(lifted(vectors), leaves(vectors)) is None
