"""Which declarations a program's text gets in front: those that it uses, and what these use."""

from looplift.emit.typed_parts import used

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
