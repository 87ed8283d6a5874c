"""The routines of a typed program in, the whole of its C++ out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from looplift.emit.typed_copies import without_copies
from looplift.emit.typed_expressions import quoted
from looplift.emit.typed_looked import looks_at_rows
from looplift.emit.typed_object_text import class_texts, has_levels, orders
from looplift.emit.typed_parts import used
from looplift.emit.typed_prelude_arrays import ARRAYS
from looplift.emit.typed_prelude_containers import CONTAINERS, HELPERS
from looplift.emit.typed_prelude_numbers import NUMBERS
from looplift.emit.typed_prelude_objects import OBJECTS
from looplift.emit.typed_prelude_products import ARRAY_PRODUCTS, TENSOR_PRODUCTS
from looplift.emit.typed_prelude_tensor_folds import FOLDS
from looplift.emit.typed_prelude_tensor_objects import HANDED
from looplift.emit.typed_prelude_tensors import TAPE, TENSORS
from looplift.emit.typed_scope import Routine, refuse
from looplift.emit.typed_tensor_ops import operations_text
from looplift.emit.typed_types import (
    MIXED,
    WORDED,
    Box,
    Either,
    Maybe,
    Rec,
    Ten,
    Tup,
    holds,
    record_names,
    text_of,
)

if TYPE_CHECKING:
    from looplift.emit.typed_program import Writer


def program_text(writer: Writer, every: list[Routine]) -> str:
    main, *rest = every
    members = [f"Str {name} = {quoted(text)};" for text, name in writer.texts.items()]
    members += variables(main, sorted(main.kept & main.types.keys()))
    for one in rest:
        members += [*variables(one, sorted(one.kept & one.types.keys())), *memory(one)]
    uncalled = [one for one in writer.routines.values() if one.memory and one not in every]
    members += [f"void forget_{one.name}() {{}}" for one in uncalled]
    body = [*members]
    for one in rest:
        body += method(one, writer.methods[one])
    signature = f"{text_of(main.result)} run(PyObject* args) {{"
    body += [signature, *variables(main, sorted(main.types.keys() - main.kept))]
    if writer.passes_objects:
        body.append(f"begin_classes(args, {len(writer.inputs) + 2});")
    rest = [*reads(writer), *lean(main, writer.methods[main]), "bail(UNBOUND);", "}"]
    writer.joins.tensors |= any("Ten<" in line for line in (*body, *rest))
    classes = len(writer.classes) if writer.passes_objects else 0
    if writer.joins.tensors:
        body.append(f"begin_tensors(args, {len(writer.inputs) + 2 + classes});")
    if writer.library:
        body.append(f"begin_calls(args, {len(writer.inputs) + 9 + classes});")
    body += rest
    ordered = orders(writer)
    if has_levels(writer):
        body.insert(body.index(signature) + 1, "levels = 0;")
    if ordered:
        body.insert(body.index(signature) + 1, "the_program = this;")
    head = ["struct Program; static Program* the_program;"] if ordered else []
    program = "\n".join([*class_texts(writer), *head, "struct Program {", *body, "};", *ordered])
    entry = ENTRY
    if writer.passes_objects:
        for before, after in _WITH_CLASSES:
            entry = entry.replace(before, after)
    if writer.joins.tensors:
        if writer.joins.has_numpy:
            raise refuse(None, "tensors beside arrays")
        return with_tensors(writer, program, entry)
    tuples = [tuple_text(int(count)) for count in sorted(set(re.findall(r"\bTup(\d+)\b", program)))]
    if writer.joins.has_numpy:
        for before, after in _WITH_NUMPY:
            entry = entry.replace(before, after)
        program += entry
        return used([NUMBERS, CONTAINERS, OBJECTS, *tuples, HELPERS, ARRAYS, ARRAY_PRODUCTS], program)
    return used([NUMBERS, CONTAINERS, OBJECTS, NO_ARRAYS, *tuples, HELPERS], program + entry)


_WITH_CLASSES = (
    ("keep(py(program.run(args)));", "keep(py(program.run(args)));\n  catch_up();"),
    ("apply < 2; ++apply)", "apply < 2; ++apply, catch_up())"),
)
_FIRST = "  PyObject* volatile found = nullptr;\n"
_WITH_NUMPY = (
    (_FIRST, "  begin_numpy(PyTuple_GetItem(args, PyTuple_Size(args) - 1));\n" + _FIRST),
    ("  for (int apply = 0;", "  all_apart();\n  for (int apply = 0;"),
)


def with_tensors(writer: Writer, program: str, entry: str) -> str:
    """The same where there are tensors, too."""
    tuples = [tuple_text(int(count)) for count in sorted(set(re.findall(r"\bTup(\d+)\b", program)))]
    records = [record_text(name) for name in sorted(set(re.findall(r"\bRec_\w+", program)))]
    loose = _is_loose(writer)
    picked = loose and not writer.joins.tracked and not _numbers_in(writer.main.result)
    looked = looks_at_rows(writer.main, writer.methods)
    flags = {"TRACKED": writer.joins.tracked, "LOOSE": loose, "PICKED": picked, "LOOKED": looked}
    flag = f"static constexpr bool {', '.join(f'{name} = {str(on).lower()}' for name, on in flags.items())};"
    for before, after in _WITH_TENSORS:
        entry = entry.replace(before, after)
    texts = [
        NUMBERS, *operations_text(writer.structs), CONTAINERS, OBJECTS, NO_ARRAYS, flag, TAPE, TENSORS, FOLDS,
        TENSOR_PRODUCTS, HANDED,
        *tuples, *records, HELPERS,
    ]  # fmt: skip
    return used(texts, program + entry)


def _is_loose(writer: Writer) -> bool:
    """Whether nobody sees which 0-dim tensors are one object, or views of one: none is changed, or put into something
    of the caller's, and at most one is handed out, also as a view of one element."""
    if writer.changes_tensors or writer.passes_objects or _numbers_in(writer.main.result) > 1:
        return False
    if writer.widens_numbers and holds(writer.main.result, lambda one: isinstance(one, Ten)):
        return False
    given = [writer.main.types[name] for name in writer.inputs]
    return not any(holds(type_, _keeps_numbers) for type_ in given)


