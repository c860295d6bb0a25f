#pragma once

#include <type_traits>

namespace redco::shape {

/// A layout (distribution of an activation over the ranks of axis tp): values and gradients are
/// equal on all ranks. Layouts are abbreviated as pairs (value, gradient) of R (replicated), P
/// (pending: the sum over the ranks is still to be computed) and S (split). This layout is (R, R).
struct replicated {};
/// A layout (distribution of an activation over the ranks of axis tp): values are equal on all
/// ranks; the gradient is a sum over the ranks, still to be computed. Abbreviated (R, P):
/// replicated value, pending gradient. Column-parallel layers read it.
struct entered {};
/// A layout (distribution of an activation over the ranks of axis tp): the value is a sum over the
/// ranks, still to be computed; gradients are equal on all ranks. Abbreviated (P, R): pending
/// value, replicated gradient. Row-parallel layers return it.
struct partial {};
/// A layout (distribution of an activation over the ranks of axis tp): each rank holds its part,
/// along dimension `Dim`, of values and gradients. Abbreviated (S, S): both split. Negative
/// dimensions count from the end.
template <int Dim>
struct split {
  static constexpr int dim = Dim;
};

/// True if the layout `Layout` is a split<Dim>, of features or of tokens.
template <class Layout>
inline constexpr bool is_split = false;
template <int Dim>
inline constexpr bool is_split<split<Dim>> = true;

/// Layout of an activation [B, T, features] of which each rank holds consecutive tokens of every
/// example. Sequence parallelism uses it between the blocks of a model (Korthikanti et al. 2022).
using token_split = split<-2>;
/// True for the layout `token_split`, in which each rank holds some of the tokens.
template <class Layout>
inline constexpr bool is_token_split = std::is_same_v<Layout, token_split>;

/// True if the layout is split by features, heads or channels, as a row-parallel layer reads it. A
/// parameter with one element per feature, such as a bias, must be split if and only if its layer's
/// input is:
///
/// fact.split(axis::tp, is_feature_split<X> ? 0 : -1, units)
template <class Layout>
inline constexpr bool is_feature_split = is_split<Layout> && !is_token_split<Layout>;

/// True for layouts that activations have between blocks of a model: replicated or split by tokens.
/// Their values are no pending sums, and each token has all its features.
template <class Layout>
inline constexpr bool is_complete = std::is_same_v<Layout, replicated> || is_token_split<Layout>;

/// True if a layer with input layout X computes, on each rank, only an addend of the gradient of a
/// parameter that all ranks hold. There are two such cases: the rank has only its own tokens, or
/// the gradient of the layer's result is a pending sum.
template <class Layout>
inline constexpr bool adds_parameter_gradients = is_token_split<Layout> || std::is_same_v<Layout, entered>;

/// Concept of a layout (distribution of an activation over ranks): replicated, entered, partial or
/// split<Dim>.
template <class T>
concept layout =
    std::is_same_v<T, replicated> || std::is_same_v<T, entered> || std::is_same_v<T, partial> || is_split<T>;

}  // namespace redco::shape
