"""Records of loops, and their renderings as text, HTML and JSON."""

from __future__ import annotations

import html.parser
import json

import pytest

from looplift.base.report import DECISIONS, LoopRecord, Mark, Report, mark_at, readable_seconds, source_line
from looplift.base.spans import Span

LIFTED = LoopRecord("distances.py", 3, "lanes", source="    for i in range(n):", function="pairwise", calls=3)
KEPT = LoopRecord(
    "train.py",
    12,
    "kept",
    '"h" of one iteration is an argument of "tanh" in the next',
    "carried",
    source="for i in range(n):",
    function="<module>",
    mark=Mark(14, "        h = torch.tanh(w @ h + x[i])  # <b>", 12, 36),
)


def test_text_of_a_lifted_loop():
    assert str(LIFTED).splitlines() == [
        "distances.py:3 in pairwise: lanes",
        "  3 | for i in range(n):",
        "    | ^^^^^^^^^^^^^^^^^^",
        "  all iterations run together",
        "  3 calls in 0 s",
    ]


def test_text_of_a_kept_loop_points_at_what_the_reason_is_about():
    lines = str(KEPT).splitlines()
    assert lines[:4] == [
        "train.py:12: kept [carried]",
        "  14 | h = torch.tanh(w @ h + x[i])  # <b>",
        "     |     ^^^^^^^^^^^^^^^^^^^^^^^^",
        '  "h" of one iteration is an argument of "tanh" in the next',
    ]
    assert lines[4].startswith("  what to do: if you can, carry a sum")
    assert max(map(len, lines)) <= 100


def test_a_kept_loop_without_a_sentence_says_the_title():
    assert "  the loop trains" in str(LoopRecord("a.py", 1, "kept", code="training-step")).splitlines()


def test_notes_and_times_are_shown():
    record = LoopRecord("a.py", 1, "scan", notes=["n"], calls=1, seconds=0.002, original_seconds=1.5)
    assert "  note: n" in str(record)
    assert "  1 call in 2 ms, about 1.5 s as written" in str(record)
    assert record.seconds_saved == pytest.approx(1.498)


def test_report_begins_with_a_summary():
    assert str(Report([LIFTED, KEPT])).startswith("2 loops: 1 lanes, 1 kept\n\ndistances.py:3")
    assert str(Report()) == "no loops"


@pytest.mark.parametrize("decision", DECISIONS)
def test_every_decision_has_a_sentence(decision):
    assert DECISIONS[decision] in str(LoopRecord("a.py", 1, decision))


def test_json_holds_every_field_and_the_hint():
    loops = json.loads(Report([LIFTED, KEPT]).to_json())["loops"]
    assert loops[0]["decision"] == "lanes" and loops[0]["seconds_saved"] is None and loops[0]["hint"] == ""
    assert loops[1]["mark"]["line"] == 14 and loops[1]["hint"] == KEPT.hint != ""


class _Balance(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_html_is_balanced_self_contained_and_escaped():
    page = Report([LIFTED, KEPT])._repr_html_()
    parser = _Balance()
    parser.feed(page)
    assert parser.open == []
    assert "# <b>" in parser.text and "what to do" in parser.text
    assert "<mark>torch.tanh(w @ h + x[i])</mark>" in page
    assert "http" not in page and "<script" not in page


def test_mark_of_a_span(tmp_path):
    file = tmp_path / "source.py"
    file.write_text("def f():\n    ä = g(ä)  # ü\n    h(\n        1)\n", encoding="utf-8")
    # the syntax tree counts bytes: "ä" is two
    assert mark_at(str(file), Span(2, 9, 2, 14)) == Mark(2, "    ä = g(ä)  # ü", 8, 12)
    assert mark_at(str(file), Span(1, 4, 2, 9), line_offset=2) == Mark(3, "    h(", 4, 6)
    assert mark_at(str(file), Span(9)) is None
    assert mark_at("nowhere.py", Span(1)) is None
    assert source_line(str(file), 3) == "h("


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (1.25, "1.25 s"), (4321.0, "4,321 s"), (0.0123, "12.3 ms"), (4.2e-6, "4.2 µs"), (5e-9, "5 ns")],
)
def test_readable_seconds(seconds, text):
    assert readable_seconds(seconds) == text
