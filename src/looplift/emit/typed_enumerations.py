"""Enumerations of the user's in, what typed programs know of their members out."""

from __future__ import annotations

import enum
from typing import Any

from looplift.emit.typed_types import Member, text_of

_OF_OBJECTS = frozenset(
    """__eq__ __ne__ __hash__ __lt__ __gt__ __le__ __ge__ __bool__ __len__ __getattr__ __getattribute__ __index__
    __int__ __float__ __iter__ __getitem__ __contains__ __call__""".split()
)
"""What an enumeration must not say of its members in a way of its own."""


def is_enumeration(made: Any) -> bool:
    """Whether a class is a plain enumeration: its members are what they are, and compare as objects do."""
    return type(made) is enum.EnumMeta and made.__bases__ == (enum.Enum,) and _OF_OBJECTS.isdisjoint(vars(made))


def is_member(value: Any) -> bool:
    return isinstance(value, enum.Enum) and is_enumeration(type(value))


_MEMBER = """struct {name} {{ I at = 0; }};
static inline bool eq({name} a, {name} b) {{ return a.at == b.at; }}
static bool lt({name}, {name}) {{ bail(KIND); }}
static bool le({name}, {name}) {{ bail(KIND); }}
static inline bool truth({name}) {{ return true; }}
static inline U hash_of({name} a) {{ return hash_of(a.at); }}"""

_OUTSIDE = """static PyObject* members_{name}[{count}]; static I told_{name};
static PyObject* member_of({name} v) {{
  static const char* const texts[] = {{{texts}}};
  if (told_{name} != class_run) for (I k = 0; k < {count}; ++k)
      members_{name}[k] = keep(PyObject_GetAttrString(class_at({place}), texts[k]));
  told_{name} = class_run; return members_{name}[v.at]; }}
template <> struct From<{name}> {{ static {name} of(PyObject* o) {{
  for (I k = 0; k < {count}; ++k) if (member_of({name}{{k}}) == o) return {name}{{k}};
  bail(KIND); }} }};
static PyObject* object({name} v) {{ PyObject* o = member_of(v); Py_IncRef(o); return o; }}"""


def member_text(made: Any, place: str, *, outside: bool) -> str:
    """The C++ of the members of an enumeration; ``outside``: with those that come in and go out."""
    name = text_of(Member(made))
    if not outside:
        return _MEMBER.format(name=name)
    names = [f'"{one.name}"' for one in made]
    texts = ", ".join(names)
    return "\n".join([_MEMBER, _OUTSIDE]).format(name=name, count=len(names), texts=texts, place=place)
