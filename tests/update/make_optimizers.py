#!/usr/bin/env python3
"""Records updates of optimizers in f64: torch's own, or the algorithms of the papers written out.

    python make_optimizers.py --out ../files/optimizers

Writes one JSON file per case: the values of the parameters after each of five updates, and the
state after the last one. Element i of n starts at sin(0.7 i + 1). Update t = 1, 2, ... has the
gradient 0.3 p + cos(1.7 i + t), where p is the value.
"""
import argparse
import json
import math
from pathlib import Path

import torch

STEPS = 5
torch.set_default_dtype(torch.float64)


def start(n):
    return torch.sin(0.7 * torch.arange(n) + 1)


def gradient(p, t):
    return 0.3 * p + torch.cos(1.7 * torch.arange(p.numel()) + t)


def record(p, step, state):
    """Runs `step(t)` five times, which updates the flat tensor `p` in place."""
    values = []
    for t in range(1, STEPS + 1):
        step(t)
        values.append(p.tolist())
    return {"values": values, "state": {name: slot.flatten().tolist() for name, slot in state().items()}}


def adamw_groups():
    """Three parameters in torch's groups: a rate factor of 0.1, a weight decay of 0.5, neither."""
    p = start(12)
    parts = [p[4 * i:4 * i + 4].clone().requires_grad_() for i in range(3)]
    rule = torch.optim.AdamW([{"params": parts[0], "lr": 0.003}, {"params": parts[1], "weight_decay": 0.5}, {"params": parts[2]}],
                             lr=0.03, weight_decay=0.1)

    def step(t):
        g = gradient(p, t)
        for i, part in enumerate(parts):
            part.grad = g[4 * i:4 * i + 4]
        rule.step()
        p.copy_(torch.cat([part.detach() for part in parts]))

    def state():
        return {name: torch.cat([rule.state[part][name] for part in parts]) for name in ("exp_avg", "exp_avg_sq")}

    return record(p, step, state)


def lion():
    """Algorithm 2 of Chen et al. 2023, as in google/automl/lion/lion_pytorch.py."""
    lr, beta1, beta2, decay = 0.03, 0.8, 0.95, 0.1
    p, m = start(12), torch.zeros(12)

    def step(t):
        g = gradient(p, t)
        p.mul_(1 - lr * decay)
        p.add_(torch.sign(m * beta1 + g * (1 - beta1)), alpha=-lr)
        m.mul_(beta2).add_(g, alpha=1 - beta2)

    return record(p, step, lambda: {"exp_avg": m})


def ademamix():
    """Algorithm 1 of Pagliardini et al. 2024, with the schedulers of apple/ml-ademamix."""
    lr, beta1, beta2, beta3, alpha, warmup, eps, decay = 0.03, 0.8, 0.95, 0.99, 4.0, 4, 1e-6, 0.1
    p, fast, slow, square = start(12), torch.zeros(12), torch.zeros(12), torch.zeros(12)

    def half_life(beta):
        return math.log(0.5) / math.log(beta + 1e-8) - 1

    def beta3_at(t):
        if t >= warmup:
            return beta3
        a = t / warmup
        return math.pow(0.5, 1 / ((1 - a) * half_life(beta1) + a * half_life(beta3) + 1))

    def step(t):
        g = gradient(p, t)
        b3, a = beta3_at(t), alpha * t / warmup if t < warmup else alpha
        fast.mul_(beta1).add_(g, alpha=1 - beta1)
        slow.mul_(b3).add_(g, alpha=1 - b3)
        square.mul_(beta2).addcmul_(g, g, value=1 - beta2)
        denom = (square.sqrt() / math.sqrt(1 - beta2**t)).add_(eps)
        update = (fast.div(1 - beta1**t) + a * slow) / denom
        update.add_(p, alpha=decay)
        p.add_(-lr * update)

    return record(p, step, lambda: {"exp_avg_fast": fast, "exp_avg_slow": slow, "exp_avg_sq": square})


def averaged():
    """torch's average of the parameters of SGD after each update."""
    p = start(12).requires_grad_()
    holder = torch.nn.ParameterList([p])
    rule = torch.optim.SGD(holder.parameters(), lr=0.1)
    average = torch.optim.swa_utils.AveragedModel(holder, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.7))

    def step(t):
        holder[0].grad = gradient(holder[0].detach(), t)
        rule.step()
        average.update_parameters(holder)
        p.data.copy_(holder[0].data)

    return record(p.detach(), step, lambda: {"average": average.module[0].detach()})


