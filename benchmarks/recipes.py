#!/usr/bin/env python3
"""Compares the recipes of examples/ with plain PyTorch programs of the same networks and sizes, in
turns in one run.

  scripts/bench recipes [--runs 5] [--only ppo mnist] [--dtype bf16] [--threads 2]

maml: meta-steps per second, each of 25 sinusoids, second order, one inner step. ddpg: steps of the
pendulum per second, each with an update of critic and actor from 128 rows. ppo: steps of CartPole
per second, 8 episodes x 128 steps for 16 minibatches of 256 rows. The programs of the other recipes
are in plain_recipes.py; their numbers of parameters must equal those of redco's plan. Prints a JSON
line for each recipe: the medians, the median of the ratios of times, and the median of the ratios
of processor times. If both programs have equal data, also the mean losses of the first and of the
last 20 steps. Needs scripts/setup --peers.
"""

import argparse
import dataclasses
import json
import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
from torch import nn

import plain_recipes
from plain_recipes import UNCOUNTED, Measurement, now, since

root = pathlib.Path(__file__).resolve().parents[1]
examples = root / "build/release/examples"


def mlp(*sizes, last=None, between=nn.ReLU):
    layers = []
    for before, after in zip(sizes, sizes[1:]):
        layers += [nn.Linear(before, after), between()]
    return nn.Sequential(*layers[:-1], *([last] if last else []))


def maml_of_torch(steps, _, tasks=25, rate=0.01):
    net = mlp(1, 40, 40, 1)
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0)

    def called(weights, x):
        for i in range(0, len(weights), 2):
            x = nn.functional.linear(x, weights[i], weights[i + 1])
            if i + 2 < len(weights):
                x = torch.relu(x)
        return x

    for step in range(steps):
        if step == UNCOUNTED:
            begin = now()
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
    return since(begin, steps - UNCOUNTED)


def ddpg_of_torch(steps, _, warmup=100, size=128):
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
    for step in range(steps):
        if step == warmup:
            begin = now()
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
    return since(begin, steps - warmup)


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
        terminated = abs(x) > 2.4 or abs(angle) > 0.20943951
        return terminated, terminated or self.steps == 500


