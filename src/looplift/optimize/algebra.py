"""Rules of algebra on labelled values, each with its formula beside it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from types import ModuleType

from looplift.base.data import dataclass
from looplift.ir.array import Node
from looplift.optimize import contractions, convolutions, counting, distances, fills, joins, masks, places, pooling


@dataclass(frozen=True)
class Rule:
    """``algebra`` says in the field's notation what is rewritten into what, by the function of this name in a module.

    It is imported and asked for nodes that go by one of the names in ``of``, and have an operand that goes by one in
    ``operands``, if there are any; ``"a b"`` is an ``a`` whose first operand is a ``b``.
    """

    algebra: str
    module: ModuleType
    name: str
    of: tuple[str, ...]
    operands: tuple[str, ...] = ()

    def rewrite(self, node: Node) -> Node | None:
        names = names_of(node)
        if not any(name in self.of for name in names):
            return None
        if self.operands and not any(_goes_by(arg, path) for arg in node.args for path in self.operands):
            return None
        return self.function(node)

    @cached_property
    def function(self) -> Callable[[Node], Node | None]:
        return getattr(self.module, self.name)


def names_of(node: Node) -> tuple[str, ...]:
    """What a rule may call a node: its operation, and what that is of."""
    match node.op:
        case "elementwise":
            return (node.op, node.attrs["name"])
        case "fold":
            return (node.op, f"fold:{node.attrs['name']}")
        case "reduce" | "segment":
            return (node.op, f"{node.op}:{node.attrs['operator']}")
    return (node.op,)


def _goes_by(node: Node, path: str) -> bool:
    first, _, rest = path.partition(" ")
    if first not in names_of(node) and (first != "bool" or "bool" not in str(node.kind.dtype)):
        return False
    return not rest or (bool(node.args) and _goes_by(node.args[0], rest))


PRODUCT = ("mul", "torch.mul")

RULES: tuple[Rule, ...] = (
    Rule("a | ~(a & b) -> True", masks, "excluded_middle", ("or_",)),
    Rule("0 <= count(m) -> True", masks, "no_less_than_none", ("le", "ge")),
    Rule("m ? a : a -> a", masks, "same_sides", ("where",)),
    Rule("~~a -> a", masks, "double_negation", ("not",), ("not",)),
    Rule("some(m) ? (m ? a : b) : b -> m ? a : b", masks, "needless_choice", ("where",)),
    Rule("m ? a : False -> m & a, m ? True : b -> m | b", masks, "chosen_boolean", ("where",)),
    Rule("m ? (t ? a : b) : b -> (m & t) ? a : b", masks, "joined_choices", ("where",), ("where",)),
    Rule("m ? (m ? a : 0) + b : c -> m ? a + b : c", masks, "chosen_anyway", ("where",)),
    Rule("m_ij & count_j(m_ij) > 0 -> m_ij", masks, "counted_anyway", ("and_",)),
    Rule("m_i & count_j(m_i & t_ij) > 0 -> m_i & count_j(t_ij) > 0", masks, "held_anyway", ("and_",)),
    Rule("some_i some_j m_ij -> some_ij m_ij", masks, "held_anywhere", ("some", "reduce:or", "reduce:and")),
    Rule("sum_i (m_i ? 1 : 0) -> count(m)", counting, "counted_mask", ("reduce:add",), ("where",)),
    Rule("sum_n [label_n = c] -> bincount(label)_c", counting, "counted_labels", ("fold:sum",), ("bool",)),
    Rule("sum_n (a_in & b_jn) -> (a @ b^T)_ij, of labels bincount", counting, "counted_both", ("fold:sum",), ("bool",)),
    Rule("sum_n (a_in | b_jn) -> sum_n a_in + sum_n b_jn - sum_n (a_in & b_jn)",
         counting, "counted_either", ("fold:sum",), ("bool",)),
    Rule("sum_{n: label_n = c} x_n -> index_add(label, x)_c", counting, "grouped_sum", ("segment:add",)),
    Rule("zeros_c -> 0", fills, "read_of_fill", ("where", "elementwise"), ("slice apply", "slice assemble")),
    Rule("0 + sum_i x_i -> sum_i x_i", fills, "sum_from_zero", ("add",)),
    Rule("n > 0 ? n : 0 -> n", fills, "counted_where_some", ("where",), ("label_counts",)),
    Rule("n_c > 0 ? sum_c / n_c : 0 -> sum_c / max(n_c, 1)",
         fills, "mean_of_groups", ("where",), ("elementwise label_sums",)),
    Rule("|a_i - b_j| -> cdist(a, b)_ij",
         distances, "distances", ("fold:sum", "fold:norm", "fold:vector_norm"), ("elementwise", "where")),
    Rule("stack_i stack_j x_ij -> stack_ij x_ij, cut in two", joins, "nested_stacks", ("join",), ("join",)),
    Rule("[] ++ x -> x", joins, "empty_first", ("apply",), ("display",)),
    Rule("(k - first_i) + start_i -> k + (start - first)_i", places, "counted_on", ("add",), ("index",)),
    Rule("nonzero(m)_0 -> argmax(m)", places, "first_member", ("entry",)),
    Rule("sum_i finite(x_i) -> finite(sum_i x_i)", contractions, "finite_sum", ("reduce:add",), ("only_finite",)),
    Rule("sum_ij a_i b_j -> (sum_i a_i) (sum_j b_j)", contractions, "factored_sum", ("reduce:add",), PRODUCT),
    Rule("sum_ij a_i b_ij c_j -> sum_j (sum_i a_i b_ij) c_j", contractions, "inner_sum", ("reduce:add",), PRODUCT),
    Rule("sum_k x_{n-k} -> sum_k x_k", contractions, "turned_sum", ("reduce:add",), ("turned",)),
    Rule("sum_k a_ik b_kj -> einsum(ik,kj->ij)", contractions, "contracted_axes", ("reduce:add",), PRODUCT),
    Rule("sum_{uv} x_i[u,v] w[u,v] -> conv(x, w)_i", convolutions, "windowed_sum", ("fold:sum",), PRODUCT),
    Rule("sum_n a_i[n] b_j[n] -> einsum(in,jn->ij)", contractions, "contracted_lanes", ("fold:sum",), PRODUCT),
    Rule("sum_i einsum(ia,iab->ib) -> einsum(ia,iab->b)",
         contractions, "summed_contraction", ("reduce:add",), ("contract", "matmul")),
    Rule("max_{uv} x_{si+u,sj+v} -> max_pool(x)_ij, means likewise", pooling, "pooled", ("fold",), ("tiles", "slice")),
    Rule("sum_{cuv} x_{nc,si+u,sj+v} w_{ocuv} -> conv(x, w)_{noij}",
         convolutions, "convolution", ("contract",), ("stencil",)),
)  # fmt: skip
