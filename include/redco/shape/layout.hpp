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

/// Any split, of features or of tokens.
template <class Layout>
inline constexpr bool is_split = false;
template <int Dim>
inline constexpr bool is_split<split<Dim>> = true;

/// An activation [B, T, features] of which each rank holds a run of tokens of every example: what lies between the blocks
/// of a model under sequence parallelism (Korthikanti et al. 2022).
using token_split = split<-2>;
template <class Layout>
inline constexpr bool is_token_split = std::is_same_v<Layout, token_split>;

/// A split that a row-parallel layer closes: of features, heads or channels. A parameter with one
/// element per feature is cut if its layer's input is, and only then:
///
///   fact.split(axis::tp, is_feature_split<X> ? 0 : -1, units)
template <class Layout>
inline constexpr bool is_feature_split = is_split<Layout> && !is_token_split<Layout>;

/// A layout in which a value is complete on its way from layer to layer: no sum pends, features are not split.
template <class Layout>
inline constexpr bool is_at_rest = std::is_same_v<Layout, replicated> || is_token_split<Layout>;

/// True where a layer that reads layout X on each rank computes an addend of the gradient of a
/// parameter that all ranks hold: the rank sees its own tokens only, or the gradient of what it
/// gives is a pending sum.
template <class Layout>
inline constexpr bool adds_parameter_gradients = is_token_split<Layout> || std::is_same_v<Layout, entered>;

/// Satisfied by the four layout tags.
template <class T>
concept layout =
    std::is_same_v<T, replicated> || std::is_same_v<T, entered> || std::is_same_v<T, partial> || is_split<T>;

}  // namespace redco
