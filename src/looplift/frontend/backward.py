"""``loss.backward()`` inside of a loop, as ``torch.autograd.grad``: what it leaves in ``.grad`` is held as names are.

for x in xs:                                 for x in xs:
    net.zero_grad()
    net(x).sum().backward()          ->          g = slope_of(net(x).sum(), w)
    total += net.weight.grad ** 2                total += g ** 2
                                             net.weight.grad = g, behind all loops

The gradient of a leaf that an iteration has not reset is a sum over the iterations, which nothing in the loop reads.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator
from typing import Any

from looplift.base.errors import NotLiftable
from looplift.frontend import differentiation, evident, expressions, host_items
from looplift.frontend.attributes import cell_of, is_rebound
from looplift.frontend.scope import Builder, Differentiates, Restart, Value, is_none, is_unbound
from looplift.ir.grammar import (
    UNDEFINED,
    Append,
    Atom,
    Block,
    Const,
    If,
    Let,
    Loop,
    Op,
    Require,
    Slice,
    Statement,
    Store,
    Var,
    operands,
    walk,
)
from looplift.ir.slopes import GRADIENT, stops
from looplift.ir.writes import is_in_place
from looplift.ops.table import family, may_show

HOLDERS = ("tuple", "list", "dict", "table")
VIEWS = ("getitem", "iter_item", "attribute", "method", "inplace", "copy", "unpack", "builtin")
CHOOSING = ("builtin.max", "builtin.min", "module", "call")
"""Operations that may hand out any of their operands."""
COMPUTING = ("elementwise", "reduction", "along", "contraction", "blocked", "random")
RAN = "went_back"
"""The name of the cells that count the backward passes that have reached a leaf."""


def begin(build: Builder) -> None:
    """The gradients that the region sets are not known before: to those that are sums each pass adds its own."""
    build.passes.given, build.passes.inputs, build.passes.made = set(), set(), {}
    for path, leaf in build.passes.leaves.items():
        is_sum = path in build.passes.sums
        first = build.emit("torch.zeros_like", build.live_in(path, leaf)) if is_sum else UNDEFINED
        build.cells[cell_of(path, "grad")] = first
        if is_sum:
            build.cells[cell_of(path, RAN)] = Const(0)


def called(build: Builder, owner: Value, node: ast.Call) -> Value | None:
    """``loss.backward()``, ``model.zero_grad()``, ``optimizer.zero_grad()``; None of any other call."""
    assert isinstance(node.func, ast.Attribute)
    if build.passes.trains:
        return None
    if node.func.attr == "backward" and isinstance(owner, Var) and build.param_path(owner) is None:
        _check_plain(build, node, {"gradient": None, "retain_graph": (None, False), "create_graph": False})
        _go_back(build, owner)
        return Const(None)
    if node.func.attr == "zero_grad" and (leaves := _leaves_of(build, owner)) is not None:
        _check_plain(build, node, {"set_to_none": True})
        reset(build, leaves)
        return Const(None)
    return None


def _check_plain(build: Builder, node: ast.Call, defaults: dict[str, Any]) -> None:
    """Refuses arguments that change what a call does."""
    positional = [expressions.evaluate(build, one) for one in node.args]
    given = dict(zip(defaults, positional)) | {
        str(one.arg): expressions.evaluate(build, one.value) for one in node.keywords
    }
    for name, value in given.items():
        allowed = defaults.get(name, ...)
        allowed = allowed if isinstance(allowed, tuple) else (allowed,)
        if not isinstance(value, Const) or not any(value.value is one for one in allowed):
            raise _of_arguments(build, node)
    if len(positional) > len(defaults):
        raise _of_arguments(build, node)


def _of_arguments(build: Builder, node: ast.Call) -> NotLiftable:
    message = f"'{ast.unparse(node)}' does more than to set gradients, or to set them to None: leave its arguments out"
    return refusal(build, message)


def refusal(build: Builder, message: str) -> NotLiftable:
    return build.refuse("training-step", message)


# ---------------------------------------------------------------- what is reset


def _leaves_of(build: Builder, owner: Value) -> list[Var] | None:
    """The tensors whose gradients a ``zero_grad`` of torch's own resets; None of any other object."""
    import torch

    found, path = build.given(owner), owner.path if isinstance(owner, Const) else build.param_path(owner)
    if not path or owner in build.strangers:
        return None
    resets = getattr(getattr(found, "zero_grad", None), "__func__", None)
    build.watch(None, f"getattr({path}.zero_grad, '__func__', None)", resets)
    if isinstance(found, torch.nn.Module) and resets is torch.nn.Module.zero_grad:
        listed = host_items.module_listing(build, owner, "parameters")
        return None if listed is None else [one for one in listed if isinstance(one, Var)]
    if isinstance(found, torch.optim.Optimizer) and resets is torch.optim.Optimizer.zero_grad:
        return _of_optimizer(build, found, path)
    return None


