"""Errors that rooms raise to one another; none of them reaches the user as such."""

from __future__ import annotations

from looplift.base.spans import NOWHERE, Span


class LoopliftWarning(UserWarning):
    """Something that the user should know: a defect was found, and the original loop ran instead."""


class NotLiftable(Exception):
    """This loop stays as written. ``code`` names an entry of the registry of reasons."""

    def __init__(self, code: str, message: str, span: Span = NOWHERE):
        super().__init__(message)
        self.code = code
        self.message = message
        self.span = span


class RequirementFailed(Exception):
    """A requirement of the batched code does not hold for these values: nothing was committed, run the original."""
