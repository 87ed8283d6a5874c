"""A function in, out whether its lifted form gives and changes the very same, in values, types, identity and errors."""

import copy

import numpy as np
import torch

import looplift

BACKENDS = ("auto", "torch", "native")


def shown(value):
    """A value with all its types, and which of its containers and arrays are one object."""
    seen = {}

    def of(one):
        kind = type(one).__name__
        if isinstance(one, torch.Tensor | np.ndarray | list | dict):
            if id(one) in seen:
                return seen[id(one)]
            seen[id(one)] = f"object {len(seen)}"
        if isinstance(one, torch.Tensor):
            return kind, str(one.dtype), tuple(one.shape), one.requires_grad, repr(one.tolist())
        if isinstance(one, np.ndarray):
            return kind, str(one.dtype), one.shape, repr(one.tolist())
        if isinstance(one, dict):
            return kind, [(of(key), of(item)) for key, item in one.items()]
        if isinstance(one, list | tuple):
            return kind, [of(item) for item in one]
        if hasattr(one, "__dict__"):
            return kind, [(name, of(item)) for name, item in vars(one).items()]
        return kind, repr(one)

    return of(value)


def outcome(function, arguments):
    try:
        return shown((function(*arguments), arguments))
    except Exception as error:
        return type(error).__name__, str(error), shown(arguments)


def same(function, *calls, backends=BACKENDS, decisions=None):
    """Each call gives the same twice; ``decisions``: what becomes of the loops that ran, with the backend ``auto``."""
    for backend in backends:
        lifted = looplift.lift(function, verify="off", backend=backend)
        for arguments in calls:
            wanted = outcome(function, copy.deepcopy(arguments))
            for _ in range(2):
                assert outcome(lifted, copy.deepcopy(arguments)) == wanted, (backend, arguments, lifted.report())
        found = {loop.decision for loop in lifted.report().loops if loop.code != "not-run"}
        assert decisions is None or backend != "auto" or found == decisions, str(lifted.report())
