"""What is refused inside of a function of Python's library is the call, which its author can act on."""

import re

import torch

from looplift import lift


def tokens(texts, out):
    for k in range(len(out)):
        out[k] = len(re.findall(r"\d+", texts[k])) + out[k]
    return out


def tried(texts, out):
    def length(text):
        try:
            return int(text) + len(text)
        finally:
            out[0] = 1

    for k in range(len(out)):
        out[k] = length(texts[k]) + out[k]
    return out


def test_the_call_is_named():
    lifted, texts = lift(tokens), ["a 12 b", "  3"]
    torch.testing.assert_close(lifted(texts, torch.zeros(2)), tokens(texts, torch.zeros(2)), rtol=0, atol=0)
    report = str(lifted.report())
    assert "kept [unknown-call]" in report
    assert "the effects of calling 're.findall' are not known" in " ".join(report.split())


def test_what_authors_wrote_is_theirs():
    lifted = lift(tried)
    torch.testing.assert_close(lifted(["12", "3"], torch.zeros(2)), tried(["12", "3"], torch.zeros(2)), rtol=0, atol=0)
    assert "try" in str(lifted.report())