def _keeps_numbers(type_: Any) -> bool:
    return isinstance(type_, Box) and bool(_numbers_in(type_))


def _numbers_in(type_: Any) -> int:
    """How many 0-dim tensors a value has, or 2 where they are items of a container."""
    match type_:
        case Ten(rank=rank):
            return int(rank == 0)
        case Either(tensor=tensor):
            return _numbers_in(tensor)
        case Tup(items=items) | Rec(items=items):
            return sum(map(_numbers_in, items))
        case Maybe(inner=inner):
            return _numbers_in(inner)
    return 2 * holds(type_, lambda one: (isinstance(one, Ten) and not one.rank) or isinstance(one, Either))


_WITH_TENSORS = (
    ("  for (int apply = 0;", "  ready();\n  for (int apply = 0;"),
    ("if (state) {", "if (state || last_tape) {"),
    ("state = nullptr;\n", "state = nullptr;\n  end_tensors(found);\n"),
)


def variables(routine: Routine, names: list[str]) -> list[str]:
    lines = []
    for name in names:
        variable = routine.variable(name)
        lines.append(f"{text_of(routine.types[name])} v_{variable}{{}};")
        if name in routine.doubtful:
            lines.append(f"bool set_{variable} = false;")
    return lines


def reads(writer: Writer) -> list[str]:
    """Takes the inputs; what stands outside of the region comes last, as only what nothing else leads to is fixed."""
    ordered = sorted(enumerate(writer.inputs), key=lambda pair: pair[1] in writer.outside)
    lines = [_read(writer, name, place) for place, name in ordered]
    return lines + (["catch_up();"] if writer.passes_objects else [])


def _read(writer: Writer, name: str, place: int) -> str:
    text = f"v_{name} = From<{text_of(writer.main.types[name])}>::of(PyTuple_GetItem(args, {place + 2}));"
    if name in writer.outside:
        return f"{{ I first = given.n; {text} for (; first < given.n; ++first) given.known[first].fixed = true; }}"
    return text + (f" set_{name} = true;" if name in writer.main.doubtful else "")


def _key(routine: Routine) -> tuple[str, str]:
    """The type and the value of what tells calls apart."""
    types = [routine.types[name] for name in routine.parameters]
    names = [f"v_{name}" for name in routine.parameters]
    if (1, ()) in routine.forms and types[0] in (MIXED, WORDED):
        raise refuse(None, f"'{routine.name}' keeps 1 and 1.0 apart")
    if len(types) == 1:
        return text_of(types[0]), names[0]
    text = text_of(Tup(tuple(types)))
    return text, f"{text}{{{', '.join(names)}}}"


def memory(routine: Routine) -> list[str]:
    """Where a routine keeps its results; each run of its definition begins with none."""
    if not routine.memory:
        return []
    table, name = f"Dict<{_key(routine)[0]}, {text_of(routine.result)}, 0>", routine.name
    return [f"Ref<{table}> memory_{name};", f"void forget_{name}() {{ memory_{name} = made<{table}>(); }}"]


