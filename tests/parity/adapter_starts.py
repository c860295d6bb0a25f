#!/usr/bin/env python3
"""Prints the distance of PEFT's logits from those of base + scale * B A, for each
init_lora_weights.

    .deps/peers/bin/python tests/parity/adapter_starts.py     needs torch, transformers and peft
                                                              (scripts/setup --peers)

adapter_folder refuses initialisations with a large distance: they change the base weights, which an
adapter's files do not contain. Distances are relative to the largest logit.
"""
import tempfile
import warnings

import peft
import torch
import transformers as hf
from safetensors.torch import load_file

CONFIG = hf.LlamaConfig(vocab_size=61, hidden_size=24, intermediate_size=40, num_hidden_layers=3, num_attention_heads=4,
                        num_key_value_heads=2, max_position_embeddings=64)
SCALE = 2.0


def model_of(weights):
    model = hf.LlamaForCausalLM(CONFIG).eval()
    model.load_state_dict(weights)
    return model


def difference(start, weights, ids):
    more = {"eva_config": peft.EvaConfig()} if start == "eva" else {}
    lora = peft.LoraConfig(r=4, lora_alpha=4 * SCALE, target_modules=["q_proj", "v_proj"], init_lora_weights=start, **more)
    trained, noise = peft.get_peft_model(model_of(weights), lora), torch.Generator().manual_seed(7)
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        for name, value in trained.named_parameters():
            if "lora_" in name:
                value.add_(0.1 * torch.randn(value.shape, generator=noise))
        trained.save_pretrained(folder)
        theirs = peft.PeftModel.from_pretrained(model_of(weights), folder).eval()(ids).logits
        plain, halves = model_of(weights), load_file(folder + "/adapter_model.safetensors")
        for name, a in halves.items():
            if ".lora_A." in name:
                module = name.removeprefix("base_model.model.").replace(".lora_A", "")
                plain.get_parameter(module).add_(SCALE * halves[name.replace("lora_A", "lora_B")] @ a)
        return ((theirs - plain(ids).logits).abs().max() / theirs.abs().max()).item()


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    torch.manual_seed(3)
    base = hf.LlamaForCausalLM(CONFIG).state_dict()
    tokens = torch.randint(0, CONFIG.vocab_size, (2, 9), generator=torch.Generator().manual_seed(1))
    print(f"peft {peft.__version__}, transformers {hf.__version__}")
    for one in (True, False, "gaussian", "eva", "orthogonal", "mica", "lora_ga", "olora", "pissa", "pissa_niter_4"):
        print(f"{one!s:15} {difference(one, base, tokens):.1e}")
