#pragma once

#include <type_traits>

namespace redco {

/// The four layouts of an activation over the ranks of a tensor-parallel group (axis tp). Each is a pair (value, gradient) of
/// R (equal on all ranks), P (a pending sum over ranks) and S (each rank holds its part).
struct replicated {};  ///< (R, R)
struct entered {};     ///< (R, P): what column-parallel layers read; each rank has an addend of its gradient
struct partial {};     ///< (P, R): what a row-parallel layer gives
template <int Dim>
struct split {  ///< (S, S): cut along `Dim`; negative dimensions count from the end
  static constexpr int dim = Dim;
};

template <class Layout>
inline constexpr bool is_split = false;
template <int Dim>
inline constexpr bool is_split<split<Dim>> = true;

/// An activation [B, T, features] of which each rank holds a run of tokens of every example: what lies between the blocks
/// of a model under sequence parallelism (Korthikanti et al. 2022).
using token_split = split<-2>;
template <class Layout>
inline constexpr bool is_token_split = std::is_same_v<Layout, token_split>;

/// A split that a row-parallel layer closes: of features, heads or channels.
template <class Layout>
inline constexpr bool is_feature_split = is_split<Layout> && !is_token_split<Layout>;

/// A layout in which a value is complete on its way from layer to layer: no sum pends, features are not split.
template <class Layout>
inline constexpr bool is_at_rest = std::is_same_v<Layout, replicated> || is_token_split<Layout>;

/// Satisfied by the four layout tags.
template <class T>
concept layout =
    std::is_same_v<T, replicated> || std::is_same_v<T, entered> || std::is_same_v<T, partial> || is_split<T>;

}  // namespace redco
