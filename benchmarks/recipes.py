#!/usr/bin/env python3
"""Compares the recipes of examples/ with plain PyTorch programs of the same networks and sizes, in
turns in one run on one thread.

  scripts/bench recipes [--runs 5]      needs scripts/setup --peers

maml: meta-steps per second, each of 25 sinusoids, second order, one inner step. ddpg: steps of the
pendulum per second, each with an update of critic and actor from 128 rows. Prints one JSON line
with the medians and their ratio for each recipe.
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

import torch
from torch import nn

root = pathlib.Path(__file__).resolve().parents[1]
examples = root / "build/release/examples"


def mlp(*sizes, last=None):
    layers = []
    for before, after in zip(sizes, sizes[1:]):
        layers += [nn.Linear(before, after), nn.ReLU()]
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    torch.set_num_threads(1)
    for name, ours, theirs, steps in (("maml", maml_of_redco, maml_of_torch, 80), ("ddpg", ddpg_of_redco, ddpg_of_torch, 1500)):
        found = [(ours(steps), theirs(steps)) for _ in range(runs)]
        print(json.dumps({"recipe": name, "redco_per_second": round(statistics.median(a for a, _ in found), 1),
                          "torch_per_second": round(statistics.median(b for _, b in found), 1),
                          "ratio": round(statistics.median(a / b for a, b in found), 2)}), flush=True)


if __name__ == "__main__":
    main()
