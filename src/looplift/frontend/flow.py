"""A function's statements in; for each, what is bound before it and what is still needed after it out."""

from __future__ import annotations

import ast

from looplift.base.data import dataclass, field, replace
from looplift.frontend.holding import Find, name_in_library
from looplift.frontend.names import Names, names_of, parameters

NONE: frozenset[str] = frozenset()

QUIET_CONTEXTS = frozenset((
    "no_grad", "enable_grad", "inference_mode", "set_grad_enabled", "autocast", "device", "errstate", "open",
    "fork_rng", "profile", "record_function", "redirect_stdout", "stream", "detect_anomaly", "set_detect_anomaly",
    "catch_warnings",
))  # fmt: skip
"""Context managers of libraries that never swallow an exception."""


@dataclass(frozen=True)
class Flow:
    """Facts of each statement: names surely and possibly bound before it, needed after it, needed if it raises."""

    bound: dict[ast.stmt, frozenset[str]]
    possible: dict[ast.stmt, frozenset[str]]
    after: dict[ast.stmt, frozenset[str]]
    raising: dict[ast.stmt, frozenset[str]]
    names: Names
    """All names of the body."""
    find: Find
    """The objects that names stand for which are no locals."""

    def before(self, statements: list[ast.stmt], after: frozenset[str] = NONE) -> frozenset[str]:
        """Names that the statements need from before them, if ``after`` is needed after them."""
        return _Liveness({}, {}, NONE, self.find).block(statements, after, _Exits())

    def bound_after(self, statements: list[ast.stmt], entry: ast.stmt) -> frozenset[str]:
        """Names that are surely bound when the statements end, if they begin where ``entry`` stands."""
        end = _Binding({}, {}, self.find).block(statements, _State(self.bound[entry], self.possible[entry]))
        return NONE if end is None else end.bound


def flow_of(function: ast.FunctionDef, find: Find) -> Flow:
    """The facts of one function's own statements; those of functions inside are not visited. ``find``: the objects that
    names stand for which are no locals."""
    names = names_of(function.body)
    liveness = _Liveness({}, {}, frozenset(names.captured), find)
    liveness.block(function.body, NONE, _Exits())
    binding = _Binding({}, {}, find)
    entry = frozenset(parameters(function.args))
    binding.block(function.body, _State(entry, entry))
    return Flow(binding.bound, binding.possible, liveness.after, liveness.raising, names, find)


def _may_swallow(node: ast.With | ast.AsyncWith, find: Find) -> bool:
    """Whether an exception in the body may end there."""
    every = [item.context_expr for item in node.items]
    return not all(isinstance(one, ast.Call) and name_in_library(one.func, find) in QUIET_CONTEXTS for one in every)


def _kills(names: Names) -> frozenset[str]:
    return frozenset(names.stores - names.unsure)


# ---------------------------------------------------------------- needed after


@dataclass(frozen=True)
class _Exits:
    """What is needed where control may go: behind the loop, to its next iteration, to the caller, to a handler."""

    broken: frozenset[str] = NONE
    continued: frozenset[str] = NONE
    returned: frozenset[str] = NONE
    raised: frozenset[str] = NONE


