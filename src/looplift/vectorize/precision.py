"""Facts in, for each result and each array that is written to, the narrowest float type that its values were rounded to
on the way, out: a sum of float32 that is stored as float64 is no more exact than float32."""

from __future__ import annotations

from typing import Any

from looplift.base.compare import NARROW, narrowest
from looplift.ir.facts import Facts
from looplift.ir.grammar import Atom, Let, Var
from looplift.ops import table
from looplift.vectorize.flow import Flow

MOVES = ("getitem", "iter_item", "attribute", "unpack", "copy", "tuple", "list")


def rounded_to(facts: Facts, *, of_arguments: bool = False) -> dict[str, str]:
    """Names of results and paths of arguments to the dtype, where that is narrower than 64 bits.

    With ``of_arguments`` the facts are of these alone, and all that is computed of them is taken to be as narrow.
    """
    flow, function = Flow(facts.function), facts.function
    ends: list[tuple[str, Atom]] = [("result", atom) for _, atom in function.results]
    ends += [(path, var) for var, path in function.attributes["paths"].items()]
    found: dict[str, str] = {}
    for key, atom in ends:
        words = {found[key]} if key in found else set()
        every = _slice(flow, atom)
        if of_arguments and len(every) > 1:
            words |= {word for var in every if (word := _word_of(facts, var))}
        words |= {word for var in every if (word := _rounding(facts, flow, var))}
        if words:
            found[key] = narrowest(words)
    return found


def _slice(flow: Flow, atom: Atom) -> set[Var]:
    """All that a value is computed from."""
    seen: set[Var] = set()
    pending: list[Any] = [atom]
    while pending:
        current = pending.pop()
        if isinstance(current, Var) and current not in seen:
            seen.add(current)
            pending += flow.sources.get(current, ())
    return seen


def _rounding(facts: Facts, flow: Flow, var: Var) -> str:
    """The dtype to which the operation that makes a variable rounds, if it is a narrow one."""
    made = flow.definition.get(var)
    if not isinstance(made, Let) or made.op.name in MOVES or table.family(made.op.name) == "shape":
        return ""
    return _word_of(facts, var)


def _word_of(facts: Facts, var: Var) -> str:
    """The dtype of a variable, if it is a narrow one."""
    word = str(facts.of[var].kind.dtype).removeprefix("torch.") if var in facts.of else ""
    return word if word in NARROW else ""
