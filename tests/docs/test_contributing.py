"""CONTRIBUTING.md is followed to the letter: its differences go into a copy of the package, its examples run there.

In a difference ``-`` and ``+`` lines replace a text that occurs once by another, ``+`` lines alone go below the line
before them, ``^`` lines above it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTIONS = ("Add an operation", "Add a reason", "Add a rule")


def section(title):
    return re.split(r"^## ", TEXT.partition(f"\n## {title}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def blocks(text, language):
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", text, flags=re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(body) for _, body in found]


def apply(difference, root):
    """Change the file that the first line names."""
    name, *lines = difference.splitlines()
    path = root / name.removeprefix("--- ")
    text = path.read_text(encoding="utf-8")
    position = 0
    while position < len(lines):
        old, position = lines[position], position + 1
        added = []
        while position < len(lines) and lines[position][:1] in ("+", "^"):
            added.append(lines[position])
            position += 1
        new = "\n".join(line[1:] for line in added)
        assert text.count(old[1:]) == 1, f"{old[1:]!r} occurs {text.count(old[1:])} times in {path}"
        if old.startswith("-"):
            text = text.replace(old[1:], new)
        else:
            text = text.replace(old[1:], f"{new}\n{old[1:]}" if added[0].startswith("^") else f"{old[1:]}\n{new}")
    path.write_text(text, encoding="utf-8")


def run(program, root):
    (root / "case.py").write_text(program, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(root / "src")}
    command = [sys.executable, str(root / "case.py")]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)


@pytest.fixture
def copy_of_package(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.parametrize("title", SECTIONS)
def test_the_steps_work(title, copy_of_package):
    steps = section(title)
    (program,) = blocks(steps, "python")
    assert run(program, copy_of_package).returncode, "the example passes without the change"
    for difference in blocks(steps, "diff"):
        apply(difference, copy_of_package)
    done = run(program, copy_of_package)
    assert done.returncode == 0, done.stderr


def test_the_new_reason_is_complete(copy_of_package):
    for difference in blocks(section("Add a reason"), "diff"):
        apply(difference, copy_of_package)
    done = run("from looplift.base.reasons import as_markdown; print(as_markdown())", copy_of_package)
    assert "## `backwards`: the loop runs backwards" in done.stdout


def test_files_and_names_that_are_mentioned_exist():
    for path in re.findall(r"`((?:src|tests|docs)/[\w/.]+)`", TEXT):
        assert (ROOT / path).exists(), path
    for names, path in re.findall(r"\| ((?:`[A-Z_]+`(?:, )?)+) in `(src/[\w/]+\.py)`", TEXT):
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"^{name}\b", (ROOT / path).read_text(encoding="utf-8"), flags=re.MULTILINE), name
