"""A small builder of loops by hand, and loops to build."""

from __future__ import annotations

import itertools

from looplift.ir.facts import Fact, Facts, kind_of
from looplift.ir.grammar import Block, Carry, Const, Function, Group, If, Let, Loop, Op, Phi, Range, Store, Var, While


class Build:
    """Statements collected in order; names are numbered as the frontend numbers them."""

    def __init__(self):
        self.stack = [[]]
        self.counter = itertools.count(1)
        self.facts = Facts(None)  # type: ignore[arg-type]

    def input(self, name, value):
        var = Var(name)
        self.facts.of[var] = Fact(kind_of(value), sample=value)
        return var

    def var(self, hint, like=None):
        var = Var(f"{hint}.{next(self.counter)}")
        if like is not None:
            self.facts.of[var] = Fact(kind_of(like), sample=like)
        return var

    def __call__(self, name, *args, hint="t", **kwargs):
        var = self.var(hint)
        args = tuple(self.atom(a) for a in args)
        self.stack[-1].append(Let(var, Op(name, args, tuple((k, self.atom(v)) for k, v in kwargs.items()))))
        return var

    @staticmethod
    def atom(value):
        if isinstance(value, tuple):
            return Group("tuple", tuple(Build.atom(v) for v in value))
        return value if isinstance(value, Var | Const | Group) or type(value).__name__ == "Slice" else Const(value)

    def add(self, statement):
        self.stack[-1].append(statement)

    def store(self, ref, index, value, combine=None):
        self.add(Store(ref, self.atom(index), self.atom(value), combine))

    def open(self):
        self.stack.append([])

    def close(self):
        return Block(tuple(self.stack.pop()))

    def loop(self, domain, index, carries, body, stop=None):
        loop = Loop(domain, index, tuple(carries), body, stop)
        self.add(loop)
        return loop

    def range(self, lo, hi, step=1):
        return Range(self.atom(lo), self.atom(hi), self.atom(step))

    def carry(self, inside, init, next, after):
        return Carry(inside, self.atom(init), self.atom(next), after)

    def branch(self, cond, then, orelse, *phis):
        self.add(If(cond, then, orelse, tuple(Phi(v, self.atom(a), self.atom(b)) for v, a, b in phis)))


def dtw(R, x, y):
    """for i in range(1, n + 1): for j in range(1, m + 1): cost = abs(x[i-1] - y[j-1]); R[i, j] = cost + min(...)"""
    b = Build()
    vR, vx, vy = b.input("R", R), b.input("x", x), b.input("y", y)
    m = b.input("m", 3)
    i, j = b.var("i"), b.var("j")
    b.open()
    n1 = b("add", m, 1)
    b.open()
    cost = b("builtin.abs", b("sub", b("getitem", vx, b("sub", i, 1)), b("getitem", vy, b("sub", j, 1))), hint="cost")
    up = b("getitem", vR, (b("sub", i, 1), j))
    left = b("getitem", vR, (i, b("sub", j, 1)))
    first = b("builtin.min", up, left, hint="min")
    diagonal = b("getitem", vR, (b("sub", i, 1), b("sub", j, 1)))
    best = b("builtin.min", first, diagonal, hint="min")
    b.store(vR, (i, j), b("add", cost, best))
    b.loop(b.range(1, n1), j, [], b.close())
    outer = b.close()
    hi = b.input("hi", 4)
    loop = b.loop(b.range(1, hi), i, [], outer)
    return loop, b.facts


def recurrence(a, c, out):
    b = Build()
    va, vb, vo, n = b.input("a", a), b.input("b", c), b.input("out", out), b.input("n", 3)
    h0 = b.input("h0", 0.0)
    t, inside, after = b.var("t"), b.var("h", a[0]), b.var("h", a[0])
    b.open()
    h = b("add", b("mul", b("getitem", va, t), inside), b("getitem", vb, t), hint="h")
    b.store(vo, t, h)
    loop = b.loop(b.range(0, n), t, [b.carry(inside, h0, h, after)], b.close())
    return loop, b.facts


def newton(x):
    """while abs(x * x - a) > 1e-9: x = x - (x * x - a) / (2 * x)"""
    b = Build()
    va, vx = b.input("a", x), b.input("x0", x)
    inside, after = b.var("x", x), b.var("x", x)
    b.open()
    cond = b("gt", b("builtin.abs", b("sub", b("mul", inside, inside), va)), 1e-9)
    test = b.close()
    b.open()
    new = b("sub", inside, b("truediv", b("sub", b("mul", inside, inside), va), b("mul", 2, inside)), hint="x")
    loop = b.loop(While(test, cond), None, [b.carry(inside, vx, new, after)], b.close())
    return loop, b.facts


__all__ = ["Build", "Function", "dtw", "newton", "recurrence"]
