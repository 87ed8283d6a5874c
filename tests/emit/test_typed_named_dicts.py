"""Dicts of a few names with values of several kinds: records that programs make, change, and hand out."""

import copy
import random
from collections import defaultdict

import pytest
import torch

from looplift import lift


def pack(seqs, width):
    rows = []
    for seq in sorted(seqs, key=len, reverse=True):
        for row in rows:
            if row["used"] + len(seq) <= width:
                break
        else:
            row = {"used": 0, "items": []}
            rows.append(row)
        row["items"].append(seq)
        row["used"] += len(seq)
    return rows


def tracks(frames, gap):
    alive, done = [], []
    for boxes in frames:
        for track in alive:
            track["age"] += 1
        for x, y in boxes:
            best = None
            for track in alive:
                d = abs(track["x"] - x) + abs(track["y"] - y)
                if d < gap and (best is None or d < best["d"]):
                    best = track
                    best["d"] = d
            if best is None:
                number = len(alive) + len(done)
                alive.append({"id": number, "x": x, "y": y, "age": 0, "d": None, "path": [(x, y)], "name": "new"})
            else:
                best["x"], best["y"], best["age"] = x, y, 0
                best["path"].append((x, y))
                best["name"] = "old"
        kept = []
        for track in alive:
            track["d"] = None
            (done if track["age"] > 2 else kept).append(track)
        alive = kept
    return done, alive


def older(people, years):
    for _ in range(years):
        for one in people:
            one["age"] += 1
            if one["age"] % 5 == 0:
                one["log"].append(one["name"])
            if "note" in one and one.get("other", 3) == 3:
                one["score"] = one["score"] * 0.5 if one.get("score") is not None else 1.0
    return [one["age"] for one in people], max(people, key=lambda one: one["age"])["name"] if people else ""


def grouped(words):
    found = defaultdict(lambda: {"count": 0, "first": "", "places": []})
    for place, word in enumerate(words):
        group = found[word[:1]]
        if group["count"] == 0:
            group["first"] = word
        group["count"] += 1
        group["places"].append(place)
    return dict(found), [one["count"] for one in found.values() if one]


def beams(scores, width):
    live = [{"path": [], "score": 0.0, "over": False}]
    for t in range(scores.shape[0]):
        fresh = []
        for beam in live:
            for k in range(scores.shape[1]):
                value = beam["score"] + scores[t, k].item()
                fresh.append({"path": beam["path"] + [k], "score": value, "over": k == 0})
        fresh.sort(key=lambda one: one["score"], reverse=True)
        live = fresh[:width]
    return live


def seqs(seed):
    r = random.Random(seed)
    return [[r.randrange(9) for _ in range(r.randrange(1, 8))] for _ in range(seed * 3)], 10


def frames(seed):
    r = random.Random(seed)
    return [[(r.random() * 3, r.random() * 3) for _ in range(r.randrange(4))] for _ in range(seed * 4)], 0.8


def people(seed):
    r = random.Random(seed)
    score = None if seed < 2 else 0.5
    made = [{"name": "ab"[k % 2], "age": r.randrange(9), "log": [], "score": score, "note": 1} for k in range(seed)]
    return made + made[:1], 7


def words(seed):
    r = random.Random(seed)
    return (["".join(r.choice("abc") for _ in range(3)) for _ in range(5 * seed)],)


def tables(seed):
    return torch.randn(seed + 1, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64), 2


@pytest.mark.parametrize(
    ("loop", "make"),
    [(pack, seqs), (tracks, frames), (older, people), (grouped, words), (beams, tables)],
    ids=lambda one: one.__name__,
)
def test_records_are_those_of_the_loop(loop, make):
    lifted = lift(loop, verify="off")
    for seed in (3, 0, 1, 2, 3, 4):
        ours = make(seed)
        theirs = copy.deepcopy(ours)
        got, wanted = lifted(*ours), loop(*theirs)
        assert repr((got, ours)) == repr((wanted, theirs))
    assert "native" in {one.decision for one in lifted.report().loops}


def renamed(rows):
    total = 0
    for row in rows:
        total += row["size"]
        row["tags"].append("seen")
    return total


def test_other_names_and_other_kinds_run_as_the_loop():
    lifted = lift(renamed, verify="off")
    good = [{"size": 2, "tags": []}, {"size": 3, "tags": ["a"]}]
    others = (
        [{"size": 2, "tags": [], "more": 1}],
        [{"tags": [], "size": 4}],
        [{"size": 2.5, "tags": []}],
        [{"size": True, "tags": [1]}],
        [{"size": "a", "tags": []}],
        [{"size": 1}],
        [{"size": 1, "tags": []}, {"size": 1, "tags": [], "more": None}],
    )
    for rows in (good, *others, good):
        ours, theirs = copy.deepcopy(rows), copy.deepcopy(rows)
        outcomes = []
        for function, given in ((lifted, ours), (renamed, theirs)):
            try:
                outcomes.append(function(given))
            except (TypeError, KeyError) as error:
                outcomes.append((type(error), str(error)))
        assert outcomes[0] == outcomes[1]
        assert repr(ours) == repr(theirs)


