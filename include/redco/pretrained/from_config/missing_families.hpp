#pragma once

#include <string_view>

namespace redco::pretrained::detail {

/// A family that redco cannot compute, and the parts of its computation that redco lacks.
struct missing_family {
  std::string_view name, lacks;
};

/// Families of public models that are close to those that redco reads.
inline constexpr missing_family missing_families[] = {
    {"albert", "layers that share their weights"},
    {"arcee", "a feed-forward layer with a squared ReLU"},
    {"baichuan", "a normalised head, and positions by ALiBi in its large model"},
    {"beit", "relative positions in attention to patches"},
    {"biogpt", "blocks like BART's without an encoder, and positions with an offset"},
    {"blenderbot", "norms before the layers of an encoder-decoder like BART"},
    {"bloom", "positions by ALiBi"},
    {"codegen", "projections that store q, k and v in groups"},
    {"cohere", "blocks whose attention and feed-forward run in parallel, and scaled logits (\"logit_scale\")"},
    {"cohere2", "blocks whose attention and feed-forward run in parallel, and scaled logits (\"logit_scale\")"},
    {"dbrx", "layer norms and bounds of q, k and v in a mixture of experts"},
    {"deberta-v2", "disentangled attention"},
    {"deepseek_v2",
     "attention with latent keys and values (\"kv_lora_rank\") and a feed-forward layer without experts "
     "in the first blocks (\"first_k_dense_replace\")"},
    {"deepseek_v3",
     "attention with latent keys and values (\"kv_lora_rank\") and a feed-forward layer without experts "
     "in the first blocks (\"first_k_dense_replace\")"},
    {"deit", "a distillation token"},
    {"dinov2", "scales of layers (\"layerscale_value\")"},
    {"distilbert", "a model of BERT's blocks without token types and pooler"},
    {"electra", "an embedding narrower than the model, and its own classifier"},
    {"ernie4_5", "rotary positions that pair neighbouring features in a Llama"},
    {"falcon", "attention and feed-forward in parallel with shared keys and values"},
    {"gemma", "a Gemma with no norms after attention and feed-forward"},
    {"gemma3n_text", "embeddings of their own for each layer, and sparse activations"},
    {"glm", "rotary positions that pair neighbouring features in half of the features"},
    {"glm4", "rotary positions that pair neighbouring features in half of the features"},
    {"gpt_bigcode", "multi-query attention with learned positions"},
    {"gpt_neox_japanese", "a bias of attention that only the last block has"},
    {"gpt_oss", "biases of routers and experts, and the clamped activation of experts (\"swiglu_limit\")"},
    {"granite", "factors on embeddings, residuals, scores and logits"},
    {"granitemoe", "factors on embeddings, residuals, scores and logits"},
    {"internlm2", "projections that store q, k and v in groups"},
    {"jamba", "state-space layers"},
    {"led", "attention of the encoder within windows (\"attention_window\")"},
    {"longt5", "local attention of the encoder"},
    {"m2m_100", "sinusoidal positions, and norms before the layers of an encoder-decoder"},
    {"marian", "sinusoidal positions in an encoder-decoder"},
    {"mbart", "norms before the layers of an encoder-decoder, and a norm after its last layer"},
    {"minicpm", "factors on embeddings, residuals and logits"},
    {"modernbert", "an encoder with rotary positions and windows in some layers"},
    {"mpnet", "relative positions in an encoder like BERT"},
    {"mpt", "positions by ALiBi"},
    {"nemotron", "layer norms with weights around 1, and a feed-forward layer with a squared ReLU"},
    {"olmo", "norms without weights"},
    {"olmo3", "sliding windows in some layers only"},
    {"openai-gpt", "norms after the layers of a GPT"},
    {"pegasus", "sinusoidal positions, and norms before the layers of an encoder-decoder"},
    {"phi", "attention and feed-forward that share a norm, with biases and partly rotated features"},
    {"phi3small", "blocks of sparse attention (\"blocksparse_block_size\")"},
    {"phimoe", "the routing of its mixture of experts (\"sparse mixer\")"},
    {"qwen", "the model that the first Qwen describes in its own program"},
    {"qwen2_moe", "a shared expert beside the chosen experts"},
    {"qwen3_next", "linear attention in some layers"},
    {"recurrent_gemma", "recurrent layers"},
    {"rwkv", "recurrent layers"},
    {"stablelm", "layer norms and partly rotated features in a Llama"},
    {"starcoder2", "layer norms and biases in a Llama with a plain feed-forward layer"},
    {"swin", "attention within shifted windows"},
    {"switch_transformers", "experts in an encoder-decoder"},
    {"umt5", "relative positions of its own in each layer"},
    {"xglm", "sinusoidal positions in a decoder"}};

}  // namespace redco::pretrained::detail
