"""Classes that a typed program knows in, their C++ out: objects, their comparisons, and Python's objects of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from looplift.emit.typed_classes import TRUTH, Record
from looplift.emit.typed_enumerations import is_enumeration, member_text
from looplift.emit.typed_types import Arr, Either, Rec, Ten, holds, text_of

if TYPE_CHECKING:
    from looplift.emit.typed_program import Writer

_CLASSES = """static PyObject* class_args; static I class_first, class_run;
extern "C" { PyObject* PyObject_CallObject(PyObject*, PyObject*);
    PyObject *PyDict_GetItem(PyObject*, PyObject*), *PyObject_GenericGetDict(PyObject*, void*),
    *PyUnicode_InternFromString(const char*), *PyObject_GetAttr(PyObject*, PyObject*);
    int PyObject_SetAttr(PyObject*, PyObject*, PyObject*); I PyDict_Size(PyObject*); }
static PyObject* class_at(I k) { return PyTuple_GetItem(class_args, class_first + k); }
// objects are read and filled one after the other: a chain of them may be longer than the stack is deep
struct Later { PyObject* object; void* box; void (*fill)(PyObject*, void*); };
static struct { Later* all; I n, room, depth; } later;
static void begin_classes(PyObject* args, I first) { class_args = args; class_first = first; ++class_run;
    memset(&later, 0, sizeof later); }
static void put_off(PyObject* o, void* box, void (*fill)(PyObject*, void*)) {
  if (later.n == later.room) {
    I room = later.room ? 2 * later.room : 16; Later* all = (Later*)take(room * sizeof(Later));
    if (later.n) memcpy(all, later.all, later.n * sizeof(Later));
    later.all = all; later.room = room;
  }
  later.all[later.n++] = {o, box, fill};
}
// what has a hash of its attributes has them before it is a key
static void at_once(PyObject* o, void* box, void (*fill)(PyObject*, void*)) { if (++later.depth > 500) bail(DEEP);
    fill(o, box); --later.depth; }
static void catch_up() { while (later.n) { Later one = later.all[--later.n]; one.fill(one.object, one.box); } }
static PyObject* attributes_of(PyObject* o) { return keep(PyObject_GenericGetDict(o, nullptr)); }
static PyObject* attribute_in(PyObject* all, PyObject* name) { PyObject* found = PyDict_GetItem(all, name);
    if (!found) bail(KIND); return found; }
static PyObject* slot_in(PyObject* o, PyObject* name) { PyObject* found = PyObject_GetAttr(o, name);
    if (!found) { PyErr_Clear(); bail(KIND); } return keep(found); }
static void make_names(PyObject** names, const char* const* texts, I n) { if (!names[0]) for (I k = 0; k < n; ++k) {
    names[k] = PyUnicode_InternFromString(texts[k]); if (!names[k]) bail(MEMORY); } }"""

_OBJECT = """static PyObject* names_{name}[{count} + 1];
static const char* const texts_{name}[] = {{texts}};
static void read_{name}(PyObject* o, void* box) { {name}* c = ({name}*)box;
  PyObject* all = {all};
{reads} }
static void give_{name}(PyObject* o, void* box) { {name}* c = ({name}*)box;
  PyObject* all = {all};
{gives} }
static void commit_{name}(PyObject* o, void* box, PyObject** fresh) { {name}* c = ({name}*)box;
  if (!c->dirty) return;
  PyObject* all = {all};
  if (*fresh) { I k = 0;
{sets}
    return; }
  *fresh = keep(PyList_New(0));
{makes} }
inline Ref<{name}> From<Ref<{name}>>::of(PyObject* o) {
  must({test});
  if (Given* g = given_of(o)) return again<{name}>(g);
  make_names(names_{name}, texts_{name}, {count});
  Ref<{name}> out = begun<{name}>(o, commit_{name}); {read_later}; return out; }
