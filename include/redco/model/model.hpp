#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/parts.hpp>

#include <redco/shape/extents.hpp>

#include <cstdint>
#include <type_traits>

namespace redco {

/// What one rank is fed at once: examples of a micro-batch and their length.
struct workload {
  std::int64_t batch = 1;
  std::int64_t sequence = 1;
  std::int64_t source = 0;  ///< length of what an encoder reads for a decoder; 0: the same
};

/// What the encoder of an encoder-decoder is fed.
constexpr workload of_source(workload load) {
  if (load.source > 0) load.sequence = load.source;
  return load;
}

/// A model: its structure is the layer type `net`, its sizes are the value `config`.
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

/// The structure of a model; an automatic linear that is all of it is replicated.
/// Errors: redco[L007] where a layer of it does not declare what it is made of.
template <model M>
using net_of = typename detail::declared_net<typename M::net>::type;

struct no_config {};  ///< the config of a model whose sizes are all literals

/// A model made of one composition of layers with literal sizes: `model_of<sequential<linear<784, 512>, relu, ...>>`. Where
/// its input is neither token ids nor one row of features, it is stated: `model_of<net, input<1, 28, 28>>`.
template <layer Net, class Input = void>
struct model_of {
  using net = Net;
  no_config config;

  constexpr extents input(workload const& load) const requires(!std::is_void_v<Input>) { return Input::of(load.batch); }
};

/// Whether a model says what its input is.
template <class M>
inline constexpr bool states_input = requires(M const& m, workload const& load) {
  m.input(load);
};

/// The logical extents of a model's input under a workload: [batch, sequence] unless the model says otherwise with a
/// member `input(workload)`.
template <model M>
constexpr extents input_of(M const& m, workload const& load) {
  if constexpr (states_input<M>) {
    return m.input(load);
  } else {
    return {load.batch, load.sequence};
  }
}

}  // namespace redco
