"""A decorator that gives a function of the tests what makes its arguments anew."""

from collections.abc import Callable
from typing import Any


def given(arguments: Callable[[], tuple[Any, ...]]) -> Callable[[Any], Any]:
    def decorated(function: Any) -> Any:
        function.arguments = arguments
        return function

    return decorated
