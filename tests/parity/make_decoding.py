#!/usr/bin/env python3
"""Writes folders of reference numbers like those of ../shared/parity. Cases: sliding windows in all
layers or in some layers, soft caps, norms of queries and keys, and the settings of decoding.

    python make_decoding.py --parity ../../../shared/parity --out ../files/parity

Uses make_parity.py of that folder. Adds to each case the results of Hugging Face's generate for
every one of its `decodings` (the keys of a generation_config.json, in meta.json).
expected.safetensors has <name> [P * beams, *] and <name>_scores: all hypotheses of a prompt, the
best first. With one beam it has the ids alone.

A draw of weights is used only if each setting matters. A decoding without any one of its settings,
and without all of them, must give other ids. So must the stopping rule of `long` without the length
penalty, and a model without its sliding window. Neither fp64 nor noise on the logits may change an
id. `meshes` in meta.json are the meshes of the tests.
"""
import argparse
import json
import sys
from pathlib import Path

import torch
import transformers as hf
from safetensors.torch import load_file, save_file

RULES = dict(num_beams=4, max_new_tokens=12)
MISTRAL = {
    "long": dict(RULES, length_penalty=2.5),
    "early": dict(RULES, length_penalty=1.7, early_stopping=True),
    "no_pair_twice": dict(RULES, no_repeat_ngram_size=2),
    "greedy_ruled": dict(num_beams=1, max_new_tokens=12, no_repeat_ngram_size=2, min_new_tokens=9, repetition_penalty=1.1),
}
QWEN2 = {
    "short": dict(RULES, length_penalty=-0.5),
    "never": dict(num_beams=3, max_new_tokens=20, length_penalty=0.8, early_stopping="never"),
    "at_least": dict(RULES, min_length=15),
}
QWEN3 = {"no_triple_twice": dict(RULES, no_repeat_ngram_size=3, length_penalty=0.6)}
NEO = {"short": dict(RULES, length_penalty=-0.5)}
GEMMA = {"short": dict(RULES, length_penalty=-0.5)}
# generation_config.json of facebook/bart-large-cnn
CNN = {"cnn": dict(num_beams=4, length_penalty=2.0, min_length=56, max_length=142, no_repeat_ngram_size=3, early_stopping=True,
                   forced_bos_token_id=0, forced_eos_token_id=2)}
# Limits of a decoding, and settings that config.json has too: these are never left out.
KEPT = {"num_beams", "max_new_tokens", "max_length", "forced_eos_token_id"}
MESHES = ["1x1", "2x1", "1x2"]
# Meshes with more ranks than key-value heads, if those of MESHES have none.
MORE_MESHES = {"gemma2-caps": ["1x4"]}
NOISE = 1e-5
SCORES_OFF = 2e-5  # error of fp32 relative to fp64: a fifth of the tolerance


def cases(tp):
    sizes = dict(hidden_size=24, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                 max_position_embeddings=64)
    yield tp.Case("mistral-window", hf.MistralConfig(vocab_size=96, pad_token_id=0, sliding_window=5, **sizes)), MISTRAL
    yield tp.Case("qwen2-window", hf.Qwen2Config(
        vocab_size=97, pad_token_id=0, bos_token_id=1, eos_token_id=2, use_sliding_window=True, sliding_window=6, max_window_layers=0,
        tie_word_embeddings=True, **sizes)), QWEN2
    yield tp.Case("bart-cnn", hf.BartConfig(
        vocab_size=61, d_model=24, encoder_layers=1, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=40, decoder_ffn_dim=36, max_position_embeddings=144, dropout=0.0, attention_dropout=0.0,
        activation_dropout=0.0), "seq2seq"), CNN
    yield tp.Case("qwen3-norms", hf.Qwen3Config(
        vocab_size=97, pad_token_id=0, bos_token_id=1, eos_token_id=2, head_dim=10, tie_word_embeddings=True, **sizes)), QWEN3
    yield tp.Case("gpt-neo-turns", hf.GPTNeoConfig(
        vocab_size=97, pad_token_id=0, bos_token_id=1, eos_token_id=2, hidden_size=24, intermediate_size=40, num_layers=3, num_heads=4,
        max_position_embeddings=64, attention_types=[[["global", "local"], 1], [["global"], 1]], window_size=4)), NEO
    gemma = dict(vocab_size=97, pad_token_id=0, bos_token_id=1, eos_token_id=2, num_attention_heads=4, max_position_embeddings=64,
                 sliding_window=4)
    yield tp.Case("gemma2-caps", hf.Gemma2Config(
        hidden_size=24, intermediate_size=40, num_hidden_layers=3, num_key_value_heads=2, head_dim=10, query_pre_attn_scalar=13,
        attn_logit_softcapping=1.5, final_logit_softcapping=4.0, **gemma)), GEMMA
    # Only the sixth of the seven layers has no window.
    yield tp.Case("gemma3-bases", hf.Gemma3TextConfig(
        hidden_size=16, intermediate_size=20, num_hidden_layers=7, num_key_value_heads=1, head_dim=6, query_pre_attn_scalar=37,
        rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": 300.0},
                         "sliding_attention": {"rope_type": "default", "rope_theta": 20.0}}, **gemma)), GEMMA


