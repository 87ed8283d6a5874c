"""The same random numbers in every run: those that modules draw when they are imported, and those of each test."""

import random

import numpy as np
import pytest
import torch


def _seed() -> None:
    torch.manual_seed(1)
    np.random.seed(1)
    random.seed(1)


_seed()


@pytest.fixture(autouse=True)
def same_random_numbers() -> None:
    _seed()
