"""Defects of the translation that a review found: names of other modules, stale variants, state behind attributes."""

import importlib.util
import itertools
import types

import pytest
import torch
from test_translate import operations, translated

import looplift
from looplift.base.errors import NotLiftable
from looplift.emit.guards import guards_of
from looplift.ir.facts import Facts
from looplift.ir.grammar import definitions, walk
from looplift.ops.interpret import run

NUMBERS = itertools.count()


@pytest.fixture
def module(tmp_path):
    """Makes a module of a text: a file of its own, as source is read from files."""

    def make(text, **names):
        name = f"defects_{next(NUMBERS)}"
        path = tmp_path / f"{name}.py"
        path.write_text("import torch\n" + text)
        spec = importlib.util.spec_from_file_location(name, path)
        made = importlib.util.module_from_spec(spec)
        vars(made).update(names)
        spec.loader.exec_module(made)
        return made

    return make


def holds(made, **values):
    """Whether the guards of a translation hold now."""
    plan = types.SimpleNamespace(facts=Facts(made), apart=(), whole=(), mutated=())
    texts, names = guards_of(plan)
    return all(eval(text, {**names, **values}) for text in texts)


net = torch.nn.Linear(1, 1)


# ---------------------------------------------------------------- names of other modules


def test_an_object_of_another_module_is_not_looked_up_here(module):
    uses = module("net = torch.nn.Linear(1, 1)\ndef uses(x):\n    return x * net.weight[0, 0]\n").uses

    def region(x):
        for i in range(3):
            x[i] = uses(x[i]) + net.weight[0, 0]
        return x

    with pytest.raises(NotLiftable, match="'net' is a global of another module; pass it as an argument"):
        translated(region, torch.ones(3))


def test_a_called_module_of_another_module_neither(module):
    helpers = module("net = torch.nn.Linear(1, 1)\ndef uses(x):\n    return net(x)\n")

    def region(x):
        out = []
        for row in x:
            out.append(helpers.uses(row))
        return out

    with pytest.raises(NotLiftable, match="another module"):
        translated(region, torch.ones(3, 1))


def uses_net_of_this_module(x):
    return net(x)


def test_an_object_of_the_same_file_is_reached():
    def region(x):
        out = []
        for row in x:
            out.append(uses_net_of_this_module(row))
        return out

    made = translated(region, torch.ones(3, 1))
    assert "module" in operations(made) and holds(made, net=net)
    assert not holds(made, net=torch.nn.Linear(1, 1))


def test_numbers_of_one_name_in_two_modules(module):
    one, two = (module(f"K = {k}\ndef scaled(x):\n    return x * K\n") for k in (2, 3))

    @looplift.lift
    def region(x):
        out = torch.zeros(3)
        for i in range(3):
            out[i] = one.scaled(x[i]) + two.scaled(x[i])
        return out

    assert region(torch.ones(3)).tolist() == [5, 5, 5]
    two.K = 4
    assert region(torch.ones(3)).tolist() == [6, 6, 6]


# ---------------------------------------------------------------- stale variants

HELPERS = """
K = 2
FLAG = True
WORD = 'a'
def inner(x):
    return x * K
def outer(x, by=1):
    if FLAG and WORD == 'a':
        return inner(x) * by
    return x
"""


@pytest.mark.parametrize(
    "change",
    [
        lambda m: setattr(m, "K", 3),
        lambda m: setattr(m, "K", 2.0),
        lambda m: setattr(m, "FLAG", False),
        lambda m: setattr(m, "WORD", "b"),
        lambda m: setattr(m, "inner", lambda x: x),
        lambda m: setattr(m.inner, "__code__", (lambda x: x).__code__),
        lambda m: setattr(m.outer, "__defaults__", (2,)),
    ],
)
def test_a_variant_does_not_survive_a_change_of_what_was_inlined(module, change):
    helpers = module(HELPERS)

    def region(x):
        for i in range(3):
            x[i] = helpers.outer(x[i])
        return x

    made = translated(region, torch.ones(3))
    assert holds(made)
    change(helpers)
    assert not holds(made)


def test_a_users_module_is_read_anew(module):
    config = module("SCALE = 2\nTABLE = torch.ones(3)\nMODE = 'a'\n")

    @looplift.lift
    def region(x):
        out = torch.zeros(3)
        for i in range(3):
            out[i] = x[i] * config.SCALE + config.TABLE[i] if config.MODE == "a" else x[i]
        return out

    assert region(torch.ones(3)).tolist() == [3, 3, 3]
    config.SCALE = 5
    assert region(torch.ones(3)).tolist() == [6, 6, 6]
    config.TABLE = torch.zeros(3)
    assert region(torch.ones(3)).tolist() == [5, 5, 5]
    config.MODE = "b"
    assert region(torch.ones(3)).tolist() == [1, 1, 1]


def test_a_closure_of_another_function_is_read_anew(module):
    text = "def make():\n    k = 2\n    def scaled(x):\n        return x * k\n    return scaled\nscaled = make()\n"
    helpers = module(text)

    def region(x):
        for i in range(3):
            x[i] = helpers.scaled(x[i])
        return x

    made = translated(region, torch.ones(3))
    assert holds(made)
    helpers.scaled.__closure__[0].cell_contents = 3
    assert not holds(made)


