#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace redco::diag {

struct ill_formed;

}  // namespace redco::diag

namespace redco::diag::detail {

template <class T>
inline constexpr bool is_list_of_values = false;
template <class T>
inline constexpr bool is_list_of_values<std::initializer_list<T>> = true;

template <class T>
concept other_than_ill_formed = !std::is_same_v<std::remove_cvref_t<T>, ill_formed>;

/// A type to which `ill_formed`, the result of a rejected operation, converts by a template.
/// Excludes numbers, pointers and initializer lists, because these conversions would make
/// overloaded calls ambiguous.
template <class T>
concept made_of_ill_formed =
    !std::is_arithmetic_v<T> && !std::is_pointer_v<T> && !is_list_of_values<T> && other_than_ill_formed<T>;

}  // namespace redco::diag::detail

namespace redco::diag {

/// Replacement for the result of an operation whose compile-time error has already been printed,
/// such as a batch or a loss. Accepts every use of a value (calls, operators, loops, conversions),
/// so that no further error follows. Programs that contain an ill_formed never compile, so no
/// member ever runs.
struct ill_formed {
  constexpr ill_formed() = default;
  template <detail::other_than_ill_formed T>
  constexpr ill_formed(T&&) {}

  /// Converts to a number. Conversion to only one number type keeps overload sets such as
  /// std::to_string unambiguous.
  constexpr operator std::int64_t() const { return 0; }
  template <detail::made_of_ill_formed T>
  operator T() const;

  template <class... T>
  constexpr ill_formed operator()(T&&...) const {
    return {};
  }
  template <class T>
  constexpr ill_formed operator[](T&&) const {
    return {};
  }
  constexpr ill_formed const& operator*() const { return *this; }
  constexpr ill_formed const* operator->() const { return this; }
  constexpr ill_formed operator-() const { return {}; }

  // Members of containers, strings, optionals and tensors that programs commonly call on
  // predictions.
  constexpr ill_formed const* begin() const { return this; }
  constexpr ill_formed const* end() const { return this; }
  constexpr ill_formed const& front() const { return *this; }
  constexpr ill_formed const& back() const { return *this; }
  constexpr ill_formed const& at(std::size_t) const { return *this; }
  constexpr ill_formed const& value() const { return *this; }
  constexpr ill_formed const* data() const { return this; }
  constexpr bool empty() const { return true; }
  template <class... T>
  constexpr std::size_t size(T...) const {
    return 0;
  }
  template <class T = ill_formed>
  constexpr T item() const {
    return T();
  }

  friend constexpr ill_formed operator|(ill_formed, auto&&) { return {}; }
  friend constexpr ill_formed operator|(detail::other_than_ill_formed auto&&, ill_formed) { return {}; }
  template <class Stream>
  friend constexpr Stream& operator<<(Stream& out, ill_formed) {
    return out;
  }

  friend constexpr ill_formed operator+(ill_formed, auto&&) { return {}; }
  friend constexpr ill_formed operator+(detail::other_than_ill_formed auto&&, ill_formed) { return {}; }
  friend constexpr ill_formed operator-(ill_formed, auto&&) { return {}; }
  friend constexpr ill_formed operator-(detail::other_than_ill_formed auto&&, ill_formed) { return {}; }
  friend constexpr ill_formed operator*(ill_formed, auto&&) { return {}; }
  friend constexpr ill_formed operator*(detail::other_than_ill_formed auto&&, ill_formed) { return {}; }
  friend constexpr ill_formed operator/(ill_formed, auto&&) { return {}; }
  friend constexpr ill_formed operator/(detail::other_than_ill_formed auto&&, ill_formed) { return {}; }
  friend constexpr bool operator==(ill_formed, auto&&) { return false; }
  friend constexpr std::strong_ordering operator<=>(ill_formed, auto&&) { return std::strong_ordering::equal; }
};

/// Returns a value of type `T` in place of the result of an operation that redco rejects at compile
/// time. Only declared: programs that call this function never compile.
template <class T>
T unmade();

/// A constant that is always false but depends on template arguments. Thus a
/// `static_assert(never<T>, "redco[P001]: ...")` fails only if the enclosing branch is
/// instantiated.
template <class... T>
inline constexpr bool never = false;
template <auto... Value>
inline constexpr bool never_value = false;

/// A condition for static_assert whose failure shows the faulty type `Blamed` and the values in
/// `Check`. `Check` is a structural value with `constexpr bool passed() const`.
///
///   static_assert(redco::diag::verdict<check, layer>{}, "redco[S003]: ...");
///
/// On failure, g++ and clang print one error with `Check` and `Blamed` in the class name. A
/// variable template would give a second error on clang, and a non-constexpr function would give
/// one on g++.
template <auto Check, class Blamed = void>
struct verdict {
  constexpr operator bool() const { return Check.passed(); }
};

}  // namespace redco::diag