def _of_optimizer(build: Builder, found: Any, path: str) -> list[Var]:
    groups = [group["params"] for group in found.param_groups]
    build.watch(None, f"tuple([len(group['params']) for group in {path}.param_groups])", tuple(map(len, groups)))
    if sum(map(len, groups)) > host_items.MAX_ITEMS:
        raise refusal(build, f"'{path}.zero_grad()' is of more than {host_items.MAX_ITEMS} tensors")
    places = [
        (f"{path}.param_groups[{k}]['params'][{n}]", p) for k, one in enumerate(groups) for n, p in enumerate(one)
    ]
    return [var for place, p in places if isinstance(var := build.live_in(place, p), Var)]


def reset(build: Builder, leaves: list[Var]) -> None:
    """``p.grad = None`` for each of some leaves."""
    _hold(build, leaves)
    for leaf in leaves:
        if (name := _cell(build, leaf)) is None:
            raise refusal(build, "'.grad' of something that is not known to be a leaf is set")
        build.cells[name] = Const(None)


def store(build: Builder, owner: Value, value: Value) -> None:
    """``owner.grad = value``."""
    if not is_none(value) or not isinstance(owner, Var):
        raise refusal(build, "'.grad' is set to something else than None: name what you make of it")
    reset(build, [owner])


def _hold(build: Builder, leaves: list[Var]) -> None:
    """The gradients of leaves are held from the start of the region on."""
    build.passes.is_used = True
    given = {build.param_path(leaf): build.given(leaf) for leaf in leaves if build.param_path(leaf) is not None}
    known = {id(leaf) for leaf in build.passes.leaves.values()}
    new = {str(path): leaf for path, leaf in given.items() if id(leaf) not in known}
    if any(not _is_plain_leaf(leaf) for leaf in new.values()):
        raise refusal(
            build, "gradients of a tensor that has hooks, lies transposed in memory, or is of a class of its own"
        )
    if any(is_rebound(build, path) for path in new):
        raise refusal(build, "gradients of what a name holds that is bound to something else meanwhile")
    if new:
        build.passes.leaves |= new
        raise Restart


def _is_plain_leaf(leaf: Any) -> bool:
    import torch

    return (
        type(leaf) in (torch.Tensor, torch.nn.Parameter)
        and leaf.is_leaf
        and leaf.is_contiguous()
        and not leaf._backward_hooks
        and not leaf._post_accumulate_grad_hooks
    )


def _cell(build: Builder, leaf: Var) -> str | None:
    """The cell of the gradient of a leaf, whatever name it goes by; None of other tensors."""
    given = build.given(leaf)
    if given is None:
        return build.passes.made.get(leaf)
    return next((cell_of(path, "grad") for path, one in build.passes.leaves.items() if one is given), None)


