#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace redco::diag {

struct ill_formed;

namespace detail {

template <class T>
inline constexpr bool is_list_of_values = false;
template <class T>
inline constexpr bool is_list_of_values<std::initializer_list<T>> = true;

template <class T>
concept other_than_ill_formed = !std::is_same_v<std::remove_cvref_t<T>, ill_formed>;

/// Satisfied by types that `ill_formed` converts to by its template: no number, pointer or
/// initializer list, for which overloads and constructors would be ambiguous.
template <class T>
concept made_of_ill_formed =
    !std::is_arithmetic_v<T> && !std::is_pointer_v<T> && !is_list_of_values<T> && other_than_ill_formed<T>;

}  // namespace detail

/// Result of an operation whose error has been printed. It accepts every use that a program makes
/// of a value, so that the first error stays the only one: calls, pipes, subscripts, loops,
/// arithmetic, comparisons, output and conversions. It takes the place of a batch, a loss, a range
/// of predictions and one prediction whose types cannot be known. A program that holds one does not
/// compile, so nothing of it ever runs.
struct ill_formed {
  constexpr ill_formed() = default;
  template <detail::other_than_ill_formed T>
  constexpr ill_formed(T&&) {}

  /// The only conversion to numbers, so that overloads such as std::to_string are not ambiguous.
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

  // The members of a container, a text, an optional and a tensor that programs ask of predictions.
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

/// A value of type `T` in the place of one that a refused operation would have given. Declared
/// only: a program that calls it does not compile.
template <class T>
T unmade();

}  // namespace redco::diag
