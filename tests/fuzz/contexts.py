"""Random programs of which some statements of a loop run under torch.no_grad()."""

import ast
import random

from .programs import program_of


def context_source(randomness):
    """A program around tensors that ask for gradients, with a block under torch.no_grad() in one of its loops."""
    while True:
        source = program_of(randomness.randrange(2**40))
        if "requires_grad" not in source:
            continue
        if (changed := with_context(source, randomness)) is not None:
            return changed


def with_context(source, randomness):
    """The program with some neighbouring statements of a loop in a block; None where there is no such loop."""
    lines = source.splitlines()
    comments = [line for line in lines if line.startswith("#")]
    tree = ast.parse(source)
    program = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "program")
    blocks = [block for loop in ast.walk(program) if isinstance(loop, ast.For | ast.While) for block in blocks_of(loop)]
    if not blocks:
        return None
    block = randomness.choice(blocks)
    start = randomness.randrange(len(block))
    count = randomness.choice((1, 1, 2, 3))
    context = ast.parse("torch.no_grad()", mode="eval").body
    block[start : start + count] = [ast.With([ast.withitem(context)], block[start : start + count])]
    return "\n".join([*comments, ast.unparse(ast.fix_missing_locations(tree)), ""])


def blocks_of(loop):
    """The body of a loop, and those of the branches in it."""
    found = [loop.body]
    for node in loop.body:
        if isinstance(node, ast.If):
            found += [node.body] + ([node.orelse] if node.orelse else [])
    return found


def context_of(number):
    """The program of a number: the same text always."""
    return context_source(random.Random(number))
