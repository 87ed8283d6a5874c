"""Functions of Python's library in; functions of the same values out, written so that lanes and kernels take them in.

What they do not do as the library does, they leave to the loop: they raise. ``number | 0`` raises for what is no
integer.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any


def isclose(a, b, rel_tol=1e-09, abs_tol=0.0):
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError
    first = float(a)
    second = float(b)
    difference = abs(second - first)
    near = difference <= abs(rel_tol * second) or difference <= abs(rel_tol * first) or difference <= abs_tol
    return first == second or (near and abs(first) < math.inf and abs(second) < math.inf)


def comb(n, k):
    n = int(n | 0)
    k = int(k | 0)
    if n < 0 or k < 0:
        raise ValueError
    found = 1
    for step in range(min(k, n - k)):
        found = found * (n - step) // (step + 1)
    return found if k <= n else 0


def perm(n, k):
    n = int(n | 0)
    k = int(k | 0)
    if n < 0 or k < 0:
        raise ValueError
    found = 1
    for step in range(k):
        found = found * (n - step)
    return found


def lcm(a, b):
    a = int(a | 0)
    b = int(b | 0)
    if a == 0 or b == 0:
        return 0
    return abs(a // math.gcd(a, b) * b)


def ones(number):
    """``bin(number).count("1")``."""
    left = abs(int(number | 0))
    found = 0
    while left > 0:
        left = left & (left - 1)
        found = found + 1
    return found


def grouped(pairs):
    """What ``itertools.groupby`` hands out, of a list of keys and items; keys are compared as containers compare."""
    found = []
    start = 0
    for stop in range(1, len(pairs) + 1):
        if stop == len(pairs) or (pairs[stop][0],) != (pairs[start][0],):
            found.append((pairs[start][0], [pairs[k][1] for k in range(start, stop)]))
            start = stop
    return found


TWINS: dict[Callable[..., Any], Callable[..., Any]] = {
    math.isclose: isclose,
    math.comb: comb,
    math.perm: perm,
    math.lcm: lcm,
}
"""All take two arguments by their places, and others by their names."""


def twin_of(function: Any, count: int) -> Callable[..., Any] | None:
    """The twin of a function that is called with so many arguments by their places."""
    is_known = count == 2 and callable(function) and type(function).__hash__ is not None
    return TWINS.get(function) if is_known else None


def counted(node: ast.Call) -> tuple[ast.Name, ast.expr] | None:
    """The name ``bin``, and the number whose ones are counted."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="count"), args=[ast.Constant(value="1")], keywords=[]):
            match owner:
                case ast.Call(func=ast.Name(id="bin") as name, args=[ast.expr() as number], keywords=[]) if (
                    not isinstance(number, ast.Starred)
                ):
                    return name, number
    return None
