"""Random programs over Python's numbers, text and containers, as people write them without tensors."""

from __future__ import annotations

ARGUMENTS = """
def arguments(seed):
    r = random.Random(seed)
    n = [7, 0, 3, 12][seed % 4]
    ints = [r.choice((r.randint(-9, 9), r.randint(-9, 9), 2**31, -(2**40), 2**62 if seed % 3 == 2 else 4)) for _ in range(n)]
    reals = [r.choice((r.uniform(-3, 3), float(r.randint(-4, 4)), -0.0, 0.5, 1e17)) for _ in range(n + 2)]
    words = ["".join(r.choice("abcA 1é_") for _ in range(r.randint(0, 5))) for _ in range(n + 1)]
    rows = [[r.randint(-3, 6) for _ in range(r.randint(0, 4))] for _ in range(n)]
    if seed % 3 == 1 and n > 1:
        rows[1] = rows[0]  # one list twice
    if seed % 5 == 3:
        ints = [one % 5 > 2 if k % 2 else one for k, one in enumerate(ints)]
    if seed % 7 == 5:
        reals = [one if k % 2 else int(one) % 7 for k, one in enumerate(reals)]
    table = {word: k for k, word in enumerate(words)}
    if seed % 6 == 4:
        reals = reals + [float("inf"), float("nan")]
    return ints, reals, words, rows, table, ints if seed % 8 == 2 else list(ints), n
"""

NAMES = {
    "ints": "L int", "reals": "L real", "words": "L text", "rows": "L row", "table": "D", "others": "L int", "n": "int",
    "acc": "L int", "out": "L pair", "seen": "S", "counts": "C", "queue": "Q", "heap": "H", "total": "int",
    "mean": "real", "label": "text", "last": "maybe", "groups": "G", "grid": "L row",
}  # fmt: skip
"""The names that every program has, with what they stand for."""

START = """acc, out, seen, counts, queue, heap = [], [], set(), {}, collections.deque(), []
total, mean, label, last = 0, 0.0, "", None
groups = {}
grid = [[0] * 3 for _ in range(n)]""".splitlines()
RESULT = "acc, out, seen, counts, list(queue), heap, total, mean, label, last, groups, grid"