def method(routine: Routine, lines: list[str]) -> list[str]:
    result, name = text_of(routine.result), routine.name
    parameters = ", ".join(f"{text_of(routine.types[one])} v_{one}" for one in routine.parameters)
    out = []
    if routine.memory:
        table = f"memory_{name}"
        out += [f"{result} {name}({parameters}) {{ auto key = {_key(routine)[1]};"]
        out += [f"if (auto* e = {table}->find(key)) return e->value;"]
        names = ", ".join(f"v_{one}" for one in routine.parameters)
        out += [f"{result} found = {name}_anew({names}); {table}->set(key, found);"]
        out += [f"if ({table}->n > {routine.memory}) bail(MEMORY);"] if routine.memory > 0 else []
        out += ["return found; }"]
        name += "_anew"
    out += [_head(routine, name, parameters), *(["Deep deep;"] if routine.calls_itself else [])]
    out += variables(routine, sorted(routine.types.keys() - set(routine.parameters) - routine.kept))
    out += [f"bool set_{one} = true;" for one in routine.parameters if one in routine.doubtful - routine.kept]
    out += _begun(routine)
    return [*out, *lean(routine, lines), "bail(UNBOUND);", "}"]


def _begun(routine: Routine) -> list[str]:
    """What the variables that functions inside share are at the beginning of each call."""
    given = routine.kept.intersection(routine.parameters)
    lines = [f"v_{routine.variable(one)} = v_{one};" for one in sorted(given)]
    flags = sorted(routine.doubtful & routine.kept & routine.types.keys())
    return lines + [f"set_{routine.variable(one)} = {str(one in given).lower()};" for one in flags]


def _head(routine: Routine, name: str, parameters: str) -> str:
    """What a function's text begins with; one that hands out its results is made for each that takes them, or, where
    it calls itself, takes them as the same."""
    result = text_of(routine.result)
    if not routine.hands_out:
        return f"{result} {name}({parameters}) {{"
    taker = f"const Taker<{result}>" if routine.calls_itself else "const Hand"
    known = "" if routine.calls_itself else "template <class Hand> "
    return f"{known}bool {name}({parameters}{', ' if parameters else ''}{taker}& hand_out) {{"


def lean(routine: Routine, lines: list[str]) -> list[str]:
    """A routine's statements, with no more copies than they need."""
    types = {routine.variable(name): text_of(type_) for name, type_ in routine.types.items()}
    count = ["Ticks tick;"] if any(line == "tick();" or " = tick.until(" in line for line in lines) else []
    return [*count, *without_copies(lines, types, (f"v_{routine.variable(name)}" for name in routine.kept))]


def record_text(name: str) -> str:
    """A dict of the caller's that is read under some names; the keys and values of others are not looked at."""
    names = record_names(name)
    classes = ", ".join(f"A{k}" for k in range(len(names)))
    head = f"template <{', '.join(f'class A{k}' for k in range(len(names)))}>"
    reads = [f'  out.a{k} = From<A{k}>::of(found_in(o, "{one}"));' for k, one in enumerate(names)]
    return "\n".join(
        [
            f"{head} struct {name} {{ {' '.join(f'A{k} a{k};' for k in range(len(names)))} }};",
            f"{head} struct From<{name}<{classes}>> {{ static {name}<{classes}> of(PyObject* o) {{",
            f"  must(is(o, PyDict_Type)); {name}<{classes}> out;", *reads, "  return out;", "} };",
            f"{head} PyObject* object(const {name}<{classes}>&) {{ bail(KIND); }}",
        ]
    )  # fmt: skip


