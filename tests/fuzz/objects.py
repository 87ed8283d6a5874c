"""Random programs over objects of plain classes, dataclasses and NamedTuples, of the caller's and of their own."""

from __future__ import annotations

from .plain import Plain

CLASSES = """class Node:
    SCALE = 3

    def __init__(self, key, value=0.5, next=None):
        self.key = key
        self.value = value
        self.next = next
        self.seen = []

    def __lt__(self, other):
        return self.key < other.key

    @property
    def double(self):
        return self.key * 2

    def bump(self, by=1):
        self.key += by
        self.seen.append(by)
        return self.key % 7


@dataclass
class Item:
    size: int
    weight: float = 0.5
    marks: list = field(default_factory=list)

    def area(self):
        return self.size * self.weight


@dataclass(frozen=True)
class Cell:
    row: int
    col: int = 0


class Edge(NamedTuple):
    u: int
    v: int
    w: float = 1.5

    def cost(self):
        return self.u * self.w


""".splitlines()
ARGUMENTS = """
def arguments(seed):
    r = random.Random(seed)
    n = [5, 0, 2, 8][seed % 4]
    nodes = [Node(r.randint(-4, 6), r.choice((0.5, -1.0, 2.25))) for _ in range(n)]
    for node in nodes:
        node.next = r.choice([*nodes, None]) if seed % 3 else None
    if seed % 6 == 0:
        for node in nodes:
            node.value = None
    if seed % 3 == 1 and n > 1:
        nodes[1] = nodes[0]
    items = [Item(r.randint(0, 5), r.uniform(-1, 1), [r.randint(0, 3)]) for _ in range(n)]
    if seed % 5 == 4 and n:
        items[0].size = 2.5
    edges = [Edge(r.randint(0, 4), r.randint(0, 4), r.uniform(0, 2)) for _ in range(n)]
    cells = {Cell(r.randint(0, 2), r.randint(0, 2)): k for k in range(n)}
    return nodes, items, edges, cells, n
"""
START = """out, made, heap, table, seen = [], [], [], {}, set()
total, mean, last, best = 0, 0.0, None, None""".splitlines()
RESULT = "out, made, heap, table, sorted(seen), total, mean, last, best, nodes, items, edges, cells"

# <i> an integer, <j> a place, <x> a float, <o> a node, <m> an item, <e> an edge, <c> a cell, <b> a truth value.
SHORT = {
    "i": ["-2", "0", "1", "3", "n", "total"], "x": ["0.5", "-1.5", "mean"], "j": ["0", "-1"], "o": ["nodes[0]"],
    "m": ["items[0]"], "e": ["edges[-1]", "Edge(1, 2)"], "c": ["Cell(1)"], "b": ["out", "last is None", "n"],
}  # fmt: skip
LONG = {
    "i": """<o>.key|<o>.double|<o>.SCALE|Node.SCALE|<m>.size|<e>.u|<e>.v|<e>[1]|<c>.row|(<i> + <i>)|(<i> - <i>)
(<i> * <i>) % 97|abs(<i>)|max(<i>, <i>)|len(<o>.seen)|len(<m>.marks)|<o>.bump(<i>)|(<i> if <b> else <i>)|len(made)
cells.get(<c>, <i>)|table.get(<i>, <i>)|sum(<m>.marks)|sum(one.key for one in nodes)|int(<x>)""",
    "j": "k|(k - 1)|0|n - 1|-1|k",
    "x": """<o>.value|<m>.weight|<e>.w|<m>.area()|<e>.cost()|(<x> + <x>)|(<x> * <x>)|(<x> - <i>)|abs(<x>)
min(<x>, <x>)""",
    "o": "nodes[<j>]|nodes[<j>]|made[-1]|Node(<i>)|Node(<i>, <x>, <o>)|(last or <o>)|max(nodes, key=lambda o: o.key)",
    "m": "items[<j>]|items[<j>]|Item(<i>)|Item(<i>, <x>)|Item(<i>, marks=[<i>])",
    "e": "edges[<j>]|Edge(<i>, <i>)|Edge(<i>, v=<i>, w=<x>)|<e>._replace(u=<i>)|min(edges)|max(<e>, <e>)",
    "c": "Cell(<i> % 3)|Cell(<i> % 3, <i> % 3)",
    "b": """(<i> > <i>)|(<x> < <x>)|(<i> == <i>)|(<o> is <o>)|(<o> == <o>)|(<m> == <m>)|(<e> == <e>)|(<e> < <e>)
(<c> in cells)|(<c> == <c>)|(last is None)|(<o>.next is None)|(<m> in items)|(<o> in made)|(<i> in seen)|(not <b>)
(<b> and <b>)|(<b> or <b>)|<o>.seen|made|(<e> in edges)""",
}
SIMPLE = """total += <i>|total = <i>|mean += <x>|last = <o>|last = None|last = <o>.next|best = <e>|best = None
<o>.key = <i>|<o>.key += <i>|<o>.value = <x>|<o>.value *= 0.5|<o>.next = <o>|<o>.next = None|<o>.seen.append(<i>)
<m>.size = <i>|<m>.weight += <x>|<m>.marks.append(<i>)|<m>.marks = [<i>]|made.append(Node(<i>, <x>))|made.append(<o>)
if made: made.pop()|out.append(<e>)|out.append((<i>, <x>))|out.append(<m>)|heapq.heappush(heap, <o>)
if heap: last = heapq.heappop(heap)|table[<i>] = <i>|cells[<c>] = <i>|seen.add(<i>)|nodes.append(<o>)|edges.append(<e>)
total += <o>.bump()|u, v, w = <e>; total += u - v|for one in nodes: one.key -= 1|made.sort()|nodes[<j>] = <o>
table[<i>] = table.get(<i>, 0) + 1|total, last = <i>, <o>|if best is not None: mean += best.w"""
HEADS = """k in range(n):i|k in range(n):i|k in range(n - 1, -1, -1):i|V in range(n):j|V in nodes[:]:o|V in items:m
V in edges[:]:e|k, V in enumerate(nodes[:]):io|V, W in zip(nodes[:], items):om|V, W in cells.copy().items():ci
V in sorted(edges):e"""


class Objects(Plain):
    """Writes one program; ``rng``: Python's random numbers."""

    start, long, simple_ones, heads, result = START, LONG, SIMPLE, HEADS, RESULT
    parameters, arguments, short, classes = "nodes, items, edges, cells, n", ARGUMENTS, SHORT, CLASSES
    modules, brief, grown = ("heapq", "random"), {}, "made out nodes edges heap"

    def source(self):
        self.helper = None
        text = super().source().replace("    out, made", "    k = 0\n    out, made", 1)
        imports = "from dataclasses import dataclass, field\nfrom typing import NamedTuple\n\n\nclass Node"
        text = text.replace("\n\nclass Node", imports, 1)
        if self.rng.random() < 0.3:
            text = text.replace(
                "    SCALE = 3\n", '    __slots__ = ("key", "value", "next", "seen")\n    SCALE = 3\n', 1
            )
        return text.replace("@dataclass\n", "@dataclass(slots=True)\n", 1) if self.rng.random() < 0.3 else text


def objects_source(rng):
    """The source of one program; ``rng``: Python's random numbers."""
    return Objects(rng).source()
