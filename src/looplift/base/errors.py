"""Errors that rooms raise to one another; none of them reaches the user as such."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from looplift.base.spans import NOWHERE, Span


class LoopliftWarning(UserWarning):
    """Something that the user should know: a defect was found, and the original loop ran instead."""


class NotLiftable(Exception):
    """This loop stays as written. ``code`` names an entry of the registry of reasons.

    ``other`` compiles the region in another form, which may be faster than what is lifted inside of the loop, or not.
    ``goes_further``: it was found after more of the region than others of the same region. ``by_python``: Python's own
    functions of numbers would do, one by one.
    ``in_any_form``: no other form of the region may be tried.
    ``reached``: the line of the statement, of those of the region, that a typed program has no form for; 0 if unknown.
    ``lacks``: what that is, in a sentence, where an expression of the region is the reason.
    """

    other: Callable[[Mapping[str, Any]], Any] | None = None
    goes_further = False
    by_python = False
    in_any_form = False
    reached = 0
    lacks = ""

    def __init__(self, code: str, message: str, span: Span = NOWHERE):
        super().__init__(message)
        self.code = code
        self.message = message
        self.span = span


class OfStrides(NotLiftable):
    """Whether the loop raises depends on how its tensors lie in memory, which batches of them do not tell."""

    in_any_form = True

    def __init__(self, message: str, span: Span = NOWHERE):
        super().__init__("requirement", message, span)


class TwoLibraries(NotLiftable):
    """A loop is over NumPy arrays and over tensors."""

    def __init__(self, what: str = "", span: Span = NOWHERE):
        super().__init__("two-libraries", f"NumPy arrays and torch tensors in one loop{what and f': {what}'}", span)
        self.goes_further = bool(what)


class TooLarge(NotLiftable):
    """What the loop computes at once does not fit into memory. ``fits``: the condition under which it would, over the
    region's names and ``namespace``."""

    def __init__(self, message: str, fits: str, namespace: Mapping[str, Any], span: Span = NOWHERE):
        super().__init__("memory", message, span)
        self.fits = fits
        self.namespace = namespace

    def because(self, why: NotLiftable) -> TooLarge:
        """The refusal with what stands against running the loop piece by piece."""
        return TooLarge(f"{self.message}; not piece by piece: {why.message}", self.fits, self.namespace, self.span)


class RequirementFailed(Exception):
    """A requirement of the batched code does not hold for these values: nothing was committed, run the original."""