@dataclass
class _Liveness:
    """Backward analysis of liveness (Kildall 1973) on structured code."""

    after: dict[ast.stmt, frozenset[str]]
    raising: dict[ast.stmt, frozenset[str]]
    always: frozenset[str]
    find: Find
    solved: dict[ast.stmt, frozenset[str]] = field(default_factory=dict)
    """What was found for a loop while one around it was not yet solved: where to go on from."""

    def block(self, statements: list[ast.stmt], after: frozenset[str], exits: _Exits) -> frozenset[str]:
        for node in reversed(statements):
            self.after[node] = after | self.always
            self.raising[node] = exits.raised
            after = self.statement(node, after, exits) | exits.raised
        return after

    def statement(self, node: ast.stmt, after: frozenset[str], exits: _Exits) -> frozenset[str]:
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                return self.block(body, after, exits) | self.block(orelse, after, exits) | names_of(test).loads
            case ast.For() | ast.AsyncFor() | ast.While():
                return self.loop(node, after, exits)
            case ast.With() | ast.AsyncWith():
                return self.context(node, after, exits)
            case ast.Try() | ast.TryStar():
                return self.attempt(node, after, exits)
            case ast.Match(subject=subject, cases=cases):
                needed = after.union(names_of(subject).loads)
                for case in cases:
                    head = names_of([case.pattern, case.guard])
                    needed |= head.loads | (self.block(case.body, after, exits) - head.stores)
                return needed
            case ast.Return(value=value):
                return exits.returned | (names_of(value).loads if value else NONE)
            case ast.Raise():
                return exits.raised | names_of(node).loads
            case ast.Break():
                return exits.broken
            case ast.Continue():
                return exits.continued
        names = names_of(node)
        return (after - _kills(names)) | names.loads | names.deleted

    def loop(self, node: ast.For | ast.AsyncFor | ast.While, after: frozenset[str], exits: _Exits) -> frozenset[str]:
        ended = self.block(node.orelse, after, exits)
        head = names_of(node.test) if isinstance(node, ast.While) else names_of(node.target)
        bound = NONE if isinstance(node, ast.While) else _kills(head)
        needed = ended | head.loads | self.solved.get(node, NONE)
        while True:
            inside = replace(exits, broken=after, continued=needed)
            again = needed | (self.block(node.body, needed, inside) - bound) | head.loads
            if again == needed:
                break
            needed = again
        self.solved[node] = needed
        return needed if isinstance(node, ast.While) else needed | names_of(node.iter).loads

    def context(self, node: ast.With | ast.AsyncWith, after: frozenset[str], exits: _Exits) -> frozenset[str]:
        items = names_of([part for item in node.items for part in (item.context_expr, item.optional_vars)])
        swallowed = after if _may_swallow(node, self.find) else NONE
        inside = self.block(node.body, after, replace(exits, raised=exits.raised | swallowed))
        return (inside - items.stores) | swallowed | items.loads

    def attempt(self, node: ast.Try | ast.TryStar, after: frozenset[str], exits: _Exits) -> frozenset[str]:
        ways = (exits.broken, exits.continued, exits.returned, exits.raised)
        last = frozenset(names_of(node.finalbody).loads)
        # from each of them it may leave in another way
        outward = _Exits(*(self.block(node.finalbody, way, exits) | last for way in ways))
        ended = self.block(node.finalbody, after.union(*ways), exits)
        handled = outward.raised
        for handler in node.handlers:
            inside = self.block(handler.body, ended, outward) - {handler.name or ""}
            handled |= inside | (names_of(handler.type).loads if handler.type else NONE)
        orelse = self.block(node.orelse, ended, outward)
        return self.block(node.body, orelse, replace(outward, raised=outward.raised | handled)) | handled


# ---------------------------------------------------------------- bound before


@dataclass(frozen=True)
class _State:
    bound: frozenset[str]
    possible: frozenset[str]

    def bind(self, names: Names) -> _State:
        return _State((self.bound | _kills(names)) - names.deleted, self.possible | names.stores)

    def weaken(self, names: Names) -> _State:
        """After code that may or may not have run."""
        return _State(self.bound - names.deleted, self.possible | names.stores)


def _join(*states: _State | None) -> _State | None:
    """The state where several paths meet; None is a path that never arrives."""
    alive = [state for state in states if state is not None]
    if not alive:
        return None
    bound = frozenset.intersection(*(state.bound for state in alive))
    return _State(bound, frozenset.union(*(state.possible for state in alive)))


@dataclass
class _Binding:
    """Forward analysis of definite assignment."""

    bound: dict[ast.stmt, frozenset[str]]
    possible: dict[ast.stmt, frozenset[str]]
    find: Find

    def block(self, statements: list[ast.stmt], state: _State | None) -> _State | None:
        for node in statements:
            if state is None:  # never reached: nothing is known, nothing matters
                state = _State(NONE, NONE)
            self.bound[node], self.possible[node] = state.bound, state.possible
            state = self.statement(node, state)
        return state

    def statement(self, node: ast.stmt, state: _State) -> _State | None:
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                state = state.bind(names_of(test))
                return _join(self.block(body, state), self.block(orelse, state))
            case ast.For() | ast.AsyncFor() | ast.While():
                return self.loop(node, state)
            case ast.With() | ast.AsyncWith():
                items = [part for item in node.items for part in (item.context_expr, item.optional_vars)]
                inside = self.block(node.body, state.bind(names_of(items)))
                return _join(inside, state.weaken(names_of(node))) if _may_swallow(node, self.find) else inside
            case ast.Try() | ast.TryStar():
                return self.attempt(node, state)
            case ast.Match(subject=subject, cases=cases):
                state = state.bind(names_of(subject))
                starts = [(case, state.bind(names_of([case.pattern]))) for case in cases]
                return _join(state, *(self.block(case.body, start) for case, start in starts))
            case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
                return None
        return state.bind(names_of(node))

    def loop(self, node: ast.For | ast.AsyncFor | ast.While, state: _State) -> _State:
        everything = names_of(node)
        around = state.weaken(everything)
        head = names_of(node.test if isinstance(node, ast.While) else node.target)
        self.block(node.body, around.bind(head))
        self.block(node.orelse, around)
        return around

    def attempt(self, node: ast.Try | ast.TryStar, state: _State) -> _State | None:
        ended = self.block(node.orelse, self.block(node.body, state))
        failed = state.weaken(names_of(node.body))
        handlers = []
        for handler in node.handlers:
            caught = _State(failed.bound | ({handler.name} if handler.name else NONE), failed.possible)
            handlers.append(self.block(handler.body, caught))
        met = _join(ended, *handlers)
        if not node.finalbody:
            return met
        last = self.block(node.finalbody, failed.weaken(names_of(node)))
        return None if met is None or last is None else met.bind(names_of(node.finalbody))
