"""Makes a failing program smaller: statements, branches, loops, operands and arguments go as long as it still fails."""

import ast
import copy
import re
import time

from looplift.verify.limit import within


def kind_of(why):
    """The part of a difference that a smaller program should share."""
    return re.match(r"(raising )?((exception|crash): (\w+)|\w+)?", why or "").group()


def shrink(source, failing, *, seconds=30.0, seconds_each=3.0):
    """The smallest source found for which `failing(source)` gives a reason of the same kind within the time."""
    deadline = time.monotonic() + seconds
    wanted = kind_of(failing(source))
    tree, best = ast.parse(source), source

    def still(candidate):
        try:
            text = ast.unparse(ast.fix_missing_locations(candidate)) + "\n"
            if source.startswith("# precision"):
                text = source.split("\n", 1)[0] + "\n" + text
            why = within(seconds_each, lambda: failing(text))
            return text if why and kind_of(why) == wanted else None
        except Exception:
            return None

    shrunk = True
    while shrunk and time.monotonic() < deadline:
        shrunk = False
        at = 0
        while time.monotonic() < deadline:
            candidate = variant(tree, at)
            if candidate is None:
                break
            if text := still(candidate):
                tree, best, shrunk = ast.parse(text), text, True
            else:
                at += 1
    return best


def variant(tree, number):
    """A copy of the tree with its `number`-th possible reduction done, or None when there are no more."""
    duplicate = copy.deepcopy(tree)
    for at, reduce in enumerate(reductions(duplicate)):
        if at == number:
            reduce()
            return duplicate
    return None


def reductions(tree):
    """All reductions of a tree as callables that do them in place, the greatest first."""
    yield from argument_reductions(tree)
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    for function in functions:
        yield from block_reductions(function)
    for function in functions:
        if function.name != "arguments":
            yield from expression_reductions(function)
    for at, node in enumerate(tree.body):
        if isinstance(node, (ast.Import, ast.Assign)) or (
            isinstance(node, ast.FunctionDef) and node.name not in ("program", "arguments")
        ):
            yield lambda at=at: tree.body.pop(at)


def argument_reductions(tree):
    """One parameter of `program` less, in both functions."""
    found = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    if not {"program", "arguments"} <= found.keys():
        return
    last = found["arguments"].body[-1]
    parameters = found["program"].args.args
    if not (
        isinstance(last, ast.Return)
        and isinstance(last.value, ast.Tuple)
        and len(last.value.elts) == len(parameters) > 1
    ):
        return
    for at in range(len(parameters)):
        yield lambda at=at: (parameters.pop(at), last.value.elts.pop(at))


def blocks_of(node):
    for inner in ast.walk(node):
        for name in ("body", "orelse"):
            block = getattr(inner, name, None)
            if isinstance(block, list) and block:
                yield inner, name, block


def block_reductions(function):
    """A statement less, or a compound statement replaced by what is in it."""
    for owner, name, block in blocks_of(function):
        for at, statement in enumerate(block):
            if isinstance(statement, ast.Pass):
                continue
            yield lambda o=owner, n=name, b=block, a=at: remove(o, n, b, a)
            if isinstance(statement, (ast.If, ast.For, ast.While)):
                yield lambda b=block, a=at, s=statement: b.__setitem__(slice(a, a + 1), s.body)
                if statement.orelse:
                    yield lambda b=block, a=at, s=statement: b.__setitem__(slice(a, a + 1), s.orelse)


def remove(owner, name, block, at):
    del block[at]
    if not block and name == "body":
        block.append(ast.Pass())


def simpler(node):
    """Expressions that may stand for this one."""
    match node:
        case ast.BinOp():
            return [node.left, node.right]
        case ast.BoolOp():
            return node.values
        case ast.UnaryOp():
            return [node.operand]
        case ast.IfExp():
            return [node.body, node.orelse]
        case ast.Compare() if len(node.ops) > 1:
            return [ast.Compare(node.left, node.ops[:1], node.comparators[:1])]
        case ast.Call(func=ast.Attribute(value=inner)) if not isinstance(inner, ast.Name):
            return [*node.args[:1], inner]
        case ast.Call():
            return node.args[:2]
        case ast.Tuple() if len(node.elts) > 1:
            return [
                ast.Tuple(node.elts[:k] + node.elts[k + 1 :], ast.Load()) for k in range(len(node.elts))
            ] + node.elts
        case ast.Attribute(value=inner) if not isinstance(inner, ast.Name):
            return [inner]
    return []


def expression_reductions(function):
    """An expression replaced by a part of it."""
    for owner in ast.walk(function):
        for name, value in ast.iter_fields(owner):
            if isinstance(value, ast.expr):
                for instead in simpler(value):
                    yield lambda o=owner, n=name, i=instead: setattr(o, n, i)
            elif isinstance(value, list) and not isinstance(owner, (ast.FunctionDef, ast.Module)):
                for at, item in enumerate(value):
                    for instead in simpler(item) if isinstance(item, ast.expr) else ():
                        yield lambda v=value, a=at, i=instead: v.__setitem__(a, i)
