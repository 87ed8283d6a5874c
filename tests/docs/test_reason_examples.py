"""The examples in the registry of reasons: one stays a loop for its reason, the one beside it is lifted."""

import ast
import linecache
import textwrap

import pytest
import torch
from tests.base.test_reasons import VECTORS, WITHOUT_EXAMPLES, names

import looplift
from looplift.base.reasons import REASONS, reason

# no loop of this process, or decided by times
ELSEWHERE = {"no-source", "no-loop", "generator", "recursion", "too-small"}


def report_of(code, which):
    """The report on an example as a function of what it speaks of, or on the function that it defines."""
    text = getattr(reason(code), which)
    scope = names() | {"lift": looplift.lift}
    if (code, which) in VECTORS:
        scope["h"] = torch.ones(4)
    words = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    defined = [node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    given = sorted(words & scope.keys() - {"torch", "math", "print", "lift"})
    if not defined:
        body = f"{text}\nreturn {', '.join(name for name in given if name not in ('h', 'v', 'model'))}"
        text = f"def example({', '.join(given)}):\n{textwrap.indent(body, '    ')}\n"
    file = f"<example of {code}, {which}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), scope)
    lifted = scope[defined[0]] if defined else looplift.lift(scope["example"], verify="off")
    try:
        lifted(*([] if defined else [scope[name] for name in given]))
    except ZeroDivisionError:
        assert code == "requirement"
    return lifted.report()


@pytest.mark.parametrize("code", sorted(set(REASONS) - WITHOUT_EXAMPLES - ELSEWHERE))
def test_the_examples_show_the_reason(code):
    refused, lifted = report_of(code, "refused"), report_of(code, "lifted")
    assert any(loop.decision in ("kept", "sequential") and loop.code == code for loop in refused.loops), refused
    assert all(loop.decision != "kept" for loop in lifted.loops), lifted
