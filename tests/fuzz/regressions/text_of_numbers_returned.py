"""Text that was made of what a loop computed was None where it was not printed."""

import torch


def program(x):
    total = 0.0
    for i in range(x.shape[0]):
        total = total + x[i]
    text = f"{float(total):.3f}"
    for i in range(x.shape[0]):
        print(f"{x[i].item():.2f}")
    return text, f"<{text}>", total


def arguments(seed):
    return (torch.arange(float(seed)) / 4,)