def made_leaf(build: Builder, leaf: Var) -> None:
    """A tensor that the region made asks for a gradient: it has none yet."""
    if build.passes.is_used and leaf not in build.passes.made and not _Reached(build, leaf).leaves:
        build.passes.made[leaf] = name = cell_of(leaf.name, "grad")
        build.cells[name] = Const(None)


# ---------------------------------------------------------------- what is read


def gradient(build: Builder, owner: Atom) -> Value | None:
    """``owner.grad``, where the region goes back; None elsewhere."""
    import torch

    if not build.passes.is_used or not isinstance(owner, Var):
        return None
    given, path = build.given(owner), build.param_path(owner)
    name = _cell(build, owner)
    if name is None and path is None:
        raise refusal(
            build,
            "'.grad' of something that is not known to be a leaf: call '.detach().requires_grad_()' in the iteration",
        )
    if name is None:
        return build.live_in(f"{path}.grad", given.grad) if isinstance(given, torch.Tensor) else None
    value = build.cells[name]
    if _is_left_over(build, value) or any(name == cell_of(one, "grad") for one in build.passes.sums):
        raise refusal(build, f"'{path}.grad' holds what earlier iterations left: reset it at the beginning of each")
    return value


def _is_left_over(build: Builder, value: Value) -> bool:
    """Whether a gradient is the one that was there before the iteration."""
    return is_unbound(value) or value in build.unbound_at_entry


# ---------------------------------------------------------------- the way back


def _go_back(build: Builder, loss: Var) -> None:
    import torch

    if build.without_history or not torch.is_grad_enabled():
        raise refusal(build, "'.backward()' where no gradients are recorded")
    if not (build.differentiates and build.passes.is_used):
        build.passes.is_used = True
        raise Differentiates
    reached = _Reached(build, loss)
    if not reached.leaves:
        raise refusal(build, "'.backward()' of something that asks for no gradient")
    _hold(build, reached.leaves)
    leaves = list({_cell(build, leaf): leaf for leaf in reached.leaves}.items())
    sums = [(name, leaf) for name, leaf in leaves if _is_left_over(build, build.cells[str(name)])]
    if sums:
        build.passes.sums |= {path for path in build.passes.leaves if cell_of(path, "grad") in dict(sums)}
        raise Restart
    flags = {"creates": Const(False), "retains": Const(False)}
    slopes = [build.operation(GRADIENT, (loss, leaf), flags, "slope") for _, leaf in leaves]
    for (name, leaf), slope in zip(leaves, slopes, strict=True):
        assert name is not None
        build.cells[name] = _left(build, name, leaf, slope)
    for path in build.passes.sums:
        if cell_of(path, "grad") in dict(leaves):
            cell = cell_of(path, RAN)
            build.cells[cell] = build.emit("add", build.atom(build.cells[cell]), Const(1))
    build.passes.inputs |= reached.atoms
    differentiation.guard_tensors(build)


def _left(build: Builder, name: str, leaf: Var, slope: Var) -> Value:
    """What a backward pass leaves in ``leaf.grad``."""
    before = build.cells[name]
    if any(name == cell_of(path, "grad") for path in build.passes.sums):
        return build.emit("add", build.atom(before), slope)
    if not is_none(before):
        raise refusal(build, "a second '.backward()' adds to the gradients of the first: go back once from the sum")
    alone = build.emit("method.detach", slope)
    found = build.emit("method.clone", alone, hint="grad", memory_format=_contiguous())
    build.passes.given.add(found)
    build.certain |= {found}
    return found


def _contiguous() -> Const:
    import torch

    return Const(torch.contiguous_format, "torch.contiguous_format")


