"""Rules of algebra on labelled values, each with its formula beside it."""

from __future__ import annotations

from collections.abc import Callable

from looplift.base.data import dataclass
from looplift.ir.array import Node
from looplift.optimize import contractions, convolutions, counting, distances, fills, joins, masks, places, pooling


@dataclass(frozen=True)
class Rule:
    """``algebra`` says in the field's notation what is rewritten into what."""

    name: str
    algebra: str
    rewrite: Callable[[Node], Node | None]


RULES: tuple[Rule, ...] = (
    Rule("excluded-middle", "a | ~(a & b) -> True", masks.excluded_middle),
    Rule("no-less-than-none", "0 <= count(m) -> True", masks.no_less_than_none),
    Rule("same-sides", "m ? a : a -> a", masks.same_sides),
    Rule("double-negation", "~~a -> a", masks.double_negation),
    Rule("needless-choice", "some(m) ? (m ? a : b) : b -> m ? a : b", masks.needless_choice),
    Rule("chosen-boolean", "m ? a : False -> m & a, m ? True : b -> m | b", masks.chosen_boolean),
    Rule("joined-choices", "m ? (t ? a : b) : b -> (m & t) ? a : b", masks.joined_choices),
    Rule("chosen-anyway", "m ? (m ? a : 0) + b : c -> m ? a + b : c", masks.chosen_anyway),
    Rule("counted-anyway", "m_ij & count_j(m_ij) > 0 -> m_ij", masks.counted_anyway),
    Rule("held-anyway", "m_i & count_j(m_i & t_ij) > 0 -> m_i & count_j(t_ij) > 0", masks.held_anyway),
    Rule("held-anywhere", "some_i some_j m_ij -> some_ij m_ij", masks.held_anywhere),
    Rule("counted-mask", "sum_i (m_i ? 1 : 0) -> count(m)", counting.counted_mask),
    Rule("counted-labels", "sum_n [label_n = c] -> bincount(label)_c", counting.counted_labels),
    Rule("counted-both", "sum_n (a_in & b_jn) -> (a @ b^T)_ij, of labels bincount", counting.counted_both),
    Rule("counted-either", "sum_n (a_in | b_jn) -> sum_n a_in + sum_n b_jn - sum_n (a_in & b_jn)",
         counting.counted_either),
    Rule("grouped-sum", "sum_{n: label_n = c} x_n -> index_add(label, x)_c", counting.grouped_sum),
    Rule("read-of-fill", "zeros_c -> 0", fills.read_of_fill),
    Rule("counted-where-some", "n > 0 ? n : 0 -> n", fills.counted_where_some),
    Rule("mean-of-groups", "n_c > 0 ? sum_c / n_c : 0 -> sum_c / max(n_c, 1)", fills.mean_of_groups),
    Rule("distances", "|a_i - b_j| -> cdist(a, b)_ij", distances.distances),
    Rule("nested-stacks", "stack_i stack_j x_ij -> stack_ij x_ij, cut in two", joins.nested_stacks),
    Rule("empty-first", "[] ++ x -> x", joins.empty_first),
    Rule("counted-on", "(k - first_i) + start_i -> k + (start - first)_i", places.counted_on),
    Rule("first-member", "nonzero(m)_0 -> argmax(m)", places.first_member),
    Rule("finite-sum", "sum_i finite(x_i) -> finite(sum_i x_i)", contractions.finite_sum),
    Rule("factored-sum", "sum_ij a_i b_j -> (sum_i a_i) (sum_j b_j)", contractions.factored_sum),
    Rule("inner-sum", "sum_ij a_i b_ij c_j -> sum_j (sum_i a_i b_ij) c_j", contractions.inner_sum),
    Rule("turned-sum", "sum_k x_{n-k} -> sum_k x_k", contractions.turned_sum),
    Rule("contraction", "sum_k a_ik b_kj -> einsum(ik,kj->ij)", contractions.contracted_axes),
    Rule("windowed-sum", "sum_{uv} x_i[u,v] w[u,v] -> conv(x, w)_i", convolutions.windowed_sum),
    Rule("contracted-lanes", "sum_n a_i[n] b_j[n] -> einsum(in,jn->ij)", contractions.contracted_lanes),
    Rule("summed-contraction", "sum_i einsum(ia,iab->ib) -> einsum(ia,iab->b)", contractions.summed_contraction),
    Rule("pooled", "max_{uv} x_{si+u,sj+v} -> max_pool(x)_ij, means likewise", pooling.pooled),
    Rule("convolution", "sum_{cuv} x_{nc,si+u,sj+v} w_{ocuv} -> conv(x, w)_{noij}", convolutions.convolution),
)  # fmt: skip
