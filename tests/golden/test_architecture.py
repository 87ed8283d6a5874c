"""docs/architecture.md shows the stages, the rooms and the forms that there are."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tests.golden.stages import CASES, case_names

from looplift import pipeline

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "looplift"
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
GOLDEN = (CASES / "attraction.golden.md").read_text(encoding="utf-8")


def test_the_stages_are_those_of_the_pipeline_in_order():
    shown = re.findall(r"^### (\w+) \((\w+)\)$", TEXT, flags=re.MULTILINE)
    assert shown == [(stage.name, stage.room) for stage in pipeline.STAGES]


def test_the_rooms_are_those_of_the_package_in_import_order():
    (contract,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    order = [re.findall(r"\w+", layer) for layer in contract["layers"]]
    present = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} | {
        path.stem for path in PACKAGE.glob("*.py")
    }
    section = TEXT.partition("\n## The rooms\n")[2].partition("\n## ")[0]
    shown = re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE)
    assert shown == [room for layer in order for room in layer if room in present]


def test_every_form_stands_in_the_golden_page():
    for form in re.findall(r"^```\w+\n(.*?)\n```$", TEXT, flags=re.MULTILINE | re.DOTALL):
        assert form in GOLDEN, form


def test_every_file_that_is_mentioned_exists():
    for path in re.findall(r"`((?:\w+/)+[\w*]+\.py)`", TEXT):
        assert list(PACKAGE.glob(path)) or (ROOT / path).exists(), path


def test_every_page_that_is_mentioned_exists():
    section = TEXT.partition("\n## The mechanisms")[2].partition("\n## ")[0]
    pages = [
        page
        for row in re.findall(r"^\| .*\| (.*) \|$", section, flags=re.MULTILINE)
        for page in re.findall(r"`(\w+)`", row)
    ]
    assert pages and set(pages) <= set(case_names())
