"""Folders of reference numbers: small models of random weights as transformers saves them, and the
results that transformers computes with them.

`write` makes one folder of a case:
    config.json, generation_config.json, model.safetensors    by save_pretrained
    inputs.safetensors     a batch of three examples. Text: ids, masks and labels [3, T]; the first
                           row is full, the second padded on the left, the third on the right;
                           labels of -100 do not count. Images: pixel_values [3, C, H, W].
    expected.safetensors   logits, loss, loss_after_step, and the gradient of each parameter, named
                           "grad." and its name in model.safetensors. Of models that generate also
                           prompt_ids and prompt_mask [3, *], or prompt_pixels, greedy, beam4,
                           beam4_all, and the scores of both.
    meta.json              the optimizer, the settings of generation, and the tolerances of the
                           comparison

Biases are not 0 and weights of norms not 1, so that a forgotten one shows. Weights are drawn until
rounding cannot change an id or the sign of a ReLU's input. A case names the draw that fits; `python
reference.py` prints the draws of all cases. `python reference.py FOLDER NAME...` writes the folders
of the named cases into FOLDER, such as ../files/parity.
"""
import copy
import dataclasses
import itertools
import json
import sys
import tempfile
import types
from pathlib import Path

import torch
import transformers as hf
from safetensors.torch import load_file, save_file
from transformers.models.mixtral.modeling_mixtral import load_balancing_loss_func

NEWER = int(hf.__version__.split(".")[0]) >= 5
AUTO = {"causal": hf.AutoModelForCausalLM, "seq2seq": hf.AutoModelForSeq2SeqLM,
        "classify": hf.AutoModelForSequenceClassification, "image": hf.AutoModelForImageClassification,
        "caption": hf.AutoModelForImageTextToText}
GENERATING = ("causal", "seq2seq", "caption")
NEW_TOKENS, BEAMS = 12, 4
ADAMW = {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.01}
TOLERANCES = {"logits_atol": 1e-4, "loss_rtol": 1e-5, "loss_after_step_rtol": 1e-5, "grad_rtol_of_max": 1e-4, "grad_atol": 1e-6,
              "scores_atol": 1e-4}
FIRST_WORD = 3        # smaller ids are special in one family or another
SPREAD = 1.2          # standard deviation of the logits
NOISE = 1e-4          # largest change of a logit that must not change an id; rounding is a hundredth of it
SCORES_APART = 2e-4   # smallest difference between the scores of two hypotheses
RELU_APART = 1e-5     # smallest input of a ReLU


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    config: object
    task: str = "causal"
    draw: int = 0               # number of the first draw of weights to try
    own_head: bool = False      # the head has a weight of its own though the config ties it, as in T5 1.1
    hidden_label: bool = False  # the label of the last example is -100
    balance: float = 0.0        # factor of the auxiliary loss that balances experts
    stacked: bool = False       # one tensor for all experts of a block, which transformers 5 can write


def rope(theta, **scaling):
    """Rotary angles as the config classes of this version take them."""
    if NEWER:
        return {"rope_parameters": {"rope_theta": theta, "rope_type": "default"} | scaling}
    return {"rope_theta": theta} | ({"rope_scaling": scaling} if scaling else {})


def longrope():
    """Rotary angles of a Phi-3 whose heads have 8 rotated features of 10."""
    kind = {"type": "longrope", "short_factor": [1.0, 1.5, 2.0, 2.5], "long_factor": [1.5, 3.0, 5.0, 7.5]}
    share = {"partial_rotary_factor": 0.8}
    return {"rope_parameters": kind | share | {"rope_theta": 10000.0}} if NEWER else {"rope_scaling": kind} | share


def two_bases(full, sliding):
    """Rotary bases of Gemma 3 as the config class of this version takes them."""
    if NEWER:
        return {"rope_parameters": {kind: {"rope_theta": base, "rope_type": "default"}
                                    for kind, base in (("full_attention", full), ("sliding_attention", sliding))}}
    return {"rope_theta": full, "rope_local_base_freq": sliding}


