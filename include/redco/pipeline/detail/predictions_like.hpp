#pragma once

#include <redco/pipeline/detail/accepts.hpp>
#include <redco/pipeline/enable_per_example.hpp>

#include <redco/diag/blame.hpp>
#include <redco/meta/signature.hpp>

#include <type_traits>
#include <vector>

namespace redco::pipelines::detail {

/// A placeholder argument that converts to no type. Only functions with a deduced parameter type,
/// such as `auto`, accept it.
struct nothing {};

template <class Result>
consteval auto type_like() {
  if constexpr (per_example<Result>) return std::type_identity<Result>();
  else if constexpr (std::is_aggregate_v<Result>) return std::type_identity<std::vector<Result>>();
  else return std::type_identity<diag::ill_formed>();
}

/// The result type of a predict function called with a `Net` and the batch type in its own
/// signature. Used if collate makes another type of batch, or none. `type` is void if the signature
/// names no batch type.
template <class F, class Net>
struct result_for_own_batch : named_result<F, void> {};
template <class F, class Net>
  requires(!meta::signature<F>::known && !viable<F, Net const&, nothing const&>() &&
           std::is_invocable_v<F const&, Net const&, anything const&>)
struct result_for_own_batch<F, Net> {
  using type = std::remove_cvref_t<std::invoke_result_t<F const&, Net const&, anything const&>>;
};

/// The type of placeholder predictions after a compile error in predict. It is `Result` if that
/// holds one element per example, and a vector of `Result` for a struct. With it, later code
/// compiles, so that one mistake gives one error.
template <class Result>
using predictions_like = typename decltype(type_like<Result>())::type;

}  // namespace redco::pipelines::detail
