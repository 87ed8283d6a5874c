"""A range that is held by a name, or stands in a tuple, in; the loop over its numbers out.

for ks in (range(1, n), range(n - 1, 0, -1)):      steps = range(n) if k % 2 == 0 else range(n - 1, -1, -1)
    for k in ks: ...                               for i in steps: ...
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from looplift.base.data import dataclass
from looplift.frontend import evident, iteration
from looplift.frontend.scope import Builder, Structure, Value
from looplift.ir.grammar import Atom, Const, Range, Require


@dataclass(eq=False)
class Numbers(Structure):
    """``range(lo, hi, step)`` of integers."""

    domain: Range
    noun = "a range"

    def running(self, build: Builder) -> Any:
        return iteration.source_of_range(build, self.domain)

    def length(self, build: Builder) -> Atom:
        return iteration.count_of(build, self.domain)


def made(build: Builder, node: ast.Call) -> Numbers:
    """What ``range(…)`` makes: it raises at once where a bound is no integer, or the step is zero."""
    domain = iteration.domain_of(build, node.args)
    if not all(evident.is_integer(build, bound) for bound in (domain.lo, domain.hi, domain.step)):
        raise build.refuse("unsupported-value", "a range of what are not surely integers of Python's")
    if not isinstance(domain.step, Const) or not domain.step.value:
        build.add(Require(build.emit("ne", domain.step, Const(0)), "the step of a range is zero", build.span))
    return Numbers(domain)


def joined(then: Numbers, orelse: Numbers, join: Callable[[Atom, Atom], Value]) -> Numbers:
    """One of two ranges: each of their bounds is one of two."""
    pairs = ((getattr(then.domain, name), getattr(orelse.domain, name)) for name in ("lo", "hi", "step"))
    return Numbers(Range(*(join(*pair) for pair in pairs)))  # pyright: ignore[reportArgumentType]
