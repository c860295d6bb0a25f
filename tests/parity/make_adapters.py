#!/usr/bin/env python3
"""Writes OUT/NAME: a small decoder as transformers save it, a LoRA of it in adapter/ as PEFT saves
it, and PEFT's results with both.

    python make_adapters.py --out ../files/adapters       needs torch, transformers and peft

expected.safetensors has input_ids [B, T] (each id is the label of the previous id), and logits and
loss with the adapter. The gradient of each tensor of adapter_model.safetensors has the name of the
tensor. The file also has the logits of the frozen model without the adapter.
"""
import argparse
from pathlib import Path

import peft
import torch
import transformers as hf
from safetensors.torch import save_file

LLAMA = hf.LlamaConfig(vocab_size=61, hidden_size=24, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4,
                       num_key_value_heads=2, max_position_embeddings=32, bos_token_id=1, eos_token_id=2)
GPT2 = hf.GPT2Config(vocab_size=61, n_embd=24, n_layer=2, n_head=4, n_positions=32, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                     bos_token_id=1, eos_token_id=2)
MIXTRAL = hf.MixtralConfig(vocab_size=61, hidden_size=24, intermediate_size=10, num_hidden_layers=2, num_attention_heads=4,
                           num_key_value_heads=2, max_position_embeddings=32, num_local_experts=4, num_experts_per_tok=3)
CASES = {
    "llama": (LLAMA, dict(r=3, lora_alpha=7, target_modules=["q_proj", "v_proj", "o_proj", "gate_proj", "down_proj"])),
    "gpt2": (GPT2, dict(r=2, lora_alpha=3, target_modules=["c_attn", "c_fc", "mlp.c_proj"], fan_in_fan_out=True)),
    "mixtral": (MIXTRAL, dict(r=3, lora_alpha=5, target_modules=["q_proj", "w1", "w2"])),
}


def write(out, config, lora):
    model = hf.AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for one in model.parameters():
            one.add_(0.05 * torch.randn_like(one))
    model.save_pretrained(out)
    ids = torch.randint(3, config.vocab_size, (4, 9))
    model.eval()
    expected = {"input_ids": ids, "frozen_logits": model(ids).logits.detach().clone()}
    adapted = peft.get_peft_model(model, peft.LoraConfig(task_type="CAUSAL_LM", init_lora_weights=False, **lora))
    adapted.eval()
    outputs = adapted(ids, labels=ids)
    outputs.loss.backward()
    expected |= {"logits": outputs.logits.detach(), "loss": outputs.loss.detach()}
    for name, one in adapted.named_parameters():
        if one.requires_grad:
            expected["grad." + name.replace(".default", "")] = one.grad
    adapted.save_pretrained(out / "adapter")
    (out / "adapter" / "README.md").unlink()
    save_file({name: one.contiguous() for name, one in expected.items()}, out / "expected.safetensors")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    where = parser.parse_args().out
    for seed, (name, (config, lora)) in enumerate(CASES.items()):
        torch.manual_seed(seed)
        write(where / name, config, lora)
