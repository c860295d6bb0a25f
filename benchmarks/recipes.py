#!/usr/bin/env python3
"""Compares the recipes of examples/ with plain PyTorch programs of the same networks and sizes, in
turns in one run on one thread.

  scripts/bench recipes [--runs 5] [--only ppo]      needs scripts/setup --peers

maml: meta-steps per second, each of 25 sinusoids, second order, one inner step. ddpg: steps of the
pendulum per second, each with an update of critic and actor from 128 rows. ppo: steps of CartPole
per second, 8 environments x 128 steps for 16 minibatches of 256 rows (benchmarks/ppo_shape.cpp),
and milliseconds of acting, environment and learning per update. Prints one JSON line with the
medians and their ratio for each recipe.
"""

import argparse
import json
import math
import pathlib
import random
import re
import statistics
import subprocess
import tempfile
import time

import numpy as np
import torch
from torch import nn

root = pathlib.Path(__file__).resolve().parents[1]
examples = root / "build/release/examples"
benchmarks = root / "build/release/benchmarks"


def mlp(*sizes, last=None, between=nn.ReLU):
    layers = []
    for before, after in zip(sizes, sizes[1:]):
        layers += [nn.Linear(before, after), between()]
    return nn.Sequential(*layers[:-1], *([last] if last else []))


def maml_of_torch(steps, tasks=25, rate=0.01):
    net = mlp(1, 40, 40, 1)
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0)

    def called(weights, x):
        for i in range(0, len(weights), 2):
            x = nn.functional.linear(x, weights[i], weights[i + 1])
            if i + 2 < len(weights):
                x = torch.relu(x)
        return x

    times = []
    for _ in range(steps):
        begin = time.perf_counter()
        optimizer.zero_grad()
        total = 0
        for _ in range(tasks):
            amplitude, phase = random.uniform(0.1, 5), random.uniform(0, math.pi)
            x = torch.rand(20, 1) * 10 - 5
            y = amplitude * torch.sin(x + phase)
            weights = list(net.parameters())
            loss = (called(weights, x[:10]) - y[:10]).square().mean()
            gradients = torch.autograd.grad(loss, weights, create_graph=True)
            fast = [w - rate * g for w, g in zip(weights, gradients)]
            total = total + (called(fast, x[10:]) - y[10:]).square().mean()
        (total / tasks).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 10)
        optimizer.step()
        times.append(time.perf_counter() - begin)
    return 1 / statistics.median(times[5:])


def maml_of_redco(steps):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([examples / "maml", "--steps", str(steps), "--threads", "1", "--quiet", "--workdir", folder],
                       check=True, stdout=subprocess.DEVNULL)
        rows = [json.loads(line) for line in (pathlib.Path(folder) / "maml/metrics.jsonl").read_text().splitlines()]
    return statistics.median(row["tasks_per_second"] for row in rows[5:]) / 25


