#pragma once

#include <redco/layer/attention.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/embedding.hpp>
#include <redco/layer/gelu.hpp>
#include <redco/layer/initialised.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/layer_norm.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/named.hpp>
#include <redco/layer/positions.hpp>
#include <redco/layer/real.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/residual.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/square_root.hpp>
#include <redco/layer/sum.hpp>

#include <cstdint>

namespace redco {

/// The sizes of a GPT-2.
struct gpt2_config {
  std::int64_t vocab = 50257;
  std::int64_t context = 1024;
  std::int64_t width = 768;
  std::int64_t heads = 12;
  std::int64_t layers = 12;
  double dropout = 0;  ///< on embeddings, residual branches and attention probabilities

  constexpr std::int64_t ffn() const { return 4 * width; }
  constexpr double branch_end() const { return 0.02 / square_root(2.0 * static_cast<double>(layers)); }
};

/// GPT-2 (Radford et al. 2019): pre-norm blocks, learned positions, tanh GELU, head tied to the token embedding. Weights
/// start normal with deviation 0.02, those that end a residual branch with 0.02 / sqrt(2 layers).
struct gpt2 {
  static constexpr auto vocab = &gpt2_config::vocab;
  static constexpr auto context = &gpt2_config::context;
  static constexpr auto width = &gpt2_config::width;
  static constexpr auto heads = &gpt2_config::heads;
  static constexpr auto layers = &gpt2_config::layers;
  static constexpr auto drop = &gpt2_config::dropout;
  static constexpr auto ffn = &gpt2_config::ffn;
  static constexpr auto branch_end = &gpt2_config::branch_end;

  using attention_branch =
      residual<sequential<named<"ln_1", layer_norm<width>>,
                          named<"attn", causal_attention<width, heads, heads, 0, true, drop, branch_end>>, dropout<drop>>>;
  using mlp_branch =
      residual<sequential<named<"ln_2", layer_norm<width>>,
                          named<"mlp", sequential<named<"up", linear<width, ffn>>, gelu,
                                                  named<"down", initialised<branch_end, linear<ffn, width>>>>>,
                          dropout<drop>>>;
  using block = sequential<attention_branch, mlp_branch>;
  using net = initialised<
      real{0.02}, sequential<sum<named<"wte", embedding<vocab, width>>, named<"wpe", positions<context, width>>>, dropout<drop>,
                       named<"h", repeat<layers, block>>, named<"ln_f", layer_norm<width>>,
                       language_head<vocab, width, "wte.weight">>>;

  gpt2_config config;
};

}  // namespace redco
