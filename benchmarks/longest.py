#!/usr/bin/env python3
"""Prints the longest sequence that each number of context-parallel ranks can train.

    longest.py [--plan build/release/tools/redco-plan] [--budget 80]

The model has the sizes of LLaMA-7B, in bf16 on 8 tensor-parallel shards, one example per replica,
with recomputation of all blocks and AdamW. The plan of a rank must fit in the budget. Lengths are
multiples of 1024 tokens.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODEL = {"model_type": "llama", "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
         "num_attention_heads": 32, "num_key_value_heads": 32, "max_position_embeddings": 2**24, "hidden_act": "silu",
         "rms_norm_eps": 1e-6, "tie_word_embeddings": False}
STEP = 1024  # tokens


def peak(options, config, ranks, tokens):
    """Returns the planned peak bytes of a rank."""
    done = subprocess.run([options.plan, config, "--mesh", f"cp={ranks},tp=8", "--batch", "1", "--sequence", str(tokens), "--dtype", "bf16",
                           "--recompute", "--format", "json"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"longest: {done.stderr}")
    return json.loads(done.stdout)["peak_bytes"]


def longest(options, config, ranks, budget):
    low, high = 0, 1
    while peak(options, config, ranks, high * STEP) <= budget:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if peak(options, config, ranks, middle * STEP) <= budget:
            low = middle
        else:
            high = middle
    return low * STEP


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plan", default=str(ROOT / "build/release/tools/redco-plan"))
    parser.add_argument("--budget", type=int, default=80, help="GiB of a rank")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.json"
        config.write_text(json.dumps(MODEL))
        print("| cp | longest sequence in tokens | to cp 1 |\n|---:|---:|---:|")
        first = None
        for ranks in 1, 2, 4, 8:
            tokens = longest(options, str(config), ranks, options.budget * 2**30)
            first = first or tokens
            print(f"| {ranks} | {tokens} | {tokens / first:.2f} |", flush=True)
