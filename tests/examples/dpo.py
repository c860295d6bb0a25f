#!/usr/bin/env python3
"""Compares a training by examples/dpo with that of plain PyTorch in tests/files/dpo.json (see
make_dpo.py): the loss of each update, and the loss and accuracy of each evaluation, to 1e-5.

    dpo.py PROGRAM ROOT WORK

Exit code 1 if a number differs.
"""
import json
import pathlib
import shutil
import subprocess
import sys


def write_folder(root, folder):
    """Copies the model and adds its tokenizer, whose tokens are characters."""
    shutil.copytree(root / "tests/files/parity/gpt2-base", folder)
    letters = ["\u0120"] + [chr(code) for code in range(33, 127)]
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "normalizer": None, "post_processor": None,
        "added_tokens": [{"id": 96, "content": "<end>", "single_word": False, "lstrip": False, "rstrip": False,
                          "normalized": False, "special": True}],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "merges": [],
                  "vocab": {letter: i for i, letter in enumerate(letters)}}}))


def main(program, root, work):
    root, work = pathlib.Path(root), pathlib.Path(work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    write_folder(root, work / "model")
    expected = json.loads((root / "tests/files/dpo.json").read_text())
    for name in ("pairs", "held_out"):
        (work / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in expected[name]))
    for mesh in ("1x1", "2x1", "1x2"):
        subprocess.run([program, "--model", work / "model", "--data", work / "pairs.jsonl", "--eval", work / "held_out.jsonl",
                        "--beta", str(expected["beta"]), "--lr", str(expected["lr"]), "--warmup", "0", "--weight-decay", "0",
                        "--clip-norm", "0", "--epochs", str(len(expected["losses"])), "--global-batch", str(len(expected["pairs"])),
                        "--dtype", "f64", "--threads", "1", "--quiet", "--mesh", mesh, "--workdir", work / mesh], check=True)
        rows = [json.loads(line) for line in (work / mesh / "metrics.jsonl").read_text().splitlines()]
        losses = [row["loss"] for row in rows if "loss" in row]
        evaluations = [{name: row[f"eval/{name}"] for name in ("loss", "accuracy")} for row in rows if "eval/loss" in row]
        found = losses + [x[name] for x in evaluations for name in ("loss", "accuracy")]
        wanted = expected["losses"] + [x[name] for x in expected["evaluations"] for name in ("loss", "accuracy")]
        if len(found) != len(wanted):
            print(f"{mesh}: {len(found)} numbers instead of {len(wanted)}")
            return 1
        worst = max(abs(a - b) for a, b in zip(found, wanted))
        print(f"{mesh}: {len(found)} numbers differ by at most {worst:.1e} from PyTorch's")
        if not worst <= 1e-5:
            print(f"found {found}\nexpected {wanted}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
