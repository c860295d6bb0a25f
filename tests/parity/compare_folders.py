#!/usr/bin/env python3
"""Checks folders of every family that one version of Hugging Face transformers saved: reads them by
redco, saves them, and reads them back.

    compare_folders.py VERSION PROGRAM WORK [--only NAME]

Writes into WORK a folder for each case of reference.py. PROGRAM reads each folder twice: once with
the tensor names of save_pretrained, and once with the tensor names of the base model. The latter
have no prefix and no final_logits_bias, and add copies of tied heads and buffers of old versions.
PROGRAM compares logits, gradients, a step and decoding, and saves the model again. transformers
must read that folder with nothing missing, unexpected or mismatched, and every tensor bit for bit.
VERSION is the beginning of the version of transformers that must run here.
"""
import argparse
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import torch
import transformers as hf
from safetensors.torch import load_file, save_file

import reference

# Beginning of the names of the base model's tensors in files of the whole model. Captioning models,
# which are two models, have no files of a base model.
PREFIX = {"gpt2": "transformer.", "gptj": "transformer.", "gpt_neo": "transformer.", "llama": "model.", "mistral": "model.",
          "qwen2": "model.", "qwen3": "model.", "smollm3": "model.", "phi3": "model.", "olmo2": "model.", "olmoe": "model.",
          "mixtral": "model.", "qwen3_moe": "model.", "gemma2": "model.",
          "gemma3_text": "model.", "gpt_neox": "gpt_neox.", "opt": "model.", "bart": "model.", "t5": "", "bert": "bert.",
          "roberta": "roberta.", "vit": "vit."}
BASE_OF_BART = "bart-without-bias"
# Beginnings of names that redco does not save, because the model's outputs do not depend on them.
UNUSED = {"vision-encoder-decoder": ("encoder.pooler.",)}
MESHES = ("1x1", "1x2")


def stored_with_prefix(tensors):
    """Returns the tensors of a BART as in files of the base model with the head's weight, without
    final_logits_bias."""
    kept = {name: value for name, value in tensors.items() if name != "final_logits_bias"}
    shared = kept["model.shared.weight"]
    return kept | {name: shared.clone() for name in
                   ("lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")}


def stored_as_base(tensors, config):
    """Returns the tensors as in files of the base model, with the buffers that old versions
    stored."""
    family, prefix = config.model_type, PREFIX[config.model_type]
    kept = {name: value for name, value in tensors.items() if name != "final_logits_bias"}
    base = {name.removeprefix(prefix): value.clone() for name, value in kept.items()}
    if family in ("gpt2", "gptj"):
        base |= {"h.0.attn.bias": torch.ones(1, 1, 4, 4), "h.1.attn.masked_bias": torch.tensor(-1e4)}
    if family == "gpt_neo":
        base |= {"h.0.attn.attention.bias": torch.ones(1, 1, 4, 4), "h.0.attn.attention.masked_bias": torch.tensor(-1e9)}
    if family == "gpt_neox":
        base |= {"layers.0.attention.bias": torch.ones(1, 1, 4, 4), "layers.1.attention.masked_bias": torch.tensor(-1e9),
                 "layers.1.attention.rotary_emb.inv_freq": torch.ones(1)}
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


def stored_for_each_expert(tensors, config):
    """Returns the tensors with one tensor for each expert, as redco saves them."""
    mixtral, found = config.model_type == "mixtral", {}
    gate, up, down = ("w1", "w3", "w2") if mixtral else ("gate_proj", "up_proj", "down_proj")
    for name, value in tensors.items():
        block = name.removesuffix(".experts.gate_up_proj").removesuffix(".experts.down_proj")
        if mixtral:
            block = block.replace(".mlp", ".block_sparse_moe")
        if name.endswith(".experts.gate_up_proj"):
            for index, both in enumerate(value):
                for part, half in zip((gate, up), both.chunk(2)):
                    found[f"{block}.experts.{index}.{part}.weight"] = half
        elif name.endswith(".experts.down_proj"):
            found |= {f"{block}.experts.{index}.{down}.weight": one for index, one in enumerate(value)}
        else:
            found[block] = value
    return found


