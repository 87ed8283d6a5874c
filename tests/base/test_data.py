"""Classes made of fields behave as the standard library's."""

from __future__ import annotations

import copy
import pickle
from typing import Any, ClassVar

import pytest

from looplift.base.data import FEW, dataclass, field, fields_of, replace


@dataclass(frozen=True)
class Point:
    x: int
    y: int = 2

    @property
    def total(self) -> int:
        return self.x + self.y


@dataclass(eq=False)
class Bag:
    name: str
    items: list[Any] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=lambda: {"a": 1})
    size: ClassVar[int] = 3


@dataclass
class Labelled(Bag):
    label: str = ""

    def __post_init__(self) -> None:
        self.label = self.label or self.name.upper()


@dataclass
class Nothing:
    pass


@dataclass(frozen=True)
class Own:
    x: int

    def __init__(self) -> None:
        self.x = 5

    def __repr__(self) -> str:
        return "own"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own)

    def __hash__(self) -> int:
        return 7


def test_arguments_by_position_and_by_name():
    assert (Point(1).x, Point(1).y, Point(y=5, x=4).total) == (1, 2, 9)
    with pytest.raises(TypeError, match=r"Point.__init__\(\) missing 1 required positional argument: 'x'"):
        Point()  # pyright: ignore
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        Point(1, z=3)  # pyright: ignore


def test_compared_and_hashed_by_value():
    assert Point(1) == Point(1, 2) != Point(2, 1)
    assert hash(Point(1)) == hash(Point(1, 2))
    assert len({Point(1), Point(1, 2), Point(3)}) == 2
    assert Point(1) != (1, 2)
    assert Nothing() == Nothing()


def test_compared_by_identity():
    one, other = Bag("a"), Bag("a")
    assert one != other and len({one, other}) == 2


def test_what_can_change_has_no_hash():
    with pytest.raises(TypeError, match="unhashable"):
        hash(Labelled("a"))


def test_defaults_are_made_anew():
    one, other = Bag("a"), Bag("b")
    one.items.append(1)
    one.names["b"] = 2
    assert other.items == [] and other.names == {"a": 1}
    assert Bag("c", [3]).items == [3]
    assert not hasattr(Bag, "items") and Bag.size == 3


def test_a_class_inherits_fields_and_is_finished():
    made = Labelled("a", [1])
    assert fields_of(made) == ("name", "items", "names", "label") == fields_of(Labelled)
    assert made.label == "A" and made == Labelled("a", [1], label="A")
    assert made != Bag("a", [1])


def test_replace():
    assert replace(Point(1, 3), y=4) == Point(1, 4)
    changed = replace(Labelled("a", [1], label="l"), name="b")
    assert (changed.name, changed.items, changed.label) == ("b", [1], "l")
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        replace(Point(1), z=1)


def test_shown():
    assert repr(Point(1)) == "Point(x=1, y=2)"
    assert repr(Bag("a")) == "Bag(name='a', items=[], names={'a': 1})"
    assert repr(Nothing()) == "Nothing()"


def test_own_methods_stay():
    assert (repr(Own()), hash(Own()), Own() == Own(), Own().x) == ("own", 7, True, 5)


def test_matched():
    match Point(1, 3):
        case Point(x, y):
            assert (x, y) == (1, 3)
        case _:
            pytest.fail("no match")


def test_copied_and_pickled():
    one = Labelled("a", [1])
    assert copy.deepcopy(one) == one == pickle.loads(pickle.dumps(one))
    assert copy.deepcopy(one).items is not one.items


def test_a_field_without_default_comes_first():
    with pytest.raises(TypeError, match="'Wrong' has a field without a default after one that has a default"):

        @dataclass
        class Wrong:
            x: int = 1
            y: int  # pyright: ignore


def test_fields_of_anything_else():
    assert fields_of(3) == fields_of(int) == ()


@pytest.mark.parametrize("count", [1, FEW, FEW + 1, 3 * FEW])
def test_many_instances_are_made_as_few_are(count):
    @dataclass
    class Fresh(Bag):
        label: str = ""

        def __post_init__(self) -> None:
            self.label = self.label or self.name.upper()

    made = [Fresh(f"n{k}", label="" if k % 2 else "l") for k in range(count)]
    assert [one.label for one in made] == ["l" if k % 2 == 0 else f"N{k}" for k in range(count)]
    assert [list(vars(one)) for one in made] == [["name", "items", "names", "label"]] * count
    assert len({id(one.items) for one in made}) == count
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'name'"):
        Fresh()  # pyright: ignore
    with pytest.raises(TypeError, match="multiple values for argument 'name'"):
        Fresh("a", name="b")  # pyright: ignore
