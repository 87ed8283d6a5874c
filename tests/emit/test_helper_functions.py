"""The functions that emitted code may need are defined one by one, each with those that it calls."""

import pytest

from looplift.emit import helpers
from looplift.runtime.contents import names_in


@pytest.mark.parametrize("name", helpers.HELPERS)
def test_a_helper_brings_the_helpers_that_it_calls(name, monkeypatch):
    monkeypatch.setattr(helpers, "_SCOPE", {})
    defined = helpers.helper_functions((name,))[name]
    assert defined.__name__ == name
    needed = names_in(compile(helpers.HELPERS[name], name, "exec")) & helpers.HELPERS.keys()
    assert needed | {name} <= helpers._SCOPE.keys()