def tuple_text(count: int) -> str:
    """A tuple of so many items."""
    if not count:
        return EMPTY

    def each(text: str, between: str = " ") -> str:
        return between.join(text.replace("#", str(k)) for k in range(count))

    mine = f"Tup{count}<{each('A#', ', ')}>"
    head, others = f"template <{each('class A#', ', ')}>", f"template <{each('class B#', ', ')}>"
    both = f"(const {mine}& a, const {mine}& b)"
    return "\n".join(
        [
            f"{head} struct Tup{count} {{",
            f"  {each('A# a#{};')}",
            f"  Tup{count}() {{}}",
            f"  Tup{count}({each('const A#& b#', ', ')}) : {each('a#(b#)', ', ')} {{}}",
            "};",
            f"{head} bool eq{both} {{ return {each('item_eq(a.a#, b.a#)', ' && ')}; }}",
            f"{head} bool lt{both} {{ {each('if (!item_eq(a.a#, b.a#)) return lt(a.a#, b.a#);')} return false; }}",
            f"{head} bool le{both} {{ {each('if (!item_eq(a.a#, b.a#)) return le(a.a#, b.a#);')} return true; }}",
            f"{head} void orderly(const {mine}& a) {{ {each('orderly(a.a#);')} }}",
            f"{head} bool truth(const {mine}&) {{ return true; }}",
            f"{head} U hash_of(const {mine}& a) {{",
            f"  U h = {count}; {each('h = mixed(h * 31 + hash_of(a.a#));')} return h;",
            "}",
            f"{head} struct From<{mine}> {{ static {mine} of(PyObject* o) {{",
            f"  must(is(o, PyTuple_Type) && PyTuple_Size(o) == {count}); return read(o);",
            "}",
            f"static {mine} read(PyObject* o) {{",
            f"  return {mine}({each('From<A#>::of(PyTuple_GetItem(o, #))', ', ')});",
            "} };",
            f"{head} PyObject* object(const {mine}& v) {{",
            f"  PyObject* o = keep(PyTuple_New({count}));",
            f"  {each('PyTuple_SetItem(o, #, py(v.a#));')} Py_IncRef(o); return o;",
            "}",
            f"{head} struct As<{mine}> {{",
            f"  static const {mine}& of(const {mine}& v) {{ return v; }}",
            f"  static {mine} of(const None_&) {{ return {mine}(); }}",
            f"  {others} static {mine} of(const Tup{count}<{each('B#', ', ')}>& v) {{",
            f"    return {mine}({each('As<A#>::of(v.a#)', ', ')});",
            "  }",
            "};",
        ]
    )


EMPTY = """struct Tup0 {};
static bool eq(Tup0, Tup0) { return true; }
static bool lt(Tup0, Tup0) { return false; }
static bool le(Tup0, Tup0) { return true; }
static bool truth(Tup0) { return false; }
static U hash_of(Tup0) { return 1; }
template <> struct From<Tup0> { static Tup0 of(PyObject* o) {
  must(is(o, PyTuple_Type) && PyTuple_Size(o) == 0); return Tup0();
} };
static PyObject* object(Tup0) { return PyTuple_New(0); }"""

NO_ARRAYS = """static PyObject* object_of_numpy(Dyn) { bail(KIND); }
static Dyn numpy_number(PyObject*) { bail(KIND); }"""

ENTRY = """
static const char* const reasons[] = {
  "", "an index is out of range", "an integer needs more than 64 bits", "a division by zero",
  "a function is called outside its domain, or a number is not finite", "a key or an item is not there",
  "something is empty",
  "a value is of another type", "a variable is read before it is bound", "a container changes while it is gone through",
  "too much memory is needed", "the recursion is too deep", "an assertion fails, or the loop raises", ""};
static __attribute__((noinline)) PyObject* outcome(PyObject* args) {
  Program program;
  PyObject* found = keep(py(program.run(args)));
  // what one object no longer holds may have to be filled as well
  for (I k = 0; k < given.n; ++k) { Py_IncRef(given.known[k].object); keep(given.known[k].object); }
  for (int apply = 0; apply < 2; ++apply)
    for (I k = 0; k < given.n; ++k) {
      Given& one = given.known[k];
      if (one.commit) one.commit(one.object, one.box, &one.fresh);
      if (one.fixed && one.fresh) bail(KIND);
    }
  Py_IncRef(found);
  return found;
}
extern "C" PyObject* run_program(PyObject* args, I limit) {
  if (state) { PyErr_SetString(PyTuple_GetItem(args, 0), "it runs already"); return nullptr; }
  State mine; memset(&mine, 0, sizeof mine);
  char here; mine.stack = &here; mine.limit = limit; state = &mine;
  memset(&given, 0, sizeof given);
  given.error = PyTuple_GetItem(args, 0); given.deque = PyTuple_GetItem(args, 1);
  PyObject* volatile found = nullptr;
  if (!setjmp(mine.leave)) found = outcome(args);
  for (I k = 0; k < given.kept_n; ++k) Py_DecRef(given.kept[k]);
  PyObject* error = given.error;
  for (Chunk* chunk = mine.chunks; chunk;) { Chunk* next = chunk->next; give_back(chunk); chunk = next; }
  state = nullptr;
  if (!found && mine.why != INTERRUPTED) PyErr_SetString(error, reasons[mine.why]);
  return found;
}
"""
