#pragma once

#include <redco/layer/activation.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/gated.hpp>
#include <redco/layer/initialised.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/named.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/square_root.hpp>

#include <redco/model/stored_name.hpp>
#include <redco/model/t5_net.hpp>

#include <cstdint>

namespace redco {

/// The sizes of a T5 with a gated feed-forward; the defaults are T5-v1.1-XXL's.
struct t5_gated_config {
  std::int64_t vocab = 32128;
  std::int64_t width = 4096;
  std::int64_t ffn = 10240;
  std::int64_t heads = 64;
  std::int64_t head_dim = 64;
  std::int64_t layers = 24;  ///< of the encoder
  std::int64_t decoder_layers = 24;
  std::int64_t buckets = 32;    ///< of distances
  std::int64_t farthest = 128;  ///< the distance from which on all share a bucket
  double norm_epsilon = 1e-6;
  double dropout =
      0;  ///< on embeddings, residual branches, feed-forward, attention probabilities and results of stacks
  activation_kind activation = activation_kind::gelu_tanh;
  double deviation = 1;  ///< factor of the standard deviations that weights start from
  bool tied = false;     ///< the head reads the token embedding

  constexpr double from_width() const { return deviation / square_root(static_cast<double>(width)); }
  constexpr double from_query() const { return deviation / square_root(static_cast<double>(width * head_dim)); }
  constexpr double from_heads() const { return deviation / square_root(static_cast<double>(heads * head_dim)); }
  constexpr double from_ffn() const { return deviation / square_root(static_cast<double>(ffn)); }
  constexpr double head_factor() const { return tied ? 1 / square_root(static_cast<double>(width)) : 1; }
};

/// T5 v1.1 and FLAN-T5 (Raffel et al. 2020; Shazeer 2020): T5 with a feed-forward gated by tanh GELU, and a head of its own
/// unless the config says otherwise. A weight starts normal with deviation 1 / sqrt(inputs), the token embedding and the
/// head with 1.
struct t5_gated {
  static constexpr auto width = &t5_gated_config::width;
  static constexpr auto ffn = &t5_gated_config::ffn;
  static constexpr auto from_ffn = &t5_gated_config::from_ffn;
  static constexpr auto drop = &t5_gated_config::dropout;

  using feed_forward = sequential<gated<width, ffn, activation<&t5_gated_config::activation>>, dropout<drop>,
                                  named<"wo", initialised<from_ffn, linear<ffn, width, false>>>>;
  using net = t5_net<t5_gated_config, feed_forward>::net;

  t5_gated_config config;
};

/// In stored_names/t5.hpp.
template <>
struct stored_names<t5_gated>;

}  // namespace redco
