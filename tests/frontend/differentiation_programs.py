"""Programs that take gradients by ``torch.autograd.grad`` in a loop."""

from __future__ import annotations

import torch
import torch.nn.functional as F

# ---------------------------------------------------------------- lifted


def by_parameters(net, xs, ys):
    found = []
    for i in range(len(xs)):
        loss = F.cross_entropy(net(xs[i : i + 1]), ys[i : i + 1])
        found.append(torch.autograd.grad(loss, list(net.parameters())))
    return [torch.stack(one) for one in zip(*found)]


def by_given_parameters(net, xs, ys):
    params = [p for p in net.parameters()]
    scores = []
    for x, y in zip(xs, ys):
        grads = torch.autograd.grad(F.cross_entropy(net(x), y), params)
        scores.append(sum((g**2).sum() for g in grads))
    return torch.stack(scores)


def by_inputs(net, xs, ys):
    found = []
    for i in range(len(xs)):
        x = xs[i].clone().requires_grad_(True)
        (g,) = torch.autograd.grad(net(x).sum(), x)
        found.append(g)
    return torch.stack(found)


def by_a_view(net, xs, ys):
    found = torch.zeros_like(xs)
    for i in range(len(xs)):
        x = xs[i]
        x.requires_grad_()
        found[i] = torch.autograd.grad(net(x)[0], x)[0]
    return found


def penalty(net, xs, ys):
    total = 0.0
    for x in xs:
        x = x.detach().requires_grad_(True)
        g = torch.autograd.grad(net(x).sum(), x, create_graph=True)[0]
        total = total + (g.norm() - 1) ** 2
    return total / len(xs)


def twice(net, xs, ys):
    found = []
    for i in range(len(xs)):
        t = xs[i, 0].detach().clone().requires_grad_(True)
        u = net(torch.stack([t, t * 2, t.sin(), t.exp()])).sum()
        first = torch.autograd.grad(u, t, create_graph=True)[0]
        second = torch.autograd.grad(first, t, create_graph=True)[0]
        found.append(first * second + u)
    return torch.stack(found)


def with_seeds(net, xs, ys):
    found = []
    for i in range(len(xs)):
        x = xs[i].clone().requires_grad_(True)
        v = torch.tanh(xs[i, :3])
        found.append(torch.autograd.grad(net(x), x, grad_outputs=v)[0])
    return torch.stack(found)


def clipped(net, xs, ys):
    params = list(net.parameters())
    total = [torch.zeros_like(p) for p in params]
    for i in range(len(xs)):
        grads = torch.autograd.grad(F.cross_entropy(net(xs[i]), ys[i]), params)
        norm = torch.stack([(g**2).sum() for g in grads]).sum().sqrt()
        scale = torch.clamp(0.5 / (norm + 1e-6), max=1.0)
        total = [t + g * scale for t, g in zip(total, grads)]
    return total


def of_formulas(net, xs, ys):
    """Each operation that has a derivative, on vectors and matrices."""
    w, b = net[0].weight, net[0].bias
    found = []
    for i in range(len(xs)):
        h = torch.tanh(w @ xs[i] + b)
        m = torch.outer(xs[i], xs[i]) @ w.t()
        s = (m / (1 + m.square())).mean(dim=0) + torch.sigmoid(h) * h.exp() - h.abs()
        q = torch.cat([s, torch.log(1.5 + h), (h**3).sum(0, keepdim=True)]).reshape(-1, 1)
        loss = (torch.softmax(q, 0) * q).mean() + torch.log_softmax(h, dim=0)[1] + (s.cos() * 2.0).sum()
        found.append(torch.autograd.grad(loss, [w, b])[0])
    return torch.stack(found)


def of_losses(net, xs, ys):
    w = net[0].weight
    found = []
    for i in range(len(xs) - 1):
        h = F.linear(xs[i : i + 2], w)
        target = F.one_hot(ys[i], h.shape[1]).float().expand(h.shape[0], -1)
        loss = F.mse_loss(h, target) + F.mse_loss(h, target, reduction="sum")
        loss = loss + F.cross_entropy(h, ys[i : i + 1].expand(h.shape[0]), reduction="sum")
        found.append(torch.autograd.grad(loss, w)[0])
    return torch.stack(found)