class Noise(hf.LogitsProcessor):
    def __init__(self, seed):
        self.rng = torch.Generator().manual_seed(seed)

    def __call__(self, input_ids, scores):
        return scores + NOISE * (2 * torch.rand(scores.shape, generator=self.rng) - 1)


def decoded(model, prompt, options, noise=None):
    extra = {} if noise is None else {"logits_processor": hf.LogitsProcessorList([Noise(noise)])}
    return model.generate(**prompt, **options, do_sample=False, num_return_sequences=options["num_beams"], return_dict_in_generate=True,
                          output_scores=True, **extra)


def stopping_without_penalty(model, prompt, options):
    rule = type(model)._check_early_stop_heuristic
    model._check_early_stop_heuristic = lambda **kw: rule(**(kw | {"length_penalty": 0.0}))
    try:
        return decoded(model, prompt, options).sequences
    finally:
        del model._check_early_stop_heuristic


def without(options):
    """Yields the decoding without each of its settings, and without all of them."""
    settings = options.keys() - KEPT
    for left_out in [{name} for name in sorted(settings)] + [settings]:
        yield {name: value for name, value in options.items() if name not in left_out}


def window_shows(model, prompt) -> bool:
    if isinstance(model.config, hf.GPTNeoConfig):
        return masks_show(model, prompt)
    window = getattr(model.config, "sliding_window", None)
    if window is None:
        return True
    found = decoded(model, prompt, RULES).sequences
    model.config.sliding_window = model.config.max_position_embeddings
    wide = decoded(model, prompt, RULES).sequences
    model.config.sliding_window = window
    return not torch.equal(found, wide)


def masks_show(model, prompt) -> bool:
    """Returns True if the type of each layer of a GPT-Neo matters: with the other type, decoding
    gives other ids."""
    found = decoded(model, prompt, RULES).sequences
    layers = [block.attn.attention for block in model.transformer.h]
    masks = {layer.attention_type: layer.bias for layer in layers}
    for layer in layers:
        own, layer.bias = layer.bias, masks["local" if layer.attention_type == "global" else "global"]
        other = decoded(model, prompt, RULES).sequences
        layer.bias = own
        if torch.equal(found, other):
            return False
    return True


def settings_show(model, prompt, decodings) -> bool:
    start = 1 if model.config.is_encoder_decoder else prompt["input_ids"].shape[1]
    found = {name: decoded(model, prompt, options) for name, options in decodings.items()}
    for name, options in decodings.items():
        ids = found[name].sequences
        if any(torch.equal(ids, decoded(model, prompt, other).sequences) for other in without(options)):
            return False
        if name == "long" and torch.equal(ids, stopping_without_penalty(model, prompt, options)):
            return False
        lengths = (ids[:, start:] == model.config.eos_token_id).int().argmax(1)
        if name == "cnn" and lengths.unique().numel() < 4:
            return False
    return window_shows(model, prompt) and all(rounding_is_hidden(model, prompt, decodings[name], found[name]) for name in found)


