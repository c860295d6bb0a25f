#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace redco {

/// A value of the context under the type `Key`.
template <class Key, class Value>
struct context_item {
  using key = Key;
  Value value;
};

namespace detail {

/// Where `Key` stands among `Items`; their number when it does not.
template <class Key, class... Items>
constexpr std::size_t place_of() {
  std::size_t at = 0;
  static_cast<void>(((std::is_same_v<typename Items::key, Key> ? false : (++at, true)) && ...));
  return at;
}

/// The items under other keys than `Key`.
template <class Key, class... Items>
auto items_without(std::tuple<Items...> const& items) {
  [[maybe_unused]] auto const kept = []<class Item>(Item const& item) {
    if constexpr (std::is_same_v<typename Item::key, Key>) {
      return std::tuple<>();
    } else {
      return std::tuple<Item>(item);
    }
  };
  return std::apply([&](Items const&... item) { return std::tuple_cat(kept(item)...); }, items);
}

/// The items with `Key` set to `value`, whether it was there or not.
template <class Key, class Value, class... Items>
auto items_with(std::tuple<Items...> const& items, Value value) {
  return std::tuple_cat(items_without<Key>(items), std::tuple(context_item<Key, Value>{std::move(value)}));
}

}  // namespace detail

}  // namespace redco
