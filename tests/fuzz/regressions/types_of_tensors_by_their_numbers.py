import torch


def program(x):
    total = 0.0
    for i in range(x.shape[0]):
        if isinstance(x[i], torch.DoubleTensor):
            total = total * 0.5 + x[i].item()
        else:
            total = total - 1.0
    return total


def arguments(seed):
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(4, generator=generator, dtype=torch.float64),)
