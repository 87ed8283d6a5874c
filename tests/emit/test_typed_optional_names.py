"""Dicts that have some of several names each: nodes and leaves of trees, entries with and without a remark."""

import copy
import random

import pytest
from tests.fuzz.sharing import programs_first

from looplift import lift
from looplift.emit.typed_optional_names import groups_of


def tree(depth, random):
    if depth == 0 or random.random() < 0.2:
        leaf = {"leaf": random.randrange(9)}
        return leaf | {"name": "x"} if random.random() < 0.3 else leaf
    node = {"split": random.randrange(3), "cut": random.random(), "missing": random.choice(("yes", "no"))}
    return node | {"yes": tree(depth - 1, random), "no": tree(depth - 1, random)}


def leaf_of(node, row):
    while "leaf" not in node:
        node = node["yes"] if row[node["split"]] < node["cut"] else node["no"]
    return node["leaf"]


def votes(trees, rows):
    found = []
    for row in rows:
        counts = [0] * 9
        for one in trees:
            counts[leaf_of(one, row)] += 1
        found.append(counts)
    return found


def by_branch(trees, rows):
    found = []
    for row in rows:
        for node in trees:
            depth = 0
            while node.get("leaf") is None:
                value = row[node["split"]]
                branch = node["missing"] if value > 0.9 else "yes" if value < node["cut"] else "no"
                node = node[branch]
                depth += 1
            found.append((node["leaf"], depth, node.get("name", "none")))
    return found


def depth_of(node):
    if "leaf" in node:
        return 0
    return 1 + max(depth_of(node["yes"]), depth_of(node["no"]))


def deepest(trees, rows):
    best = -1
    for one in trees:
        for _ in rows:
            best = max(best, depth_of(one))
    return best


def counted(trees, rows):
    """Leaves count how often they are met, in place."""
    for row in rows:
        for node in trees:
            while "leaf" not in node:
                node["split"] = node["split"] % 3
                node = node["yes"] if row[node["split"]] < node["cut"] else node["no"]
            node["leaf"] += 1
            if "name" in node:
                node["name"] = "met"
    return trees


def stacked(trees, rows):
    """Nodes on a stack, and which name is asked for is a variable."""
    total = 0
    for wanted in ("leaf", "split", "name"):
        for one in trees:
            stack = [one]
            while stack:
                node = stack.pop()
                if wanted in node:
                    total += 1
                if "yes" in node:
                    stack.append(node["yes"])
                    stack.append(node["no"])
    return total, len(rows)


def told(trees, rows):
    """Numbers and whether a name is there, in one list."""
    found = []
    for node in trees:
        found.append(node.get("split", 0))
        found.append("yes" in node)
        while "yes" in node:
            node = node["yes"]
        found.append("name" in node)
    return found


PROGRAMS = (votes, by_branch, deepest, counted, stacked, told)


@pytest.fixture(autouse=True)
def programs_before_others(monkeypatch):
    from looplift import pipeline

    monkeypatch.setattr(pipeline, "compile_region", pipeline.compile_region)
    programs_first()


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda one: one.__name__)
def test_programs_do_what_the_loop_does(function):
    lifted = lift(function, verify="off")
    for seed in range(8):
        generator = random.Random(seed)
        trees = [tree(generator.randrange(5), generator) for _ in range(4)]
        rows = [[generator.random() for _ in range(3)] for _ in range(6 * (seed != 4))]
        own = copy.deepcopy(trees)
        found, wanted = lifted(trees, rows), function(own, rows)
        assert found == wanted and repr(found) == repr(wanted)
        assert trees == own
        assert [list(one) for one in trees] == [list(one) for one in own]
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


@pytest.mark.parametrize("function", PROGRAMS[:3], ids=lambda one: one.__name__)
def test_a_name_that_is_lacking_raises(function):
    lifted = lift(function, verify="off")
    generator = random.Random(2)
    trees, rows = [tree(3, generator) for _ in range(3)], [[0.3, 0.5, 0.7]] * 4
    assert lifted(trees, rows) == function(trees, rows)
    for broken in ([{"split": 1}], [{"split": 0, "cut": 2.0, "no": {"leaf": 1}}], [*trees, {}]):
        for one in (function, lifted):
            with pytest.raises(KeyError):
                one(broken, rows)
    assert lifted(trees, rows) == function(trees, rows)


def test_only_dicts_that_meet_have_one_type():
    leaf, entry = {"leaf": 1.0}, {"id": 1, "text": "a"}
    node = {"split": 1, "yes": leaf, "no": {"leaf": 2.0, "name": "b"}}
    groups = groups_of([[node], {"entries": [entry, dict(entry)]}, {"a": {"b": 1}, "c": {}}])
    assert groups[id(leaf)] == groups[id(node)]
    assert {*groups[id(node)]} == {"split", "yes", "no", "leaf", "name"}
    assert id(entry) not in groups
    shared = [leaf, {"other": 1, "text": "c"}]
    assert "other" in groups_of([node, shared])[id(node)]
