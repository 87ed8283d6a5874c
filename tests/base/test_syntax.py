"""Walks over syntax trees see what ``ast.walk`` sees, but for the contexts of names."""

import ast
from pathlib import Path

import pytest

import looplift.frontend
from looplift.base.syntax import children_of, nodes_of

FILES = sorted(Path(looplift.frontend.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_nodes_in_the_same_order(path):
    tree = ast.parse(path.read_text())
    wanted = [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]
    assert nodes_of(tree) == wanted
    for node in wanted:
        below = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr_context)]
        assert children_of(node) == below
