#pragma once

#include <cstddef>

namespace redco::diag {

/// False, but only once the types are known: `static_assert(never<T>, "redco[P001]: ...")` in a branch that must not be
/// reached.
template <class... T>
inline constexpr bool never = false;
template <auto... Value>
inline constexpr bool never_value = false;

/// What a checked operation returns after its error was printed, so that the first error stays the only one: it can be
/// made of anything, called, piped, subscripted, looped over, printed and turned into anything, and stands where a
/// pipeline is wanted. A program that has it does not compile, so nothing of it is ever run.
struct ill_formed {
  static constexpr bool has_collate = true, has_loss = true, has_predict = true;

  constexpr ill_formed() = default;
  template <class T>
  constexpr ill_formed(T&&) {}
  template <class T>
  operator T() const;

  template <class... T>
  constexpr ill_formed operator()(T&&...) const {
    return {};
  }
  template <class T>
  constexpr ill_formed operator[](T&&) const {
    return {};
  }
  template <class... T>
  constexpr ill_formed collate(T&&...) const {
    return {};
  }
  template <class... T>
  constexpr ill_formed loss(T&&...) const {
    return {};
  }
  template <class... T>
  constexpr ill_formed predict(T&&...) const {
    return {};
  }
  constexpr ill_formed const* begin() const { return this; }
  constexpr ill_formed const* end() const { return this; }
  constexpr ill_formed const& front() const { return *this; }
  constexpr std::size_t size() const { return 0; }

  template <class T>
  friend constexpr ill_formed operator|(ill_formed, T&&) {
    return {};
  }
  template <class T>
  friend constexpr ill_formed operator|(T&&, ill_formed) {
    return {};
  }
  friend constexpr ill_formed operator|(ill_formed, ill_formed) { return {}; }
  template <class Stream>
  friend constexpr Stream& operator<<(Stream& out, ill_formed) {
    return out;
  }
};

/// A check that names its culprit. `Check` is a structural value with `constexpr bool passed() const`, and holds the
/// facts a reader needs (index, extent, width) as members; `Blamed` is the type at fault. The class is asked in a
/// static_assert:
///
///   static_assert(redco::verdict<check, layer>{}, "redco[S003]: ...");
///
/// On failure both compilers print one error, with `Check` and `Blamed` in the name of the class: a variable template
/// gives a second error on clang, a function that is not constexpr one on g++.
template <auto Check, class Blamed = void>
struct verdict {
  constexpr operator bool() const { return Check.passed(); }
};

}  // namespace redco::diag
