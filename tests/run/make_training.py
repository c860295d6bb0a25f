#!/usr/bin/env python3
"""Records whole training runs of a small GPT-2 by Hugging Face transformers and torch, in fp64 on
the CPU.

    python make_training.py --out ../files/training

Writes model/ (config.json and weights, fp32, as save_pretrained does), expected.json, and
<optimizer>.safetensors with the parameters after the run (fp64).

Each run takes 20 steps in 4 epochs over 33 texts of unequal length, 7 per step and 5 in the last
step of an epoch. A text is its bytes, each the label of the previous one, cut at 16. The loss of a
step is the mean over all labels of its batch. Norms and biases are not decayed, as in
transformers.Trainer. The learning rate is one of transformers' schedules; norm and clipping are
torch's.

Records per step: loss, lr, grad_norm (before clipping). Records per epoch: the loss over the
evaluation texts after it. `evaluated` and `predicted` belong to the model before any step: the loss
over the evaluation texts, and for each text the logit of "e" after its second byte.
"""
import argparse
import copy
import json
import random
from pathlib import Path

import torch
import transformers as hf
from safetensors.torch import save_file

SEED, CONTEXT, EPOCHS, BATCH = 14, 16, 4, 7
SIZES = dict(vocab_size=127, n_positions=CONTEXT, n_embd=20, n_head=2, n_layer=2, n_inner=36, bos_token_id=None, eos_token_id=None,
             resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
WORDS = "seven boats a cat counts the tensors of an old house; bread, butter and 42 gradients!".split()
RUNS = {
    "adamw": dict(make=lambda groups: torch.optim.AdamW(groups, lr=4e-3, betas=(0.9, 0.99), eps=1e-4), decay=0.1, clip=1.45,
                  schedule=lambda optimizer, steps: hf.get_cosine_schedule_with_warmup(optimizer, 3, steps)),
    "sgd": dict(make=lambda groups: torch.optim.SGD(groups, lr=0.2, momentum=0.8, nesterov=True), decay=0.05, clip=1.6,
                schedule=lambda optimizer, steps: hf.get_linear_schedule_with_warmup(optimizer, 4, steps)),
}


def make_texts(rng, count):
    """Returns texts of 3 to 22 bytes, so that batches of equal size have unequal numbers of labels.
    """
    return [" ".join(rng.choices(WORDS, k=4))[:rng.randint(3, 22)] for _ in range(count)]


def make_model():
    model = hf.GPT2LMHeadModel(hf.GPT2Config(**SIZES))
    rng = torch.Generator().manual_seed(SEED)
    with torch.no_grad():
        for name, p in model.named_parameters():
            mean = 1.0 if "ln_" in name and name.endswith("weight") else 0.0
            p.copy_(mean + 0.2 * torch.randn(p.shape, generator=rng))
    return model


def logits_of(model, texts):
    ids = [list(text.encode())[:-1][:CONTEXT] for text in texts]
    width = max(map(len, ids))
    return model(torch.tensor([row + [0] * (width - len(row)) for row in ids])).logits


def loss_of(model, texts):
    """Returns the sum over all labels, and their number. No label depends on the padding after a
    text."""
    logits = logits_of(model, texts)
    labels = torch.full(logits.shape[:2], -100)
    for row, text in enumerate(texts):
        after = list(text.encode())[1:][:CONTEXT]
        labels[row, :len(after)] = torch.tensor(after)
    total = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")
    return total, (labels != -100).sum()


def evaluate(model, texts):
    model.eval()
    with torch.no_grad():
        total, count = loss_of(model, texts)
    return (total / count).item()


def run(model, texts, held_out, order, make, decay, clip, schedule):
    decayed = set(hf.Trainer.get_decay_parameter_names(None, model))
    groups = [{"params": [p for n, p in model.named_parameters() if n in decayed], "weight_decay": decay},
              {"params": [p for n, p in model.named_parameters() if n not in decayed], "weight_decay": 0.0}]
    optimizer = make(groups)
    per_epoch = -(-len(texts) // BATCH)
    scheduler = schedule(optimizer, EPOCHS * per_epoch)
    rows = {"loss": [], "lr": [], "grad_norm": [], "evaluation": [], "labels": []}
    for epoch in range(EPOCHS):
        for begin in range(0, len(texts), BATCH):
            model.train()
            optimizer.zero_grad()
            total, count = loss_of(model, [texts[i] for i in order[epoch][begin:begin + BATCH]])
            (total / count).backward()
            rows["grad_norm"].append(torch.nn.utils.clip_grad_norm_(model.parameters(), clip).item())
            rows["loss"].append((total / count).item())
            rows["labels"].append(count.item())
            rows["lr"].append(scheduler.get_last_lr()[0])
            optimizer.step()
            scheduler.step()
        rows["evaluation"].append(evaluate(model, held_out))
    clipped = sum(norm > clip for norm in rows["grad_norm"])
    assert 0 < clipped < len(rows["loss"]), rows["grad_norm"]
    assert rows["evaluation"][-1] < rows["evaluation"][0]
    print(f"{len(rows['loss'])} steps, {clipped} clipped, loss {rows['loss'][0]:.4f} -> {rows['loss'][-1]:.4f}")
    return rows


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--out", type=Path, required=True)
    args = args.parse_args()
    hf.logging.set_verbosity_error()
    torch.set_num_threads(1)
    rng = random.Random(SEED)
    texts, held_out = make_texts(rng, 33), make_texts(rng, 9)
    order = [rng.sample(range(len(texts)), len(texts)) for _ in range(EPOCHS)]
    model = make_model()
    model.save_pretrained(args.out / "model")
    model = model.double()
    evaluated = evaluate(model, held_out)
    with torch.no_grad():
        predicted = logits_of(model, held_out)[:, 1, ord("e")].tolist()
    expected = {"transformers": hf.__version__, "torch": torch.__version__.split("+")[0], "texts": texts, "held_out": held_out,
                "order": order, "evaluated": evaluated, "predicted": predicted, "runs": {}}
    for name, options in RUNS.items():
        trained = copy.deepcopy(model)
        expected["runs"][name] = run(trained, texts, held_out, order, **options)
        save_file({n: p.detach().contiguous() for n, p in trained.named_parameters()}, args.out / f"{name}.safetensors")
    (args.out / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
