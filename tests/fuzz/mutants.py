"""Random changes of the programs in `regressions`: other operators, names and places, statements that are gone, doubled
or exchanged, exits, aliases and results more."""

from __future__ import annotations

import ast
import copy
import io
import signal
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from .differential import subject_of

FOUND = sorted(path for path in (Path(__file__).parent / "regressions").glob("*.py") if path.stem != "__init__")
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
COMPARISONS = (ast.Lt, ast.Gt, ast.LtE, ast.GtE, ast.Eq, ast.NotEq)
CONSTANTS = 0, 1, -1, 2, 0.5, -0.0, True, None
STATEMENTS = """a = b|a, b = b, a|a += b|a = [a, b]|a = (a, b)|a = {b: a}|a = None|a = 0|a = True|a[0] = b|a[-1] += 1
a.append(b)|a *= 2|a[:] = b|for a in b: c = c + a|if a: b = c|while a: break|not a|a = len((a, b))""".replace("\n", "|")
EXITS = "break", "continue", "return a", "return a, b"
WRAPPED = "abs(a)", "float(a)", "len(a)", "max(a, b)", "min(b, a)", "not a", "-a", "a[1:]", "a[::-1]", "a[0]", "[a, b]"
UNSTEADY = "empty", "print", "id("
"""What shows memory that nobody has set, or where objects are."""
SECONDS = 0.5


def mutants_source(rng):
    """One program, some of it changed, that ends."""
    while True:
        source = rng.choice(FOUND).read_text()
        changed = Mutation(source, rng).text()
        if changed and not any(word in changed for word in UNSTEADY) and _ends(changed):
            return changed


