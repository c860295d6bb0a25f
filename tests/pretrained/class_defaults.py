#!/usr/bin/env python3
"""Writes class_defaults.json: the values that Hugging Face transformers use for keys that a
config.json leaves out.

    python class_defaults.py ../files/class_defaults.json

For each family writes a `base` whose sizes differ from the class's defaults, and for each of its
keys the default of the config class. Run it with several versions of transformers, one after
another: an existing file gets the version's name, and a value that differs from the written one
ends the program. `rotary` has the defaults for the keys of LLaMA 3's rotary positions. "missing"
means that a model cannot be made without the key.
"""
import json
import sys
from pathlib import Path

import transformers
from transformers import AutoConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

GPT = dict(vocab_size=600, n_positions=512, n_embd=1536, n_head=24, n_layer=3, n_inner=100, activation_function="relu",
           resid_pdrop=0.3, embd_pdrop=0.3, attn_pdrop=0.3, layer_norm_epsilon=1e-3, initializer_range=0.5)
SWIGLU = dict(vocab_size=600, max_position_embeddings=512, hidden_size=8192, intermediate_size=100, num_hidden_layers=3,
              num_attention_heads=64, num_key_value_heads=16, hidden_act="gelu", rms_norm_eps=1e-3, rope_theta=500.0,
              attention_dropout=0.3, initializer_range=0.5, tie_word_embeddings=True)
GEMMA = dict(vocab_size=600, max_position_embeddings=512, hidden_size=8192, intermediate_size=100, num_hidden_layers=13,
             num_attention_heads=64, num_key_value_heads=16, head_dim=32, hidden_activation="relu", rms_norm_eps=1e-3, rope_theta=500.0,
             attention_bias=True, attention_dropout=0.3, query_pre_attn_scalar=100, sliding_window=7, pad_token_id=4,
             initializer_range=0.5, tie_word_embeddings=False)
BERT = dict(vocab_size=600, max_position_embeddings=500, type_vocab_size=3, hidden_size=1536, intermediate_size=100,
            num_hidden_layers=3, num_attention_heads=24, hidden_act="relu", hidden_dropout_prob=0.3, attention_probs_dropout_prob=0.2,
            initializer_range=0.5, layer_norm_eps=1e-3, pad_token_id=4)