class _Reached:
    """The leaves that a backward pass may reach: what a value is made of and asks for gradients, and all on the way."""

    def __init__(self, build: Builder, value: Var):
        self.build = build
        self.made = {s.var: s for block in build.blocks for s in walk(Block(tuple(block))) if isinstance(s, Let)}
        self.leaves: list[Var] = []
        self.atoms: set[Atom] = set()
        queue: list[Atom] = [value]
        while queue:
            atom = queue.pop()
            if atom not in self.atoms:
                self.atoms.add(atom)
                queue += self.before(atom)

    def before(self, atom: Atom) -> list[Atom]:
        build = self.build
        if isinstance(atom, Const):
            self.check_held(atom.value)
            return []
        if build.param_path(atom) is not None:
            self.take(atom, build.given(atom))
            return []
        if atom in build.passes.made:
            self.leaves.append(atom)
            return []
        if (let := self.made.get(atom)) is not None:
            return [] if stops(let.op) else list(operands(let.op))
        if not evident.is_no_tensor(build, atom):
            raise refusal(build, f"'.backward()' goes back through '{atom.hint}', which loops or branches make")
        return []

    def take(self, atom: Var, given: Any) -> None:
        import torch

        if not isinstance(given, torch.Tensor):
            self.check_held(given)
        elif given.requires_grad:
            if not given.is_leaf:
                raise refusal(
                    self.build,
                    f"'.backward()' goes back through '{atom.hint}', which was computed before the loop: detach it",
                )
            self.leaves.append(atom)

    def check_held(self, value: Any) -> None:
        """Refuses what may hold leaves of which nobody knows: modules that stay modules, lists of the caller."""
        import torch

        items: Iterator[Any] = iter(())
        if isinstance(value, torch.nn.Module):
            items = value.parameters()
        elif isinstance(value, list | tuple | dict):
            items = iter(value.values() if isinstance(value, dict) else value)
        for item in items:
            if isinstance(item, torch.Tensor) and item.requires_grad:
                raise refusal(
                    self.build, f"'.backward()' goes back through parameters that a {type(value).__name__} holds"
                )
            if not isinstance(item, torch.Tensor):
                self.check_held(item)


# ---------------------------------------------------------------- the end


def results(build: Builder, body: Block, others: Iterable[Atom]) -> list[tuple[str, Atom]]:
    """What the region leaves in ``.grad``, by paths; to gradients that were there before what is new is added.

    ``others``: its other results, among which a gradient may be seen to be the one that is left.
    """
    passes, found, grown = build.passes, list[tuple[str, Atom]](), dict[str, Var]()
    same = _Same(Block((*body, *build.blocks[-1])), build.sites)
    is_held = any(same.as_items(one) & passes.given for one in others)
    for path, leaf in passes.leaves.items():
        value = build.cells[cell_of(path, "grad")]
        if is_unbound(value):
            continue
        if path in passes.sums and leaf.grad is not None:
            before = build.live_in(f"{path}.grad", leaf.grad)
            assert isinstance(before, Var)
            grown[f"{path}.grad"] = before
            everywhere = Slice(Const(None), Const(None), Const(None))
            build.add(Store(before, everywhere, build.atom(value), "add", build.span))
            continue
        if path in passes.sums:
            build.live_in(f"{path}.grad", None)
            has_run = build.emit("gt", build.atom(build.cells[cell_of(path, RAN)]), Const(0))
            build.add(Require(has_run, "no gradient is left behind", build.span))
        last = same.as_items(build.atom(value)) & {*passes.given}
        if path in passes.sums or (last and not is_held):  # it lasts longer than those of the other iterations
            value = build.emit("method.clone", build.atom(value), memory_format=_contiguous())
        found.append((f"{path}.grad", build.atom(value)))
    _guard_leaves(build)
    _guard_grown(build, grown)
    return found


