import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from stand_in import StandIn


@pytest.fixture
def stand_in(monkeypatch):
    return StandIn(monkeypatch)
