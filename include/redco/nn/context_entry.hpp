#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace redco::nn {

/// A type of context entry: an aggregate with a member `value`, such as
/// `struct key_mask { at::Tensor value; };`. Users may define their own.
template <class E>
concept context_entry = std::is_aggregate_v<E> && requires(E const& entry) {
  entry.value;
};

}  // namespace redco::nn

namespace redco::nn::detail {

/// Returns the index of type `Entry` in the type list `Entries`, or the length of the list if it
/// does not contain `Entry`.
template <class Entry, class... Entries>
constexpr std::size_t place_of() {
  std::size_t at = 0;
  static_cast<void>(((std::is_same_v<Entries, Entry> ? false : (++at, true)) && ...));
  return at;
}

/// Returns a copy of a tuple of context entries without the entry of type `Entry`.
template <class Entry, class... Entries>
auto entries_without(std::tuple<Entries...> const& entries) {
  [[maybe_unused]] auto const unless_same = []<class Other>(Other const& other) {
    if constexpr (std::is_same_v<Other, Entry>) return std::tuple<>();
    else return std::tuple<Other>(other);
  };
  return std::apply([&](Entries const&... one) { return std::tuple_cat(unless_same(one)...); }, entries);
}

/// Returns a copy of a tuple of context entries with `entry` added, in place of an entry of the
/// same type if there is one.
template <class Entry, class... Entries>
auto entries_with(std::tuple<Entries...> const& entries, Entry entry) {
  return std::tuple_cat(entries_without<Entry>(entries), std::tuple<Entry>(std::move(entry)));
}

}  // namespace redco::nn::detail