def broadcast(net, xs, ys):
    w, b = net[0].weight, net[0].bias
    found = []
    for i in range(len(xs)):
        h = (w * xs[i] + b.unsqueeze(1)) * 2 - b.sum()
        found.append(torch.autograd.grad((h * xs[i, 0]).sum(), [b, w])[0])
    return torch.stack(found)


def stopped(net, xs, ys):
    w = net[0].weight
    found = []
    for i in range(len(xs)):
        h = w @ xs[i]
        loss = (h * h.detach()).sum() + h.argmax() * h.sum()
        found.append(torch.autograd.grad(loss, w)[0])
    return torch.stack(found)


def by_what_is_between(net, xs, ys):
    w = net[0].weight
    found, others = [], []
    for i in range(len(xs)):
        h = w @ xs[i]
        first, second = torch.autograd.grad((h.exp() * h).sum() + (w * w).sum(), [h, w])
        found.append(first)
        others.append(second)
    return torch.stack(found), torch.stack(others)


def in_some_iterations(net, xs, ys):
    w = net[0].weight
    total = torch.zeros_like(w)
    for i in range(len(xs)):
        if ys[i] > 0:
            total = total + torch.autograd.grad(torch.log(torch.exp(w @ xs[i]).sum()), w)[0]
    return total


LIFTED = (
    by_parameters, by_given_parameters, by_inputs, by_a_view, penalty, twice, with_seeds, of_formulas,
    of_losses, broadcast, stopped, by_what_is_between, in_some_iterations,
)  # fmt: skip

# ---------------------------------------------------------------- the loop raises, or nobody knows


def of_what_is_not_used(net, xs, ys):
    found = []
    for i in range(len(xs)):
        found.append(torch.autograd.grad((net[0].weight @ xs[i]).sum(), net[0].bias)[0])
    return torch.stack(found)


def of_what_may_be_unused(net, xs, ys):
    found = []
    for i in range(len(xs)):
        found.append(torch.autograd.grad((net[0].weight @ xs[i]).sum(), net[0].bias, allow_unused=True)[0])
    return found


def of_several(net, xs, ys):
    found = []
    for i in range(len(xs)):
        found.append(torch.autograd.grad(net(xs[i]), net[0].weight)[0])
    return torch.stack(found)


def freed(net, xs, ys):
    w = net[0].weight
    found = []
    for i in range(len(xs)):
        h = torch.tanh(w @ xs[i])
        first = torch.autograd.grad(h.sum(), w)[0]
        found.append(first + torch.autograd.grad((h * h).sum(), w)[0])
    return torch.stack(found)


def freed_before(net, xs, ys):
    w = net[0].weight
    h = torch.tanh(w @ xs.t())
    found = []
    for i in range(len(xs)):
        found.append(torch.autograd.grad(h[:, i].sum(), w)[0])
    return torch.stack(found)


def handed_out(net, xs, ys):
    losses, found = [], []
    for i in range(len(xs)):
        loss = torch.tanh(net[0](xs[i])).sum()
        found.append(torch.autograd.grad(loss, net[0].weight)[0])
        losses.append(loss)
    return torch.stack(losses), torch.stack(found)


def handed_out_alone(net, xs, ys):
    found = []
    for i in range(len(xs)):
        x = xs[i].clone().requires_grad_(True)
        found.append(x * 2)
    return torch.stack(found)


def through_a_loop(net, xs, ys):
    w = net[0].weight
    found = []
    for i in range(len(xs)):
        total = torch.zeros(())
        for j in range(len(xs)):
            total = total + (w @ xs[j]).sum() * i
        found.append(torch.autograd.grad(total, w)[0])
    return torch.stack(found)


def through_a_branch(net, xs, ys):
    w = net[0].weight
    found = []
    for i in range(len(xs)):
        loss = (w @ xs[i]).sum() if ys[i] > 0 else (w * w).sum()
        found.append(torch.autograd.grad(loss, w)[0])
    return torch.stack(found)


