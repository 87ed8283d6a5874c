"""Batched code and kernels that take turns at once, however fast the first ones are: programs here all are."""

import random

from looplift.runtime import rivals

from .differential import PLAN

AGAIN = tuple((seed, gradients) for gradients in (False, True) for seed in (0, 4, 1, 2, 3, 0, 1, 2, 3))
_EARNED, _HOPE = rivals.EARNED, rivals.HOPE


def plan_of(number):
    """The calls of a program; those of every third one go on until kernels have taken turns with batched code."""
    take_turns = number % 3 == 1
    rivals.EARNED, rivals.HOPE = (-1.0, 1e9) if take_turns else (_EARNED, _HOPE)
    return (*PLAN, *AGAIN) if take_turns else PLAN


def few_of(number):
    """Three calls of a program: with gradients, with other sizes or at an edge, and without gradients."""
    rivals.EARNED, rivals.HOPE = _EARNED, _HOPE
    choices = random.Random(number)
    return (0, True), (choices.choice((1, 4)), choices.random() < 0.5), (choices.choice((0, 2, 3)), False)
