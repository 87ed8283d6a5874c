"""Items of several shapes, which are taken one by one: the reason speaks of them, at the loop."""

import torch
from torch.nn import functional

from looplift import lift


def padded(images):
    out = []
    for image in images:
        out.append(functional.pad(image, (0, 5 - image.shape[1], 0, 6 - image.shape[0])))
    return torch.stack(out)


def test_the_reason_is_at_the_loop():
    lifted, images = lift(padded, verify="off"), [torch.ones(4, 5), torch.ones(3, 2), torch.ones(6, 3)]
    torch.testing.assert_close(lifted(images), padded(images))
    (record,) = lifted.report().loops
    assert (record.decision, record.line) == ("kept", padded.__code__.co_firstlineno + 2)
    assert "several dimensions" in record.reason
