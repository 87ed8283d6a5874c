"""Loops over what the host knows item by item: the body is translated once for each item."""

from __future__ import annotations

import ast

from looplift.base.data import replace
from looplift.frontend import iteration, joins, statements
from looplift.frontend.exits import STOP_ATTRIBUTE
from looplift.frontend.host_items import MAX_ITEMS, MAX_MODULES
from looplift.frontend.scope import STATIC, Builder, Late, Restart, Value
from looplift.ir.grammar import Append, Block, Const, Let, Loop, Operand, Range, Var, walk

MAX_STATEMENTS = 4000
MAX_LOOPS = 48
"""A region whose unrolled loops make more statements than this, or more loops, stays as it is."""


def must_be_known(build: Builder, key: Value) -> None:
    """The index of a loop over a short range decides which module or item is meant: the loop is to be unrolled."""
    if isinstance(key, Var) and key in build.ranges:
        site, domain = build.ranges[key]
        if _numbers(domain) is not None and site not in build.forms:
            build.forms[site] = STATIC
            raise Restart


def _numbers(domain: Range) -> range | None:
    bounds = [bound.value for bound in (domain.lo, domain.hi, domain.step) if isinstance(bound, Const)]
    if len(bounds) < 3 or any(type(bound) is not int for bound in bounds) or bounds[2] == 0:
        return None
    found = range(*bounds)
    return found if len(found) <= MAX_ITEMS else None


LENGTHENING = ("cat", "concat", "concatenate", "hstack")
FEW = 16
"""A number of iterations that the caller tells, up to which a loop is unrolled for it."""


def joined(build: Builder, name: str, args: list[Operand]) -> None:
    """How long a list is that is put together from several places decides how large what is joined of it is: short
    loops that fill it are to be unrolled.

    parts = [p]
    for k in range(self.frequencies): parts += [torch.sin(2**k * p), torch.cos(2**k * p)]
    features = torch.cat(parts)
    """
    ref = args[0] if args and name.rpartition(".")[2] in LENGTHENING else None
    if not isinstance(ref, Var) or ref not in build.sites:
        return
    made = [statement for block in build.blocks for statement in walk(Block(tuple(block)))]
    appends = [s for s in made if isinstance(s, Append) and s.ref is ref]
    begun = any(isinstance(s, Let) and s.var is ref and s.op.args for s in made)
    loops = [s for s in made if isinstance(s, Loop) and any(one in appends for one in walk(s.body))]
    if not loops or not (begun or len(appends) > 1) or not all(loop.index in build.ranges for loop in loops):
        return
    found = [build.ranges[loop.index] for loop in loops if loop.index is not None]
    asked = [path for _, domain in found for path in _paths_of(build, domain)]
    if None in asked or any(_length(build, domain) > MAX_ITEMS for _, domain in found):
        return
    wanted = {site: STATIC for site, _ in found}
    if wanted.keys() <= build.forms.keys() and build.fixed.issuperset(asked):
        return
    build.forms.update(wanted)
    build.fixed.update(path for path in asked if path)
    raise Restart


def _paths_of(build: Builder, domain: Range) -> list[str | None]:
    """The integers of the caller that decide how often a loop runs; None for what is no such integer, or large."""
    given = [bound for bound in (domain.lo, domain.hi, domain.step) if not isinstance(bound, Const)]
    paths = [build.param_path(bound) for bound in given]
    return [path if path and _is_few(build.param_values[path]) else None for path in paths]


def _is_few(value: object) -> bool:
    return type(value) is int and abs(value) <= FEW


def _length(build: Builder, domain: Range) -> int:
    bounds = [bound if isinstance(bound, Const) else Const(build.given(bound)) for bound in (domain.lo, domain.hi)]
    known = _numbers(replace(domain, lo=bounds[0], hi=bounds[1]))
    return MAX_ITEMS + 1 if known is None else len(known)


def positions(build: Builder, source: iteration.Source) -> list[Value]:
    """The items of a loop over a short range of known numbers, such as one that fills a list that must be known."""
    numbers = _numbers(source.domain)
    if numbers is None:
        text = "how long a list is that is changed item by item is not known; a tensor can have a row for each item"
        raise build.refuse("unsupported-value", text)
    return [_numbered(source, number) for number in numbers]


def _numbered(source: iteration.Source, number: int) -> Late:
    return Late(lambda build: source.item(build, Const(number)))


def _is_too_long(build: Builder) -> bool:
    if sum(map(len, build.blocks)) > MAX_STATEMENTS:
        return True
    return sum(isinstance(made, Loop) for block in build.blocks for made in walk(block)) > MAX_LOOPS


def unroll(build: Builder, node: ast.For, items: list[Value]) -> None:
    """Translate the body of a loop for each item in turn, as long as nothing has left the loop."""
    if len(items) > MAX_MODULES:
        raise build.refuse("unsupported-iterable", f"a loop over {len(items)} items of different kinds")
    stop: str | None = getattr(node, STOP_ATTRIBUTE, None)
    outside, span = build.rounds, build.span
    build.unrolled.setdefault(span, len(items))

    def run(position: int) -> None:
        if position == len(items):
            for item in items:
                iteration.finish(build, item)
            return
        build.rounds = (*outside, position)
        statements.assign(build, node.target, iteration.current(build, items[position]))
        statements.translate_block(build, node.body)
        build.span = span
        if _is_too_long(build):
            raise build.refuse("unsupported-iterable", "the loop over modules or functions is too long to be unrolled")
        stopped = build.atom(build.env[stop]) if stop else Const(False)
        if not isinstance(stopped, Const):
            joins.branch(build, stopped, lambda: None, lambda: run(position + 1))
        elif not stopped.value:
            run(position + 1)

    try:
        run(0)
    finally:
        build.rounds = outside
