"""What tests of kernels look at."""

import pytest

from looplift.build import compiler


@pytest.fixture
def texts(monkeypatch):
    """The C++ texts of a test."""
    found, library = [], compiler.library
    monkeypatch.setattr(compiler, "library", lambda text, *more: found.append(text) or library(text, *more))
    return found
