#!/usr/bin/env python3
"""Checks folders of every family: saved by Hugging Face transformers, read by redco, saved by
redco, and read back by transformers.

    check_folders.py PROGRAM WORK [--parity DIR] [--only NAME]

PROGRAM is build/release/tests/parity. For each case of make_parity.py in DIR (../shared/parity),
and for ViTs of 24 x 40 pixels, writes folders of random weights and expected results. One folder
names tensors as save_pretrained does. The other names them as files of the base model alone:
without its prefix and final_logits_bias, with copies of tied heads, and with the buffers that old
versions stored.

PROGRAM compares logits, gradients, a step and decoding, and saves the model again. transformers
must read that folder without missing, unexpected or mismatched tensors, and every tensor bit for
bit. The folders in WORK can be compared without Python; folders/gpt2-base and folders/vit-24x40
come from there.

If torch or transformers 4.57 is missing, the Python of scripts/setup --peers is used, or that of
--folders or --tests. Without them the exit code is 77, in CI 1.
"""
import argparse
import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve()
PYTHONS = [HERE.parents[2] / f".deps/{name}/bin/python" for name in ("peers", "folders", "peft")]

try:
    import torch
    import transformers as hf
    from safetensors.torch import load_file, save_file
    new_enough = tuple(map(int, hf.__version__.split(".")[:2])) >= (4, 57)
except ImportError:
    new_enough = False
if not new_enough:
    tried = int(os.environ.get("REDCO_PYTHONS_TRIED", "0"))
    for number, python in enumerate(PYTHONS[tried:], tried + 1):
        if python.exists():
            os.environ["REDCO_PYTHONS_TRIED"] = str(number)
            os.execv(python, [python, *sys.argv])
    needs = "no Python here has torch and transformers 4.57; scripts/setup --folders installs them"
    if os.environ.get("CI") == "true":
        sys.exit(f"CI lacks what this test needs: {needs}")
    print(f"skipped: {needs}")
    sys.exit(77)

PREFIX = {"gpt2": "transformer.", "gptj": "transformer.", "gpt_neo": "transformer.", "llama": "model.", "mistral": "model.",
          "qwen2": "model.", "qwen3": "model.", "opt": "model.", "bart": "model.", "bert": "bert.", "roberta": "roberta.",
          "vit": "vit."}
BASE_OF_BART = "bart-without-bias"


def cases(tp):
    sizes = dict(hidden_size=24, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                 max_position_embeddings=64, vocab_size=97, pad_token_id=0, bos_token_id=1, eos_token_id=2)
    stretched = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    # Earlier versions do not keep LLaMA's angles in rope_parameters; llama-stretched has them
    newer = int(hf.__version__.split(".")[0]) >= 5
    yield from (case for case in tp.parity_cases() if newer or case.name != "llama-tied")
    yield tp.Case("mistral", hf.MistralConfig(**sizes, sliding_window=5))
    yield tp.Case("qwen2", hf.Qwen2Config(**sizes, tie_word_embeddings=True))
    yield tp.Case("qwen3", hf.Qwen3Config(**sizes, head_dim=10))
    yield tp.Case("gpt-neo", hf.GPTNeoConfig(
        vocab_size=97, pad_token_id=0, bos_token_id=1, eos_token_id=2, hidden_size=24, intermediate_size=40, num_layers=3, num_heads=4,
        max_position_embeddings=64, attention_types=[[["global", "local"], 1], [["global"], 1]], window_size=4))
    yield tp.Case("llama-stretched", hf.LlamaConfig(
        **sizes, rope_theta=500000.0, rope_scaling={**stretched, "original_max_position_embeddings": 32}))
    yield dataclasses.replace(next(case for case in tp.parity_cases() if case.name == "bart-base"), name=BASE_OF_BART)
    yield tp.Case("vit-24x40", hf.ViTConfig(
        hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, image_size=[24, 40], patch_size=[8, 4],
        num_channels=3, num_labels=3), "image")


def without_bias(build):
    """Returns a function that builds a model as `build` does. A BART that is stored as its base
    model alone has no final_logits_bias."""
    def built(case, seed):
        model = build(case, seed)
        if case.name == BASE_OF_BART:
            model.final_logits_bias.zero_()
        return model
    return built


def stored_with_prefix(tensors):
    """Returns the tensors of a BART under the names of files that hold the base model and the
    head's weight, without final_logits_bias."""
    kept = {name: value for name, value in tensors.items() if name != "final_logits_bias"}
    shared = kept["model.shared.weight"]
    return kept | {name: shared.clone() for name in
                   ("lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")}


