#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace redco::tensors {

template <class Signature>
class function_ref;

/// A non-owning reference to a callable, consisting of two pointers. The callable must outlive it.
/// Code that takes a function_ref is compiled once instead of once per callable type.
template <class Result, class... Args>
class function_ref<Result(Args...)> {
 public:
  template <class F>
    requires(!std::is_same_v<F, function_ref> && !std::is_function_v<F>)
  function_ref(F const& f)  // implicit, so that a lambda can be passed directly
      : object_(std::addressof(f)), call_([](void const* object, Args... args) -> Result {
          return (*static_cast<F const*>(object))(std::forward<Args>(args)...);
        }) {}

  function_ref(Result (*f)(Args...))
      : object_(reinterpret_cast<void const*>(f)), call_([](void const* object, Args... args) -> Result {
          return reinterpret_cast<Result (*)(Args...)>(const_cast<void*>(object))(std::forward<Args>(args)...);
        }) {}

  Result operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void const* object_;
  Result (*call_)(void const*, Args...);
};

}  // namespace redco::tensors
