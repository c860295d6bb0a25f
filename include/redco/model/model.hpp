#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/parts.hpp>

#include <redco/shape/extents.hpp>

#include <cstdint>
#include <type_traits>

namespace redco {

/// The size of one rank's micro-batch: examples and their length.
struct workload {
  std::int64_t batch = 1;
  std::int64_t sequence = 1;
  std::int64_t source = 0;  ///< Length of an encoder's input; 0: equal to `sequence`
};

/// Returns the workload of an encoder-decoder's encoder: `sequence` becomes the length of the
/// encoder's input.
constexpr workload of_source(workload load) {
  if (load.source > 0) load.sequence = load.source;
  return load;
}

/// A model type: the layer type `net` is its structure, the value `config` its sizes.
template <class M>
concept model = layer<typename M::net> && requires(M const& m) {
  m.config;
};

namespace detail {

template <layer Net>
struct declared_net {
  using type = unpaired_t<Net>;
  static_assert(sizeof(declared_tree<Net>) > 0);
};

}  // namespace detail

/// Layer type of a model's structure. If the net is one automatic linear layer, it is replicated.
/// Compile error: redco[L007] if a layer does not declare its parts.
template <model M>
using net_of = typename detail::declared_net<typename M::net>::type;

struct no_config {};  ///< The config of a model whose sizes are all literals

/// A model made of one composition of layers with literal sizes:
/// `model_of<sequential<linear<784, 512>, relu, ...>>`. State the input's shape if the input is
/// neither token ids nor one row of features: `model_of<net, input<1, 28, 28>>`.
template <layer Net, class Input = void>
struct model_of {
  using net = Net;
  no_config config;

  constexpr extents input(workload const& load) const requires(!std::is_void_v<Input>) { return Input::of(load.batch); }
};

/// True if a model declares the shape of its input.
template <class M>
inline constexpr bool states_input = requires(M const& m, workload const& load) {
  m.input(load);
};

/// Returns the logical extents of a model's input under a workload: the result of the model's
/// `input(workload)` if it has one, otherwise [batch, sequence].
template <model M>
constexpr extents input_of(M const& m, workload const& load) {
  if constexpr (states_input<M>) {
    return m.input(load);
  } else {
    return {load.batch, load.sequence};
  }
}

}  // namespace redco
