"""The training loops of recipes of examples/ in plain PyTorch: the same networks, batches,
optimizers and numbers of threads. Batches hold random ids, with the lengths of the recipes' data.

Each function trains for `steps` steps in `dtype` ("f32", or "bf16" under autocast), and returns the
seconds and the processor seconds of a step. The first steps do not count.
"""
import random
import time

import torch
from torch import nn
from torch.nn import functional

import plain_models

UNCOUNTED = 20


def now():
    """Returns the time and the processor time of this process, in seconds."""
    return time.perf_counter(), time.process_time()


def since(begin, steps):
    """Returns the seconds and the processor seconds of each of `steps` steps since now() was
    `begin`."""
    return [(after - before) / steps for before, after in zip(begin, now())]


def measured(model, steps, lr, warmup, dtype, batches, loss_of, clip=1.0):
    """Trains with fused AdamW, a rate that rises and then falls to 0, and clipped gradients.
    `batches` yields the arguments of `loss_of`."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: step / warmup if step < warmup else (steps - step) / (steps - warmup))
    model.train()
    losses = []
    for step in range(steps):
        if step == UNCOUNTED:
            begin = now()
        batch = next(batches)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype == "bf16"):
            loss = loss_of(*batch)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return since(begin, steps - UNCOUNTED)


def shuffled(count, size):
    """Yields indices of batches without end, in a new random order in each epoch."""
    while True:
        for rows in torch.randperm(count).split(size):
            if len(rows) == size:
                yield rows


def padded(rows, value=0):
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=value)


def texts(count, length, vocab):
    """Returns texts of random ids from 1; `length()` draws the length of a text."""
    return [torch.randint(1, vocab, (length(),)) for _ in range(count)]


def mnist(steps, dtype):
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 7 * 7, 64), nn.ReLU(), nn.Linear(64, 10))
    images, labels = torch.rand(10000, 1, 28, 28), torch.randint(10, (10000,))
    batches = ((images[rows], labels[rows]) for rows in shuffled(10000, 50))
    return measured(model, steps, 3e-3, 0, dtype, batches, lambda x, y: functional.cross_entropy(model(x), y))


class BertBlock(nn.Module):
    def __init__(self, width, ffn, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, ffn), nn.Linear(ffn, width)
        self.norm_1, self.norm_2 = nn.LayerNorm(width, 1e-12), nn.LayerNorm(width, 1e-12)

    def forward(self, x, mask):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        seen = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = self.norm_1(x + self.out(seen.transpose(1, 2).flatten(2)))
        return self.norm_2(x + self.down(functional.gelu(self.up(x))))


class Bert(nn.Module):
    def __init__(self, vocab, context, width, ffn, heads, layers, classes):
        super().__init__()
        self.words, self.positions = nn.Embedding(vocab, width, padding_idx=0), nn.Embedding(context, width)
        self.types, self.norm = nn.Embedding(2, width), nn.LayerNorm(width, 1e-12)
        self.blocks = nn.ModuleList(BertBlock(width, ffn, heads) for _ in range(layers))
        self.pooler, self.classifier = nn.Linear(width, width), nn.Linear(width, classes)

    def forward(self, ids, types):
        x = self.norm(self.words(ids) + self.positions.weight[: ids.size(1)] + self.types(types))
        mask = (ids != 0)[:, None, None, :]
        for block in self.blocks:
            x = block(x, mask)
        return self.classifier(torch.tanh(self.pooler(x[:, 0])))


def classification(steps, dtype, vocab=30):
    model = Bert(vocab, 128, 64, 128, 4, 2, 4)

    def sentence():
        return 5 if random.random() < 0.25 else 3

    def first():  # with the class token and a separator
        return 2 + sentence() + random.choices((0, 2, 3), (15, 2, 1))[0]

    pairs = [(first(), 1 + sentence() + random.randrange(2)) for _ in range(20000)]
    ids = [torch.randint(1, vocab, (a + b,)) for a, b in pairs]
    types = [torch.tensor([0] * a + [1] * b) for a, b in pairs]
    labels = torch.randint(4, (len(pairs),))
    batches = ((padded([ids[i] for i in rows]), padded([types[i] for i in rows]), labels[rows])
               for rows in shuffled(len(pairs), 32))
    return measured(model, steps, 1e-3, 100, dtype, batches, lambda x, t, y: functional.cross_entropy(model(x, t), y))


class T5Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.kv = nn.Linear(width, width, bias=False), nn.Linear(width, 2 * width, bias=False)
        self.o = nn.Linear(width, width, bias=False)

    def forward(self, x, source, bias):
        q = self.q(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.kv(source).chunk(2, -1))
        seen = functional.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=1.0)
        return self.o(seen.transpose(1, 2).flatten(2))


class T5Block(nn.Module):
    def __init__(self, width, ffn, heads, decodes):
        super().__init__()
        self.own, self.other = T5Attention(width, heads), T5Attention(width, heads) if decodes else None
        self.up, self.down = nn.Linear(width, ffn, bias=False), nn.Linear(ffn, width, bias=False)
        self.norms = nn.ModuleList(plain_models.RMSNorm(width, 1e-6) for _ in range(3 if decodes else 2))

    def forward(self, x, bias, source=None, mask=None):
        seen = self.norms[0](x)
        x = x + self.own(seen, seen, bias)
        if self.other is not None:
            x = x + self.other(self.norms[1](x), source, mask)
        return x + self.down(functional.relu(self.up(self.norms[-1](x))))


class T5Stack(nn.Module):
    def __init__(self, embedding, width, ffn, heads, layers, decodes):
        super().__init__()
        self.embedding, self.decodes = embedding, decodes
        self.bias = nn.Embedding(32, heads)
        self.blocks = nn.ModuleList(T5Block(width, ffn, heads, decodes) for _ in range(layers))
        self.norm = plain_models.RMSNorm(width, 1e-6)

    def buckets(self, length):
        """Returns the bucket of the distance of each pair of positions: [T, T]."""
        positions = torch.arange(length)
        distance = positions[None, :] - positions[:, None]
        count, offset = (32, 0) if self.decodes else (16, (distance > 0).long() * 16)
        distance = (-distance).clamp(min=0) if self.decodes else distance.abs()
        exact = count // 2
        far = exact + ((distance.float() / exact).clamp(min=1).log() / torch.tensor(128 / exact).log() * (count - exact)).long()
        return offset + torch.where(distance < exact, distance, far.clamp(max=count - 1))

    def forward(self, ids, mask=None, source=None, source_mask=None):
        x, length = self.embedding(ids), ids.size(1)
        bias = self.bias(self.buckets(length)).permute(2, 0, 1)[None]
        if self.decodes:
            seen = torch.ones(length, length, dtype=torch.bool).tril()
            bias = bias.masked_fill(~seen, float("-inf"))
        else:
            bias = bias.masked_fill(~mask, float("-inf"))
        for block in self.blocks:
            x = block(x, bias.to(x.dtype), source, source_mask)
        return self.norm(x)


class T5(nn.Module):
    def __init__(self, vocab, width, ffn, heads, layers):
        super().__init__()
        self.factor = width**-0.5
        self.embedding = nn.Embedding(vocab, width)
        nn.init.normal_(self.embedding.weight, std=1.0)
        self.encoder = T5Stack(self.embedding, width, ffn, heads, layers, False)
        self.decoder = T5Stack(self.embedding, width, ffn, heads, layers, True)

    def forward(self, source, target):
        mask = (source != 0)[:, None, None, :]
        x = self.decoder(target, None, self.encoder(source, mask), mask)
        return functional.linear(x * self.factor, self.embedding.weight)


def seq2seq(steps, dtype, vocab=399):
    model = T5(vocab, 64, 256, 4, 2)
    counts = {4: 6, 5: 6, 6: 35, 7: 46, 8: 131, 9: 232, 10: 173, 11: 123, 12: 165, 13: 48, 14: 34}  # of a thousand
    sources = texts(20000, lambda: random.choices(list(counts), counts.values())[0], vocab)
    targets = texts(20000, lambda: random.choices((5, 7, 11), (16, 16, 67))[0], vocab)

    def batch(rows):
        answers = padded([targets[i] for i in rows], -100)
        starts = functional.pad(answers[:, :-1], (1, 0)).clamp(min=0)
        return padded([sources[i] for i in rows]), starts, answers

    def loss(source, starts, answers):
        return functional.cross_entropy(model(source, starts).float().flatten(0, 1), answers.flatten())

    return measured(model, steps, 2e-3, 10, dtype, map(batch, shuffled(20000, 32)), loss)


def dpo(steps, dtype):
    model = plain_models.GPT2(vocab=256, context=512, width=64, heads=4, layers=2)
    model.compute = torch.bfloat16 if dtype == "bf16" else torch.float32
    digits = [random.randint(4, 8) for _ in range(20000)]  # each text: digits, ">", digits, "."
    chosen = [torch.randint(1, 256, (2 * n + 2,)) for n in digits]
    rejected = [torch.randint(1, 256, (2 * n + 2 - (random.randrange(3) == 0),)) for n in digits]
    reference = torch.randn(20000)

    def batch(rows):
        pairs = [some[i] for some in (chosen, rejected) for i in rows]
        labels = [functional.pad(text[digits[i] + 1:], (digits[i] + 1, 0), value=-100)
                  for some in (chosen, rejected) for i, text in ((i, some[i]) for i in rows)]
        return padded(pairs)[:, :-1], padded(labels, -100)[:, 1:], reference[rows]

    def loss(ids, labels, reference):
        lost = functional.cross_entropy(model(ids).float().flatten(0, 1), labels.flatten(), reduction="none")
        good, bad = (-lost.view(labels.shape).sum(1)).chunk(2)
        return -functional.logsigmoid(0.1 * (good - bad - reference)).mean()

    return measured(model, steps, 3e-3, 10, dtype, map(batch, shuffled(20000, 32)), loss)
