#pragma once

// The programs of redco's model families are recorded by code that is compiled once
// (RedcoCompiled.cmake).
#ifdef REDCO_COMPILED

#include <redco/shard/facts.hpp>
#include <redco/model/any_model.hpp>

#define REDCO_FACTS(PREFIX, MODEL)                      \
  PREFIX template fact::program facts_of(MODEL const&); \
  PREFIX template fact::program facts_of(MODEL const&, workload const&);

#define REDCO_FACTS_OF_FAMILIES(PREFIX)      \
  REDCO_FACTS(PREFIX, gpt2)                  \
  REDCO_FACTS(PREFIX, gpt_neo)               \
  REDCO_FACTS(PREFIX, llama)                 \
  REDCO_FACTS(PREFIX, models::olmo2)         \
  REDCO_FACTS(PREFIX, models::olmoe)         \
  REDCO_FACTS(PREFIX, models::mixtral)       \
  REDCO_FACTS(PREFIX, models::gemma)         \
  REDCO_FACTS(PREFIX, gptj)                  \
  REDCO_FACTS(PREFIX, models::gpt_neox)      \
  REDCO_FACTS(PREFIX, opt)                   \
  REDCO_FACTS(PREFIX, models::opt_post_norm) \
  REDCO_FACTS(PREFIX, bart)                  \
  REDCO_FACTS(PREFIX, t5)                    \
  REDCO_FACTS(PREFIX, models::t5_gated)      \
  REDCO_FACTS(PREFIX, bert)                  \
  REDCO_FACTS(PREFIX, roberta)               \
  REDCO_FACTS(PREFIX, vit)                   \
  REDCO_FACTS(PREFIX, models::vision_encoder_decoder)

namespace redco::shard {
#ifdef REDCO_COMPILES_FAMILIES
REDCO_FACTS_OF_FAMILIES()
#else
REDCO_FACTS_OF_FAMILIES(extern)
#endif
}  // namespace redco::shard

#endif