static PyObject* object(const Ref<{name}>& v) {
  if (PyObject* o = known(v)) return o;
  make_names(names_{name}, texts_{name}, {count});
  PyObject* made = {made}; PyObject* o = {object}; if (!o) return o;
  told(v, o); {when}(o, v.p, give_{name}); return o; }"""

_NAMED = """template <class T> struct {name} : T { {name}() {} {name}(const T& one) : T(one) {} };
template <class T> bool eq(const {name}<T>& a, const {name}<T>& b) { return eq((const T&)a, (const T&)b); }
template <class T> bool lt(const {name}<T>& a, const {name}<T>& b) { return lt((const T&)a, (const T&)b); }
template <class T> bool le(const {name}<T>& a, const {name}<T>& b) { return le((const T&)a, (const T&)b); }
template <class T> void orderly(const {name}<T>& a) { orderly((const T&)a); }
template <class T> bool truth(const {name}<T>&) { return true; }
template <class T> U hash_of(const {name}<T>& a) { return hash_of((const T&)a); }
template <class T> struct As<{name}<T>> {
  static const {name}<T>& of(const {name}<T>& v) { return v; }
  static {name}<T> of(const None_&) { return {name}<T>(); }
  template <class S> static {name}<T> of(const {name}<S>& v) { return {name}<T>(As<T>::of((const S&)v)); } };"""

_NAMED_OUTSIDE = """template <class T> struct From<{name}<T>> { static {name}<T> of(PyObject* o) {
  must(o->type == (void*)class_at({place})); return {name}<T>(From<T>::read(o)); } };
