"""Network modules in a typed program: a call of one is what its ``forward`` does, with its parameters as inputs.

Those of torch's classes that work on one row have a form of their own; of the user's classes the source of ``forward``
is a function.
"""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Iterator
from typing import Any

from torch import nn

from looplift.base.hooks import HOOKS
from looplift.base.spans import is_strict
from looplift.base.syntax import nodes_of
from looplift.emit import typed_formulas, typed_layers
from looplift.emit.typed_held import Found
from looplift.emit.typed_held_numbers import HeldNumbers
from looplift.emit.typed_layers import CELLS
from looplift.emit.typed_names import stored_names
from looplift.emit.typed_scope import Routine, Value, as_int, coerced, refuse
from looplift.emit.typed_tensor_made import by_name, is_constant
from looplift.emit.typed_tensor_ops import is_tensor
from looplift.emit.typed_told import assigned
from looplift.emit.typed_types import INT, NEVER, TEXT, Arr, Ten, Tup, text_of

_SAME = (nn.Identity,)
_DROPS = (nn.Dropout, nn.AlphaDropout, nn.FeatureAlphaDropout)
_ACTIVATIONS: dict[type[nn.Module], tuple[str, dict[str, Any]]] = {
    nn.ReLU: ("relu", {}), nn.Tanh: ("tanh", {}), nn.Sigmoid: ("sigmoid", {}), nn.SiLU: ("silu", {}),
    nn.LogSigmoid: ("logsigmoid", {}), nn.LeakyReLU: ("leaky_relu", {"negative_slope": 0.01}),
    nn.Softplus: ("softplus", {"beta": 1, "threshold": 20}), nn.ELU: ("elu", {"alpha": 1}),
    nn.GELU: ("gelu", {"approximate": "none"}),
}  # fmt: skip
"""The function that a module calls, and the function's own values for what the module sets."""
_ROWS = {nn.Softmax: "softmax", nn.LogSoftmax: "log_softmax"}


