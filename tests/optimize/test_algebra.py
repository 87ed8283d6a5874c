"""Rules of algebra are asked wherever they have something to rewrite."""

from __future__ import annotations

import contextlib
import io

import pytest
from tests.golden.stages import case_names, load

from looplift import lift
from looplift.optimize.algebra import Rule


@pytest.mark.parametrize("name", case_names())
def test_a_rule_that_is_not_asked_would_have_nothing_to_say(name, monkeypatch):
    asked, missed = Rule.rewrite, []

    def rewrite(rule, node):
        made = asked(rule, node)
        if made is None and rule.function(node) is not None:
            missed.append((rule.name, node))
        return made

    monkeypatch.setattr(Rule, "rewrite", rewrite)
    case = load(name)
    with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
        lift(case.function, **case.options)(*case.arguments())
    assert not missed
