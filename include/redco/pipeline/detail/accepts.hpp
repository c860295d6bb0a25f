#pragma once

#include <redco/meta/signature.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace redco::detail {

/// A placeholder for an argument of unknown type; it converts to every type.
struct anything {
  template <class T>
  operator T() const;
  template <class T>
  operator T&() const;
};

/// A competitor of a user's function in one overload set, which makes a call ambiguous exactly if
/// the function is callable. Its ellipsis makes it worse in every argument, and its non-const call
/// makes it better in the object. Overload resolution then chooses neither, and the body of a
/// generic lambda is not instantiated.
struct rival {
  void operator()(...);
};

template <class F>
struct contested : F, rival {
  using F::operator();
  using rival::operator();
};

/// Returns true if a const `f` can take these arguments, whether or not its body compiles with
/// them.
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

/// A function that takes any network and a batch of type `Batch`. A function that constrains its
/// network passes, because it cannot be checked before the network is known; it fails with every
/// batch.
template <class F, class Batch>
concept accepts_batch = viable<F, anything const&, Batch const&>() ||
    (!meta::signature<F>::known && !viable<F, anything const&, anything const&>());

/// Returns false only if the signature shows that a const `F` cannot be called.
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

/// The result type of a function that is neither generic nor overloaded; else `Unknown`.
template <class F, class Unknown>
using named_or = typename named_result<F, Unknown>::type;

}  // namespace redco::detail