def cases():
    ids = {"vocab_size": 97, "bos_token_id": 1, "eos_token_id": 2}
    padded = ids | {"pad_token_id": 0}
    gpt = {"vocab_size": 97, "n_positions": 33, "n_layer": 2, "n_head": 4, "bos_token_id": 96, "eos_token_id": 96, "resid_pdrop": 0.0,
           "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    llama = padded | {"hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4,
                      "num_key_value_heads": 2, "max_position_embeddings": 64}
    neox = padded | {"hidden_size": 32, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4,
                     "max_position_embeddings": 33, "rotary_pct": 0.25}
    gemma = llama | {"head_dim": 10, "num_hidden_layers": 3, "sliding_window": 4}
    opt = {"vocab_size": 97, "hidden_size": 24, "num_attention_heads": 4, "num_hidden_layers": 2, "ffn_dim": 40,
           "max_position_embeddings": 33, "dropout": 0.0, "attention_dropout": 0.0}
    bart = {"vocab_size": 97, "d_model": 24, "encoder_layers": 1, "decoder_layers": 2, "encoder_attention_heads": 2,
            "decoder_attention_heads": 4, "encoder_ffn_dim": 40, "decoder_ffn_dim": 36, "max_position_embeddings": 33, "dropout": 0.0,
            "attention_dropout": 0.0, "activation_dropout": 0.0}
    t5 = {"vocab_size": 97, "d_model": 24, "d_kv": 10, "d_ff": 40, "num_layers": 3, "num_decoder_layers": 2, "num_heads": 2,
          "relative_attention_num_buckets": 8, "relative_attention_max_distance": 13, "dropout_rate": 0.0, "decoder_start_token_id": 0}
    encoder = {"vocab_size": 97, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40,
               "max_position_embeddings": 33, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "num_labels": 3}
    vit = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40, "num_channels": 3}
    stretched = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                 "original_max_position_embeddings": 32}
    # transformers 4.57 does not compute its cache again where the positions of Phi-3 switch
    switch = 12 if NEWER else 24
    yield Case("gpt2", hf.GPT2Config(**gpt, n_embd=24), draw=10)
    yield Case("gpt2-inner", hf.GPT2Config(**gpt, n_embd=24, n_inner=36), draw=3)
    yield Case("gptj", hf.GPTJConfig(**gpt, n_embd=40, rotary_dim=4), draw=6)
    yield Case("gpt-neo", hf.GPTNeoConfig(**padded, hidden_size=24, intermediate_size=40, num_layers=3, num_heads=4,
                                          max_position_embeddings=33, window_size=4,
                                          attention_types=[[["global", "local"], 1], [["global"], 1]]), draw=1)
    yield Case("llama", hf.LlamaConfig(**llama), draw=1)
    yield Case("llama-tied", hf.LlamaConfig(**llama, tie_word_embeddings=True, **rope(700.0)), draw=3)
    yield Case("llama-stretched", hf.LlamaConfig(**llama, **rope(500000.0, **stretched)), draw=2)
    yield Case("llama-linear", hf.LlamaConfig(**llama, **rope(10000.0, rope_type="linear", factor=2.5)), draw=1)
    yield Case("llama-dynamic", hf.LlamaConfig(**llama | {"max_position_embeddings": 12}, **rope(10000.0, rope_type="dynamic", factor=3.0)), draw=2)
    yield Case("llama-yarn", hf.LlamaConfig(**llama, head_dim=12, **rope(
        10000.0, rope_type="yarn", factor=4.0, beta_fast=8.0, beta_slow=0.5, original_max_position_embeddings=16)), draw=1)
    yield Case("smollm3", hf.SmolLM3Config(**llama | {"num_hidden_layers": 3, "no_rope_layers": [0, 1, 0]}), draw=2)
    yield Case("phi3", hf.Phi3Config(**padded | {"hidden_size": 40, "intermediate_size": 40, "num_hidden_layers": 2,
                                                 "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 40,
                                                 "original_max_position_embeddings": switch, "sliding_window": 6}, **longrope()), draw=1)
    yield Case("olmo2", hf.Olmo2Config(**llama))
    yield Case("olmo2-tied", hf.Olmo2Config(**llama, attention_bias=True, tie_word_embeddings=True), draw=4)
    yield Case("olmoe", hf.OlmoeConfig(**llama | {"intermediate_size": 12}, num_experts=6, num_experts_per_tok=2), draw=3)
    yield Case("olmoe-normalised", hf.OlmoeConfig(**llama | {"intermediate_size": 12}, num_experts=4, num_experts_per_tok=3,
                                                  norm_topk_prob=True, tie_word_embeddings=True), draw=2)
    yield Case("olmoe-balanced", hf.OlmoeConfig(**llama | {"num_hidden_layers": 1, "intermediate_size": 12}, num_experts=5,
                                                num_experts_per_tok=3, router_aux_loss_coef=0.2), draw=1, balance=0.2)
    experts = llama | {"head_dim": 10, "num_key_value_heads": 1}
    yield Case("mixtral", hf.MixtralConfig(**experts | {"intermediate_size": 14}, num_local_experts=5, num_experts_per_tok=2, sliding_window=5), draw=1)
    yield Case("mixtral-balanced", hf.MixtralConfig(**llama | {"num_hidden_layers": 1, "intermediate_size": 14}, num_local_experts=3,
                                                    num_experts_per_tok=2, router_aux_loss_coef=0.3), balance=0.3)
    yield Case("qwen3-moe", hf.Qwen3MoeConfig(**experts, moe_intermediate_size=14, num_experts=7, num_experts_per_tok=3), draw=1)
    yield Case("qwen3-moe-normalised", hf.Qwen3MoeConfig(**llama, moe_intermediate_size=10, num_experts=6, num_experts_per_tok=2,
                                                         norm_topk_prob=True, attention_bias=True, tie_word_embeddings=True), draw=11)
    if NEWER:
        yield Case("mixtral-stacked", hf.MixtralConfig(**experts | {"intermediate_size": 14}, num_local_experts=4, num_experts_per_tok=3),
                   draw=1, stacked=True)
        yield Case("qwen3-moe-stacked", hf.Qwen3MoeConfig(**experts, moe_intermediate_size=14, num_experts=4, num_experts_per_tok=2,
                                                          norm_topk_prob=True), stacked=True)
    yield Case("gpt-neox", hf.GPTNeoXConfig(**neox), draw=1)
    yield Case("gpt-neox-sequential", hf.GPTNeoXConfig(**neox | {
        "use_parallel_residual": False, "attention_bias": False, "rotary_pct": 0.5}), draw=6)
    yield Case("mistral", hf.MistralConfig(**llama, sliding_window=5), draw=1)
    yield Case("qwen2", hf.Qwen2Config(**llama, tie_word_embeddings=True), draw=8)
    yield Case("qwen3", hf.Qwen3Config(**llama, head_dim=10), draw=2)
    yield Case("gemma2", hf.Gemma2Config(**gemma, query_pre_attn_scalar=13, attn_logit_softcapping=2.0, final_logit_softcapping=4.0), draw=3)
    yield Case("gemma3", hf.Gemma3TextConfig(
        **gemma | {"num_hidden_layers": 7, "num_key_value_heads": 1}, query_pre_attn_scalar=37, **two_bases(300.0, 20.0)), draw=3)
    yield Case("opt", hf.OPTConfig(**opt), draw=6)
    yield Case("opt-postnorm", hf.OPTConfig(**opt, word_embed_proj_dim=12, do_layer_norm_before=False), draw=4)
    yield Case("bart", hf.BartConfig(**bart), "seq2seq", draw=2)
    yield Case("bart-without-bias", hf.BartConfig(**bart), "seq2seq", draw=10)
    yield Case("t5", hf.T5Config(**t5), "seq2seq", draw=16)
    yield Case("t5-gated", hf.T5Config(**t5, feed_forward_proj="gated-gelu", tie_word_embeddings=False), "seq2seq", own_head=True)
    yield Case("bert", hf.BertConfig(**encoder), "classify")
    yield Case("roberta", hf.RobertaConfig(**encoder, type_vocab_size=1), "classify", hidden_label=True)
    yield Case("vit", hf.ViTConfig(**vit, image_size=32, patch_size=16, num_labels=10), "image")
    yield Case("vit-24x40", hf.ViTConfig(**vit, image_size=[24, 40], patch_size=[8, 4], num_labels=3), "image")
    yield Case("vit-gpt2", pair(gpt, image_size=[24, 40], patch_size=[8, 4], hidden_size=20), "caption", draw=11)
    yield Case("vit-gpt2-one-width", pair(gpt, image_size=32, patch_size=16, hidden_size=24), "caption", draw=3)