def ddpg_of_torch(steps, warmup=100, size=128):
    actor, critic = mlp(3, 64, 64, 1, last=nn.Tanh()), mlp(4, 64, 64, 1)
    steady_actor, steady_critic = mlp(3, 64, 64, 1, last=nn.Tanh()), mlp(4, 64, 64, 1)
    steady_actor.load_state_dict(actor.state_dict())
    steady_critic.load_state_dict(critic.state_dict())
    for one in [*steady_actor.parameters(), *steady_critic.parameters()]:
        one.requires_grad_(False)
    acts = torch.optim.Adam(actor.parameters(), lr=1e-3)
    judges = torch.optim.Adam(critic.parameters(), lr=2e-3)
    rows = torch.empty(steps, 8)
    angle, speed = 1.0, 0.0
    begin = time.perf_counter()
    for step in range(steps):
        if step == warmup:
            begin = time.perf_counter()
        if step % 200 == 0:
            angle, speed = random.uniform(-math.pi, math.pi), random.uniform(-1, 1)
        seen = [math.cos(angle), math.sin(angle), speed]
        torque = random.uniform(-2, 2)
        if step >= warmup:
            with torch.no_grad():
                torque = 2 * actor(torch.tensor([seen])).item() + random.gauss(0, 0.3)
        torque = max(-2.0, min(2.0, torque))
        turned = math.remainder(angle, 2 * math.pi)
        reward = -(turned**2 + 0.1 * speed**2 + 0.001 * torque**2)
        speed = max(-8.0, min(8.0, speed + (15 * math.sin(angle) + 3 * torque) * 0.05))
        angle += speed * 0.05
        rows[step] = torch.tensor([*seen, torque, reward, math.cos(angle), math.sin(angle), speed])
        if step < warmup:
            continue
        batch = rows[torch.randint(step + 1, (size,))]
        here, following = batch[:, :3], batch[:, 5:]
        with torch.no_grad():
            later = steady_critic(torch.cat([following, 2 * steady_actor(following)], 1))
            wanted = 0.1 * batch[:, 4:5] + 0.98 * later
        judges.zero_grad()
        (critic(batch[:, :4]) - wanted).square().mean().backward()
        judges.step()
        for one in critic.parameters():
            one.requires_grad_(False)
        acts.zero_grad()
        (-critic(torch.cat([here, 2 * actor(here)], 1)).mean()).backward()
        acts.step()
        for one in critic.parameters():
            one.requires_grad_(True)
        with torch.no_grad():
            for steady, own in ((steady_actor, actor), (steady_critic, critic)):
                for a, b in zip(steady.parameters(), own.parameters()):
                    a.lerp_(b, 0.01)
    return (steps - warmup) / (time.perf_counter() - begin)


def ddpg_of_redco(steps):
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run([examples / "ddpg", "--steps", str(steps), "--warmup", "100", "--threads", "1", "--quiet",
                              "--workdir", folder], check=True, stdout=subprocess.PIPE, text=True).stdout
    return float(re.search(r"([0-9.]+) steps per second", out).group(1))


