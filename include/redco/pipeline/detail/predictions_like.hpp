#pragma once

#include <redco/pipeline/detail/accepts.hpp>
#include <redco/pipeline/enable_per_example.hpp>

#include <redco/diag/blame.hpp>
#include <redco/meta/signature.hpp>

#include <type_traits>
#include <vector>

namespace redco::detail {

/// Converts to no type, so that only a function of any type takes it.
struct nothing {};

template <class Result>
consteval auto type_like() {
  if constexpr (per_example<Result>) return std::type_identity<Result>();
  else if constexpr (std::is_aggregate_v<Result>) return std::type_identity<std::vector<Result>>();
  else return std::type_identity<diag::ill_formed>();
}

/// The result of a predict function for `Net` and the batch that the function itself names, where
/// collate makes another one or none. void if the function names no batch.
template <class F, class Net>
struct result_for_own_batch : named_result<F, void> {};
template <class F, class Net>
  requires(!meta::signature<F>::known && !viable<F, Net const&, nothing const&>() &&
           std::is_invocable_v<F const&, Net const&, anything const&>)
struct result_for_own_batch<F, Net> {
  using type = std::remove_cvref_t<std::invoke_result_t<F const&, Net const&, anything const&>>;
};

/// The type of what stands in for refused predictions, so that members of the user's own types are
/// found and one error stays one: `Result` if that holds one element per example. A struct is taken
/// for one element.
template <class Result>
using predictions_like = typename decltype(type_like<Result>())::type;

}  // namespace redco::detail
