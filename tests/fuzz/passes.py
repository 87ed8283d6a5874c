"""Random loops that take gradients in each iteration: by `backward()`, which leaves them behind, or `autograd.grad`."""

from __future__ import annotations

from .gradients import ARGUMENTS, _Writer, split

RESETS = "w.grad = None|w.grad = None; s.grad = None|for p in (w, s): p.grad = None|x.grad = None|O.zero_grad()"
LEAVES = """a = m[i].clone().requires_grad_()|a = m[i].detach().clone().requires_grad_()
a = m[i].detach().requires_grad_()|a = m[i].clone(); a.requires_grad = True|a = (m[i] * 2).detach().requires_grad_()
a = m[i].float().requires_grad_()|a = m[i].contiguous().requires_grad_()|a = m[k[i]].clone().requires_grad_()
a = torch.zeros(3, dtype=torch.float64, requires_grad=True)|a = w[:3].detach().clone().requires_grad_(); b = a * 1
a = m[i].clone(); b = a * 2; a.requires_grad_()|a = m[i].clone().requires_grad_(); b = a.view(3)"""
FORMS = """(a * w[:3]).sum()|(a * a).sum() * s|torch.tanh(a).sum() * <f>|(a @ w[:3]) ** 2|a.norm() * w[0]|a.sum() * c
(a - a.mean()).pow(2).sum() + <f>|torch.relu(a * w[:3]).sum()|(w * w).sum() * <f>|s * <f>|(b * a).sum()|a.max() * c
(a.detach() * a).sum()|torch.log_softmax(a, 0)[k[i] % 3]|(a * w[:3].round()).sum()|w[k[i] % 4] * a[0]|<f>|c * w[1]
(a / c).sum()|torch.where(a > 0, a * w[0], a).sum()|a.prod()|(a + w[:3]).abs().max()|b.sum() * c"""
BACK = """(<l>).backward()|loss = <l>; loss.backward()|loss = <l>; loss.backward()|loss = <l> + <l>; loss.backward()
loss = <l>; if <c>: loss.backward()|if <c>: continue; (<l>).backward()|(<l>).backward(); (<l>).backward()
g, = torch.autograd.grad(<l>, a, create_graph=True); loss = g.pow(2).sum() + <l>; loss.backward()"""
ASKED = """g, = torch.autograd.grad(<l>, a)|g = torch.autograd.grad(<l>, w)[0]|g, h = torch.autograd.grad(<l>, [w, a])
loss = <l>; g, = torch.autograd.grad(loss, a, create_graph=True); g, = torch.autograd.grad(g.sum() + loss, a)"""
LEFT_BEHIND = """out[i] = w.grad.norm()|parts.append(w.grad.clone())|parts.append(a.grad)|total = total + a.grad
total = total + w.grad[:3] ** 2|parts.append(w.grad.detach() * 2)|out[i] = w.grad[0]|parts.append(w.grad)
with torch.no_grad(): total = total + w.grad[:3]|if w.grad is not None: out[i] = w.grad.sum()|pass
out[i] = a.grad.abs().max()|parts.append(s.grad)|parts.append([None if p.grad is None else p.grad * 1 for p in (w, s)])
w.grad.mul_(0.5)|if a.grad[0] > 0: out[i] = 1.0|parts.append(w.grad.is_leaf)"""
FOUND = "parts.append(g * 2)|total = total + g[:3]|total = total + g[:3] * c|out[i] = g.norm()|parts.append(c)"
STARTS = "out = torch.zeros(n, dtype=torch.float64); total = torch.zeros(3, dtype=torch.float64); parts = []"


def passes_source(rng):
    """A program over x, m, w and s: leaves, resets, losses, passes and reads of gradients in each iteration."""
    writer = _Writer(rng, carries=False)

    def filled(text):
        while "<l>" in text:
            form = rng.choice(split(FORMS))
            text = text.replace("<l>", f"(a * w[:3]).sum() + {form}" if rng.random() < 0.6 else form, 1)
        return writer.filled(text, 1)

    goes_back = rng.random() < 0.7
    body = [rng.choice(split(RESETS))] if goes_back and rng.random() < 0.7 else []
    body += [rng.choice(("c = y[i] * 1", "with torch.no_grad(): c = m[i].norm()", "c = x[i]", "c = 2.0")), "b = m[i]"]
    body += [rng.choice(split(LEAVES))]
    if rng.random() < 0.2:
        body += ["with torch.no_grad(): c = a.norm()"]
    body += [filled(rng.choice(split(BACK if goes_back else ASKED)))]
    reads = split(LEFT_BEHIND if goes_back else FOUND)
    body += [filled(one) for one in rng.sample(reads, rng.choice((1, 1, 2)))]
    lines = [line for one in body for line in one.split("; ")]
    head = rng.choice(("for i in range(n):", "for i in range(n):", "for i in range(1, n):"))
    loop = [head, *("    " + one for one in lines)]
    if rng.random() < 0.15:
        loop = ["for r in range(2):", *("    " + one for one in loop)]
    if any("O.zero" in one for one in loop):
        loop = ["O = torch.optim.SGD([w, s], 0.1)", *loop]
    begun = ["if n: w.grad = torch.ones_like(w)"] if rng.random() < 0.2 else []
    lines = [*STARTS.split("; "), *begun, *loop, "return out, total, parts, (x.grad, m.grad, w.grad, s.grad)"]
    leaves = "; ".join(f"{name}.requires_grad_()" for name in rng.choice(("ws", "ws", "w", "wx", "wms")))
    text = ARGUMENTS.replace("SIZES_OF", rng.choice(("[6, 3, 1, 0]", "[5, 2, 3, 6]"))).replace("ROUNDED", "False")
    text = text.replace("NONE", "-1").replace("LEAVES", leaves)
    top = ["# precision: double", "import math", "import torch", "", "", "def program(x, y, m, w, k, s, n):"]
    return "\n".join([*top, *("    " + line for line in lines), ""]) + text
