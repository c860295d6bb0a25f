#!/usr/bin/env python3
"""Writes the numbers of a training by direct preference optimisation to tests/files/dpo.json.
transformers 5.24 and plain PyTorch compute them in f64.

    python tests/examples/make_dpo.py        the Python of .deps/folders-5.24

The model is tests/files/parity/gpt2-base. A token is a character: id 0 is the space, ids 1 to 94
are the printable characters from ! to ~, and id 96 ends a text. Every update sees all pairs.
"""
import json
import pathlib

import torch
from torch.nn.functional import log_softmax, logsigmoid
from transformers import GPT2LMHeadModel

ROOT = pathlib.Path(__file__).resolve().parents[2]
BETA, LR, STEPS, END = 0.3, 3e-3, 4, 96
PAIRS = (("Sort 3 1 2:", " 1 2 3", " 1 3 2"), ("Sort 9 8:", " 8 9", " 9 8 7"), ("Say yes.", " yes", " no"),
         ("2 + 2 =", " 4", " five, or more"), ("a b c", " d e f", " x"))
HELD_OUT = (("Sort 5 4:", " 4 5", " 5 4"), ("Say no.", " yes", " no"), ("1 + 1 =", " 2", " five, or so"))


def ids_of(text):
    return [ord(letter) - 32 for letter in text]


def log_probability(model, prompt, answer):
    ids = torch.tensor([ids_of(prompt + answer) + [END]])
    each = log_softmax(model(ids).logits[0, :-1], -1).gather(-1, ids[0, 1:, None])[:, 0]
    return each[len(prompt) - 1:].sum()


def log_ratios(model, pairs):
    return torch.stack([log_probability(model, p, chosen) - log_probability(model, p, rejected) for p, chosen, rejected in pairs])


def loss_of(policy, reference):
    return -logsigmoid(BETA * (policy - reference)).mean()


def main():
    model = GPT2LMHeadModel.from_pretrained(ROOT / "tests/files/parity/gpt2-base", dtype=torch.float64).eval()
    with torch.no_grad():
        first, first_held_out = log_ratios(model, PAIRS), log_ratios(model, HELD_OUT)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LR, weight_decay=0)
    losses, evaluations = [], []
    for step in range(STEPS):
        optimizer.param_groups[0]["lr"] = LR * (STEPS - step) / STEPS
        loss = loss_of(log_ratios(model, PAIRS), first)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        with torch.no_grad():
            found = log_ratios(model, HELD_OUT)
        evaluations.append({"loss": loss_of(found, first_held_out).item(),
                            "accuracy": (found > first_held_out).double().mean().item()})
    rows = [[dict(zip(("prompt", "chosen", "rejected"), pair)) for pair in pairs] for pairs in (PAIRS, HELD_OUT)]
    content = {"beta": BETA, "lr": LR, "pairs": rows[0], "held_out": rows[1], "losses": losses, "evaluations": evaluations}
    (ROOT / "tests/files/dpo.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