def stored_as_base(tensors, config):
    """Returns the tensors under the names of files of the base model alone, with the buffers that
    old versions stored."""
    family, prefix = config.model_type, PREFIX.get(config.model_type, "")
    kept = {name: value for name, value in tensors.items() if name != "final_logits_bias"}
    base = {name.removeprefix(prefix): value.clone() for name, value in kept.items()}
    if family in ("gpt2", "gptj"):
        base |= {"h.0.attn.bias": torch.ones(1, 1, 4, 4), "h.1.attn.masked_bias": torch.tensor(-1e4)}
    if family == "gpt_neo":
        base |= {"h.0.attn.attention.bias": torch.ones(1, 1, 4, 4), "h.0.attn.attention.masked_bias": torch.tensor(-1e9)}
    if family in ("llama", "mistral", "qwen2", "qwen3"):
        base["layers.1.self_attn.rotary_emb.inv_freq"] = torch.ones(3)
    if family == "bart":
        base |= {"encoder.embed_tokens.weight": base["shared.weight"].clone(), "encoder.version": torch.tensor([3.0])}
    if family == "t5":
        base["decoder.embed_tokens.weight"] = base["shared.weight"].clone()
        base["decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"] = torch.ones(32, config.num_heads)
    if family in ("bert", "roberta"):
        base["embeddings.position_ids"] = torch.arange(config.max_position_embeddings)[None]
        base = {name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value
                for name, value in base.items()}
    if family == "bert":
        base["cls.predictions.bias"] = torch.ones(config.vocab_size)
    if family == "roberta":
        base["lm_head.bias"] = torch.ones(config.vocab_size)
    if family == "vit":
        base["pooler.dense.weight"] = torch.ones(config.hidden_size, config.hidden_size)
    return base


def read_by_transformers(folder, auto):
    """Reports a complaint if transformers computes other logits from the folder than from the
    original model."""
    model = auto.from_pretrained(folder, torch_dtype=torch.float32, attn_implementation="eager").eval()
    with torch.no_grad():
        found = model(**load_file(folder / "inputs.safetensors")).logits
    if not torch.equal(found, load_file(folder / "expected.safetensors")["logits"]):
        yield "transformers computes other logits from these files"


def compare(program, folder, saved, meshes, auto):
    """Returns all differences as sentences."""
    expected = load_file(folder / "original.safetensors")
    for mesh in meshes:
        shutil.rmtree(saved, ignore_errors=True)
        run = subprocess.run([program, folder, mesh, "--keep", saved], capture_output=True, text=True)
        if run.returncode != 0:
            yield f"on {mesh}: " + (run.stdout + run.stderr).strip()
            continue
        model, info = auto.from_pretrained(saved, output_loading_info=True, torch_dtype=torch.float32)
        for kind in ("missing_keys", "unexpected_keys", "mismatched_keys", "error_msgs"):
            if info.get(kind):
                yield f"on {mesh}: transformers tell {kind}: {sorted(info[kind])}"
        found = load_file(saved / "model.safetensors")
        for name in sorted(expected.keys() | found.keys()):
            if name not in found or name not in expected or not torch.equal(found[name], expected[name]):
                yield f"on {mesh}: {name} is not what it was"


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("program", type=Path)
    args.add_argument("work", type=Path)
    args.add_argument("--parity", type=Path, default=HERE.parents[2] / "../shared/parity")
    args.add_argument("--only", default="")
    args = args.parse_args()
    if not (args.parity / "make_parity.py").exists():
        print(f"skipped: no make_parity.py in {args.parity}")
        sys.exit(77)
    hf.PreTrainedConfig = getattr(hf, "PreTrainedConfig", None) or hf.PretrainedConfig
    hf.logging.set_verbosity_error()
    hf.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    sys.path.insert(0, str(args.parity))
    import make_parity as tp
    tp.build = without_bias(tp.build)

    compared, complaints = 0, []
    for case in cases(tp):
        if args.only not in case.name:
            continue
        folder = args.work / case.name
        if not (folder / "meta.json").exists():
            tp.write_case(case, folder, 30_000_000)
            shutil.copy(folder / "model.safetensors", folder / "original.safetensors")
            meta = json.loads((folder / "meta.json").read_text())
            (folder / "meta.json").write_text(json.dumps(meta | {"meshes": ["1x1", "2x1", "1x2"]}, indent=2) + "\n")
        config = json.loads((folder / "config.json").read_text())
        for form in ("whole", "base") + ("with prefix",) * (case.name == BASE_OF_BART):
            tensors = load_file(folder / "original.safetensors")
            if form == "base":
                if "final_logits_bias" in tensors and tensors["final_logits_bias"].any():
                    continue  # the base model has no head, so the logits differ
                tensors = stored_as_base(tensors, case.config)
            elif form == "with prefix":
                tensors = stored_with_prefix(tensors)
            save_file({name: value.contiguous() for name, value in tensors.items()}, folder / "model.safetensors", {"format": "pt"})
            if case.name == BASE_OF_BART:
                complaints += [f"{case.name} ({form}) {complaint}" for complaint in read_by_transformers(folder, tp.AUTO[case.task])]
            for complaint in compare(args.program, folder, args.work / "saved", ("1x1", "1x2"), tp.AUTO[case.task]):
                complaints.append(f"{case.name} ({config['model_type']}, {form}) {complaint}")
            compared += 1
            print(case.name, form, flush=True)
    print(*complaints, sep="\n")
    print(f"transformers {hf.__version__}: {compared} folders compared, {len(complaints)} complaints")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