def _guard_grown(build: Builder, grown: dict[str, Var]) -> None:
    """Guards hold that no gradient to which the region adds shares memory with something that it reads."""
    import torch

    if not grown:
        return
    others = []
    for path, value in build.param_values.items():
        if isinstance(value, torch.Tensor):
            others += [path] if path not in grown else []
        elif isinstance(value, list | tuple) and all(isinstance(one, torch.Tensor) for one in value):
            others.append(f"*{path}")
        elif not isinstance(value, int | float | str | range) and build.object_path(build.params[path]) is None:
            raise refusal(build, f"'.backward()' adds to gradients, which '{path}' may hold")
    texts = [f"{{one.untyped_storage().data_ptr() for one in ({', '.join(one)},)}}" for one in (grown, others)]
    build.watch(None, f"(len({texts[0]}), {texts[0]}.isdisjoint({texts[1]}))", (len(grown), True))
    for path in grown:
        build.watch(None, f"{path}.requires_grad", False)


def _guard_leaves(build: Builder) -> None:
    """Guards hold which leaves are which tensor, and that none has a history or a hook."""
    leaves = build.passes.leaves
    for path, value in build.param_values.items():
        first = next((name for name, leaf in leaves.items() if leaf is value), path)
        if first != path:
            build.watch(None, f"({path} is {first})", True)
    if len(leaves) > 1:
        build.watch(None, f"len({{*map(id, ({', '.join(leaves)}))}})", len(leaves))
    for path in leaves:
        facts = f"({path}.is_leaf, {path}.is_contiguous(), not {path}._backward_hooks)"
        build.watch(None, facts, (True, True, True))
        build.watch(None, f"(not {path}._post_accumulate_grad_hooks)", True)


def check(build: Builder, body: Block) -> None:
    """Refuses what changes gradients in place, or what the backward passes went through."""
    same = _Same(body, build.sites)
    for statement in walk(body):
        for atom in _changed(statement):
            found = same.as_items(atom) if atom not in build.sites else {atom}
            if found & build.passes.given:
                message = "a gradient that '.backward()' left is changed in place: make another tensor of it"
                raise refusal(build, message)
            if found & build.passes.inputs:
                message = f"'{atom.hint}' is changed in place, and '.backward()' goes back through it: copy it before"
                raise refusal(build, message)


def _changed(statement: Statement) -> list[Var]:
    match statement:
        case Store(ref=Var() as ref) | Append(ref=Var() as ref):
            return [ref]
        case Let(op=op) if op.args and isinstance(op.args[0], Var):
            prefix, _, name = op.name.rpartition(".")
            return [op.args[0]] if prefix == "inplace" or (prefix == "method" and is_in_place(name)) else []
    return []


def _may_show(op: Op) -> bool:
    """Whether the result may be what the operation is given, or show its memory."""
    is_new = family(op.name) in COMPUTING or op.name == "method.clone"
    is_known_new = is_new and not op.name.startswith(("inplace.", "builtin."))
    return may_show(op.name) or (op.name.partition(".")[0] in VIEWS and not is_known_new)


class _Same:
    """What a value may be: the same as another, a view of it, or what a list holds."""

    def __init__(self, body: Block, lists: Container[Var]):
        self.of: dict[Atom, list[Atom]] = {}
        for statement in walk(body):
            match statement:
                case Let(var=var, op=op) if op.name in (*HOLDERS, *CHOOSING):
                    self.of[var] = list(operands(op))
                case Let(var=var, op=op) if _may_show(op):
                    self.of[var] = list(operands(op))[:1]
                case Append(ref=ref, value=value):
                    self.of.setdefault(ref, []).append(value)
                case Store(ref=ref, value=value) if ref in lists:
                    self.of.setdefault(ref, []).append(value)
                case If(phis=phis):
                    self.of |= {phi.var: [phi.then, phi.orelse] for phi in phis}
                case Loop(carries=carries):
                    for carry in carries:
                        self.of[carry.inside] = self.of[carry.after] = [carry.init, carry.next]

    def as_items(self, atom: Atom) -> set[Atom]:
        found: set[Atom] = set()
        queue = [atom]
        while queue:
            if (atom := queue.pop()) not in found:
                found.add(atom)
                queue += self.of.get(atom, ())
        return found
