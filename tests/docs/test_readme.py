"""What README.md shows is what comes out: both programs are run, source, report and table are compared."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from looplift.base.report import DECISIONS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
DISTANCES, SOURCE, REPORT, SCRIPT, TABLE = re.findall(r"^```(?:python|text)\n(.*?)^```$", TEXT, flags=re.M | re.S)


def run(folder, *command):
    environment = os.environ | {"TERM": "dumb"}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )


def without_times(text):
    """Durations and the space that they take up are not compared."""
    return [
        re.sub(r"\s+", " ", re.sub(r"[\d.]+ (s|ms|µs)$|–$", "time", line.strip())) for line in text.strip().splitlines()
    ]


def without_timing(report):
    return "\n".join(
        line for line in report.splitlines() if not re.match(r"\s+(\d+ calls? in|note: not verified)", line)
    )


def test_the_first_minute(tmp_path):
    (tmp_path / "distances.py").write_text(DISTANCES, encoding="utf-8")
    printed = run(tmp_path, "distances.py").stdout
    assert without_timing(printed).strip() == f"{SOURCE}\n{REPORT}".strip()


def test_the_table(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    lifted, plain = run(tmp_path, "-m", "looplift", "run", "script.py"), run(tmp_path, "script.py")
    assert lifted.stdout == plain.stdout
    assert without_times(lifted.stderr) == without_times(TABLE)


@pytest.mark.parametrize("decision", sorted(set(DECISIONS) - {"scan"}))
def test_each_decision_is_explained(decision):
    assert f"| `{decision}` |" in TEXT


def test_links_lead_somewhere():
    for target in re.findall(r"\]\((\S+?)\)", TEXT):
        assert (ROOT / target).exists(), target