FAMILIES = {
    "gpt2": GPT,
    "gptj": dict(GPT, n_embd=8192, n_head=32, rotary_dim=32),
    "gpt_neo": dict(vocab_size=600, max_position_embeddings=512, hidden_size=4096, num_layers=24, num_heads=32, intermediate_size=100,
                    attention_types=[[["local"], 24]], window_size=7, activation_function="relu", resid_dropout=0.3,
                    embed_dropout=0.3, attention_dropout=0.3, layer_norm_epsilon=1e-3, initializer_range=0.5),
    "llama": dict(SWIGLU, head_dim=32, attention_bias=True, mlp_bias=True),
    "mistral": dict(SWIGLU, head_dim=32, sliding_window=7),
    "qwen2": dict(SWIGLU, use_sliding_window=True, sliding_window=7, max_window_layers=0),
    "qwen3": dict(SWIGLU, head_dim=32, attention_bias=True, use_sliding_window=True, sliding_window=7, max_window_layers=0),
    "smollm3": dict(SWIGLU, attention_bias=True, mlp_bias=True, tie_word_embeddings=False, no_rope_layer_interval=2, pad_token_id=4),
    "phi3": dict(SWIGLU, sliding_window=7, pad_token_id=4),
    "olmo2": dict(SWIGLU, attention_bias=True, pad_token_id=4),
    "olmoe": dict(SWIGLU, attention_bias=True, pad_token_id=4, num_experts=5, num_experts_per_tok=3, norm_topk_prob=True),
    "mixtral": dict(SWIGLU, num_local_experts=5, num_experts_per_tok=3, sliding_window=7),
    "qwen3_moe": dict({k: v for k, v in SWIGLU.items() if k != "intermediate_size"}, attention_bias=True, num_experts=5, num_experts_per_tok=3,
                      norm_topk_prob=True, moe_intermediate_size=30, use_sliding_window=True, sliding_window=7),
    "gpt_neox": dict(vocab_size=600, max_position_embeddings=512, hidden_size=8192, intermediate_size=100, num_hidden_layers=3,
                     num_attention_heads=32, hidden_act="relu", layer_norm_eps=1e-3, attention_dropout=0.3, hidden_dropout=0.2,
                     initializer_range=0.5, tie_word_embeddings=True, use_parallel_residual=False, attention_bias=False,
                     rotary_pct=0.5, rotary_emb_base=500.0),
    "gemma2": dict(GEMMA, attn_logit_softcapping=7.0, final_logit_softcapping=5.0),
    "gemma3_text": dict(GEMMA, rope_local_base_freq=300.0),
    "opt": dict(vocab_size=600, max_position_embeddings=512, hidden_size=1536, ffn_dim=100, num_hidden_layers=3,
                num_attention_heads=24, word_embed_proj_dim=100, do_layer_norm_before=False, dropout=0.3, attention_dropout=0.2,
                activation_function="gelu", init_std=0.5, pad_token_id=4),
    "t5": dict(vocab_size=600, d_model=100, d_kv=8, d_ff=30, num_layers=3, num_decoder_layers=4, num_heads=5,
               relative_attention_num_buckets=16, relative_attention_max_distance=64, dropout_rate=0.3, layer_norm_epsilon=1e-3,
               initializer_factor=0.5, feed_forward_proj="gated-silu"),
    "bart": dict(vocab_size=600, max_position_embeddings=512, d_model=2048, encoder_layers=3, decoder_layers=4, encoder_ffn_dim=100,
                 decoder_ffn_dim=90, encoder_attention_heads=32, decoder_attention_heads=8, activation_function="relu", dropout=0.3,
                 attention_dropout=0.2, activation_dropout=0.15, init_std=0.5, scale_embedding=True, pad_token_id=4),
    "bert": BERT,
    "roberta": BERT,
    "vit": dict(hidden_size=1536, num_hidden_layers=3, num_attention_heads=24, intermediate_size=100, hidden_act="relu",
                hidden_dropout_prob=0.3, attention_probs_dropout_prob=0.2, initializer_range=0.5, layer_norm_eps=1e-3, image_size=448,
                patch_size=32, num_channels=5, qkv_bias=False),
}
# Names in rope_parameters of keys that newer versions keep there
ROTARY_NAMES = {"rope_theta": "rope_theta", "rotary_emb_base": "rope_theta", "rotary_pct": "partial_rotary_factor",
                "rope_local_base_freq": "rope_theta"}
ROTARY = dict(rope_type="llama3", factor=4.0, low_freq_factor=2.0, high_freq_factor=5.0, original_max_position_embeddings=100)


def value_without(family, base, key):
    config = AutoConfig.for_model(family, **{k: v for k, v in base.items() if k != key})
    if key in ROTARY_NAMES and not hasattr(config, key):
        kind = {"rope_theta": "full_attention", "rope_local_base_freq": "sliding_attention"}.get(key)
        return config.rope_parameters.get(kind, config.rope_parameters)[ROTARY_NAMES[key]]
    if key == "head_dim" and getattr(config, key) is None:
        return config.hidden_size // config.num_attention_heads
    return getattr(config, key)


def rotary_without(key):
    """Returns the default of LLaMA 3's positions for the key: the value of the class, or "missing".
    """
    parameters = {k: v for k, v in ROTARY.items() if k != key}
    try:
        config = AutoConfig.for_model("llama", **SWIGLU, rope_scaling=parameters)
        ROPE_INIT_FUNCTIONS["llama3"](config, "cpu")
    except KeyError:
        return "missing"
    return config.rope_parameters[key]


def main(path):
    families = {}
    for family, base in FAMILIES.items():
        absent = {key: value_without(family, base, key) for key in base}
        if family in ("qwen2", "qwen3", "qwen3_moe"):
            # Default of the constructor; an unused one is None afterwards
            absent["sliding_window"] = 4096
        families[family] = {"base": base, "absent": absent}
    rotary = {"base": ROTARY, "absent": {key: rotary_without(key) for key in ROTARY if key != "rope_type"}}
    known = json.loads(path.read_text()) if path.exists() else {"transformers": {}, "families": families}
    if known["families"] != families:
        sys.exit(f"transformers {transformers.__version__} have other defaults than {', '.join(known['transformers'])}")
    known["transformers"][transformers.__version__] = {"rotary": rotary["absent"]}
    known["rotary"] = rotary["base"]
    path.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
