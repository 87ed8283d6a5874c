"""A GRU decoder with additive attention over each sample's encoder states, teacher forced, loss per token.

Source: sequence-to-sequence decoders with additive attention, taught token by token
Tags: models, attention, recurrent
Grad: yes
Hand: loop over time
"""
import torch
import torch.nn.functional as F


class Decoder(torch.nn.Module):
    def __init__(self, vocab, d, h):
        super().__init__()
        self.embed = torch.nn.Embedding(vocab, d)
        self.cell = torch.nn.GRUCell(d + h, h)
        self.query = torch.nn.Linear(h, h, bias=False)
        self.key = torch.nn.Linear(h, h, bias=False)
        self.score = torch.nn.Parameter(torch.randn(h) / h ** 0.5)
        self.out = torch.nn.Linear(2 * h, vocab)

    def attend(self, state, memory):
        scores = []
        for j in range(memory.size(0)):
            scores.append(torch.dot(self.score, torch.tanh(self.query(state) + self.key(memory[j]))))
        weights = F.softmax(torch.stack(scores), dim=-1)
        context = torch.zeros_like(state)
        for j in range(memory.size(0)):
            context = context + weights[j] * memory[j]
        return context

    def forward(self, memories, targets):
        loss, count = 0.0, 0
        for memory, target in zip(memories, targets):
            state = memory.mean(dim=0)
            for t in range(len(target) - 1):
                context = self.attend(state, memory)
                state = self.cell(torch.cat([self.embed(target[t]), context]), state)
                logits = self.out(torch.cat([state, context]))
                loss = loss + F.cross_entropy(logits, target[t + 1])
                count += 1
        return loss / count


def slow(model, memories, targets):
    return model(memories, targets)


def hand(model, memories, targets):
    B = len(memories)
    M = torch.nn.utils.rnn.pad_sequence(memories, batch_first=True)
    ml = torch.tensor([len(m) for m in memories])
    mm = torch.arange(M.size(1)) < ml[:, None]
    T = torch.nn.utils.rnn.pad_sequence(targets, batch_first=True)
    tl = torch.tensor([len(t) for t in targets])
    state = M.sum(1) / ml[:, None]
    K = model.key(M)
    loss = 0.0
    for t in range(T.size(1) - 1):
        s = (torch.tanh(model.query(state)[:, None] + K) @ model.score).masked_fill(~mm, -torch.inf)
        ctx = (F.softmax(s, -1).unsqueeze(1) @ M).squeeze(1)
        state = model.cell(torch.cat([model.embed(T[:, t]), ctx], 1), state)
        l = F.cross_entropy(model.out(torch.cat([state, ctx], 1)), T[:, t + 1], reduction="none")
        loss = loss + (l * (t + 1 < tl)).sum()
    return loss / (tl - 1).sum()


def inputs(size="small", seed=0):
    B, S, T, d, h = {"tiny": (2, 3, 3, 2, 3), "small": (8, 8, 7, 8, 12), "full": (24, 16, 14, 32, 64)}[size]
    torch.manual_seed(seed)
    m = Decoder(20, d, h).double()
    mem = [torch.randn(int(torch.randint(1, S + 1, ())), h, dtype=torch.float64) for _ in range(B)]
    tgt = [torch.randint(0, 20, (int(torch.randint(2, T + 1, ())),)) for _ in range(B)]
    return m, mem, tgt