def rounding_is_hidden(model, prompt, options, found) -> bool:
    if any(not torch.equal(found.sequences, decoded(model, prompt, options, noise=i).sequences) for i in range(3)):
        return False
    # Eager attention gives nan in rows whose keys are all masked, except that of Gemma 2 (see main)
    model.double().set_attn_implementation("sdpa" if model._supports_sdpa else "eager")
    wide = decoded(model, prompt, options)
    model.float().set_attn_implementation("eager")
    if not torch.equal(found.sequences, wide.sequences):
        return False
    return options["num_beams"] == 1 or (found.sequences_scores - wide.sequences_scores).abs().max().item() < SCORES_OFF


def add_decodings(folder, tp, task, decodings):
    model = tp.AUTO[task].from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    expected = load_file(folder / "expected.safetensors")
    prompt = {"input_ids": expected["prompt_ids"], "attention_mask": expected["prompt_mask"]}
    meta = json.loads((folder / "meta.json").read_text())
    ids = {k: v for k, v in model.generation_config.to_dict().items() if k.endswith("token_id") and v is not None}
    meta["meshes"], meta["decodings"] = MESHES + MORE_MESHES.get(folder.name, []), {}
    for name, options in decodings.items():
        found = decoded(model, prompt, options)
        expected[name] = found.sequences
        if options["num_beams"] > 1:
            expected[f"{name}_scores"] = found.sequences_scores
        meta["decodings"][name] = ids | options
    save_file({k: v.contiguous() for k, v in expected.items()}, folder / "expected.safetensors")
    (folder / "meta.json").write_text(json.dumps(meta, indent=2) + "\n")


def around_one(model):
    """Gives norms that multiply by 1 + weight the factors of other norms."""
    with torch.no_grad():
        for module in model.modules():
            if "Norm" in type(module).__name__:
                module.weight.sub_(1)
    return model


def rescale_around_one(model, batch, seed):
    """Like rescale_logits of make_parity.py, for a last norm that multiplies by 1 + weight."""
    chance = torch.Generator().manual_seed(seed + 1_000_000_000)
    with torch.no_grad():
        factor, weight = 1.2 / model(**batch).logits.std(), model.model.norm.weight
        signs = 2 * torch.randint(2, weight.shape, generator=chance) - 1
        weight.copy_((1 + weight) * factor * signs - 1)


def soften_masks():
    """Lets Gemma 2 compute in fp64: softmax is in fp32, where the fp64 mask would be -inf."""
    module = hf.models.gemma2.modeling_gemma2
    attend = module.eager_attention_forward

    def softened(layer, query, key, value, attention_mask, **options):
        mask = None if attention_mask is None else attention_mask.clamp(min=torch.finfo(torch.float32).min)
        return attend(layer, query, key, value, mask, **options)

    module.eager_attention_forward = softened


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--parity", type=Path, required=True, help="folder of make_parity.py")
    args.add_argument("--out", type=Path, required=True)
    args.add_argument("--only", default="", help="build only cases whose name contains this")
    args = args.parse_args()
    sys.path.insert(0, str(args.parity))
    import make_parity as tp
    hf.logging.set_verbosity_error()
    hf.logging.disable_progress_bar()
    torch.set_num_threads(1)
    soften_masks()
    robust, build, rescale = tp.beams_are_robust, tp.build, tp.rescale_logits
    for index, (case, decodings) in enumerate(cases(tp)):
        if args.only not in case.name:
            continue

        def strictly_robust(model, prompt):
            ok, gap = robust(model, prompt)
            return ok and settings_show(model, prompt, decodings), gap

        tp.beams_are_robust = strictly_robust
        gemma = case.name.startswith("gemma")
        tp.build = (lambda *given: around_one(build(*given))) if gemma else build
        tp.rescale_logits = rescale_around_one if gemma else rescale
        folder = args.out / case.name
        tp.write_case(case, folder, 14_000_000 + index * 10_000)
        tp.verify_case(case, folder)
        add_decodings(folder, tp, case.task, decodings)
        attempts = json.loads((folder / "meta.json").read_text())["measured"]["attempts"]
        print(case.name, f"{attempts} draws,", sum(f.stat().st_size for f in folder.iterdir()), "bytes", flush=True)


if __name__ == "__main__":
    main()
