"""A function in, the code that stands in for it until it is called, its text, and what its cells hold, out."""

from __future__ import annotations

import functools
import types

REGIONS = "__looplift_regions__"
"""The free variable of rewritten code: the list of a function's regions."""


@functools.lru_cache(maxsize=64)
def _stub(free: tuple[str, ...], parameters: str, positional: str, keywords: str) -> types.CodeType:
    """Code that hands any call to the state of its function; it has the free variables that rewritten code has."""
    bindings = "".join(f"    {name} = None\n" for name in free)
    text = (
        f"def outer():\n{bindings}    def stub({parameters}):\n"
        f"        return {REGIONS}[1](({positional}), {{{keywords}}})\n        ({', '.join(free)},)\n"
    )
    outer = compile(text, "<looplift>", "exec").co_consts[0]
    return next(item for item in outer.co_consts if isinstance(item, types.CodeType))


def stub_of(code: types.CodeType) -> types.CodeType:
    stub = _stub(tuple(sorted({*code.co_freevars, REGIONS})), *_parameters_of(code))
    names = {"co_name": code.co_name, "co_qualname": code.co_qualname, "co_filename": code.co_filename}
    return stub.replace(co_firstlineno=code.co_firstlineno, **names)  # pyright: ignore[reportArgumentType]


def _parameters_of(code: types.CodeType) -> tuple[str, str, str]:
    """The parameters of a function, and the two parts of a call that hands them on: ``torch.compile`` reads the
    parameters of a function once, so they stay the same when its code changes."""
    names = iter(code.co_varnames)
    positional = [next(names) for _ in range(code.co_argcount)]
    keywords = [next(names) for _ in range(code.co_kwonlyargcount)]
    rest = [f"*{next(names)}"] if code.co_flags & 0x04 else []
    more = [f"**{next(names)}"] if code.co_flags & 0x08 else []
    only = code.co_posonlyargcount
    before = [*positional[:only], "/"] if only else []
    star = rest or (["*"] if keywords else [])
    parameters = [*before, *positional[only:], *star, *keywords, *more]
    handed = [*(f"'{name}': {name}" for name in keywords), *more]
    return ", ".join(parameters), "".join(f"{name}, " for name in (*positional, *rest)), ", ".join(handed)


def unlifted_text(function: types.FunctionType, why: str = "it is lifted when it is called") -> str:
    """The function as written, under a comment; its last line is that of its last instruction."""
    import linecache
    import textwrap

    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)[code.co_firstlineno - 1 : _last_line(code)]
    return f"# as written: {why}\n" + textwrap.dedent("".join(lines))


@functools.lru_cache(maxsize=64)
def _last_line(code: types.CodeType) -> int:
    last = max((end or 0 for _, end, _, _ in code.co_positions()), default=code.co_firstlineno)
    return max([last, *(_last_line(item) for item in code.co_consts if isinstance(item, types.CodeType))])


def holds(cell: types.CellType, value: object) -> bool:
    """Whether a cell of a closure is bound, to this very value."""
    try:
        return cell.cell_contents is value
    except ValueError:
        return False