def pair(gpt, **vit):
    """A ViT encoder with a GPT-2 decoder."""
    image = hf.ViTConfig(num_hidden_layers=1, num_attention_heads=2, intermediate_size=36, hidden_dropout_prob=0.0,
                         attention_probs_dropout_prob=0.0, **vit)
    text = hf.GPT2Config(**gpt, n_embd=24, n_inner=40)
    return hf.VisionEncoderDecoderConfig.from_encoder_decoder_configs(image, text, decoder_start_token_id=96, pad_token_id=95,
                                                                      eos_token_id=96)


def end_ids(config):
    ends = getattr(config, "eos_token_id", None)
    return ends if isinstance(ends, list) else [] if ends is None else [ends]


def pad_id(config):
    pad = getattr(config, "pad_token_id", None)
    return end_ids(config)[0] if pad is None else pad


# ---------------------------------------------------------------- models

def random_model(case, chance):
    """A model of the case whose parameters are all random."""
    # the grouped products of transformers 5 take only rows of a multiple of 16 bytes
    of_experts = {"experts_implementation": "eager"} if NEWER and hasattr(case.config, "num_experts_per_tok") else {}
    model = AUTO[case.task].from_config(copy.deepcopy(case.config), attn_implementation="eager", **of_experts).eval()
    if case.own_head:
        model.lm_head.weight = torch.nn.Parameter(torch.empty_like(model.get_input_embeddings().weight))
    drawn = set()
    with torch.no_grad():
        for path, module in model.named_modules():
            for name, parameter in module.named_parameters(recurse=False):
                if parameter in drawn:
                    continue
                drawn.add(parameter)
                mean, deviation = distribution(path, module, name, parameter)
                parameter.copy_(mean + deviation * torch.randn(parameter.shape, generator=chance))
                if case.config.model_type == "t5" and path.endswith("SelfAttention.q"):
                    parameter.mul_(case.config.d_kv ** -0.5)  # T5 does not divide its scores
        if hasattr(model, "final_logits_bias") and case.name != "bart-without-bias":
            model.final_logits_bias.copy_(0.3 * torch.randn(model.final_logits_bias.shape, generator=chance))
        if case.task in GENERATING:
            model.get_output_embeddings().weight[end_ids(case.config)] *= 1.6  # some hypotheses end early
    return model