class Modules(HeldNumbers):
    """Calls of network modules."""

    # ------------------------------------------------------------ expressions

    def of_Call(self, node: ast.Call) -> Value:
        if (several := self._several_in(node.func)) is not None:
            return self._one_of(*several, node)
        found = self.module_at(node.func)
        if found is not None and isinstance(found.value, nn.Module):
            return self._called(found, node)
        if isinstance(node.func, ast.Attribute) and found is None:
            owner = self.module_at(node.func.value)
            if owner is not None and isinstance(owner.value, nn.Module):
                return self._method_called(owner, node.func.attr, node)
        given = [one for one in (*node.args, *(word.value for word in node.keywords)) if self._is_module(one)]
        if given and not any(isinstance(one, ast.Starred) for one in node.args):
            return self._with_modules(node)
        return super().of_Call(node)

    def _several_in(self, func: ast.expr) -> tuple[Found, ast.Subscript] | None:
        """The first place in the path to what is called where one of several modules is chosen as the program runs."""
        if not isinstance(func, ast.Attribute | ast.Subscript):
            return None
        if (before := self._several_in(func.value)) is not None or not isinstance(func, ast.Subscript):
            return before
        if self._is_known_place(func.slice) or not isinstance(func.value, ast.Name | ast.Attribute | ast.Subscript):
            return None
        found = self.module_at(func.value)
        known = found is not None and isinstance(found.value, nn.ModuleList | nn.Sequential | nn.ModuleDict)
        return (found, func) if found is not None and known else None

    def _one_of(self, found: Found, place: ast.Subscript, node: ast.Call) -> Value:
        """A call of one of several modules, or of what one of them holds."""
        tests = self._tests_of(found, self.keep(self.present(self.expression(place.slice))), node)
        name = f"module {self.fresh()}"
        func = _with_name(node.func, place, ast.copy_location(ast.Name(name, ast.Load()), place))
        call = ast.copy_location(ast.Call(func, node.args, node.keywords), node)
        made: list[tuple[list[str], Value]] = []
        for _ in self._each_module([(name, found)]):
            with self.block() as lines:
                value = self.keep(self.expression(call))
            made.append((lines, value))
        if not made:
            raise refuse(node, "is a call of one of no modules")
        kind, out = NEVER, self.fresh()
        for _, value in made:
            kind = self.joins.join(kind, value.type)
        self.emit(f"{text_of(kind)} {out};")
        for k, (lines, value) in enumerate(made):
            self.emit(f"{'else ' if k else ''}if ({tests[k]}) {{")
            self.lines += [*lines, f"{out} = {coerced(value, kind)};", "}"]
        self.emit("else bail(KIND);")
        return Value(kind, out)

    def _tests_of(self, found: Found, index: Value, node: ast.Call) -> list[str]:
        """C++ that tells of each module of a container whether an index or a key is that of it."""
        count = self._sized(found)
        if not isinstance(found.value, nn.ModuleDict):
            place = as_int(index, node)
            return [f"{place} == {k} || {place} == {k - count}" for k in range(count)]
        if index.type not in (TEXT, NEVER):
            raise refuse(node, "is a call of one of several modules by what is no name")
        known = index.type is TEXT
        return [self.equal_text(index, self.constant_text(key)) if known else "false" for key in found.value]

    def _with_modules(self, node: ast.Call) -> Value:
        """A function of the user's that is given modules: one of its own for these."""
        function = self.callee(node)
        function = getattr(function, "__looplift_original__", function)
        if not isinstance(function, types.FunctionType):
            if len(node.args) == 1 and function is len:
                found = self.module_at(node.args[0])
                assert found is not None
                return self.constant(self._sized(found))
            raise refuse(node, "is called with a module")
        known = self.routine_of(function)
        if known is None:
            raise refuse(node, "is called with a module")
        return self._with_modules_among(known, function, node)

    def _specialized(self, function: Any, known: Routine, modules: dict[str, Found]) -> Routine:
        modules = known.modules | modules
        key = (function, *sorted((name, found.path) for name, found in modules.items()))
        if key not in self.routines:
            if any(name in known.stores for name in modules):
                raise refuse(None, f"'{function.__name__}' binds a module anew")
            first = len(known.parameters) - len(known.defaults)
            defaults = [
                known.defaults[k - first] for k, p in enumerate(known.parameters) if k >= first and p not in modules
            ]
            made = Routine(
                f"{known.name}_{len(self.routines)}", [one for one in known.parameters if one not in modules],
                copy.deepcopy(known.body), known.stores, known.namespace, kept=known.kept, shared=known.shared,
                defaults=defaults, modules=modules, hands_out=known.hands_out,
            )  # fmt: skip
            made.parameters_of = function  # type: ignore[attr-defined]
            self.routines[key] = made
        return self.routines[key]

    def _method_called(self, owner: Found, name: str, node: ast.Call) -> Value:
        function = getattr(type(owner.value), name, None)
        if name == "forward":
            return self._called(owner, node)
        if not isinstance(function, types.FunctionType) or function.__module__.startswith("torch."):
            raise refuse(node, "calls a method of a module that is not known")
        return self._with_modules_among(self._routine_for(owner, name), function, node)

    def _with_modules_among(self, routine: Routine, function: Any, node: ast.Call) -> Value:
        """A call of a routine, or of one of its own for the modules that it is given."""
        given = [*node.args, *(word.value for word in node.keywords)]
        if any(isinstance(one, ast.Starred) for one in node.args) or not any(map(self._is_module, given)):
            return self.call(routine, node)
        every = dict(zip(routine.parameters, node.args)) | {str(one.arg): one.value for one in node.keywords}
        if len(every) < len(given) or not {*every} <= {*routine.parameters}:
            raise refuse(node, "is called with other arguments than there are")
        modules = {
            name: found for name, one in every.items() if self._is_module(one) and (found := self.module_at(one))
        }
        words = [ast.keyword(name, one) for name, one in every.items() if name not in modules]
        routine = self._specialized(function, routine, modules)
        return self.call(routine, ast.copy_location(ast.Call(node.func, [], words), node))

    def _routine_for(self, owner: Found, name: str) -> Routine:
        """A method of a module of the user's, for this module."""
        function = getattr(type(owner.value), name)
        self.overriding[type(owner.value), name] = function
        known = self.routine_of(function)
        if known is None or not known.parameters:
            raise refuse(None, f"'{function.__qualname__}' is no plain method")
        return self._specialized(function, known, {known.parameters[0]: owner})

    # ------------------------------------------------------------ calls of modules

    def _called(self, found: Found, node: ast.Call) -> Value:
        module = found.value
        self._check_plain(module, node)
        if not type(module).__module__.startswith("torch."):
            return self._with_modules_among(self._routine_for(found, "forward"), type(module).forward, node)
        if node.keywords or not node.args or any(isinstance(one, ast.Starred) for one in node.args):
            raise refuse(node, "is called in another way")
        if type(module) in CELLS and len(node.args) == 2:
            return self._cell(found, node)
        if len(node.args) != 1:
            raise refuse(node, "is a call of a module without a form")
        return self._applied(found, self.keep(self.present(self.expression(node.args[0]))), node)

    def _check_plain(self, module: nn.Module, node: ast.AST) -> None:
        held = vars(module)
        if (
            "forward" in held
            or any(held.get(name) for name in HOOKS)
            or type(module).__call__ is not nn.Module.__call__
        ):
            raise refuse(node, "is a call of a module with hooks, or a forward of its own")

    def _applied(self, found: Found, x: Value, node: ast.Call) -> Value:
        """What a module of torch's makes of one value."""
        module, kind = found.value, type(found.value)
        self._check_plain(module, node)
        x = self.tensor_if_either(x)
        if x.type is NEVER:
            return x
        if not is_tensor(x):
            raise refuse(node, "is given what is no tensor")
        if kind is nn.Sequential:
            self._sized(found)
            for place, one in enumerate(module):
                x = self.keep(self._applied(self._watched(Found(one, f"{found.path}[{place}]")), x, node))
            return x
        if kind in _SAME or (kind in _DROPS and not (module.training and self._setting(found, "p"))):
            return x
        if kind is nn.Linear:
            return self._linear(x, found, node)
        if kind is nn.Embedding:
            return self._embedded(x, found, node)
        if kind in _ACTIVATIONS and not getattr(module, "inplace", False):
            name, usual = _ACTIVATIONS[kind]
            settings = {word: self._setting(found, word) for word in usual}
            others: dict[str, ast.expr] = {
                word: ast.Constant(value) for word, value in settings.items() if value != usual[word]
            }
            return self._function(name, x, others, node)
        if kind in _ROWS and module.dim is not None:
            return self._function(_ROWS[kind], x, {"dim": ast.Constant(self._setting(found, "dim"))}, node)
        if kind is nn.LayerNorm and len(module.normalized_shape) == 1 and x.type.rank in (1, 2):
            return self._normalized(x, found, node)
        raise refuse(node, f"is a call of '{kind.__name__}', which has no form here")

    def _setting(self, found: Found, name: str) -> Any:
        value = getattr(found.value, name)
        self.settings[f"{found.path}.{name}"] = value
        return value

    def _function(self, name: str, x: Value, keywords: dict[str, ast.expr], node: ast.Call) -> Value:
        with_name = f"the value {self.fresh()}"
        self.renamed[with_name] = x
        return self.tensor_call(name, [ast.Name(with_name, ast.Load())], keywords, node)

    def _held(self, found: Found, name: str, node: ast.AST) -> Value | None:
        """A parameter of a module; None where it has none."""
        held = self._held_by(found, name)
        if held is None or held.value is None:
            self.settings[f"{found.path}.{name}"] = None
            return None
        return self.value_of(held, node)

    def _linear(self, x: Value, found: Found, node: ast.Call) -> Value:
        weight, bias = self._held(found, "weight", node), self._held(found, "bias", node)
        assert weight is not None
        return self.linear(x, weight, bias, node)

    def _embedded(self, x: Value, found: Found, node: ast.Call) -> Value:
        module = found.value
        if module.max_norm is not None or module.scale_grad_by_freq or module.sparse or module.padding_idx is not None:
            raise refuse(node, "is a table of rows with ways of its own")
        for name in ("max_norm", "scale_grad_by_freq", "sparse", "padding_idx"):
            self._setting(found, name)
        if x.type.dtype not in ("int64", "int32") or x.type.rank > 1:
            raise refuse(node, "looks up rows in more than one dimension")
        weight = self._held(found, "weight", node)
        assert weight is not None
        if x.type.rank:
            return self._by_function(typed_formulas.taken_from_start, [weight, x], node)
        place = self.keep(self.number_of(x))
        self.emit(f"if ({place.code} < 0) bail(KIND);")
        return self.keep(self.item(weight, Value(INT, place.code), node))

    def _normalized(self, x: Value, found: Found, node: ast.Call) -> Value:
        weight, bias = self._held(found, "weight", node), self._held(found, "bias", node)
        function = typed_layers.layer_norm if bias is not None else typed_layers.layer_norm_without_bias
        if weight is None:
            raise refuse(node, "normalizes in a way of its own")
        (size,) = self._setting(found, "normalized_shape")
        self.emit(f"if ({x.code}.size[{x.type.rank - 1}] != {size}) bail(KIND);")
        eps = self.constant(float(self._setting(found, "eps")))
        return self._by_function(function, [x, weight, *([bias] if bias is not None else []), eps], node)

    def _cell(self, found: Found, node: ast.Call) -> Value:
        """A step of a recurrent network."""
        module = found.value
        x, state = (self.keep(self.tensor_if_either(self.present(one))) for one in self.several(*node.args))
        parameters = [self._held(found, name, node) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        given = [one for one in parameters if one is not None]
        if NEVER in (x.type, state.type):
            return Value(NEVER, "None_()")
        if len(given) < 4 or not is_tensor(x) or not (is_tensor(state) or isinstance(state.type, Tup)):
            raise refuse(node, "is a cell without a bias, or of other values")
        if type(module) is nn.RNNCell:
            self._setting(found, "nonlinearity")
        return self._by_function(CELLS[type(module)](module), [x, state, *given], node)

    def _by_function(self, function: types.FunctionType, values: list[Value], node: ast.Call) -> Value:
        """A call of a function of ``typed_layers.py``: one of its own for arrays and tensors of these ranks."""
        ranks = (one.type.rank if isinstance(one.type, Ten) else None for one in values)
        key = (function, *ranks, *(one.type for one in values if isinstance(one.type, Arr)))
        if key not in self.routines:
            known = self.routine_of(function)
            assert known is not None
            made = Routine(
                f"{known.name}_{len(self.routines)}", known.parameters, copy.deepcopy(known.body), known.stores,
                known.namespace,
            )  # fmt: skip
            made.parameters_of = function  # type: ignore[attr-defined]
            self.routines[key] = made
        names = [f"the value {self.fresh()}" for _ in values]
        self.renamed |= dict(zip(names, values, strict=True))
        given: list[ast.expr] = [ast.Name(one, ast.Load()) for one in names]
        return self.call(self.routines[key], ast.copy_location(ast.Call(node.func, given, []), node))

    # ------------------------------------------------------------ functions of rows

    def tensor_cosine_similarity(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        given = by_name(("x2", "dim", "eps"), nodes, keywords, node)
        axis = ast.literal_eval(given["dim"]) if is_constant(given.get("dim", node)) else None
        if axis not in (0, -1) or not {*given} <= {"x2", "dim", "eps"} or not is_tensor(owner) or owner.type.rank != 1:
            raise refuse(node, "is of more than two rows")
        owner, other = self.keep(owner), self.keep(self.present(self.expression(given["x2"])))
        if not is_tensor(other) or other.type != owner.type:
            raise refuse(node, "is of other values")
        eps = self.expression(given["eps"]) if "eps" in given else self.constant(1e-8)
        self.emit(f"if ({owner.code}.size[0] != {other.code}.size[0]) bail(KIND);")
        self.inexact.add("norm")
        return self._by_function(typed_layers.cosine_similarity, [owner, other, self.keep(eps)], node)

    def tensor_unbind(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        """The rows of a tensor, along its first dimension."""
        if nodes or keywords or not is_tensor(owner) or not owner.type.rank:
            raise refuse(node, "is taken apart in a way of its own")
        name = f"the value {self.fresh()}"
        self.renamed[name] = self.viewed(self.keep(owner))
        return self.listed(node, ast.Name(name, ast.Load()), "list")

    # ------------------------------------------------------------ loops over modules

    def _each_module(
        self, columns: list[tuple[str, Found]], count: ast.expr | None = None, stores: set[str] | None = None
    ) -> Iterator[int]:
        """One module after the other under a name, and those of other containers beside it. ``count``: what counts
        them; ``stores``: the names that the loop binds itself."""
        if any(name in (stores or ()) for name, _ in columns):
            raise refuse(None, "a loop over modules binds the name of one anew")
        before = dict(self.unrolled), dict(self.counted), dict(self.renamed)
        for place in range(min(self._sized(found) for _, found in columns)):
            for name, found in columns:
                named = isinstance(found.value, nn.ModuleDict)
                key, one = [*(found.value.items() if named else enumerate(found.value))][place]
                self.renamed.pop(name, None)
                self.unrolled[name] = self._watched(Found(one, f"{found.path}[{key!r}]"))
            if isinstance(count, ast.Name) and count.id not in {*(stores or ()), *self.routine.kept}:
                self.counted[count.id] = place
            yield place
        self.unrolled, self.counted = before[:2]
        for name, _ in columns:
            if name in before[2]:
                self.renamed[name] = before[2][name]

    def _columns(self, node: ast.expr, target: ast.expr) -> list[tuple[str, Found]] | None:
        """The names that a loop gives to modules, and their containers; None for a loop over anything else."""
        if (found := self._container(node)) is not None:
            if not isinstance(target, ast.Name):
                raise refuse(node, "is gone through in a way of its own")
            return [(target.id, found)]
        if not isinstance(node, ast.Call) or self.callee(node) is not zip or is_strict(node) is not False:
            return None
        if not node.args or not all(map(self._container, node.args)):
            return None
        targets = target.elts if isinstance(target, ast.Tuple | ast.List) else []
        if len(targets) != len(node.args):
            raise refuse(node, "is gone through in a way of its own")
        columns = [one for pair in zip(node.args, targets) for one in self._columns(*pair) or []]
        if len({name for name, _ in columns}) < len(columns):
            raise refuse(node, "is gone through in a way of its own")
        return columns

    def do_For(self, node: ast.For) -> bool | None:
        iterable, target, count = node.iter, node.target, None
        if isinstance(iterable, ast.Call) and len(iterable.args) == 1 and not iterable.keywords:
            if isinstance(target, ast.Tuple) and len(target.elts) == 2 and self.callee(iterable) is enumerate:
                iterable, count, target = iterable.args[0], target.elts[0], target.elts[1]
        columns = self._columns(iterable, target)
        if columns is None:
            return super().do_For(node)
        if node.orelse:
            raise refuse(node.iter, "is gone through in a way of its own")
        is_left = any(isinstance(one, ast.Break | ast.Continue) for one in nodes_of(node))
        if not is_left:
            return self._each_in_turn(node, columns, count)
        before, told, after = set(self.bound), self.told - assigned(node), self.fresh("after")
        self.exits.append((after, len(self.handings)))
        self.emit("{")
        for place in self._each_module(columns, count, stored_names(node.body)):
            if count is not None:
                self.bind(count, self.constant(place))
            self.emit("do {")
            self.statements(node.body)
            self.emit("} while (0);")
            self.bound, self.told = set(before), told
        self.emit(f"}} {after}:;")
        self.exits.pop()
        return None

    def _each_in_turn(self, node: ast.For, columns: list[tuple[str, Found]], count: ast.expr | None) -> bool:
        """A loop that is never left by ``break``; whether what follows it may be reached."""
        goes_on = True
        for place in self._each_module(columns, count, stored_names(node.body)):
            if count is not None and goes_on:
                self.bind(count, self.constant(place))
            goes_on = goes_on and self.statements(node.body)
        return goes_on

    def of_ListComp(self, node: ast.ListComp) -> Value:
        first = node.generators[0]
        found = self._container(first.iter)
        if found is None or len(node.generators) > 1:
            return super().of_ListComp(node)
        if first.ifs or not isinstance(first.target, ast.Name):
            raise refuse(first.iter, "is gone through in a way of its own")
        values = [self.keep(self.expression(node.elt)) for _ in self._each_module([(first.target.id, found)])]
        return self.filled(self.box(node, "list", 1), [("push", [value]) for value in values])


def _with_name(path: ast.expr, place: ast.Subscript, name: ast.Name) -> ast.expr:
    """The path to what is called, with a name for one place of it."""
    if path is place or not isinstance(path, ast.Attribute | ast.Subscript):
        return name
    inner = _with_name(path.value, place, name)
    if isinstance(path, ast.Attribute):
        return ast.copy_location(ast.Attribute(inner, path.attr, path.ctx), path)
    return ast.copy_location(ast.Subscript(inner, path.slice, path.ctx), path)