def forms(case, tensors):
    """The name of each form of a folder, and its tensors."""
    if case.stacked:
        yield "stacked", None
    yield "whole", tensors
    biased = "final_logits_bias" in tensors and tensors["final_logits_bias"].any()  # a base model has none
    if case.config.model_type in PREFIX and not biased:
        yield "base", stored_as_base(tensors, case.config)
    if case.name == BASE_OF_BART:
        yield "with prefix", stored_with_prefix(tensors)


def read_by_transformers(folder, case, saved):
    """Complains if transformers computes other logits from the model in `saved` than from the one
    that it saved to `folder`."""
    def logits_of(path):
        model = reference.AUTO[case.task].from_pretrained(path, dtype=torch.float32, attn_implementation="eager").eval()
        with torch.no_grad():
            return model(**load_file(folder / "inputs.safetensors")).logits

    if not torch.equal(logits_of(saved), logits_of(folder)):
        yield "transformers computes other logits from these files"


def compare(program, folder, saved, case, expected):
    """Yields a sentence for each difference between results and files of redco and of
    transformers."""
    for mesh in MESHES:
        shutil.rmtree(saved, ignore_errors=True)
        run = subprocess.run([program, folder, mesh, "--keep", saved], capture_output=True, text=True)
        if run.returncode != 0:
            yield f"on {mesh}: " + (run.stdout + run.stderr).strip()
            continue
        unused = UNUSED.get(case.config.model_type, ())
        if unused:
            yield from (f"on {mesh}: {complaint}" for complaint in read_by_transformers(folder, case, saved))
        _, info = reference.AUTO[case.task].from_pretrained(saved, output_loading_info=True, dtype=torch.float32)
        for kind, names in info.items():
            wrong = [name for name in names if kind != "missing_keys" or not name.startswith(unused)]
            if wrong:
                yield f"on {mesh}: transformers reports {kind}: {sorted(wrong)}"
        found = load_file(saved / "model.safetensors")
        for name in sorted({name for name in expected if not name.startswith(unused)} | found.keys()):
            if name not in found or name not in expected or not torch.equal(found[name], expected[name]):
                yield f"on {mesh}: {name} is not what it was"


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("version")
    args.add_argument("program", type=Path)
    args.add_argument("work", type=Path)
    args.add_argument("--only", default="")
    args = args.parse_args()
    if not hf.__version__.startswith(args.version + "."):
        sys.exit(f"this is transformers {hf.__version__}, not {args.version}: run scripts/setup --folders")
    hf.logging.set_verbosity_error()
    hf.utils.logging.disable_progress_bar()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    shutil.rmtree(args.work, ignore_errors=True)

    compared, complaints = 0, []
    for case in reference.cases():
        if args.only not in case.name:
            continue
        folder = args.work / case.name
        draw = reference.write(case, folder)
        if draw != case.draw:
            print(f"{case.name}: the first draw that fits is {draw}; naming it in reference.py saves time")
        original = load_file(folder / "model.safetensors")
        if case.stacked:
            original = stored_for_each_expert(original, case.config)
        for form, tensors in forms(case, original):
            if tensors is not None:  # else those that transformers saved
                save_file({name: value.contiguous() for name, value in tensors.items()}, folder / "model.safetensors", {"format": "pt"})
            found = list(read_by_transformers(folder, case, folder)) if case.name == BASE_OF_BART else []
            found += compare(args.program, folder, args.work / "saved", case, original)
            complaints += [f"{case.name} ({case.config.model_type}, {form}) {complaint}" for complaint in found]
            compared += 1
            print(case.name, form, flush=True)
    print(*complaints, sep="\n")
    print(f"transformers {hf.__version__}: {compared} folders compared, {len(complaints)} complaints")
    sys.exit(1 if complaints or compared == 0 else 0)


if __name__ == "__main__":
    main()