def around_one(module):
    """Returns true for a norm that multiplies by 1 + weight."""
    return type(module).__name__ in ("Gemma2RMSNorm", "Gemma3RMSNorm")


def distribution(path, module, name, parameter):
    """Mean and standard deviation of a parameter."""
    if "Norm" in type(module).__name__:
        return (1.0, 0.2) if name == "weight" and not around_one(module) else (0.0, 0.2)
    if name == "bias":
        return 0.0, 0.2
    if isinstance(module, torch.nn.Embedding):
        return 0.0, 1.0 if "relative_attention_bias" in path else 0.3
    if parameter.dim() == 2:
        inputs = parameter.shape[0] if isinstance(module, hf.pytorch_utils.Conv1D) else parameter.shape[1]
        return 0.0, inputs ** -0.5
    if isinstance(module, torch.nn.Conv2d):
        return 0.0, parameter[0].numel() ** -0.5
    return 0.0, 0.5  # the class token and the positions of a ViT


def spread_logits(model, batch, chance):
    """Scales the layer that feeds the logits. A tied head gets random signs there, or it would
    repeat the last token."""
    order = []
    hooks = [module.register_forward_hook(lambda module, *_: order.append(module))
             for module in model.modules() if any(True for _ in module.parameters(recurse=False))]
    with torch.no_grad():
        factor = SPREAD / model(**batch).logits.std()
        for hook in hooks:
            hook.remove()
        tied = order[-1].weight is getattr(model.get_input_embeddings(), "weight", None)
        last = order[-2 if tied else -1]
        for name, parameter in last.named_parameters(recurse=False):
            one = 1 if around_one(last) else 0
            parameter.add_(one).mul_(factor)
            if tied and name == "weight":
                parameter.mul_(2 * torch.randint(2, parameter.shape, generator=chance) - 1)
            parameter.sub_(one)