def in_place(net, xs, ys):
    w = net[0].weight
    found = []
    for i in range(len(xs)):
        h = torch.exp(w @ xs[i])
        h += 1
        found.append(torch.autograd.grad(h.sum(), w)[0])
    return torch.stack(found)


def of_a_given_list(net, xs, ys):
    rows = list(xs)
    found = []
    for i in range(len(rows)):
        x = rows[i].requires_grad_()
        found.append(torch.autograd.grad((x * x).sum(), x)[0])
    return torch.stack(found), rows


def unrolled(net, xs, ys):
    w = net[0].weight
    for i in range(len(xs)):
        w = w - 0.1 * torch.autograd.grad(torch.tanh(w @ xs[i]).sum(), w, create_graph=True)[0]
    return w


def inside_no_grad(net, xs, ys):
    found = []
    with torch.no_grad():
        for i in range(len(xs)):
            found.append(torch.autograd.grad(net(xs[i]).sum(), net[0].weight)[0])
    return torch.stack(found)


def of_other_dtypes(net, xs, ys):
    found = []
    for i in range(len(xs)):
        found.append(torch.autograd.grad((net[0].weight.double() @ xs[i].double()).sum(), net[0].weight)[0])
    return torch.stack(found)


OTHERS = (
    clipped, of_what_is_not_used, of_what_may_be_unused, of_several, freed, freed_before, handed_out, handed_out_alone,
    through_a_loop, through_a_branch, in_place, of_a_given_list, unrolled, inside_no_grad, of_other_dtypes,
)  # fmt: skip


# ---------------------------------------------------------------- what people write


def helper_grad(f, x):
    return torch.autograd.grad(f(x).sum(), x, create_graph=True)[0]


def ignored(net, xs, ys):
    out = []
    for i in range(len(xs)):
        t = ys[i : i + 1] - 1
        t = torch.where(t < 0, -100, t)
        out.append(torch.autograd.grad(F.cross_entropy(net(xs[i : i + 1]), t, reduction="sum"), net[0].weight)[0])
    return torch.stack(out)


def generator(net, xs, ys):
    out = []
    for i in range(len(xs)):
        g = torch.autograd.grad(net(xs[i]).sum(), net.parameters())
        out.append(g[0])
    return torch.stack(out)


def shapes(net, xs, ys):
    w = net[0].weight
    out = []
    for i in range(len(xs)):
        h = (w * xs[i]).t().unsqueeze(-1).squeeze(-1).reshape(-1).view(4, 4)
        s = h.sum(-1, keepdim=True).squeeze(1) + h.mean(dim=(0, 1)) + h[1, 2] + h[-1].sum() + h[:, i % 4].mean()
        out.append(torch.autograd.grad((s * s).sum(), w)[0])
    return torch.stack(out)


def two_outputs_same(net, xs, ys):
    out = []
    for i in range(len(xs)):
        a = xs[i].clone().requires_grad_()
        b = (xs[i] * 2).requires_grad_()
        ga, gb = torch.autograd.grad((a + b).sum(), [a, b])
        out.append(ga * 2 + gb)
    return torch.stack(out)


def beside_in_branch(net, xs, ys):
    out = []
    for i in range(len(xs)):
        x = xs[i].clone().requires_grad_()
        y = (net(x) ** 2).sum()
        g = torch.zeros(4)
        if ys[i] > 0:
            g = torch.autograd.grad(y, x, retain_graph=True)[0]
        h = torch.autograd.grad(y, x, retain_graph=True)[0]
        out.append(g + h)
    return torch.stack(out)


def by_helper(net, xs, ys):
    return torch.stack([helper_grad(net, x.clone().requires_grad_()) for x in xs])


def fgsm(net, xs, ys):
    adv = xs.clone()
    for i in range(len(xs)):
        x = xs[i : i + 1].clone().detach().requires_grad_(True)
        loss = F.cross_entropy(net(x), ys[i : i + 1])
        g = torch.autograd.grad(loss, [x])[0]
        adv[i] = (x + 0.1 * g.sign()).detach()[0].clamp(-2, 2)
    return adv


