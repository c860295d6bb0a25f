#pragma once

#include <redco/model/gpt2.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/block_set.hpp>
#include <redco/layer/sparse_traits.hpp>
#include <redco/layer/tree.hpp>
#include <redco/fact/path.hpp>

#include <cstdint>
#include <type_traits>

namespace redco::models {

/// The sizes and options of a GPT-2 model with sparse attention; the defaults are the smallest
/// GPT-2 with mGPT's pattern.
struct mgpt_config : gpt2_config {
  std::int64_t block = 16;           ///< Number of tokens per block; 0: dense attention
  std::int64_t local_blocks = 8;     ///< Number of blocks per window, which its queries see
  std::int64_t global_blocks = 1;    ///< Number of blocks of each window that all later queries see
  std::int64_t global_patterns = 8;  ///< Number of different sets of global blocks over the heads
  /// Blocks of the stack with dense attention; by default every second one, from block 1 on
  layers::block_set dense_blocks = layers::every_block(2);
};

/// A GPT-2 model whose blocks alternate between sparse and dense attention (GPT-3, Brown et al.
/// 2020; mGPT, Shliazhko et al. 2022). The published mGPT checkpoints are dense; `gpt2` reads them.
///
///   constexpr redco::models::mgpt model{{{.context = 2048, .layers = 24}}};
struct mgpt {
  /// A rewrite for `transform`: gives each attention mGPT's pattern.
  struct sparse {
    template <class L, fact::path>
    struct at : std::type_identity<L> {};
    template <layers::attention_kind Kind, auto Width, auto Heads, class... Traits, fact::path Here>
    struct at<layers::attention<Kind, Width, Heads, Traits...>, Here>
        : std::type_identity<layers::attention<
              Kind, Width, Heads, Traits...,
              layers::sparse_causal<&mgpt_config::block, &mgpt_config::local_blocks, &mgpt_config::global_blocks,
                                    &mgpt_config::global_patterns, &mgpt_config::dense_blocks>>> {};
  };

  using net = layers::transform<gpt2::net, sparse>;

  mgpt_config config;
};

}  // namespace redco::models
