#pragma once

#include <redco/layer/any_layer.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/parts.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/transform.hpp>
#include <redco/layer/with_split_tokens.hpp>

#include <redco/model/model.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/fact/path.hpp>

#include <redco/shape/extents.hpp>

#include <type_traits>

namespace redco {

namespace detail {

/// Whether L is a repeat, or has one part only, which is one under a name or within other layers of one part.
template <class L, class Parts = parts_of<L>>
inline constexpr bool wraps_repeat = is_repeat<L>;
template <class L, class Only>
inline constexpr bool wraps_repeat<L, parts<Only>> = is_repeat<L> || wraps_repeat<typename Only::layer>;

/// Splits the tokens before each row of repeated blocks.
struct splits_tokens {
  template <class L, fact::path>
  static constexpr bool holds = wraps_repeat<L>;
  template <class L, fact::path>
  using at = std::type_identity<std::conditional_t<wraps_repeat<L>, with_split_tokens<L>, L>>;
};

}  // namespace detail

/// Satisfied by models in whose net blocks are repeated, so that `sequence_parallel` has a place to split the tokens. What
/// follows the blocks must take split tokens, as norms, heads and all families here do.
template <class M>
concept repeats_blocks = model<M> && any_layer<typename M::net, detail::splits_tokens>;

/// `M` with its tokens split between blocks (see `split_tokens`): the same sizes, parameters, names and losses.
///   constexpr redco::sequence_parallel<redco::gpt2> model{{.width = 384, .heads = 6, .layers = 6}};
template <model M>
struct sequence_parallel {
  using net = transform<typename M::net, detail::splits_tokens>;

  decltype(M::config) config;

  template <class Same = M>
    requires requires(Same const& m, workload const& load) { m.input(load); }
  constexpr extents input(workload const& load) const { return Same{config}.input(load); }

  static_assert(repeats_blocks<M>,
                "redco[L003]: sequence_parallel finds no repeated block in the model; write redco::split_tokens into "
                "the model's net where its tokens are to be split");
};

/// Files name its parameters as M's.
template <model M>
struct stored_names<sequence_parallel<M>> : stored_names<M> {};

template <class M>
inline constexpr bool is_sequence_parallel = false;
template <model M>
inline constexpr bool is_sequence_parallel<sequence_parallel<M>> = true;

}  // namespace redco
