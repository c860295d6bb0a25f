"""The training loops of recipes of examples/ in plain PyTorch: the same networks, batches,
optimizers and numbers of threads. Batches hold random ids, with the lengths of the recipes' data.

Each function trains for `steps` steps in `dtype` ("f32", or "bf16" under autocast), and returns a
Measurement. The first steps do not count for times.
"""
import math
import random
import time
import typing

import torch
from torch import nn
from torch.nn import functional

import plain_models

UNCOUNTED = 20


class Measurement(typing.NamedTuple):
    seconds: float  # of a step
    processor_seconds: float  # of a step
    parameters: int = 0  # number of trained numbers; 0: not counted
    losses: tuple = ()  # of all steps


def now():
    """Returns the time and the processor time of this process, in seconds."""
    return time.perf_counter(), time.process_time()


def since(begin, steps):
    """Returns the Measurement of `steps` steps since now() was `begin`."""
    return Measurement(*((after - before) / steps for before, after in zip(begin, now())))


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
    return since(begin, steps - UNCOUNTED)._replace(parameters=sum(p.numel() for p in model.parameters()), losses=tuple(losses))


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


class Modulated(nn.Module):
    """A layer normalisation with a scale and a shift that depend on a condition [B, width]; without
    `norm`, a gate."""

    def __init__(self, width, norm=True):
        super().__init__()
        self.norm, self.of_condition = norm, nn.Linear(width, 2 * width if norm else width)
        nn.init.zeros_(self.of_condition.weight)
        nn.init.zeros_(self.of_condition.bias)

    def forward(self, x, condition):
        made = self.of_condition(condition)[:, None]
        if not self.norm:
            return x * made
        scale, shift = made.chunk(2, -1)
        return functional.layer_norm(x, x.shape[-1:], eps=1e-6) * (1 + scale) + shift


class PainterBlock(nn.Module):
    """A block of a transformer whose tokens attend to all tokens. If `conditioned`, its norms
    depend on a condition, which also gates its branches."""

    def __init__(self, width, heads, conditioned):
        super().__init__()
        self.heads, self.conditioned = heads, conditioned
        self.qkv, self.o = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        made = Modulated if conditioned else nn.LayerNorm
        self.norm_1, self.norm_2 = made(width), made(width)
        if conditioned:
            self.gate_1, self.gate_2 = Modulated(width, norm=False), Modulated(width, norm=False)

    def attended(self, x):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        return self.o(functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))

    def widened(self, x):
        return self.down(functional.gelu(self.up(x), approximate="tanh"))

    def forward(self, x, condition=None):
        if self.conditioned:
            x = x + self.gate_1(self.attended(self.norm_1(x, condition)), condition)
            return x + self.gate_2(self.widened(self.norm_2(x, condition)), condition)
        x = x + self.attended(self.norm_1(x))
        return x + self.widened(self.norm_2(x))


class Painter(nn.Module):
    def __init__(self, vocab, width=128, heads=4, patch=8, side=32, words=8):
        super().__init__()
        self.width, self.patch, self.across = width, patch, side // patch
        self.words, self.order = nn.Embedding(vocab, width), nn.Parameter(torch.empty(words, width))
        self.reads = nn.ModuleList(PainterBlock(width, heads, False) for _ in range(2))
        self.norm = nn.LayerNorm(width)
        self.time = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
        self.patches, self.places = nn.Linear(3 * patch**2, width), nn.Parameter(torch.empty(self.across**2, width))
        self.paints = nn.ModuleList(PainterBlock(width, heads, True) for _ in range(4))
        self.last, self.out = Modulated(width), nn.Linear(width, 3 * patch**2)
        for table in (self.words.weight, self.order, self.places):
            nn.init.normal_(table)

    def forward(self, pixels, caption, times):
        x = self.words(caption) + self.order
        for block in self.reads:
            x = block(x)
        rates = torch.exp(torch.arange(0, self.width, 2) * (-math.log(10000) / self.width))
        angles = times[:, None] * rates
        time = self.time(torch.cat((angles.cos(), angles.sin()), 1))
        condition = functional.silu(caption.size(1) * self.norm(x).mean(1) + time)
        patches = pixels.unflatten(3, (-1, self.patch)).unflatten(2, (-1, self.patch))
        x = self.patches(patches.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)) + self.places
        for block in self.paints:
            x = block(x, condition)
        x = self.out(self.last(x, condition)).unflatten(2, (3, self.patch, self.patch)).unflatten(1, (self.across, -1))
        return x.permute(0, 3, 1, 4, 2, 5).flatten(4).flatten(2, 3)


def scenes(count, side=32):
    """Returns the pixels [count, 3, side, side], -1 to 1, and captions [count, 8] of random shapes
    in corners, drawn as examples/common/scenes.hpp draws them."""
    rgb = torch.tensor([[0.9, 0.1, 0.1], [0.1, 0.7, 0.2], [0.2, 0.3, 0.95], [0.95, 0.85, 0.1], [0.6, 0.15, 0.75], [0.95] * 3])
    shape, color, corner = (torch.randint(most, (count,)) for most in (3, 6, 4))
    radius = 5.5 + 2 * torch.rand(count)
    places = radius + 1 + torch.rand(2, count) * (10 - radius)
    x0 = torch.where(corner % 2 == 0, places[0], side - places[0])
    y0 = torch.where(corner < 2, places[1], side - places[1])
    points = (torch.arange(3 * side) + 0.5) / 3
    x, y = points - x0[:, None, None], points[:, None] - y0[:, None, None]
    r = radius[:, None, None]
    covers = torch.where((shape == 0)[:, None, None], x * x + y * y <= r * r, torch.where(
        (shape == 1)[:, None, None], torch.maximum(x.abs(), y.abs()) <= 0.88 * r, (y <= 0.85 * r) & (x.abs() <= 0.6 * (y + r))))
    covered = functional.avg_pool2d(covers.float()[:, None], 3)
    dark = torch.rand(count, 1, 1, 1) / 4
    light = (0.85 + 0.15 * torch.rand(count, 1)) * rgb[color]
    words = torch.zeros(count, 8, dtype=torch.long)
    said = (torch.zeros(count).long(), color, 6 + shape, 9 + torch.zeros(count).long(), 10 + torch.zeros(count).long(),
            11 + corner // 2, 13 + corner % 2)
    for at, word in enumerate(said):
        words[:, at] = PAINTER_WORDS - 15 + word
    words[:, 7] = 1
    return (dark + covered * (light[:, :, None, None] - dark)) * 2 - 1, words


PAINTER_WORDS = 273  # of the recipe's tokenizer: padding, the end, 256 bytes and the captions' words


def text_to_image(steps, dtype, dropped=0.1):
    model = Painter(PAINTER_WORDS)
    pixels, captions = scenes(4000)
    nothing = torch.tensor([1] + [0] * 7)

    def batch(rows):
        return pixels[rows], torch.where(torch.rand(len(rows), 1) < dropped, nothing, captions[rows])

    def velocity_to(end, seen, t):
        return (end - seen) / (1 - t).clamp(min=0.05)

    def loss(pixels, caption):
        noise, times = torch.randn_like(pixels), torch.sigmoid(torch.randn(len(pixels)) - 0.8)
        t = times[:, None, None, None]
        seen = noise + t * (pixels - noise)
        painted = model(seen, caption, 1000 * times).float()
        return (velocity_to(painted, seen, t) - velocity_to(pixels, seen, t)).square().mean()

    return measured(model, steps, 2e-3, 20, dtype, map(batch, shuffled(4000, 32)), loss)
