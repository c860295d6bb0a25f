#pragma once

#include <type_traits>

namespace redco {

/// A layout of an activation: (R, R), equal values and equal gradients on all ranks of a
/// tensor-parallel group (axis tp). Layouts are pairs (value, gradient) of R (equal on all ranks),
/// P (a pending sum over ranks) and S (sharded).
struct replicated {};
/// A layout of an activation: (R, P), equal values on all ranks of a tensor-parallel group; each
/// rank has an addend of the gradient. Column-parallel layers read it.
struct entered {};
/// A layout of an activation: (P, R), a pending sum of values over the ranks of a tensor-parallel
/// group; gradients are equal. Row-parallel layers return it.
struct partial {};
/// A layout of an activation: (S, S), values and gradients cut along dimension `Dim` over the ranks
/// of a tensor-parallel group. Negative dimensions count from the end.
template <int Dim>
struct split {
  static constexpr int dim = Dim;
};

/// True if `Layout` is a split, of features or of tokens.
template <class Layout>
inline constexpr bool is_split = false;
template <int Dim>
inline constexpr bool is_split<split<Dim>> = true;

/// Layout of an activation [B, T, features] of which each rank holds a run of tokens of every
/// example. Sequence parallelism uses it between the blocks of a model (Korthikanti et al. 2022).
using token_split = split<-2>;
/// True for the layout `token_split`, in which each rank holds some of the tokens.
template <class Layout>
inline constexpr bool is_token_split = std::is_same_v<Layout, token_split>;

/// True for a split that a row-parallel layer closes: of features, heads or channels. A parameter
/// with one element per feature is cut if its layer's input is cut, and only then:
///
///   fact.split(axis::tp, is_feature_split<X> ? 0 : -1, units)
template <class Layout>
inline constexpr bool is_feature_split = is_split<Layout> && !is_token_split<Layout>;

/// True for a layout with complete values: no pending sum, features not split. Activations between
/// blocks have such a layout.
template <class Layout>
inline constexpr bool is_at_rest = std::is_same_v<Layout, replicated> || is_token_split<Layout>;

/// True if a layer with input layout X computes, on each rank, only an addend of the gradient of a
/// parameter that all ranks hold. Either the rank sees its own tokens only, or the gradient of the
/// layer's result is a pending sum.
template <class Layout>
inline constexpr bool adds_parameter_gradients = is_token_split<Layout> || std::is_same_v<Layout, entered>;

/// A layout tag: replicated, entered, partial or split<Dim>.
template <class T>
concept layout =
    std::is_same_v<T, replicated> || std::is_same_v<T, entered> || std::is_same_v<T, partial> || is_split<T>;

}  // namespace redco
