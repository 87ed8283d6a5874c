"""The rooms import only downward, every room has its place in the contract, and importing the package is light."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "looplift"
COMPILER = ("frontend", "analysis", "vectorize", "optimize", "emit", "build", "pipeline", "ops", "ir")


def contract():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (layers,) = project["tool"]["importlinter"]["contracts"]
    return [{name.strip(" ()") for name in layer.split("|")} for layer in layers["layers"]]


def rooms():
    folders = {path.parent.name for path in PACKAGE.glob("*/*.py")}
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__"}
    return folders | modules


def python(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_the_import_contract_holds():
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_room_has_its_place():
    assert rooms() <= set().union(*contract())


@pytest.mark.parametrize("program", ["import looplift", "import looplift\n@looplift.lift\ndef f(x): return x"])
def test_no_compiler_room_is_imported_before_the_first_lift(program):
    loaded = python(f"{program}\nimport sys\nprint(*sorted(sys.modules))").split()
    early = [name for name in loaded if name.startswith("looplift.") and name.split(".")[1] in COMPILER]
    assert not early


def test_heavy_packages_wait_until_they_are_needed():
    loaded = set(python("import looplift, sys\nprint(*sys.modules)").split())
    before = set(python("import torch, sys\nprint(*sys.modules)").split())
    assert not (loaded - before) & {"rich", "typer", "libcst", "torch._dynamo", "torch._inductor"}


def test_the_first_lift_makes_no_class_of_the_standard_library():
    """Each of them is compiled when it is made; all together took longer than all else that a first lift does."""
    rooms = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in ("cli", "verify")]
    found = [path for path in rooms if "from dataclasses import" in path.read_text(encoding="utf-8")]
    assert found == [PACKAGE / "base" / "reasons.py"]  # its entries are frozen for everyone
