#pragma once

#include <redco/pipeline/results.hpp>
#include <redco/diag/blame.hpp>
#include <redco/meta/signature.hpp>

#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco::pipelines::detail {

/// A placeholder for an argument of unknown type: converts implicitly to every type.
struct anything {
  template <class T>
  operator T() const;
  template <class T>
  operator T&() const;
};

/// An overload to compete with a user's function. A call of both is ambiguous exactly if the user's
/// function can be called. The rival's ellipsis is the worse match for the arguments, but its
/// non-const call is the better match for the object. The body of a generic lambda is then not
/// instantiated.
struct rival {
  void operator()(...);
};

template <class F>
struct contested : F, rival {
  using F::operator();
  using rival::operator();
};

/// Returns true if the function type `F`, as const, can be called with these arguments. Its body
/// need not compile with them.
template <class F, class... Argument>
consteval bool viable() {
  if constexpr (!std::is_class_v<F>) {
    return std::is_invocable_v<F const&, Argument...>;
  } else if constexpr (std::is_final_v<F>) {
    // A final class cannot be a base of `contested`. A body with a stated return type is not
    // instantiated here.
    return requires(F const& f) { f(std::declval<Argument>()...); };
  } else {
    return !requires(contested<F> & f) { f(std::declval<Argument>()...); };
  }
}

/// Concept of a function that takes any network and a batch of type `Batch`. A function with a
/// constraint on its network rejects every placeholder, so it passes here and is checked once the
/// network is known.
template <class F, class Batch>
concept accepts_batch = viable<F, anything const&, Batch const&>() ||
    (!meta::signature<F>::known && !viable<F, anything const&, anything const&>());

/// Returns false only if the signature of `F` is known and does not allow calls of a const `F`.
template <class F>
consteval bool callable_on_const() {
  if constexpr (meta::signature<F>::known) {
    return meta::signature<F>::on_const;
  } else {
    return true;
  }
}

template <class F, class Unknown>
struct named_result {
  using type = Unknown;
};
template <class F, class Unknown>
requires meta::signature<F>::known struct named_result<F, Unknown> {
  using type = std::remove_cvref_t<typename meta::signature<F>::result>;
};

/// The result type of the function `F` if it is neither generic nor overloaded; else `Unknown`.
template <class F, class Unknown>
using named_or = typename named_result<F, Unknown>::type;

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