# ---------------------------------------------------------------- inputs

def draw_rows(lengths, sides, config, chance):
    """Words of random ids and their mask, each row padded on its side to the longest."""
    words = [i for i in range(FIRST_WORD, config.get_text_config(decoder=True).vocab_size) if i not in {*end_ids(config), pad_id(config)}]
    ids = torch.full((len(lengths), max(lengths)), pad_id(config))
    mask = torch.zeros_like(ids)
    for row, (length, side) in enumerate(zip(lengths, sides)):
        columns = slice(0, length) if side == "right" else slice(max(lengths) - length, None)
        ids[row, columns] = torch.tensor(words)[torch.randint(len(words), (length,), generator=chance)]
        mask[row, columns] = 1
    return ids, mask


def draw_images(config, chance):
    size = config.image_size if isinstance(config.image_size, list) else [config.image_size] * 2
    return {"pixel_values": torch.randn(3, config.num_channels, *size, generator=chance)}


def draw_batch(case, chance):
    config = case.config
    if case.task == "caption":
        return draw_images(config.encoder, chance) | draw_targets(config, chance)
    if case.task == "image":
        return {**draw_images(config, chance),
                "labels": torch.randint(config.num_labels, (3,), generator=chance)}
    ids, mask = draw_rows((19, 16, 15), ("right", "left", "right"), config, chance)
    batch = {"input_ids": ids, "attention_mask": mask}
    if case.task == "classify":
        if config.type_vocab_size > 1:
            batch["token_type_ids"] = torch.randint(config.type_vocab_size, ids.shape, generator=chance)
        batch["labels"] = torch.randint(config.num_labels, (3,), generator=chance)
        batch["labels"][2] = -100 if case.hidden_label else batch["labels"][2]
    elif case.task == "causal":
        batch["labels"] = ids.masked_fill(mask == 0, -100)
        batch["labels"][0, 9] = -100
        batch["labels"][1, 3] = -100  # the label of the first word; the columns before it are padding
    else:
        batch |= draw_targets(config, chance)
    return batch


def draw_targets(config, chance):
    """Texts that a decoder after an encoder should write, as its input and as labels."""
    labels, used = draw_rows((17, 15, 12), ("right",) * 3, config, chance)
    labels[range(3), used.sum(1) - 1] = end_ids(config)[0]
    labels = labels.masked_fill(used == 0, -100)
    labels[0, 7] = -100
    starts = torch.full((3, 1), config.decoder_start_token_id)
    return {"decoder_input_ids": torch.cat([starts, labels[:, :-1].masked_fill(labels[:, :-1] == -100, pad_id(config))], 1),
            "labels": labels}


def draw_prompts(case, chance):
    if case.task == "caption":
        return draw_images(case.config.encoder, chance)
    ids, mask = draw_rows((7, 4, 2), ("left",) * 3, case.config, chance)
    return {"input_ids": ids, "attention_mask": mask}


# ---------------------------------------------------------------- results of a model

class Noise(hf.LogitsProcessor):
    def __init__(self, seed):
        self.chance = torch.Generator().manual_seed(seed)

    def __call__(self, input_ids, scores):
        return scores + NOISE * (2 * torch.rand(scores.shape, generator=self.chance) - 1)


def depends_on_length(config):
    """Returns true if positions depend on the length of the longest text of a batch. Then each text
    is computed alone, because redco takes the length of each text."""
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    return rope.get("rope_type", rope.get("type")) in ("dynamic", "longrope")


def forget_lengths(model):
    """Resets dynamic frequencies, which transformers keeps from the longest text so far."""
    with torch.no_grad():
        model(input_ids=torch.full((1, 2), FIRST_WORD))