def schedule_free():
    """AdamWScheduleFreeReference of facebookresearch/schedule_free with a warm-up of three updates.

    The rates of the warm-up are 0, 1/3 and 2/3 of the peak, as in redco's schedule `constant`. In
    the package they are 1/3, 2/3 and 1."""
    peak, beta1, beta2, eps, decay, warmup = 0.03, 0.8, 0.95, 1e-6, 0.1, 3
    y, square = start(12), torch.zeros(12)
    z = y.clone()
    weight_sum = 0.0

    def step(t):
        nonlocal weight_sum
        lr = peak * min((t - 1) / warmup, 1)
        g = gradient(y, t)
        weight_sum += lr**2
        c = lr**2 / weight_sum if weight_sum > 0 else 0.0
        square.mul_(beta2).addcmul_(g, g, value=1 - beta2)
        update = g / square.div(1 - beta2**t).sqrt().add_(eps)
        update.add_(y, alpha=decay)
        y.lerp_(z, c)
        y.add_(update, alpha=lr * (beta1 * (1 - c) - 1))
        z.sub_(update, alpha=lr)

    recorded = record(y, step, lambda: {"z": z, "exp_avg_sq": square})
    return recorded | {"evaluated": y.lerp(z, 1 - 1 / beta1).tolist()}


def muon(adjust, nesterov, decay):
    """torch.optim.Muon of two matrices [3, 5] and [6, 2], with its iteration in f64, not bf16."""
    p = start(27)
    parts = [p[:15].view(3, 5).clone().requires_grad_(), p[15:].view(6, 2).clone().requires_grad_()]
    rule = torch.optim.Muon(parts, lr=0.03, weight_decay=decay, momentum=0.8, nesterov=nesterov, adjust_lr_fn=adjust)

    def step(t):
        g = gradient(p, t)
        parts[0].grad, parts[1].grad = g[:15].view(3, 5), g[15:].view(6, 2)
        rule.step()
        p.copy_(torch.cat([part.detach().flatten() for part in parts]))

    in_bf16 = torch.Tensor.bfloat16
    torch.Tensor.bfloat16 = torch.Tensor.clone
    try:
        return record(p, step, lambda: {"momentum_buffer": torch.cat([rule.state[part]["momentum_buffer"].flatten() for part in parts])})
    finally:
        torch.Tensor.bfloat16 = in_bf16


def adafactor(**settings):
    """transformers' Adafactor of two matrices, a stack of two matrices and a vector."""
    from transformers.optimization import Adafactor

    shapes = [(3, 5), (6, 2), (2, 3, 4), (7,)]
    p = start(58)

    def cut(x):
        return [part.view(shape) for part, shape in zip(x.split([math.prod(shape) for shape in shapes]), shapes)]

    parts = [part.clone().requires_grad_() for part in cut(p)]
    rule = Adafactor(parts, **settings)

    def step(t):
        for part, g in zip(parts, cut(gradient(p, t))):
            part.grad = g
        rule.step()
        p.copy_(torch.cat([part.detach().flatten() for part in parts]))

    def state():
        names = ["exp_avg_sq_row", "exp_avg_sq_col", "exp_avg_sq"] + (["exp_avg"] if settings.get("beta1") else [])
        return {name: torch.cat([rule.state[part][name].flatten() for part in parts if name in rule.state[part]]) for name in names}

    return record(p, step, state)


CASES = {"adamw_groups": adamw_groups, "lion": lion, "ademamix": ademamix, "averaged": averaged, "schedule_free": schedule_free,
         "muon": lambda: muon("match_rms_adamw", True, 0.1), "muon_original": lambda: muon("original", False, 0.0),
         "adafactor": lambda: adafactor(lr=None, clip_threshold=0.7, weight_decay=0.1),
         "adafactor_momentum": lambda: adafactor(lr=0.03, relative_step=False, scale_parameter=False, beta1=0.8, decay_rate=-0.6)}

if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--out", type=Path, required=True)
    out = options.parse_args().out
    for name, case in CASES.items():
        (out / f"{name}.json").write_text(json.dumps(case(), indent=1) + "\n")