def test_a_forward_that_is_replaced():
    class Doubled(torch.nn.Module):
        def forward(self, x):
            return x * 2

    def region(layer, x):
        for i in range(3):
            x[i] = layer(x[i])
        return x

    made = translated(region, Doubled(), torch.ones(3))
    assert holds(made)
    Doubled.forward = lambda self, x: x
    assert not holds(made)


def test_an_object_of_a_closure_that_the_region_sees_too():
    layer = torch.nn.Linear(1, 1)

    def applied(x):
        return layer(x)

    def region(x):
        out = []
        for row in x:
            out.append(applied(row) + layer(row))
        return out

    made = translated(region, torch.ones(3, 1))
    assert holds(made, applied=applied, layer=layer)
    assert not holds(made, applied=applied, layer=net)


# ---------------------------------------------------------------- what an object computes


class Counter:
    def __init__(self):
        self.count = 0
        self.step = 1

    def stepped(self, x):
        return x + self.step


class Computed:
    def __getattr__(self, name):
        return 1


def test_an_attribute_that_code_computes_is_refused():
    def region(owner, x):
        for i in range(3):
            x[i] = owner.next
        return x

    with pytest.raises(NotLiftable, match="computed at each access"):
        translated(region, Computed(), torch.ones(3))


def test_an_attribute_that_is_held_is_a_parameter():
    def region(owner, x):
        for i in range(3):
            x[i] = owner.step
        return x

    assert set(translated(region, Counter(), torch.ones(3)).attributes["paths"].values()) >= {"owner.step", "x"}


# ---------------------------------------------------------------- names


def test_parameters_have_names_of_their_own():
    def region(owner, owner_step, x):
        for i in range(3):
            x[i] = owner.step + owner_step
        return x

    made = translated(region, Counter(), 5, torch.ones(3))
    names = [var.name for var in made.params]
    assert len(set(names)) == len(names) and {"owner_step", "owner_step_2"} <= set(names)


def test_a_list_that_grows_while_it_is_iterated_is_refused():
    def region(queue):
        for item in queue:
            if item < 3:
                queue.append(item + 1)
        return queue

    with pytest.raises(NotLiftable, match="length"):
        translated(region, [0])


def doubled(x):
    return {x: 1}


def test_a_refusal_in_a_helper_has_the_line_of_its_call():
    def region(x):
        for i in range(3):
            x[i] = doubled(x[i])

    with pytest.raises(NotLiftable) as refusal:
        translated(region, torch.ones(3))
    assert refusal.value.span.line == region.__code__.co_firstlineno + 2


def test_the_kind_of_a_live_in_is_known():
    def region(x, k):
        for i in range(3):
            x[i] = x[i] * 2 if isinstance(k, (int, float)) else x[i]
        return x

    assert operations(translated(region, torch.ones(3), 3)).count("mul") == 1


def test_stores_that_meet_have_numbered_names():
    def region(x, c):
        for i in range(3):
            if x[i] > c:
                x[i] = 1
            else:
                x[i] = 2
        return x

    first, second = (translated(region, torch.ones(3), 1) for _ in range(2))
    assert [var.name for s in walk(first.body) for var in definitions(s)] == [
        var.name for s in walk(second.body) for var in definitions(s)
    ]


# ---------------------------------------------------------------- what a name means


def test_a_range_of_ones_own():
    def range(n):
        return [10, 20, n]

    def region(x):
        total = 0
        for i in range(3):
            total += i
        return total

    assert run(translated(region, 0), {})["return"] == 33


def test_a_tuple_that_grows_by_a_tuple():
    def region(n):
        pair = (n,)
        pair += (n + 1,)
        for i in range(n):
            n = pair[1]
        return n

    assert run(translated(region, 3), {"n": 3})["return"] == 4


def test_a_method_kept_in_an_attribute_keeps_its_object():
    one, two = Counter(), Counter()
    two.step = 7
    one.callback = two.stepped

    def region(one, x):
        for i in range(3):
            x[i] = one.callback(x[i])
        return x

    made = translated(region, one, torch.ones(3))
    assert run(made, {"one": one, "x": torch.zeros(3)})["return"].tolist() == [7, 7, 7]


def test_a_keyword_may_have_any_name():
    def region(x):
        for i in range(3):
            x[i] = x[i].anything(hint=1, name=2)
        return x

    assert "method.anything" in operations(translated(region, torch.ones(3)))


def test_a_list_that_a_helper_and_the_region_see_is_made_anew_in_each_call():
    def components(pairs, n):
        parent = list(range(n))

        def root(k):
            while parent[k] != k:
                k = parent[k]
            return k

        for a, b in pairs:
            parent[root(a)] = root(b)
        return parent

    lifted = looplift.lift(components)
    for shift in range(4):
        pairs = [((7 * k + shift) % 50, (3 * k) % 50) for k in range(60)]
        assert lifted(pairs, 50) == components(pairs, 50)
    notes = [note for loop in lifted.report().loops for note in loop.notes]
    assert not any("new kinds" in note for note in notes), notes
    assert len(lifted.__looplift_state__.dispatchers[0].variants) < 4
