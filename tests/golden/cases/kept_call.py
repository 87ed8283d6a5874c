"""A call of unknown effect is kept: it may print, draw random numbers or change what it is given."""

import ctypes
import ctypes.util

import torch

labs = ctypes.CDLL(ctypes.util.find_library("c")).labs


def magnitudes(x):
    sizes = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        sizes[i] = labs(int(x[i]))
    return sizes


def arguments():
    return (torch.tensor([3.0, -4.0, 5.0, -6.0]),)