class Mutation:
    """Changes of the functions of a source; ``rng``: Python's random numbers."""

    def __init__(self, source, rng):
        self.rng = rng
        self.comments = [line for line in source.splitlines() if line.startswith("# precision")]
        self.tree = ast.parse(source)

    def text(self):
        """The changed source; nothing where it is no program."""
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            self._change()
        try:
            text = "\n".join([*self.comments, ast.unparse(ast.fix_missing_locations(self.tree)), ""])
            compile(text, "mutant", "exec")
        except SyntaxError:
            return ""
        return text

    def _change(self):
        tops = [node for node in self.tree.body if isinstance(node, ast.FunctionDef) and node.name != "arguments"]
        self.function = self.rng.choice(tops)
        bound = [one.arg for one in self.function.args.args]
        bound += [n.id for n in ast.walk(self.function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        self.names = sorted(set(bound)) or ["None"]
        kinds = (
            self.operators, self.name, self.constant, self.gone, self.doubled, self.exchanged, self.guarded, self.left,
            self.more, self.more, self.transplanted, self.wrapped, self.chosen, self.handed_on, self.caught,
        )  # fmt: skip
        self.rng.choice(kinds)()

    # ------------------------------------------------------------ places

    def blocks(self):
        nodes = ast.walk(self.function)
        return [b for n in nodes for f in ("body", "orelse") if isinstance(b := getattr(n, f, None), list) and b]

    def inner_blocks(self):
        loops = [node for node in ast.walk(self.function) if isinstance(node, (ast.For, ast.While))]
        return [loop.body for loop in loops] or self.blocks()

    def insert(self, statement, blocks=None):
        block = self.rng.choice(blocks or self.blocks())
        block.insert(self.rng.randrange(len(block) + 1), statement)

    def places(self):
        """(parent, field, position) of the values that are read."""
        found = []
        for node in ast.walk(self.function):
            for name, value in ast.iter_fields(node):
                if name in ("func", "decorator_list", "annotation", "returns", "args", "slice"):
                    continue
                for at, one in enumerate(value if isinstance(value, list) else [value]):
                    if isinstance(one, ast.expr) and isinstance(getattr(one, "ctx", ast.Load()), ast.Load):
                        found.append((node, name, at if isinstance(value, list) else None))
        return found

    def at(self, place):
        node, name, at = place
        return getattr(node, name) if at is None else getattr(node, name)[at]

    def put(self, place, value):
        node, name, at = place
        if at is None:
            setattr(node, name, value)
        else:
            getattr(node, name)[at] = value

    def filled(self, text, mode="exec"):
        """A statement, or an expression, with names of the program for a, b and c."""
        tree = ast.parse(text, mode=mode)
        names = {letter: self.rng.choice(self.names) for letter in "abc"}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in names:
                node.id = names[node.id]
        return tree.body[0] if mode == "exec" else tree.body

    def test(self):
        asked = [node for node in ast.walk(self.function) if isinstance(node, ast.Compare)]
        return copy.deepcopy(self.rng.choice(asked)) if asked else self.filled("a > 0", "eval")

    # ------------------------------------------------------------ changes

    def operators(self):
        for node in ast.walk(self.function):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ARITHMETIC) and self.rng.random() < 0.3:
                node.op = self.rng.choice(ARITHMETIC)()
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], COMPARISONS) and self.rng.random() < 0.3:
                node.ops[0] = self.rng.choice(COMPARISONS)()

    def name(self):
        found = [n for n in ast.walk(self.function) if isinstance(n, ast.Name) and n.id in self.names]
        if found:
            self.rng.choice(found).id = self.rng.choice(self.names)

    def constant(self):
        found = [n for n in ast.walk(self.function) if isinstance(n, ast.Constant) and not isinstance(n.value, str)]
        if found:
            self.rng.choice(found).value = self.rng.choice(CONSTANTS)

    def gone(self):
        block = self.rng.choice(self.blocks())
        block[self.rng.randrange(len(block))] = ast.Pass()

    def doubled(self):
        block = self.rng.choice(self.blocks())
        block.insert(self.rng.randrange(len(block) + 1), copy.deepcopy(self.rng.choice(block)))

    def exchanged(self):
        block = self.rng.choice(self.blocks())
        self.rng.shuffle(block)

    def guarded(self):
        block = self.rng.choice(self.blocks())
        at = self.rng.randrange(len(block))
        block[at] = ast.If(self.test(), [block[at]], [])

    def left(self):
        words = self.rng.choice(EXITS)
        held = ast.parse(f"def f():\n  for _ in f:\n    {words}").body[0].body[0].body[0]
        for node in ast.walk(held):
            if isinstance(node, ast.Name):
                node.id = self.rng.choice(self.names)
        self.insert(ast.If(self.test(), [held], []), self.inner_blocks())

    def more(self):
        self.insert(self.filled(self.rng.choice(STATEMENTS.split("|"))))

    def transplanted(self):
        places = self.places()
        self.put(self.rng.choice(places), copy.deepcopy(self.at(self.rng.choice(places))))

    def wrapped(self):
        place = self.rng.choice(self.places())
        value, made = self.at(place), self.filled(self.rng.choice(WRAPPED).replace("a", "HERE", 1), "eval")
        for node in ast.walk(made):
            for name, child in ast.iter_fields(node):
                if isinstance(child, ast.Name) and child.id == "HERE":
                    setattr(node, name, value)
                    self.put(place, made)

    def chosen(self):
        places = self.places()
        one, other = self.rng.choice(places), copy.deepcopy(self.at(self.rng.choice(places)))
        self.put(one, ast.IfExp(self.test(), self.at(one), other))

    def handed_on(self):
        for node in ast.walk(self.function):
            if isinstance(node, ast.Return) and node.value is not None:
                node.value = ast.Tuple([node.value, ast.Name(self.rng.choice(self.names), ast.Load())], ast.Load())

    def caught(self):
        block = self.rng.choice(self.blocks())
        at, what = self.rng.randrange(len(block)), self.rng.choice(("ZeroDivisionError", "IndexError", "KeyError"))
        handler = ast.ExceptHandler(ast.Name(what, ast.Load()), None, [self.filled("a = b")])
        block[at] = ast.Try([block[at]], [handler], [], [])


# ---------------------------------------------------------------- programs that end


class TooLong(BaseException):
    """A program that does not end in time."""


def _ends(source):
    """Whether a program ends for all its arguments, and not at the limit of the stack."""
    try:
        with _limit(SECONDS * 4):
            subject = subject_of(source)
    except Exception:  # what it computes when it is read may raise, too
        return False
    try:
        return all(_ends_for(subject.literal, seed) for seed in range(5))
    except TooLong:
        return False
    finally:
        subject.close()


def _ends_for(module, seed):
    try:
        with _limit(SECONDS), redirect_stdout(io.StringIO()):
            module.program(*module.arguments(seed))
    except (RecursionError, MemoryError):
        return False
    except Exception:  # it is part of what is compared
        return True
    return True


@contextmanager
def _limit(seconds):
    def stop(*_):
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
