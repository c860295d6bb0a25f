#pragma once

#include <redco/layer/encoder_decoder.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/tree.hpp>
#include <redco/fact/path.hpp>
#include <redco/shape/extents.hpp>

#include <cstdint>
#include <type_traits>

namespace redco {

/// The shape of one example of a model's input, as template argument of `model_of`. `input<1, 28,
/// 28>` is an image with one channel and 28 x 28 pixels.
template <std::int64_t... Extents>
struct input {
  /// Returns the shape of the input of `batch` examples.
  static constexpr extents of(std::int64_t batch) { return {batch, Extents...}; }
};

/// The size of one rank's micro-batch: number of examples (`batch`), tokens per example
/// (`sequence`), and tokens of an encoder's input (`source`).
struct workload {
  std::int64_t batch = 1;
  std::int64_t sequence = 1;
  std::int64_t source = 0;  ///< Tokens per example of an encoder's input; 0: equal to `sequence`
  /// Number of ranks (along the mesh axis cp) that compute `sequence` tokens each of examples with
  /// `whole` tokens
  int parts = 1;
  std::int64_t whole = 0;  ///< Tokens per example of all these ranks; 0: equal to `sequence`
  int shards = 1;          ///< Number of tensor-parallel shards, if sequences have several parts
};

}  // namespace redco

namespace redco::models {

/// Returns the workload of the encoder in an encoder-decoder model: a copy of `load` in which
/// `sequence` is the length of the encoder's input.
constexpr workload of_source(workload load) {
  if (load.source > 0) load.sequence = load.source;
  return load;
}

}  // namespace redco::models

namespace redco {

/// Concept of a model type. Its member type `net`, a layer type, is the structure of the model. Its
/// member `config` is a value with the sizes.
template <class M>
concept model = layer<typename M::net> && requires(M const& m) {
  m.config;
};

}  // namespace redco

namespace redco::models::detail {

template <layer Net>
struct declared_net {
  using type = layers::unpaired_t<Net>;
  static_assert(sizeof(layers::detail::declared_tree<Net>) > 0);
};

}  // namespace redco::models::detail

namespace redco::models {

/// Layer type to use for the structure `M::net` of a model. It is `M::net` itself, but a single
/// linear layer with automatic cut becomes replicated. Compile error: redco[L007] if a layer does
/// not declare its inner layers.
template <model M>
using net_of = typename detail::declared_net<typename M::net>::type;

}  // namespace redco::models

namespace redco {

struct no_config {};  ///< An empty config, for a model whose sizes are all literals in its type

/// A model type made of a layer type with literal sizes: `model_of<sequential<linear<784, 512>,
/// relu, ...>>`. Give the shape of one example as `Input` unless the input is token ids or rows of
/// features: `model_of<net, input<1, 28, 28>>`.
template <layer Net, class Input = void>
struct model_of {
  using net = Net;
  no_config config;

  constexpr extents input(workload const& load) const requires(!std::is_void_v<Input>) { return Input::of(load.batch); }
};

}  // namespace redco

namespace redco::models {

/// True if a model type declares the shape of its input in a function `input(workload)`.
template <class M>
inline constexpr bool states_input = requires(M const& m, workload const& load) {
  m.input(load);
};

/// Returns the complete shape (over all shards) of a model's input for a workload. It is the result
/// of the model's function `input(workload)` if there is one, otherwise [batch, sequence].
template <model M>
constexpr extents input_of(M const& m, workload const& load) {
  if constexpr (states_input<M>) {
    return m.input(load);
  } else {
    return {load.batch, load.sequence};
  }
}

/// True if an encoder-decoder model declares the shape of the encoder's input in a function
/// `source(workload)`, such as that of images.
template <class M>
inline constexpr bool states_source = requires(M const& m, workload const& load) {
  m.source(load);
};

/// Returns the complete shape of the input of a model's encoder for a workload. It is the result of
/// the model's function `source(workload)` if there is one, otherwise [batch, source].
template <model M>
constexpr extents source_of(M const& m, workload const& load) {
  if constexpr (states_source<M>) {
    return m.source(load);
  } else {
    return input_of(m, of_source(load));
  }
}

/// Returns the largest number of tokens for which a model, or its decoder, has positions. Returns
/// `otherwise` if the model's config names no such limit.
template <model M>
constexpr std::int64_t context_of(M const& m, std::int64_t otherwise) {
  if constexpr (requires { m.config.context; }) {
    return m.config.context;
  } else if constexpr (requires { m.config.decoder.context; }) {
    return m.config.decoder.context;
  } else {
    return otherwise;
  }
}

}  // namespace redco::models

namespace redco::models::detail {

template <class L>
inline constexpr bool is_encoder_decoder = false;
template <class Encoder, class Decoder>
inline constexpr bool is_encoder_decoder<layers::encoder_decoder<Encoder, Decoder>> = true;

struct reads_with_an_encoder {
  template <class L, fact::path>
  static constexpr bool holds = is_encoder_decoder<L>;
};

}  // namespace redco::models::detail

namespace redco::models {

/// True if the layer tree `Net` of a model contains an encoder-decoder. Only such models use
/// `workload::source`, the length of the encoder's input.
template <layer Net>
inline constexpr bool has_encoder = layers::any_layer<Net, detail::reads_with_an_encoder>;

}  // namespace redco::models