class CartPole:
    """The environment CartPole-v1. A loop over eight environments is faster than operations of
    numpy or torch on rows of eight."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.state = tuple(random.uniform(-0.05, 0.05) for _ in range(4))
        self.steps = 0

    def push(self, right):
        x, v, angle, turn = self.state
        cosine, sine = math.cos(angle), math.sin(angle)
        thrust = ((10 if right else -10) + 0.05 * turn * turn * sine) / 1.1
        spin = (9.8 * sine - cosine * thrust) / (0.5 * (4 / 3 - 0.1 * cosine * cosine / 1.1))
        x, angle = x + 0.02 * v, angle + 0.02 * turn
        self.state = (x, v + 0.02 * (thrust - 0.05 * spin * cosine / 1.1), angle, turn + 0.02 * spin)
        self.steps += 1
        return abs(x) > 2.4 or abs(angle) > 0.20943951 or self.steps == 500


def ppo_of_torch(updates, count=8, horizon=128, size=256, epochs=4, discount=0.99, smoothing=0.95):
    actor, critic = mlp(4, 64, 64, 2, between=nn.Tanh), mlp(4, 64, 64, 1, between=nn.Tanh)
    every = [*actor.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(every, lr=1e-3, eps=1e-5)
    poles, returns, spent = [CartPole() for _ in range(count)], [], {"act": 0, "environment": 0, "learn": 0}
    table = torch.empty(horizon * count, 8)
    rows = table.numpy().reshape(horizon, count, 8)
    values, going = np.empty((horizon + 1, count), np.float32), np.empty((horizon, count), np.float32)
    begin = last = time.perf_counter()

    def lap(name):
        nonlocal last
        now = time.perf_counter()
        spent[name] += 1e3 * (now - last) / updates
        last = now

    for _ in range(updates):
        returns.clear()
        with torch.no_grad():
            for t in range(horizon):
                seen = torch.tensor([pole.state for pole in poles])
                lap("environment")
                scores = actor(seen).numpy()
                values[t] = critic(seen).numpy()[:, 0]
                p = 1 / (1 + np.exp(scores[:, 0] - scores[:, 1]))
                right = np.random.random(count) < p
                rows[t, :, :4] = seen.numpy()
                rows[t, :, 4] = right
                rows[t, :, 5] = np.log(np.where(right, p, 1 - p))
                lap("act")
                ended = [pole.push(to_right) for pole, to_right in zip(poles, right.tolist())]
                for pole, ends in zip(poles, ended):
                    if ends:
                        returns.append(pole.steps)
                        pole.reset()
                going[t] = [not ends for ends in ended]
                lap("environment")
            values[horizon] = critic(torch.tensor([pole.state for pole in poles])).numpy()[:, 0]
        ahead, keep = 1 + discount * going * values[1:] - values[:-1], discount * smoothing * going
        later = np.zeros(count, np.float32)
        for t in reversed(range(horizon)):
            rows[t, :, 6] = later = ahead[t] + keep[t] * later
        rows[:, :, 7] = rows[:, :, 6] + values[:-1]
        lap("act")
        for _ in range(epochs):
            for batch in table[torch.randperm(horizon * count)].split(size):
                seen, gain = batch[:, :4], batch[:, 6:7]
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                chances = torch.log_softmax(actor(seen), 1)
                ratio = (chances.gather(1, batch[:, 4:5].long()) - batch[:, 5:6]).exp()
                surrogate = torch.minimum(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
                entropy = -(chances.exp() * chances).sum() / size
                missed = (critic(seen) - batch[:, 7:8]).square().mean()
                optimizer.zero_grad()
                (0.5 * missed - surrogate - 0.01 * entropy).backward()
                nn.utils.clip_grad_norm_(every, 0.5)
                optimizer.step()
        lap("learn")
    return {"steps_per_second": updates * horizon * count / (time.perf_counter() - begin),
            **{name + "_ms": value for name, value in spent.items()},
            "mean_return": statistics.fmean(returns) if returns else 0}


def ppo_of_redco(updates):
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run([benchmarks / "ppo_shape", "--updates", str(updates), "--threads", "1", "--quiet",
                              "--workdir", folder], check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(next(line for line in out.splitlines() if line.startswith("{")))


def compare(name, ours, theirs, steps, runs):
    """Prints medians of programs in turns, and of the ratios of those that followed each other."""
    found = [(ours(steps), theirs(steps)) for _ in range(runs)]
    print(json.dumps({"recipe": name, "redco_per_second": round(statistics.median(a for a, _ in found), 1),
                      "torch_per_second": round(statistics.median(b for _, b in found), 1),
                      "ratio": round(statistics.median(a / b for a, b in found), 2)}), flush=True)


def compare_ppo(steps, runs):
    found = [(ppo_of_redco(steps), ppo_of_torch(steps)) for _ in range(runs)]
    line = {"recipe": "ppo"}
    for key in found[0][0]:
        for at, side in enumerate(("redco", "torch")):
            line[f"{side}_{key}"] = round(statistics.median(one[at][key] for one in found), 2)
    line["act_ratio"] = round(statistics.median(b["act_ms"] / a["act_ms"] for a, b in found), 2)
    line["learn_ratio"] = round(statistics.median(b["learn_ms"] / a["learn_ms"] for a, b in found), 2)
    line["ratio"] = round(statistics.median(a["steps_per_second"] / b["steps_per_second"] for a, b in found), 2)
    print(json.dumps(line), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", choices=("maml", "ddpg", "ppo"), default="", help="one recipe")
    parser.add_argument("--updates", type=int, default=60, help="updates of ppo")
    args = parser.parse_args()
    torch.set_num_threads(1)
    if args.only in ("", "maml"):
        compare("maml", maml_of_redco, maml_of_torch, 80, args.runs)
    if args.only in ("", "ddpg"):
        compare("ddpg", ddpg_of_redco, ddpg_of_torch, 1500, args.runs)
    if args.only in ("", "ppo"):
        compare_ppo(args.updates, args.runs)


if __name__ == "__main__":
    main()
