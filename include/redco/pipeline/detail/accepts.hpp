#pragma once

#include <redco/meta/signature.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace redco::detail {

/// Stands for an argument whose type is not known yet.
struct anything {
  template <class T>
  operator T() const;
  template <class T>
  operator T&() const;
};

/// The rival of a user's function in one overload set: worse than it in every argument, because of the ellipsis, but
/// better in the object, which it does not take as const. So the call is ambiguous exactly if the user's function could
/// be called; neither is chosen, and the body of a generic lambda stays untouched.
struct rival {
  void operator()(...);
};

template <class F>
struct contested : F, rival {
  using F::operator();
  using rival::operator();
};

/// Whether `f(arguments...)` finds the parameters it wants, on a const `f`, whatever its body then does.
template <class F, class... Argument>
consteval bool viable() {
  if constexpr (!std::is_class_v<F>) {
    return std::is_invocable_v<F const&, Argument...>;
  } else if constexpr (std::is_final_v<F>) {  // cannot be contested; a body that names its result type is not touched
    return requires(F const& f) { f(std::declval<Argument>()...); };
  } else {
    return !requires(contested<F> & f) { f(std::declval<Argument>()...); };
  }
}

/// Whether `F` takes any net and a batch of type `Batch`. A function that constrains its net cannot be judged before
/// the net is known, and passes: it fails with any batch.
template <class F, class Batch>
concept accepts_batch = viable<F, anything const&, Batch const&>() ||
    (!meta::signature<F>::known && !viable<F, anything const&, anything const&>());

/// False only where the signature tells that a const `F` cannot be called.
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

/// The result of a function that names its types, else `Unknown`.
template <class F, class Unknown>
using named_or = typename named_result<F, Unknown>::type;

}  // namespace redco::detail