def outputs_of(model, batch, **options):
    """The outputs of a model for a batch."""
    if model.config.model_type == "vision-encoder-decoder":
        # transformers 4.57 shifts these labels twice; other versions have the loss below.
        outputs = model(**batch, **options)
        outputs.loss = torch.nn.functional.cross_entropy(outputs.logits.flatten(0, 1), batch["labels"].flatten())
        return outputs
    if not depends_on_length(model.config):
        return model(**batch, **options)
    logits, losses, count = [], [], 0
    for ids, mask, labels in zip(batch["input_ids"], batch["attention_mask"].bool(), batch["labels"]):
        forget_lengths(model)
        text = model(input_ids=ids[mask][None]).logits[0]
        logits.append(torch.zeros(len(ids), text.shape[1]).masked_scatter(mask[:, None], text))
        losses.append(torch.nn.functional.cross_entropy(text[:-1], labels[mask][1:], reduction="sum"))
        count += (labels[mask][1:] != -100).sum()
    return types.SimpleNamespace(logits=torch.stack(logits), loss=sum(losses) / count)


def continued_alone(model, prompts, *how):
    """The continuations of prompts, each alone, padded as those of a batch."""
    found = []
    for ids, mask in zip(prompts["input_ids"], prompts["attention_mask"].bool()):
        forget_lengths(model)
        found.append(continued_together(model, {"input_ids": ids[mask][None], "attention_mask": mask[mask][None].long()}, *how))
    new = [one.sequences[:, mask.sum():] for one, mask in zip(found, prompts["attention_mask"])]
    longest = max(part.shape[1] for part in new)
    pad = pad_id(model.config)
    if how[0] > 1 and pad == 0:  # beam search of transformers pads so
        pad = end_ids(model.config)[0]
    rows = [torch.cat([ids.expand(len(part), -1), torch.nn.functional.pad(part, (0, longest - part.shape[1]), value=pad)], 1)
            for ids, part in zip(prompts["input_ids"], new)]
    scores = [one.sequences_scores for one in found] if how[0] > 1 else None
    return types.SimpleNamespace(sequences=torch.cat(rows), sequences_scores=None if scores is None else torch.cat(scores))


def continued(model, prompts, *how):
    return (continued_alone if depends_on_length(model.config) else continued_together)(model, prompts, *how)


def continued_together(model, prompts, beams, results, noise=None):
    more = {} if noise is None else {"logits_processor": hf.LogitsProcessorList([Noise(noise)])}
    return model.generate(**prompts, max_new_tokens=NEW_TOKENS, do_sample=False, num_beams=beams, num_return_sequences=results,
                          return_dict_in_generate=True, output_scores=True, **more)


def generated(model, prompts):
    greedy, best, all_of = (continued(model, prompts, *how) for how in ((1, 1), (BEAMS, 1), (BEAMS, BEAMS)))
    names = {"input_ids": "prompt_ids", "attention_mask": "prompt_mask", "pixel_values": "prompt_pixels"}
    return {names[name]: value for name, value in prompts.items()} | {
            "greedy": greedy.sequences,
            "beam4": best.sequences, "sequences_scores": best.sequences_scores, "beam4_all": all_of.sequences,
            "beam4_all_scores": all_of.sequences_scores}


def balanced_loss(outputs, batch, balance, config):
    """The loss of a batch, without and with the auxiliary losses of its texts. The loss of a text
    is the one that transformers computes for the text alone, added once for each of its tokens."""
    text, mask, added = outputs.loss - balance * outputs.aux_loss, batch["attention_mask"], 0
    experts = getattr(config, "num_local_experts", None) or config.num_experts
    for row in range(len(mask)):
        logits = tuple(block.view(*mask.shape, -1)[row] for block in outputs.router_logits)
        added += load_balancing_loss_func(logits, experts, config.num_experts_per_tok, mask[row:row + 1]) * mask[row].sum()
    return text, text + balance * added / (batch["labels"][:, 1:] != -100).sum()


def trained(model, batch, balance):
    """Logits, loss, gradients, and the loss after a step of AdamW. Leaves the model as it was. The
    gradients are also those of the auxiliary loss times `balance`; the losses are without it."""
    model = copy.deepcopy(model)
    outputs = outputs_of(model, batch, **({"output_router_logits": True} if balance else {}))
    loss, whole = balanced_loss(outputs, batch, balance, model.config) if balance else (outputs.loss, outputs.loss)
    whole.backward()
    gradients = copy.deepcopy(model)
    with torch.no_grad():
        for parameter, copied in zip(model.parameters(), gradients.parameters()):
            copied.copy_(0 if parameter.grad is None else parameter.grad)  # a ViT's pooler has no part in a caption
    with tempfile.TemporaryDirectory() as folder:  # names in files differ from those of modules
        gradients.save_pretrained(folder)
        named = load_file(Path(folder) / "model.safetensors")
    found = {"logits": outputs.logits.detach(), "loss": loss.detach()}
    found |= {f"grad.{name}": value for name, value in named.items() if name != "final_logits_bias"}
    torch.optim.AdamW(model.parameters(), **ADAMW).step()
    with torch.no_grad():
        return found | {"loss_after_step": outputs_of(model, batch).loss}


