"""Random programs over Python's numbers, text and containers, as people write them without tensors."""

from __future__ import annotations

import re

ARGUMENTS = """
def arguments(seed):
    r = random.Random(seed)
    n = [7, 0, 3, 12][seed % 4]
    large = 2**62 if seed % 3 == 2 else 4
    ints = [r.choice((r.randint(-9, 9), r.randint(-9, 9), 2**31, -(2**40), large)) for _ in range(n)]
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
START = """acc, out, seen, counts, queue, heap = [], [], set(), {}, collections.deque(), []
total, mean, label, last = 0, 0.0, "", None
groups = {}
grid = [[0] * 3 for _ in range(n)]""".splitlines()
RESULT = "acc, out, seen, counts, list(queue), heap, total, mean, label, last, groups, grid"

# What stands for a value of a kind: <i> an integer, <j> a short one, <d> a divisor, <x> a float, <y> a short one, <s> a
# text, <t> a short one, <b> a truth value, <r> a list of integers, <q> the name of one, <c> a container.
SHORT = {
    "i": ["-2", "0", "1", "3", "7", "n", "total"], "x": ["0.5", "-1.5", "2.0", "mean"], "r": ["acc", "others", "ints"],
    "s": ["'a'", "'1'", "''", "'ab'", "label"], "b": ["acc", "last is None", "total > 3", "n"],
}  # fmt: skip
LONG = {
    "i": """(<i> + <i>)|(<i> - <i>)|(<i> * <i>) % 1009|(<i> // <d>)|(<i> % <d>)|abs(<i>)|-<i>|min(<i>, <i>)
max(<i>, <i>)
len(<c>)|(<i> if <b> else <i>)|counts.get(<i> % 5, <j>)|sum(<r>)|(<i> & <i>)|(<i> ^ <j>)
(abs(<i>) % 99 << abs(<i>) % 9)
(<i> >> abs(<j>) % 9)|int(<x>)|<s>.count(<t>)|<s>.find(<t>)|len(<s>)|table.get(<s>, <i>)
sum(1 for e in <q> if e > <j>)
(last if last is not None else <i>)|round(<x>)|~<i>|divmod(<i>, <d>)[0]|divmod(<i>, <d>)[1]|(True + <i>)|(<i> and <i>)
max(<q>, default=<i>)|ord((<t> + 'z')[0])|pow(<i> % 7, abs(<i>) % 5)|bisect.bisect_left(sorted(<q>), <i>)
(total or <i>)
helper(<i>, <i>)|helper(<i>, <i>)""",
    "d": "(<j> or 3)|3|-4|7|2|(<j> or 3)|3|-4|7|2|<j>",
    "x": """(<x> + <x>)|(<x> - <x>)|(<x> * <x>)|(<x> / 2.0)|(<x> / (<x> or 1.0))|(<x> * <i>)|float(<i>)|abs(<x>)
(<x> - <i>)
min(<x>, <x>)|max(<x>, <x>)|(<x> // 0.7)|(<x> % 0.7)|math.sqrt(abs(<x>))|(<i> / 7)|math.sin(<x>)|(<x> if <b> else <x>)
math.floor(<x>) * 0.5|-<x>|(<x> % -1.5)|sum(reals[:2], <x>)|math.hypot(<x>, <x>)|math.radians(<x>)
math.dist((<x>, <i>), (1.5, <x>))|math.fmod(<x>, 1.5)|math.log(abs(<x>) + 1, 3)|math.hypot(<x>, 2, <i>)""",
    "s": """(<s> + <t>)[:9]|<s>[<j>:]|<s>[<j>:<j>]|<s>[::-1]|str(<i>)|f'{<i>}x'|<s>[-3:<j>]|(<s> * 2)[:7]|<s>.upper()
str(<y>)
chr(97 + abs(<i>) % 26)|'-'.join([<s>, <s>])|''.join(c for c in <s> if c != 'a')|<s>[<j>:<j>:2]|<s>[<j>::-1]
(<s> or 'q')
''.join(sorted(<s>))|f'{<y>}'""",
    "b": """(<i> > <j>)|(<i> == <j>)|(<i> <= <j> < 5)|(<i> in seen)|(<x> > <j>)|(<i> % 2)|(<t> in table)|(<s> < <t>)
acc
(<i> in <q>)|(<t> in <s>)|(last is None)|(<j> not in counts)|<s>.isalpha()|<s>.startswith('a')|(<x> == <j>)|(not <i>)
(<s> != '')|any(e > <j> for e in <q>)|all(e < <j> for e in <q>)|(<i> in (1, 2, <j>))|(<q> < <q>)
((<i>, <t>) < (<j>, 'b'))
(queue and queue[0] > 1)|(acc[-1:] == [<j>])|(<b> and <b>)|(<b> or <b>)""",
    "r": """<q>|<q>|[<i>, <j>]|acc[<j>:<j>]|[e * 2 % 97 for e in <q> if e > <j>]|sorted(<q>)|<q>[::-1]
list(range(<i> % 6))
[]|sorted(<q>, key=lambda e: (e % 3, -e))|[<i>] * (<j> % 4)|list(<q>)|<q>[:3] + [<i>]|sorted(<q>, reverse=True)
list(counts.values())|sorted(seen)|list(queue)|[e for row in rows for e in row][:<j>]""",
    "c": "acc|seen|counts|queue|rows|words|out|groups|<r>",
}
SIMPLE = """total = <i>|total += <i>|total = (total * 31 + <i>) % 100003|mean += <x>|mean = <x>|label = <s>
acc.append(<i>)
label += <s>; label = label[-12:]|acc.append(<i>)|out.append((<i>, <s>))|seen.add(<i> % 17)|queue.append(<i>)
last = None
counts[<i> % 5] = counts.get(<i> % 5, 0) + 1|queue.appendleft(<i>)|if queue: total += queue.popleft()|last = <i>
if queue: acc.append(queue.pop())|heapq.heappush(heap, (<i> % 7, <s>))|if heap: out.append(heapq.heappop(heap))
groups.setdefault(<s>, []).append(<j>)|groups[<s>] = <r>|if acc: acc[-1] = <j>|if acc: acc[<i> % len(acc)] = <j>
if len(acc) > 1: acc[0], acc[-1] = acc[-1], acc[0]|if grid: grid[<i> % n][<j> % 3] += <i>|if n: grid[0] = grid[-1]
if acc: acc.pop()|if rows: rows[<i> % len(rows)].append(<j>)|rows.append(<r>)|rows = rows[1:]|acc.sort()|acc.reverse()
acc.insert(<j>, <i>)|del acc[<j>:<j>]|acc.extend(<r>); del acc[30:]|if <i> % 5 in counts: del counts[<i> % 5]
table[<s>] = <i>|others.append(<i>); del others[20:]|seen.discard(<i>)|if <j> in acc: acc.remove(<j>)|assert <i> != 77
total, last = <i>, total|acc = acc + <r>; acc = acc[:25]|acc = <r>|total -= len(label) * <i>|words[-1] = <s>
words.append(<s>); del words[15:]|grid.append(<r>); del grid[12:]|grid.append([<i>, <j>, 0]); del grid[12:]
counts = {k: v + 1 for k, v in counts.items() if k != <j>}|seen = {e % 7 for e in <r>}|seen.update(<r>)
row = <r>; row.append(total)"""
HEADS = """V in range(n):i|V in range(4):i|V in range(len(rows)):i|V in range(n - 1, -1, -1):i|V in range(1, n, 2):i
V in <q>:i|V in <q>:i|V in <q>[:]:i|V in list(<q>):i|V in reversed(<q>):i|V in reals:x|V in words:s|V in label:s
V in words[0]:s|V in rows:r|V, W in enumerate(words):is|V, W in zip(ints, reals):ix|V, W in table.items():si
V in sorted(seen):i|V, W in counts.items():ii|V, W in list(counts.items()):ii|V, W in out[:]:is|V in queue:i
V in counts:i|V, W in enumerate(ints, 1):ii|V in groups.values():r"""
HELPERS = """b <= 0 or b > 40|a - b|helper(b - 1, a // 2)
a < 1 or b < 0 or b > 40|a * b % 97|helper(a // 2, b - 2)
abs(a) < 2 or b > 40|len(str(a)) + b|helper(abs(a) - 1, b - 1)
b < 2 or b > 30|b if a > 2 else a|helper(a // 2, b - 1)"""


def split(text):
    return [one for line in text.splitlines() for one in line.split("|")]


class Plain:
    """Writes one program; ``rng``: Python's random numbers."""

    start, long, simple_ones, heads, result = START, LONG, SIMPLE, HEADS, RESULT
    parameters, arguments = "ints, reals, words, rows, table, others, n", ARGUMENTS
    modules = ("bisect", "collections", "heapq", "math", "random")
    short, classes, grown = SHORT, (), "acc others rows"
    brief = {"j": "i", "y": "x", "t": "s", "q": "r"}

    def __init__(self, rng):
        self.rng, self.depth, self.loops, self.number = rng, 0, 0, 0
        self.names = {kind: list(options) for kind, options in self.short.items()}
        self.helper = rng.choice(HELPERS.splitlines()).split("|") if rng.random() < 0.5 else None

    # ---- expressions

    def filled(self, text, depth=2):
        """A text with an expression in each place."""
        return re.sub("<(.)>", lambda found: self.value(found[1], depth), text)

    def value(self, kind, depth):
        short = self.brief.get(kind)
        if short or (kind in self.names and (depth <= 0 or self.rng.random() < 0.25)):
            return self.rng.choice(self.names[short or kind])
        options = [one for one in split(self.long[kind]) if self.helper or "helper" not in one]
        made = self.filled(self.rng.choice(options), depth - 1)
        while re.search("f'[^']*{[^}']*'", made):  # before Python 3.12 no field of such a text holds a quote
            made = self.filled(self.rng.choice(options), depth - 1)
        return made

    # ---- statements

    def block(self, most):
        return [line for _ in range(self.rng.randint(1, most)) for line in self.statement()]

    def statement(self):
        self.number += 1
        makers = [(9, self.simple), (3, self.branch)]
        makers += [(3, self.loop)] if self.depth < 3 else []
        makers += [(1, self.leave)] if self.loops else []
        return self.rng.choices([maker for _, maker in makers], [weight for weight, _ in makers])[0]()

    def simple(self):
        return self.filled(self.rng.choice(split(self.simple_ones))).split("; ")

    def indented(self, most, found=()):
        """Statements of a block, with more names in reach."""
        for kind, name in found:
            self.names[kind] += [name] * 2
        self.depth += 1
        made = self.block(most)
        self.depth -= 1
        for kind, name in found:
            self.names[kind] = [one for one in self.names[kind] if one != name]
        return [f"    {line}" for line in made]

    def loop(self):
        v, w, before = f"v{self.number}", f"w{self.number}", self.loops
        self.loops += 1
        if self.rng.random() < 0.12:
            lines = [f"{v} = {self.rng.randint(1, 5)}", f"while {v} > 0:", f"    {v} -= 1", *self.indented(3)]
        else:
            head, _, kinds = self.rng.choice(split(self.heads)).rpartition(":")
            head = self.filled(head.replace("V", v).replace("W", w))
            body = self.indented(3, list(zip(kinds, (v, w))))
            sizes = " + ".join(f"len({name})" for name in self.grown.split())
            lines = [f"for {head}:", f"    if {sizes} > 80: break", *body]
        self.loops = 0
        if self.rng.random() < 0.08:
            lines += ["else:", *self.indented(1)]
        self.loops = before
        return lines

    def branch(self):
        lines = [self.filled("if <b>:"), *self.indented(2)]
        if self.rng.random() < 0.2:
            lines += [self.filled("elif <b>:"), *self.indented(1)]
        return [*lines, "else:", *self.indented(1)] if self.rng.random() < 0.4 else lines

    def leave(self):
        return [f"{self.filled('if <b>:')} {self.rng.choice(('continue', 'break', 'return ' + self.result))}"]

    def source(self):
        lines = list(self.start)
        if self.helper:
            test, last, again = self.helper
            lines += ["def helper(a, b=1):", f"    if {test}:", f"        return {last}"]
            lines += [f"    return ({again} + a) % 1013"]
        lines += [*self.block(3), *self.loop(), f"return {self.result}"]
        head = ["# precision: exact", *(f"import {name}" for name in self.modules), "", "", *self.classes]
        head.append(f"def program({self.parameters}):")
        return "\n".join([*head, *(f"    {line}" for line in lines), ""]) + self.arguments


def plain_source(rng):
    """The source of one program; ``rng``: Python's random numbers."""
    return Plain(rng).source()
