"""Programs that once gave a wrong answer, kept as `regressions/*.py` with `program` and `arguments(seed)`."""

from pathlib import Path

import pytest

from .differential import difference
from .fakes import unchanged

looplift = pytest.importorskip("looplift")

FOUND = sorted(path for path in (Path(__file__).parent / "regressions").glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_found_programs_are_repeatable(path):
    assert difference(path.read_text(), lift=unchanged) is None


@pytest.mark.skipif(not hasattr(looplift, "lift"), reason="looplift.lift is not there")
@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
@pytest.mark.parametrize("verify", ["off", "first"])
def test_found_programs_stay_right(path, verify):
    assert difference(path.read_text(), settings={"verify": verify}) is None


@pytest.mark.skipif(not hasattr(looplift, "lift"), reason="looplift.lift is not there")
@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_found_programs_stay_right_as_kernels(path):
    assert difference(path.read_text(), settings={"verify": "off", "backend": "native"}) is None