# ---------------------------------------------------------------- draws that rounding cannot change

def relu_is_safe(model, batch):
    smallest = [1.0]
    hooks = [module.register_forward_pre_hook(lambda _, inputs: smallest.append(inputs[0].abs().min().item()))
             for module in model.modules() if isinstance(module, torch.nn.ReLU)]
    with torch.no_grad():
        model(**batch)
    for hook in hooks:
        hook.remove()
    return min(smallest) > RELU_APART


def some_end_early(words, ends):
    early = [any(word in ends for word in row[:NEW_TOKENS - 1]) for row in words.tolist()]
    return any(early) and not all(early)


def generation_is_safe(model, prompts):
    """Returns true if some hypotheses end early and some do not, beams find other ids than greedy
    decoding, and noise changes none."""
    start = 1 if model.config.is_encoder_decoder else prompts["input_ids"].shape[1]
    ends = end_ids(model.config)
    greedy = continued(model, prompts, 1, 1).sequences
    if not some_end_early(greedy[:, start:], ends) or greedy[:, start:].unique().numel() < 7:
        return False
    beams = continued(model, prompts, BEAMS, BEAMS)
    best = beams.sequences[::BEAMS]
    if not some_end_early(beams.sequences[:, start:], ends) or (best.shape == greedy.shape and torch.equal(best, greedy)):
        return False
    if -beams.sequences_scores.view(-1, BEAMS).diff().max() < SCORES_APART:
        return False
    return all(torch.equal(continued(model, prompts, 1, 1, seed).sequences, greedy) and
               torch.equal(continued(model, prompts, BEAMS, BEAMS, seed).sequences, beams.sequences) for seed in range(5))


def drawn(case):
    """A model, a batch, prompts or None, and the number of the draw."""
    for draw in itertools.count(case.draw):
        chance = torch.Generator().manual_seed(draw)
        batch = draw_batch(case, chance)
        model = random_model(case, chance)
        spread_logits(model, batch, chance)
        prompts = draw_prompts(case, chance) if case.task in GENERATING else None
        if relu_is_safe(model, batch) and (prompts is None or generation_is_safe(model, prompts)):
            return model, batch, prompts, draw
    raise AssertionError("unreachable")


# ---------------------------------------------------------------- folders

def write(case, folder):
    """Writes the folder of a case. Returns the number of the draw."""
    model, batch, prompts, draw = drawn(case)
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder, **({"save_original_format": False} if case.stacked else {}))
    expected = trained(model, batch, case.balance) | ({} if prompts is None else generated(model, prompts))
    for name, tensors in {"inputs": batch, "expected": expected}.items():
        save_file({key: value.contiguous().clone() for key, value in tensors.items()}, folder / f"{name}.safetensors")
    meta = {"transformers": hf.__version__, "draw": draw, "adamw": ADAMW, "tolerances": TOLERANCES,
            "generation": {"max_new_tokens": NEW_TOKENS, "num_beams": BEAMS}, "meshes": ["1x1", "2x1", "1x2"]}
    if case.balance:  # the factor of our loss, which OLMoE divides by the experts per token
        chosen = case.config.num_experts_per_tok if case.config.model_type == "olmoe" else 1
        meta |= {"balance": round(case.balance * chosen, 6)}
    (folder / "meta.json").write_text(json.dumps(meta, indent=2) + "\n")
    return draw


if __name__ == "__main__":
    hf.logging.set_verbosity_error()
    torch.set_num_threads(1)
    for one in cases():
        if len(sys.argv) == 1:
            print(one.name, drawn(one)[3], flush=True)
        elif one.name in sys.argv[2:]:
            print(one.name, write(one, Path(sys.argv[1]) / one.name), flush=True)