def integrated(net, xs, ys):
    out = []
    for x, y in zip(xs, ys):
        total = torch.zeros_like(x)
        for s in range(1, 5):
            z = (x * (s / 4)).requires_grad_(True)
            total = total + torch.autograd.grad(torch.softmax(net(z), 0)[y], z)[0]
        out.append(x * total / 4)
    return torch.stack(out)


def normalised(net, xs, ys):
    out = []
    for i in range(len(xs)):
        x = xs[i].clone().requires_grad_()
        g = torch.autograd.grad(net(x)[ys[i]], x)[0]
        out.append(g / (g.norm() + 1e-8))
    return torch.stack(out)


def negative_place(net, xs, ys):
    out = []
    for i in range(len(xs)):
        x = xs[i].clone().requires_grad_()
        out.append(torch.autograd.grad(net(x)[ys[i] - 3] * net(x)[-1], x)[0])
    return torch.stack(out)


def norm_while(net, xs, ys):
    out = []
    for i in range(len(xs)):
        x = xs[i].clone()
        k = 0
        while k < 5:
            x = x.detach().requires_grad_(True)
            g = torch.autograd.grad((torch.tanh(x) ** 2).sum(), x)[0]
            x = x - 0.5 * g
            k += 1
            if g.abs().sum() < 0.8:
                break
        out.append(x.detach())
    return torch.stack(out)


def ignored_mean(net, xs, ys):
    out = []
    for i in range(len(xs)):
        t = torch.where(ys[i] == 0, -100, ys[i])
        out.append(torch.autograd.grad(F.cross_entropy(net(xs[i]), t), net[0].weight)[0])
    return torch.stack(out)


def nested_branch(net, xs, ys):
    out = []
    for i in range(len(xs)):
        x = xs[i].clone().requires_grad_()
        y = (net(x) ** 2).sum()
        if ys[i] > 0:
            g = torch.autograd.grad(y, x, retain_graph=True)[0]
        else:
            g = torch.autograd.grad(y, x)[0] * 2
        out.append(g)
    return torch.stack(out)


def inplace_result(net, xs, ys):
    out = []
    for i in range(len(xs)):
        g = torch.autograd.grad(torch.tanh(net[0].weight @ xs[i]).sum(), net[0].weight)[0]
        g += 1
        g.mul_(2)
        out.append(g)
    return torch.stack(out)


def bad_targets(net, xs, ys):
    out = []
    for i in range(len(xs)):
        out.append(torch.autograd.grad(F.cross_entropy(net(xs[i]), ys[i] + 1), net[0].weight)[0])
    return torch.stack(out)


def bad_targets_2(net, xs, ys):
    out = []
    for i in range(len(xs)):
        out.append(torch.autograd.grad(F.cross_entropy(net(xs[i : i + 1]), ys[i : i + 1] - 1), net[0].weight)[0])
    return torch.stack(out)


def bad_place(net, xs, ys):
    out = []
    for i in range(len(xs)):
        x = xs[i].clone().requires_grad_()
        out.append(torch.autograd.grad(net(x)[ys[i] + 1], x)[0])
    return torch.stack(out)


def off_path_data(net, xs, ys):
    out = []
    w = net[0].weight
    for i in range(len(xs)):
        out.append(torch.autograd.grad((w @ xs[i]).sum() + xs[ys[i] + 3].sum(), w)[0])
    return torch.stack(out)


def only_shape(net, xs, ys):
    out = []
    for i in range(len(xs) + 1):
        x = xs[i].clone().requires_grad_()
        out.append(torch.autograd.grad(x.sum(), x)[0])
    return torch.stack(out)


MORE = (
    ignored,
    generator,
    shapes,
    two_outputs_same,
    beside_in_branch,
    by_helper,
    fgsm,
    integrated,
    normalised,
    negative_place,
    norm_while,
)
MORE_OTHERS = (
    ignored_mean,
    nested_branch,
    inplace_result,
    bad_targets,
    bad_targets_2,
    bad_place,
    off_path_data,
    only_shape,
)
