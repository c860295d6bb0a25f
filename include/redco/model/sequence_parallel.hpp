#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/tree.hpp>
#include <redco/layer/wrappers.hpp>

#include <redco/model/model.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/fact/path.hpp>

#include <redco/shape/extents.hpp>

#include <type_traits>

namespace redco::models::detail {

/// True if L is a `repeat`, or a layer whose only inner layer is one for which this variable is
/// true.
template <class L, class Parts = layers::detail::parts_of<L>>
inline constexpr bool wraps_repeat = layers::detail::is_repeat<L>;
template <class L, class Only>
inline constexpr bool wraps_repeat<L, layers::parts<Only>> =
    layers::detail::is_repeat<L> || wraps_repeat<typename Only::layer>;

/// A rewrite for `transform`: makes each stack of repeated blocks split its tokens over the ranks
/// first.
struct splits_tokens {
  template <class L, fact::path>
  static constexpr bool holds = wraps_repeat<L>;
  template <class L, fact::path>
  using at = std::type_identity<std::conditional_t<wraps_repeat<L>, layers::with_split_tokens<L>, L>>;
};

}  // namespace redco::models::detail

namespace redco::models {

/// Concept of a model with repeated blocks, so that `sequence_parallel` can split the tokens over
/// the ranks before them. Layers after the blocks must accept split tokens, as norms, language
/// heads and all model families of the library do.
template <class M>
concept repeats_blocks = model<M> && layers::any_layer<typename M::net, detail::splits_tokens>;

/// A model type like `M` that splits the tokens between blocks over the tensor-parallel ranks
/// (sequence parallelism). Sizes, parameters, names and losses are equal to those of `M`:
///   constexpr redco::models::sequence_parallel<redco::gpt2> model{{.heads = 6, .layers = 6}};
template <model M>
struct sequence_parallel {
  using net = layers::transform<typename M::net, detail::splits_tokens>;

  decltype(M::config) config;

  template <class Same = M>
    requires states_input<Same>
  constexpr extents input(workload const& load) const { return Same{config}.input(load); }
  template <class Same = M>
    requires states_source<Same>
  constexpr extents source(workload const& load) const { return Same{config}.source(load); }

  static_assert(
      repeats_blocks<M>,
      "redco[L003]: sequence_parallel finds no repeated block in the model; write redco::layers::split_tokens into "
      "the model's net where its tokens are to be split");
};

/// A table of the names of a sequence-parallel model's parameters in files, equal to that of M.
template <model M>
struct stored_names<sequence_parallel<M>> : stored_names<M> {};

template <class M>
inline constexpr bool is_sequence_parallel = false;
template <model M>
inline constexpr bool is_sequence_parallel<sequence_parallel<M>> = true;

}  // namespace redco::models