def compared(rows):
    same = 0
    for row in rows:
        row["seen"] += 1
        for other in rows:
            same += row == other
    return same, [list(row) for row in rows], [row for row in rows if row in rows[1:]]


def keys_of(rows):
    found = []
    for row in rows:
        row["seen"] += 1
        for name, value in row.items():
            found.append((name, value))
    return found


@pytest.mark.parametrize("loop", [compared, keys_of], ids=lambda one: one.__name__)
def test_what_needs_a_dict_has_one(loop):
    lifted = lift(loop, verify="off")
    for _ in range(3):
        rows = [{"seen": k, "log": [k % 2], "name": "ab"[k % 2]} for k in (1, 2, 1)]
        theirs = copy.deepcopy(rows)
        assert lifted(rows) == loop(theirs)
        assert rows == theirs


def collated(steps, keep):
    batch = {"state": [], "reward": [], "done": []}
    k = 0
    while k < len(steps):
        state, reward, done = steps[k]
        batch["state"].append(state * 2)
        batch["reward"].append(torch.tensor(reward))
        batch["done"].append(done)
        k += 1 if reward > keep else 2
    sizes = {name: len(column) for name, column in batch.items()}
    return {name: column[::-1] for name, column in batch.items()}, sizes, [len(one) for one in batch.values()], k


def names_beside(steps, keep):
    batch, k = {"state": [], "count": 0}, 0
    while k < len(steps):
        batch["state"].append(steps[k][0])
        batch["count"] += 1
        k += 1 if steps[k][1] > keep else 2
    return [(name, value) for name, value in batch.items()], [name for name in batch], {key: 1 for key in batch.keys()}


def of_an_outer_name(steps, keep):
    row, k, name = {"a": [], "b": 0.0}, 0, "unseen"
    while k < len(steps):
        row["a"].append(k)
        row["b"] += steps[k][1]
        k += 1 if steps[k][1] > keep else 2
    found = {name: (value, [name for name in (1, 2)]) for name, value in row.items()}
    return found, name


def of_some(steps, keep):
    row, k = {"a": [], "b": 0.0}, 0
    while k < len(steps):
        row["a"].append(k)
        row["b"] += steps[k][1]
        k += 1 if steps[k][1] > keep else 2
    return {name: value for name, value in row.items() if name != "b"}, {value: name for name, value in row.items()
        if name == "b"}  # fmt: skip


def changed_meanwhile(steps, keep):
    row, k = {"a": 1.0, "b": 0.0, "c": [1]}, 0

    def bump(number):
        row["a"] = row["a"] + number
        row["b"] = row["a"] * 2
        return row["b"]

    while k < len(steps):
        row["b"] += steps[k][1]
        row["c"].append(k)
        k += 1 if steps[k][1] > keep else 2
    return [(value, bump(1.0), value) for value in row.values()], {
        name: (name, bump(2.0), value) for name, value in row.items()
    }


@pytest.mark.parametrize(
    "loop", [changed_meanwhile, collated, names_beside, of_an_outer_name, of_some], ids=lambda one: one.__name__
)
def test_comprehensions_over_a_dict_of_names(loop):
    lifted = lift(loop, verify="off")
    generator = torch.Generator().manual_seed(0)
    for n in (1, 5, 9, 20):
        steps = [(torch.randn(3, generator=generator), float(k % 3), k % 4 == 0) for k in range(n)]
        got, wanted = lifted(steps, 0.5), loop(steps, 0.5)
        assert repr(got) == repr(wanted)


def stacked(steps, keep):
    batch, k = {"state": [], "reward": []}, 0
    while k < len(steps):
        batch["state"].append(steps[k][0])
        batch["reward"].append(torch.tensor(steps[k][1]))
        k += 1 if steps[k][1] > keep else 2
    return {name: torch.stack(column) for name, column in batch.items()}, k


def test_columns_are_stacked_in_the_program():
    lifted = lift(stacked, verify="off")
    steps = [(torch.full((3,), float(k)), float(k % 3)) for k in range(50)]
    for _ in range(3):
        (got, k), (wanted, number) = lifted(steps, 0.5), stacked(steps, 0.5)
        assert k == number and list(got) == list(wanted)
        for name in wanted:
            torch.testing.assert_close(got[name], wanted[name])
    assert {loop.decision for loop in lifted.report().loops} == {"native"}
