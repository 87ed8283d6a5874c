"""A training loop with an optimizer step is kept; the loop over samples inside it is lifted by itself."""

import torch


def train(weight, samples, targets):
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for epoch in range(3):
        optimizer.zero_grad()
        loss = torch.zeros(())
        for i in range(samples.shape[0]):
            loss = loss + (samples[i] @ weight - targets[i]) ** 2
        loss.backward()
        optimizer.step()
    return weight.detach()


def arguments():
    generator = torch.Generator().manual_seed(1)
    samples, targets = torch.randn(6, 2, generator=generator), torch.randn(6, generator=generator)
    return torch.zeros(2, requires_grad=True), samples, targets
