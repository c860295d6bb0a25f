#pragma once

#include <redco/shard/facts.hpp>
#include <redco/shard/legal.hpp>

#include <redco/model/model.hpp>
#include <redco/shape/mesh.hpp>

#include <type_traits>

namespace redco::shard::detail {

/// Records the program of the model type M and returns true. The call is a constant expression only
/// if all layers can declare their parameters in a constant expression. The concept literally_sized
/// tests this.
template <model M>
constexpr bool records() {
  fact::program const recorded = record(M{}, workload{});
  return !recorded.layers.empty();
}

/// A constant object of a model type whose sizes are all literals.
template <model M>
inline constexpr M literal_model{};

}  // namespace redco::shard::detail

namespace redco::shard {

/// Concept of a model type whose sizes are all literals in its type, and whose layers declare their
/// parameters in constant expressions.
template <class M>
concept literally_sized = model<M> && std::is_empty_v<decltype(M::config)> && sizeof(M) == sizeof(M::config) &&
                          std::is_default_constructible_v<M>&& requires {
  typename std::bool_constant<detail::records<M>()>;
};

/// Gives the compile error of `legal<>` if literal sizes of layers in a model type do not match.
/// Sizes in a config are checked at run time instead. Cross-attention without an encoder gives
/// redco[L002]. It is a function, because clang drops the members of a class after a failed
/// static_assert.
template <model M>
constexpr void check_literal_sizes() {
  if constexpr (literally_sized<M>) {
    constexpr fact::mistake_fact found = constant_facts_of<detail::literal_model<M>>.mistake;
    if constexpr (found.kind != fact::mistake::rank || found.found > 0)
      static_cast<void>(legal<detail::literal_model<M>, mesh{}>{});
  }
}

}  // namespace redco::shard