def ppo_of_torch(updates, _, count=8, horizon=128, size=256, epochs=4, discount=0.99, smoothing=0.95):
    actor, critic = mlp(4, 64, 64, 2, between=nn.Tanh), mlp(4, 64, 64, 1, between=nn.Tanh)
    every = [*actor.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(every, lr=1e-3, eps=1e-5)
    poles = [CartPole() for _ in range(count)]
    seen, following = torch.empty(horizon, count, 4), torch.empty(horizon, count, 4)
    actions = torch.empty(horizon, count, 1, dtype=torch.long)
    terminated, ended = np.empty((horizon, count), np.float32), np.empty((horizon, count), np.float32)
    for update in range(updates):
        if update == UNCOUNTED:
            begin = now()
        with torch.no_grad():
            for t in range(horizon):
                seen[t] = torch.tensor([pole.state for pole in poles])
                scores = actor(seen[t]).numpy()
                right = np.random.random(count) < 1 / (1 + np.exp(scores[:, 0] - scores[:, 1]))
                actions[t, :, 0] = torch.from_numpy(right)
                over = [pole.push(to_right) for pole, to_right in zip(poles, right.tolist())]
                following[t] = torch.tensor([pole.state for pole in poles])
                terminated[t], ended[t] = zip(*over)
                for pole, (_, ends) in zip(poles, over):
                    if ends:
                        pole.reset()
            values, later = critic(seen)[:, :, 0].numpy(), critic(following)[:, :, 0].numpy()
            chances = torch.log_softmax(actor(seen), 2).gather(2, actions)
        gains = 1 + discount * (1 - terminated) * later - values
        for t in reversed(range(horizon - 1)):
            gains[t] += discount * smoothing * (1 - ended[t]) * gains[t + 1]
        columns = [seen, actions, chances, torch.from_numpy(gains)[:, :, None], torch.from_numpy(gains + values)[:, :, None]]
        table = torch.cat(columns, 2).flatten(0, 1)
        optimizer.param_groups[0]["lr"] = 1e-3 * (1 - update / updates)
        for _ in range(epochs):
            for batch in table[torch.randperm(horizon * count)].split(size):
                gain = batch[:, 6:7]
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                known = torch.log_softmax(actor(batch[:, :4]), 1)
                ratio = (known.gather(1, batch[:, 4:5].long()) - batch[:, 5:6]).exp()
                surrogate = torch.minimum(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
                entropy = -(known.exp() * known).sum() / size
                missed = (critic(batch[:, :4]) - batch[:, 7:8]).square().mean()
                optimizer.zero_grad()
                (missed - surrogate - 0.01 * entropy).backward()
                nn.utils.clip_grad_norm_(every, 0.5)
                optimizer.step()
    return since(begin, updates - UNCOUNTED)


@dataclasses.dataclass(frozen=True)
class Recipe:
    """A recipe, and the same work in PyTorch: `train(steps, dtype)` returns a Measurement, as
    measured_redco() does."""

    name: str
    train: callable
    steps: int
    options: str = ""
    counted: str = "--max-steps"  # the option that sets the number of steps
    rows: str = "metrics.jsonl"
    each: int = 1  # steps between two rows of the metrics
    unit: int = 1  # steps of environments in a step
    bf16: bool = True  # false: always in f32
    equal_data: bool = False  # true: the losses of both programs are comparable


RECIPES = (
    Recipe("maml", maml_of_torch, 300, counted="--steps", rows="maml/metrics.jsonl", bf16=False),
    Recipe("ddpg", ddpg_of_torch, 3000, "--warmup 100", "--steps", each=100, bf16=False),
    Recipe("ppo", ppo_of_torch, 60, "--env cartpole", "--updates", "cartpole/metrics.jsonl", unit=8 * 128, bf16=False),
    Recipe("mnist", plain_recipes.mnist, 190),
    Recipe("classification", plain_recipes.classification, 300),
    Recipe("seq2seq", plain_recipes.seq2seq, 300, "--held-out 50"),
    Recipe("dpo", plain_recipes.dpo, 240, "--held-out 50 --pairs 8000"),
    Recipe("text_to_image", plain_recipes.text_to_image, 200, "--held-out 4", equal_data=True),
)


def processor_seconds(process):
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def parameters_of(log):
    """Returns the number of trained numbers in the first plan of a log: the sum over its rows
    "NAME xREPEATS [LOGICAL SHAPE] ...", without statistics."""
    plan = log.read_text().split("plan: mesh")[1]
    rows = re.findall(r"^\S+   \S+(?: x(\d+))? +\[([\d, ]+)\].*?(statistics, not trained)?$", plan, re.MULTILINE)
    return sum(int(repeats or 1) * math.prod(map(int, shape.split(","))) for repeats, shape, statistics in rows if not statistics)


class WrittenRows:
    """A counter of the rows of a growing file of metrics. It reads only what is new, because a read
    of all rows would take time from the measured program."""

    def __init__(self, path):
        self.path, self.file, self.begun, self.count = path, None, "", 0

    def counted(self):
        """Returns the number of complete rows of steps so far."""
        if self.file is None and self.path.exists():
            self.file = self.path.open()
        if self.file is not None:
            *rows, self.begun = (self.begun + self.file.read()).split("\n")
            self.count += sum('per_second"' in row for row in rows)
        return self.count


def measured_redco(recipe, dtype, threads):
    """Runs a program until it has logged all steps. Returns the Measurement of its steps from the
    first rows of the metrics on."""
    first, last = UNCOUNTED // recipe.each or 1, recipe.steps // recipe.each
    with tempfile.TemporaryDirectory() as folder:
        rows = pathlib.Path(folder) / recipe.rows
        program = subprocess.Popen([examples / recipe.name, recipe.counted, str(recipe.steps), *recipe.options.split(), "--quiet",
                                    "--dtype", dtype, "--threads", str(threads), "--workdir", folder],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        written = WrittenRows(rows)
        begun, count = None, 0
        while count < last:
            time.sleep(0.002)
            ended = program.poll()
            count = written.counted()
            if ended is not None and count < last:
                sys.exit(f"recipes: {recipe.name} ended early, with exit code {ended}")
            if begun is None and count >= first:
                begun, begin = count, (time.perf_counter(), processor_seconds(program.pid))
        end = (time.perf_counter(), processor_seconds(program.pid))
        program.kill()
        program.wait()
        made = Measurement(*((after - before) / (count - begun) / recipe.each for before, after in zip(begin, end)))
        if recipe.train.__module__ == plain_recipes.__name__:
            losses = tuple(json.loads(row).get("loss") for row in rows.read_text().splitlines()[:recipe.steps])
            made = made._replace(parameters=parameters_of(rows.with_name("log.txt")), losses=losses)
    return made


def compare(recipe, dtype, threads, runs):
    """Prints medians of the programs in turns, and of the ratios of those that followed each
    other."""
    found = [(measured_redco(recipe, dtype, threads), recipe.train(recipe.steps, dtype)) for _ in range(runs)]
    line = {"recipe": recipe.name, "dtype": dtype, "threads": threads, "runs": runs}
    for side, name in enumerate(("redco", "torch")):
        line[name + "_per_second"] = round(recipe.unit / statistics.median(pair[side][0] for pair in found), 1)
    for at, name in enumerate(("ratio", "processor_ratio")):
        line[name] = round(statistics.median(theirs[at] / ours[at] for ours, theirs in found), 2)
    ours, theirs = found[0]
    line["parameters"] = ours.parameters or None
    if ours.parameters != theirs.parameters:
        sys.exit(f"recipes: {recipe.name} has {ours.parameters} parameters, the program of PyTorch {theirs.parameters}")
    if recipe.equal_data:
        for side, name in enumerate(("redco", "torch")):
            for of, part in (("first", slice(UNCOUNTED)), ("last", slice(-UNCOUNTED, None))):
                line[f"{name}_{of}_loss"] = round(statistics.mean(loss for pair in found for loss in pair[side].losses[part]), 3)
    print(json.dumps(line), flush=True)


def main():
    names = [recipe.name for recipe in RECIPES]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="some recipes")
    parser.add_argument("--dtype", choices=("f32", "bf16"), default="f32", help="bf16: PyTorch runs under autocast")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    for recipe in RECIPES:
        if recipe.name in args.only:
            compare(recipe, args.dtype if recipe.bf16 else "f32", args.threads, args.runs)


if __name__ == "__main__":
    main()
