#pragma once

// The networks of the model families are built and called by code that is compiled once
// (RedcoCompiled.cmake), for the context entries that batches and decoding set.
#ifdef REDCO_COMPILED

#include <redco/nn/context_entries.hpp>
#include <redco/nn/nn.hpp>
#include <redco/model/any_model.hpp>

#include <memory>

#define REDCO_CALL(PREFIX, MODEL, ...)                                                                      \
  PREFIX template detail::results_of<MODEL>::user detail::forward(network<MODEL> const&, at::Tensor const&, \
                                                                  context<__VA_ARGS__> const&);
#define REDCO_NETWORK(PREFIX, MODEL)                                                                            \
  PREFIX template std::shared_ptr<network<MODEL> const> make_network(MODEL const&, parameter_store const&, int, \
                                                                     mesh const&, shape::stage_blocks const&);

#define REDCO_DECODER(PREFIX, MODEL)   \
  REDCO_NETWORK(PREFIX, MODEL)         \
  REDCO_CALL(PREFIX, MODEL)            \
  REDCO_CALL(PREFIX, MODEL, key_mask)  \
  REDCO_CALL(PREFIX, MODEL, documents) \
  REDCO_CALL(PREFIX, MODEL, key_mask, token_positions)

#define REDCO_ENCODER_DECODER(PREFIX, MODEL) \
  REDCO_NETWORK(PREFIX, MODEL)               \
  REDCO_CALL(PREFIX, MODEL, encoder_input)   \
  REDCO_CALL(PREFIX, MODEL, encoder_input, encoder_mask)

#define REDCO_ENCODER(PREFIX, MODEL)  \
  REDCO_NETWORK(PREFIX, MODEL)        \
  REDCO_CALL(PREFIX, MODEL)           \
  REDCO_CALL(PREFIX, MODEL, key_mask) \
  REDCO_CALL(PREFIX, MODEL, key_mask, token_type_ids)

#define REDCO_DESCRIBER(PREFIX, MODEL) \
  REDCO_NETWORK(PREFIX, MODEL)         \
  REDCO_CALL(PREFIX, MODEL, encoder_input)

#define REDCO_NETWORKS_OF_FAMILIES(PREFIX)        \
  REDCO_DECODER(PREFIX, gpt2)                     \
  REDCO_DECODER(PREFIX, gpt_neo)                  \
  REDCO_DECODER(PREFIX, llama)                    \
  REDCO_DECODER(PREFIX, models::olmo2)            \
  REDCO_DECODER(PREFIX, models::olmoe)            \
  REDCO_DECODER(PREFIX, models::mixtral)          \
  REDCO_DECODER(PREFIX, models::gemma)            \
  REDCO_DECODER(PREFIX, gptj)                     \
  REDCO_DECODER(PREFIX, models::gpt_neox)         \
  REDCO_DECODER(PREFIX, opt)                      \
  REDCO_DECODER(PREFIX, models::opt_post_norm)    \
  REDCO_ENCODER_DECODER(PREFIX, bart)             \
  REDCO_ENCODER_DECODER(PREFIX, t5)               \
  REDCO_ENCODER_DECODER(PREFIX, models::t5_gated) \
  REDCO_ENCODER(PREFIX, bert)                     \
  REDCO_ENCODER(PREFIX, roberta)                  \
  REDCO_NETWORK(PREFIX, vit)                      \
  REDCO_CALL(PREFIX, vit)                         \
  REDCO_DESCRIBER(PREFIX, models::vision_encoder_decoder)

namespace redco::nn {
#ifdef REDCO_COMPILES_FAMILIES
REDCO_NETWORKS_OF_FAMILIES()
#else
REDCO_NETWORKS_OF_FAMILIES(extern)
#endif
}  // namespace redco::nn

#endif
