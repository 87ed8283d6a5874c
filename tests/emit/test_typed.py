"""Programs over Python's numbers, text and containers as one kernel: what they give, change and raise is the loop's."""

import threading

import pytest
import typed_algorithms
import typed_classes
import typed_containers
import typed_graphs
import typed_names_anew
import typed_none
import typed_numbers
import typed_objects
import typed_of_rows
import typed_orders
import typed_searches
import typed_texts
import typed_tuples

from looplift import lift

MODULES = (
    typed_algorithms, typed_classes, typed_searches, typed_graphs, typed_names_anew, typed_none, typed_containers,
    typed_texts, typed_numbers, typed_objects, typed_orders, typed_of_rows, typed_tuples,
)  # fmt: skip
EVERY = [function for module in MODULES for function in vars(module).values() if hasattr(function, "arguments")]
STAY = set(
    """
of_fft of_defaultdict of_bytearray_store of_comp_scope of_mixed_keys
of_str_ops of_cache_over of_sum_empty of_pow_neg of_overflow of_overflow_shift of_overflow_edge of_big_arg of_nan
of_int_float_compare of_truediv_big of_none_str
of_set_of_constants of_in_loop of_deque_max of_tuple_grow of_bool_key of_tuple_mixed_key
of_an_overflow_in_a_row
of_sub of_str_int of_slots of_named_mixed of_split_at_other_blanks
""".split()
)
"""Those that are no such program, and those that leave what one can do for their arguments; as does what raises."""


def shown(value):
    """A value with the types of all that is in it, and which of its containers are one object."""
    seen = {}

    def of(one):
        kind = type(one).__name__
        if isinstance(one, (list, tuple, dict, set)) or kind == "deque":
            if id(one) in seen and not isinstance(one, tuple):
                return seen[id(one)]
            seen[id(one)] = f"object {len(seen)}"
            items = one.items() if isinstance(one, dict) else one
            return kind, [of(item) for item in items]
        if hasattr(one, "__dict__"):
            if id(one) in seen:
                return seen[id(one)]
            seen[id(one)] = f"object {len(seen)}"
            return kind, of(vars(one))
        return kind, repr(one)

    return of(value)


def outcome(function, arguments):
    """The result or the exception, and what became of the arguments."""
    try:
        return shown((function(*arguments), arguments))
    except Exception as error:
        return type(error), str(error), shown(arguments)


@pytest.mark.parametrize("function", EVERY, ids=lambda one: one.__name__)
def test_the_program_does_what_the_loop_does(function):
    wanted = outcome(function, function.arguments())
    lifted = lift(function, backend="native", verify="off")
    for _ in range(2):
        assert outcome(lifted, function.arguments()) == wanted


def test_most_are_lifted():
    kept = set()
    for function in EVERY:
        if isinstance(outcome(function, function.arguments())[0], type) or function.__name__ in STAY:
            continue
        lifted = lift(function, verify="off")
        lifted(*function.arguments())
        if any(loop.decision == "kept" for loop in lifted.report().loops):
            kept.add(function.__name__)
    assert not kept


def test_rings_of_objects_are_compared_without_an_end():
    lifted = lift(typed_objects.rings_that_are_compared)
    for _ in range(2):
        with pytest.raises(RecursionError):
            lifted(typed_objects.ring(3), typed_objects.ring(3))
    same = typed_objects.ring(2)
    assert lifted(same, same)


def test_threads_share_a_program():
    def marked(values, places, n):
        out = []
        for k in range(n):
            for value in values:
                out.append((value + k, str(value)))
            places[k] = [k, k + 1]
        return out, places

    lifted, wrong = lift(marked), []

    def calls(seed):
        for k in range(1, 60):
            values = list(range(seed, seed + k % 7))
            if lifted(values, {}, k) != marked(values, {}, k):
                wrong.append(seed)
        wrong.append(None)

    threads = [threading.Thread(target=calls, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [None] * 6


def test_objects_of_the_caller_stay_its_own():
    def raised(rows):
        for row in rows:
            for k in range(len(row)):
                row[k] += 1
        return rows[0]

    row = [1, 2]
    rows = [row, row]
    assert lift(raised, verify="off")(rows) is row
    assert row == [3, 4] and rows[0] is rows[1] is row


def test_what_a_class_gets_later_is_seen():
    class Counter:
        def __init__(self, start):
            self.count = start

        def add(self, more):
            self.count += more
            return self.count

    def counted(values):
        counter, out = Counter(0), []
        for value in values:
            out.append(counter.add(value))
        return out

    lifted = lift(counted, verify="off")
    assert outcome(lifted, ([1, 2],)) == outcome(counted, ([1, 2],))
    Counter.count = property(lambda self: 5)
    assert outcome(lifted, ([1, 2],)) == outcome(counted, ([1, 2],))
    del Counter.count
    Counter.__setattr__ = lambda self, name, value: object.__setattr__(self, name, 7)
    assert outcome(lifted, ([1, 2],)) == outcome(counted, ([1, 2],))
    del Counter.__setattr__
    Counter.add = lambda self, more: -more
    assert outcome(lifted, ([1, 2],)) == outcome(counted, ([1, 2],))
