"""Copies that the statements of a typed program do not need, in text."""

from looplift.emit.typed_copies import without_copies

NUMBER = "Ten<F, 0>"


def test_what_does_not_change_is_a_reference():
    lines = ["Ref<List<I, 0>> t1 = v_found;", "t1->push(I(1));", "v_found = other();", "v_found->push(I(2));"]
    assert without_copies(lines, {"found": "Ref<List<I, 0>>"}) == ["Ref<List<I, 0>>& t1 = v_found;", *lines[1:]]


def test_what_changes_while_it_is_used_is_copied():
    lines = ["Ref<List<I, 0>> t1 = v_found;", "v_found = other();", "t1->push(I(1));"]
    assert without_copies(lines, {"found": "Ref<List<I, 0>>"}) == lines
    assert without_copies(lines[::2], {"found": "Ref<List<I, 0>>"}, ["v_found"]) == lines[::2]


def test_a_reference_to_one_stands_for_what_changes_as_well():
    lines = ["Ref<List<I, 0>> t1 = v_a;", "Ref<List<I, 0>> t2 = t1;", "v_a = other();", "v_b = t2;"]
    variables = dict.fromkeys("ab", "Ref<List<I, 0>>")
    first = "Ref<List<I, 0>>& t1 = v_a;"
    assert without_copies(lines, variables) == [first, *lines[1:]]
    swapped = [*lines[:2], lines[3], lines[2]]
    assert without_copies(swapped, variables) == [first, "Ref<List<I, 0>>& t2 = t1;", *swapped[2:]]


def test_what_is_of_another_type_is_copied():
    lines = ["Either<F, Ten<F, 0>> t1 = v_x;", "use(t1);"]
    assert without_copies(lines, {"x": NUMBER}) == lines


def test_a_temporary_that_is_set_again_is_copied():
    lines = ["Ten<F, 0> t2 = t1;", "t2 = other();", "use(t2);"]
    assert without_copies(["Ten<F, 0> t1 = made();", *lines], {}) == ["Ten<F, 0> t1 = made();", *lines]


def test_a_number_that_is_computed_with_needs_no_buffer():
    lines = [
        "Ten<F, 0> t1;", "if (t0.plain) {", "t1 = map2<F, F>(ops::Op_mul(), t0.n, v_x);", "} else {",
        "t1 = map2<F, F>(ops::Op_mul(), t0.t, v_x);", "}", "Ten<F, 0> t2 = t1;",
        "v_y = map2<F, F>(ops::Op_add(), f(v_z, g(1)), t2);",
    ]  # fmt: skip
    found = without_copies(lines, {"x": NUMBER, "y": NUMBER, "z": "I"})
    assert found == ["Num<F> t1;", *lines[1:6], "Num<F> t2 = t1;", lines[7]]


def test_a_number_that_is_put_somewhere_once_needs_no_buffer_before():
    made = "Ten<F, 0> t1 = map1<F, F>(ops::Op_exp(), v_x);"
    once, twice = ["v_a->push(Ten<F, 0>(t1));"], ["v_a->push(Ten<F, 0>(t1));", "v_b->push(Ten<F, 0>(t1));"]
    assert without_copies([made, *once], {"x": NUMBER})[0] == made.replace(NUMBER, "Num<F>")
    in_a_loop = ["for (; i < n; ++i) {", *once, "}"]
    beside = [[*once, "v_y = map1<F, F>(ops::Op_exp(), t1);"], ["use(t1);"], ["use(map1<F, F>(t1), t1);"]]
    for lines in (twice, in_a_loop, *beside):
        assert without_copies([made, *lines], {"x": NUMBER}) == [made, *lines]


def test_elements_are_picked_at_once():
    lines = [
        "v_y = f(pick<0>(pick<0>(v_a, t1.a0), minus(v_i, I(1LL))), pick<0>(v_b, v_i));",
        "v_y = pick<0>(pick<0>(pick<0>(t2, v_l->at(pick<0>(pick<0>(v_q, v_i), v_j))), v_j), v_k);",
        "v_y = pick<0>(pick<0>(f(v_a), v_i), v_j);",
    ]
    assert without_copies(lines, {}) == [
        "v_y = f(picked(v_a, t1.a0, minus(v_i, I(1LL))), pick<0>(v_b, v_i));",
        "v_y = picked(t2, v_l->at(picked(v_q, v_i, v_j)), v_j, v_k);",
        lines[2],
    ]


def test_what_changes_in_a_loop_is_copied_before_it():
    types = {"rows": "Ref<List<I, 0>>", "others": "Ref<List<I, 0>>"}
    gone_through = [
        "Ref<List<I, 0>> t1 = v_rows;", "for (; i < size(t1); ++i) {", "v_x = t1->data[i];", "v_rows = v_others;", "}",
    ]  # fmt: skip
    read_inside = ["Ref<List<I, 0>> t1 = v_rows;", "while (true) {", "t1->push(I(1));", "v_rows = v_others;", "}"]
    for lines in (gone_through, read_inside):
        assert without_copies(lines, types) == lines
    apart = [*gone_through, "Ref<List<I, 0>> t2 = v_others;", "t2->push(I(1));", "v_others = v_rows;"]
    assert without_copies(apart, types) == [*gone_through, "Ref<List<I, 0>>& t2 = v_others;", *apart[-2:]]


def test_a_part_that_changes_is_a_change():
    for change in ("v_x.at = I(0);", "v_x.size[0] += I(1);", "if (v_i) v_x = v_y;"):
        lines = ["Ten<F, 1> t1 = v_x;", change, "use(t1);"]
        assert without_copies(lines, {"x": "Ten<F, 1>", "y": "Ten<F, 1>"}) == lines
    lines = ["Ten<F, 1> t1 = v_x;", "if (v_x == t0) {", "}", "use(t1);"]
    assert without_copies(lines, {"x": "Ten<F, 1>"})[0] == "Ten<F, 1>& t1 = v_x;"
