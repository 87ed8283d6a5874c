"""Which declarations a program's text gets in front: those that it uses, and what these use."""

import importlib
import pkgutil

import pytest

from looplift import emit
from looplift.emit.typed_parts import _parts, used

TEXT = """#include <stdint.h>
struct Other { int v; };
// ---- a number
struct Number {
  int v;
};
static int halved(int a) { return a / 2; }
// what both are, and never Other
static int value(const Number& a) {
  return halved(a.v);
}
static int value(const Other& a) { return a.v; }
template <class T> struct Made;
template <> struct Made<Number> { static Number of(int v) { return {v}; } };
template <> struct Made<Other> { static Other of(int v) { return {v}; } };
static struct { int count; } known;
static int unused(int a) { return value(Number{a}); }"""


def test_overloads_and_forms_of_types_that_nobody_has_are_left_out():
    program = "int run() { return value(Made<Number>::of(3)); }"
    found = used([TEXT], program)
    lines = TEXT.replace("never Other", "").splitlines()
    wanted = [line for line in lines if not any(one in line for one in ("Other", "unused", "known"))]
    assert found.replace("never Other", "").splitlines() == [*wanted, program]


def test_what_is_used_is_used_in_turn():
    found = used([TEXT], "int run() { return unused(known.count); }")
    assert "static int halved" in found and "struct Number {" in found and "known;" in found
    assert "Other {" not in found and "Made" not in found


def test_a_namespace_stays_whole():
    found = used(["namespace ops {\nstruct Op { int v; };\n}", TEXT], "int run() { return 1; }")
    assert found == "namespace ops {\nstruct Op { int v; };\n}\n#include <stdint.h>\nint run() { return 1; }"


PRELUDES = [one.name for one in pkgutil.iter_modules(emit.__path__) if one.name.startswith("typed_prelude")]


@pytest.mark.parametrize("name", PRELUDES)
def test_every_declaration_of_a_prelude_begins_on_one_line(name):
    """A declaration of which the rest stands at a line's beginning would be taken apart."""
    module = importlib.import_module(f"looplift.emit.{name}")
    texts = [text for name, text in vars(module).items() if name.isupper() and isinstance(text, str) and "\n" in text]
    parts = [part.text for text in texts for part in _parts(text) if not part.text.startswith("namespace")]
    assert parts
    for text in parts:
        code = text.split("//")[0] if text.startswith("#") else text
        assert code.count("{") == code.count("}"), text
        assert text.startswith("#") or text.rstrip().rsplit("\n", 1)[-1].split("//")[0].rstrip()[-1] in ";}", text