class Plain:
    """Writes one program; ``rng``: Python's random numbers."""

    def __init__(self, rng):
        self.rng, self.depth, self.loops, self.number = rng, 0, 0, 0
        self.names = {kind: [] for kind in ("int", "real", "text", "row", "bool")}
        self.names["int"] += ["n", "total"]
        self.names["real"] += ["mean"]
        self.names["text"] += ["label"]
        self.has_function = rng.random() < 0.5

    def pick(self, *options):
        return self.rng.choice(options)

    def chance(self, percent):
        return self.rng.random() * 100 < percent

    def name(self, kind):
        return self.rng.choice(self.names[kind]) if self.names[kind] else None

    # ---- expressions

    def value(self, kind, depth=2):
        return getattr(self, f"a_{kind}")(depth)

    def a_int(self, depth):
        if depth <= 0 or self.chance(25):
            return self.pick(str(self.rng.randint(-3, 9)), self.name("int"), self.name("int"), self.name("int"))
        a, b = self.value("int", depth - 1), self.value("int", depth - 1)
        return self.pick(
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b}) % 1009", f"({a} // {self.divisor(b)})",
            f"({a} % {self.divisor(b)})", f"abs({a})", f"-{a}", f"min({a}, {b})", f"max({a}, {b})",
            f"len({self.sized(depth - 1)})", f"({a} if {self.value('bool', depth - 1)} else {b})",
            f"counts.get({a} % 5, {b})", f"sum({self.a_row(depth - 1)})", f"({a} & {b})", f"({a} ^ {b})",
            f"(abs({a}) % 99 << abs({b}) % 9)", f"({a} >> abs({b}) % 9)", f"int({self.value('real', depth - 1)})",
            f"{self.value('text', depth - 1)}.count({self.value('text', 0)})", f"(total or {a})",
            f"{self.value('text', depth - 1)}.find({self.value('text', 0)})", f"len({self.value('text', depth - 1)})",
            f"table.get({self.value('text', depth - 1)}, {a})", f"sum(1 for e in {self.a_row(0)} if e > {a})",
            f"(last if last is not None else {a})", f"round({self.value('real', depth - 1)})", f"~{a}",
            f"divmod({a}, {self.divisor(b)})[{self.rng.randint(0, 1)}]", f"(True + {a})", f"({a} and {b})",
            f"max({self.a_row(0)}, default={a})", f"ord(({self.value('text', 0)} + 'z')[0])",
            f"pow({a} % 7, abs({b}) % 5)", f"bisect.bisect_left(sorted({self.a_row(0)}), {a})",
            *((f"helper({a}, {b})",) * 2 if self.has_function else ()),
        )  # fmt: skip

    def divisor(self, text):
        return text if self.chance(8) else f"({text} or 3)" if self.chance(50) else self.pick("3", "-4", "7", "2")

    def a_real(self, depth):
        if depth <= 0 or self.chance(25):
            return self.pick("0.5", "-1.5", "2.0", self.name("real"), self.name("real"))
        a, b, k = self.value("real", depth - 1), self.value("real", depth - 1), self.value("int", depth - 1)
        return self.pick(
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / {self.pick('2.0', '-3.0', f'({b} or 1.0)')})",
            f"({a} * {k})", f"float({k})", f"abs({a})", f"min({a}, {b})", f"max({a}, {b})", f"({a} // 0.7)", f"({a} % 0.7)",
            f"math.sqrt(abs({a}))", f"({k} / 7)", f"math.sin({a})", f"({a} if {self.value('bool', depth - 1)} else {b})",
            f"({a} - {k})", f"math.floor({a}) * 0.5", f"-{a}", f"({a} % -1.5)", f"sum(reals[:2], {a})",
        )  # fmt: skip

    def a_text(self, depth):
        if depth <= 0 or self.chance(30):
            return self.pick("'a'", "'1'", "''", self.name("text"), self.name("text"), "'ab'")
        a, k, j = self.value("text", depth - 1), self.value("int", 0), self.value("int", 0)
        return self.pick(
            f"({a} + {self.value('text', 0)})[:9]", f"{a}[{k}:]", f"{a}[{k}:{j}]", f"{a}[::-1]", f"str({k})", f"f'{{{k}}}x'",
            f"{a}[-3:{j}]", f"({a} * 2)[:7]", f"{a}.upper()", f"chr(97 + abs({k}) % 26)", f"'-'.join([{a}, {a}])",
            f"''.join(c for c in {a} if c != 'a')", f"{a}[{k}:{j}:2]", f"{a}[{k}::-1]", f"str({self.value('real', 0)})",
            f"''.join(sorted({a}))", f"f'{{{self.value('real', 0)}}}'", f"({a} or 'q')",
        )  # fmt: skip

    def a_bool(self, depth):
        a, b, x, s = self.value("int", depth - 1), self.value("int", 0), self.value("real", 0), self.value("text", 0)
        plain = self.pick(
            f"{a} > {b}", f"{a} == {b}", f"{a} <= {b} < 5", f"{a} in seen", f"{x} > {b}", f"{a} % 2", f"{s} in table",
            f"{s} < {self.value('text', 0)}", f"{a} in {self.a_row(0)}", f"{s} in {self.value('text', 0)}", "last is None",
            f"{b} not in counts", f"{s}.isalpha()", f"{s}.startswith('a')", f"{x} == {b}", f"acc", f"not {a}", f"{s} != ''",
            f"any(e > {b} for e in {self.a_row(0)})", f"all(e < {b} for e in {self.a_row(0)})", f"{a} in (1, 2, {b})",
            f"{self.a_row(0)} < {self.a_row(0)}", f"({a}, {s}) < ({b}, 'b')", "queue and queue[0] > 1", f"acc[-1:] == [{b}]",
        )  # fmt: skip
        if depth > 0 and self.chance(25):
            return f"({plain} {self.pick('and', 'or')} {self.value('bool', depth - 1)})"
        return f"({plain})"

    def a_row(self, depth):
        k, j = self.value("int", 0), self.value("int", 0)
        simple = [name for name in ("acc", "others", "ints") if name] + self.names["row"] * 2
        if depth <= 0:
            return self.pick(*simple)
        a = self.value("int", depth - 1)
        return self.pick(
            *simple, f"[{a}, {k}]", f"acc[{k}:{j}]", f"[e * 2 % 97 for e in {self.pick(*simple)} if e > {k}]",
            f"sorted({self.pick(*simple)})", f"{self.pick(*simple)}[::-1]", f"list(range({a} % 6))", "[]",
            f"sorted({self.pick(*simple)}, key=lambda e: (e % 3, -e))", f"[{a}] * ({k} % 4)", f"list({self.pick(*simple)})",
            f"{self.pick(*simple)}[:3] + [{a}]", f"sorted({self.pick(*simple)}, reverse=True)", "list(counts.values())",
            "sorted(seen)", "list(queue)", f"[e for row in rows for e in row][:{k}]",
        )  # fmt: skip

    def sized(self, depth):
        return self.pick("acc", "seen", "counts", "queue", "rows", "words", "out", "groups", self.a_row(depth))

    # ---- statements

    def block(self, count):
        return [line for _ in range(count) for line in self.statement()] or ["pass"]

    def statement(self):
        self.number += 1
        makers = [(9, self.simple), (3, self.branch)]
        if self.depth < 3:
            makers += [(3, self.loop)]
        if self.loops:
            makers += [(1, self.leave)]
        weights = [weight for weight, _ in makers]
        return self.rng.choices([maker for _, maker in makers], weights)[0]()

    def simple(self):
        a, b, x, s = self.value("int"), self.value("int", 1), self.value("real"), self.value("text")
        row = self.a_row(1)
        return self.pick(
            [f"total = {a}"], [f"total += {a}"], [f"total = (total * 31 + {a}) % 100003"], [f"mean += {x}"], [f"mean = {x}"],
            [f"label = {s}"], [f"label += {s}", "label = label[-12:]"], [f"acc.append({a})"], [f"acc.append({a})"],
            [f"out.append(({a}, {s}))"], [f"seen.add({a} % 17)"], [f"counts[{a} % 5] = counts.get({a} % 5, 0) + 1"],
            [f"queue.append({a})"], [f"queue.appendleft({a})"], ["if queue: total += queue.popleft()"],
            ["if queue: acc.append(queue.pop())"], [f"heapq.heappush(heap, ({a} % 7, {s}))"],
            ["if heap: out.append(heapq.heappop(heap))"], [f"last = {a}"], ["last = None"],
            [f"groups.setdefault({s}, []).append({b})"], [f"groups.setdefault({a} % 3, {row})" if self.chance(5) else f"groups[{s}] = {row}"],
            [f"if acc: acc[{self.pick('-1', '0', f'{a} % len(acc)')}] = {b}"], ["if len(acc) > 1: acc[0], acc[-1] = acc[-1], acc[0]"],
            [f"if grid: grid[{a} % n][{b} % 3] += {self.value('int', 0)}"], ["if n: grid[0] = grid[-1]"], ["if acc: acc.pop()"],
            [f"if rows: rows[{a} % len(rows)].append({b})"], [f"rows.append({row})" if self.chance(50) else "rows = rows[1:]"],
            ["acc.sort()"], ["acc.reverse()"], [f"acc.insert({b}, {a})"], [f"del acc[{b}:{b} + 1]"], [f"acc.extend({row})", "del acc[30:]"],
            [f"if {a} % 5 in counts: del counts[{a} % 5]"], [f"table[{s}] = {a}"], [f"others.append({a})", "del others[20:]"],
            [f"seen.discard({a})"], [f"if {b} in acc: acc.remove({b})"], [f"total, last = {a}, total"], [f"acc = acc + {row}", "acc = acc[:25]"],
            [f"acc = {row}"], [f"assert {a} != 77"], [f"total -= len(label) * {b}"], [f"words[-1] = {s}"] if self.chance(40) else [f"words.append({s})", "del words[15:]"],
            [f"grid.append({row})" if self.chance(30) else f"grid.append([{a}, {b}, 0])", "del grid[12:]"], [f"counts = {{k: v + 1 for k, v in counts.items() if k != {b}}}"],
            [f"seen = {{e % 7 for e in {row}}}"], [f"seen.update({row})"], [f"row_of = {row}", "row_of.append(total)"],
        )  # fmt: skip

    def scoped(self, found, lines):
        """Lines written with more names in reach."""
        for kind, name in found:
            self.names[kind].append(name)
        self.depth += 1
        made = lines()
        self.depth -= 1
        for kind, name in found:
            self.names[kind].remove(name)
        return [f"    {line}" for line in made]

    def loop(self):
        self.loops += 1
        lines = self.whole_loop()
        self.loops -= 1
        return lines

    def whole_loop(self):
        v, w = f"v{self.number}", f"w{self.number}"
        row = self.a_row(0)
        heads = [
            (f"for {v} in range({self.pick('n', '4', 'len(rows)', 'n - 1, -1, -1', '1, n, 2')}):", [("int", v)]),
            (f"for {v} in {self.pick(row, row, f'{row}[:]', f'list({row})', f'reversed({row})')}:", [("int", v)]),
            (f"for {v} in reals:", [("real", v)]), (f"for {v} in words:", [("text", v)]), (f"for {v} in {self.pick('label', 'words[0]')}:", [("text", v)]),
            (f"for {v} in rows:", [("row", v)]), (f"for {v}, {w} in enumerate(words):", [("int", v), ("text", w)]),
            (f"for {v}, {w} in zip(ints, reals):", [("int", v), ("real", w)]), (f"for {v}, {w} in table.items():", [("text", v), ("int", w)]),
            (f"for {v} in sorted(seen):", [("int", v)]), (f"for {v}, {w} in counts.items():", [("int", v), ("int", w)]),
            (f"for {v}, {w} in list(counts.items()):", [("int", v), ("int", w)]), (f"for {v}, {w} in out[:]:", [("int", v), ("text", w)]),
            (f"for {v} in queue:", [("int", v)]), (f"for {v} in counts:", [("int", v)]), (f"for {v}, {w} in enumerate(ints, 1):", [("int", v), ("int", w)]),
            (f"for {v} in groups.values():", [("row", v)]),
        ]  # fmt: skip
        head, found = self.rng.choice(heads)
        if self.chance(12):
            body = self.scoped([], lambda: self.block(self.rng.randint(1, 3)))
            return [f"{v} = {self.rng.randint(1, 5)}", f"while {v} > 0{self.pick('', ' and total < 999')}:", f"    {v} -= 1", *body]
        bounded = [f"    if len(acc) + len(others) + len(rows) > 80: break"]
        body = self.scoped(found, lambda: self.block(self.rng.randint(1, 3)))
        self.loops, loops = 0, self.loops
        after = ["else:", *self.scoped([], lambda: self.block(1))] if self.chance(8) else []
        self.loops = loops
        return [head, *bounded, *body, *after]

    def branch(self):
        lines = [f"if {self.value('bool')}:", *self.scoped([], lambda: self.block(self.rng.randint(1, 2)))]
        if self.chance(20):
            lines += [f"elif {self.value('bool')}:", *self.scoped([], lambda: self.block(1))]
        if self.chance(40):
            lines += ["else:", *self.scoped([], lambda: self.block(1))]
        return lines

    def leave(self):
        return [f"if {self.value('bool')}: {self.pick('continue', 'break', 'continue', 'break', 'return ' + RESULT)}"]

    def function(self):
        a = self.pick("a - b", "a * b % 97", "a + len(label)", "b if a > 2 else a", "len(str(a)) + b")
        test = self.pick("b <= 0", "a < 1 or b < 0", "abs(a) < 2")
        again = self.pick("helper(b - 1, a // 2)", "helper(a // 2, b - 2)", "helper(abs(a) - 1, b - 1)")
        return ["def helper(a, b=1):", f"    if {test} or b > 40:", f"        return {a}", f"    return ({again} + a) % 1013"]

    def source(self):
        body = self.block(self.rng.randint(1, 3))
        first = self.scoped([], lambda: self.loop())
        lines = [
            "# precision: exact", "import bisect", "import collections", "import heapq", "import math", "import random", "", "",
            "def program(ints, reals, words, rows, table, others, n):", *(f"    {line}" for line in START),
            *(f"    {line}" for line in (self.function() if self.has_function else [])),
            *(f"    {line}" for line in body), *first, f"    return {RESULT}", "",
        ]  # fmt: skip
        return "\n".join(lines) + ARGUMENTS


def plain_source(rng):
    """The source of one program; ``rng``: Python's random numbers."""
    return Plain(rng).source()