template <class T> PyObject* object(const {name}<T>& v) {
  return PyObject_CallObject(class_at({place}), keep(object((const T&)v))); }"""


LEVELS = """// objects that are compared by what they hold may hold one another
static I levels;
struct Level { Level() { if (++levels > 150) bail(DEEP); } ~Level() { --levels; } };"""


_NOW_HAS = """template <class R> void now_has(const R& v, int place) {
  if (v->has >> place & 1) return;
  v->mixed |= v->has >> place; v->has |= I(1) << place; }"""


def has_levels(writer: Writer) -> bool:
    """Whether there are objects that are compared by what they hold."""
    return any(one.by_fields for one in writer.records.values())


def _filled(text: str, **parts: str) -> str:
    for name, part in parts.items():
        text = text.replace("{" + name + "}", part)
    return text


def class_texts(writer: Writer) -> list[str]:
    """The C++ of all classes, before that of the program."""
    names = [text_of(one.box)[4:-1] for one in writer.records.values()]
    places = {made: str(place) for place, made in enumerate(writer.classes)}
    out = [_CLASSES] if writer.passes_objects else []
    out += [_NOW_HAS] if any(record.knows_attributes for record in writer.records.values()) else []
    for made, place in places.items():
        if is_enumeration(made):
            out.append(member_text(made, place, outside=writer.passes_objects))
        elif made not in writer.records and hasattr(made, "_fields"):
            out.append(_filled(_NAMED, name=f"Named_{made.__name__}"))
            if writer.passes_objects:
                out.append(_filled(_NAMED_OUTSIDE, name=f"Named_{made.__name__}", place=place))
    out += [f"struct {name};" for name in names]
    out += [LEVELS] if has_levels(writer) else []
    for name, record in zip(names, writer.records.values(), strict=True):
        out += _struct(name, record, reads_late=reads_late(writer))
    if writer.passes_objects:
        out += [f"template <> struct From<Ref<{name}>> {{ static Ref<{name}> of(PyObject* o); }};" for name in names]
        for name, record in zip(names, writer.records.values(), strict=True):
            out.append(_outside(name, record, places.get(record.of, ""), reads_late=reads_late(writer)))
    return out


def reads_late(writer: Writer) -> bool:
    """Whether what an object of the caller's holds is read when the program asks for it, which may be for a few of
    many. A tape counts all tensors that ask for gradients before it begins."""
    return writer.passes_objects and not writer.joins.tracked


_UNREAD = """static void read_{name}(PyObject*, void*);
template <> struct Unread<{name}> { static inline void look({name}* p) {
  if (__builtin_expect(p->unread, 0)) { p->unread = false; read_{name}(p->from, p); } } };"""


def orders(writer: Writer) -> list[str]:
    """What tells which of two objects is the lesser one, behind the program that has it."""
    out = []
    for record in writer.records.values():
        if "__lt__" in record.methods:
            name, routine = text_of(record.box), writer.routines[record.methods["__lt__"]].name
            call = f"the_program->{routine}(a, b)"
            out.append(f"static bool lt(const {name}& a, const {name}& b) {{ return truth({call}); }}")
    return out


def _has_no_equal(type_: Any) -> bool:
    """Whether Python cannot say, or programs do not, that two such values are equal."""
    return isinstance(type_, Either | Rec | Arr) or (isinstance(type_, Ten) and type_.rank > 0)


def _struct(name: str, record: Record, *, reads_late: bool) -> list[str]:
    fields = [f"{text_of(cell)} v_{one}{{}};" for one, cell in zip(record.fields, record.box.cells, strict=True)]
    # never freed before the end: a chain of objects may be longer than the stack is deep
    known = ", has = 0, mixed = 0" if record.knows_attributes else ""
    late = " bool unread = false;" if reads_late else ""
    head = f"struct {name} {{ I refs = (I)1 << 40, dirty = 0{known}; PyObject* from = nullptr;{late}"
    both = f"(const Ref<{name}>& a, const Ref<{name}>& b)"
    equal, hashed = "bail(KIND);" if record.names else "return a.p == b.p;", "return hash_of((I)a.p);"
    cells = dict(zip(record.fields, record.box.cells, strict=True))
    if record.by_fields and any(holds(cells[one], _has_no_equal) for one in record.first):
        equal = hashed = "bail(KIND);"
    elif record.by_fields:
        pairs = " && ".join(f"item_eq(a->v_{one}, b->v_{one})" for one in record.first) or "true"
        equal = f"if (a.p == b.p) return true; Level level; return {pairs};"
        steps = [f"h = mixed(h * 31 + hash_of(a->v_{one}));" for one in record.first]
        hashed = " ".join(["Level level; U h = 3;", *steps, "return h;"])
    asked = "bail(KIND);" if any(one in record.methods for one in TRUTH) else "return true;"
    out = [
        f"{head} {' '.join(fields)} void empty() {{}} }};",
        *([_filled(_UNREAD, name=name)] if reads_late else []),
        f"static bool truth(const Ref<{name}>&) {{ {asked} }}",
        f"static bool eq{both} {{ {equal} }}",
        f"static bool lt{both}{';' if '__lt__' in record.methods else ' { bail(KIND); }'}",
        f"static bool le{both} {{ bail(KIND); }}",
    ]
    return [*out, f"static U hash_of(const Ref<{name}>& a) {{ {hashed} }}"] if record.has_hash else out


def _outside(name: str, record: Record, place: str, *, reads_late: bool) -> str:
    """How objects of a class come in, and go out."""
    reads, gives, sets, makes = [], [], [], []
    get, put = ("slot_in", "PyObject_SetAttr") if record.has_slots else ("attribute_in", "PyDict_SetItem")
    for bit, (one, cell) in enumerate(zip(record.fields, record.box.cells, strict=True)):
        field, text = f"names_{name}[{bit}]", text_of(cell)
        read, give = f"c->v_{one} = From<{text}>::of(", f"{put}(all, {field}, keep(py(c->v_{one})));"
        optional = record.is_partial or record.may_lack(one)
        if optional:
            found = f"if (PyObject* found = PyDict_GetItem(all, {field}))"
            reads.append(f"  {found} {{ {read}found); c->has |= I(1) << {bit}; }}")
            gives.append(f"  if (c->has >> {bit} & 1) {give}")
        else:
            reads.append(f"  {read}{get}(all, {field}));")
            gives.append(f"  {give}")
        sets.append(f"  if (c->dirty >> {bit} & 1) {put}(all, {field}, PyList_GetItem(*fresh, k++));")
        before = "PyDict_GetItem" if optional else get
        made = f"item({before}(all, {field}), c->v_{one})"
        makes.append(f"  if (c->dirty >> {bit} & 1) PyList_Append(*fresh, keep({made}));")
    lines = {"reads": reads, "gives": gives, "sets": sets, "makes": makes}
    lines["all"] = ["o" if record.has_slots or record.names else "attributes_of(o)"]
    lines["test"] = [f"o->type == (void*)class_at({place})"]
    lines["made"] = [f"class_at({place})"]
    lines["object"] = ['PyObject_CallMethod(made, "__new__", "O", made)']
    if record.knows_attributes:  # a dict has its names in the order in which they were set
        lines["gives"] = ["  if (c->mixed) bail(KIND);", *gives]
        lines["makes"] = ["  if (c->mixed) bail(KIND);", *makes]
    if record.is_partial:
        lines["reads"] = [*reads, "  if (__builtin_popcountll(c->has) != PyDict_Size(o)) bail(KIND);"]
    if record.names:
        size = "" if record.is_partial else f" && PyDict_Size(o) == {len(record.names)}"
        lines["test"] = [f"is(o, PyDict_Type){size}"]
        lines["made"], lines["object"] = ["nullptr"], ["made ? made : PyDict_New()"]
    when = "at_once" if record.by_fields and record.has_hash else "put_off"
    lines["read_later"] = ["out.p->unread = true" if reads_late else f"{when}(o, out.p, read_{name})"]
    texts = ", ".join(f'"{one}"' for one in record.fields) or "nullptr"
    parts = {key: "\n".join(part) for key, part in lines.items()}
    return _filled(_OBJECT, name=name, count=str(len(record.fields)), texts=texts, when=when, **parts)
