#pragma once

#include <redco/nn/pass.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace redco {

/// A value of the context under the type `Key`.
template <class Key, class Value>
struct context_item {
  Value value;
};

/// What layers see beside their input: the pass, and a typed map that combinators carry through unread (encoder states,
/// masks, a bias made by the first block). A key that a layer needs and nobody set is a compile error.
template <class... Items>
class context : Items... {
  template <class Key, class Item>
  static constexpr bool holds() {
    return []<class K, class V>(context_item<K, V>*) { return std::is_same_v<K, Key>; }(static_cast<Item*>(nullptr));
  }

 public:
  context(redco::pass const& in, std::uint32_t call, Items... items) : Items(std::move(items))..., pass_(in), call_(call) {}

  redco::pass const& pass() const { return pass_; }
  group& mp() const { return *pass_.mp; }

  /// The stream of a random site in this call of the network.
  stream at(std::uint32_t site) const { return pass_.at(site, call_); }

  /// This context with `Key` set to `value`.
  template <class Key, class Value>
  context<Items..., context_item<Key, Value>> with(Value value) const {
    return {pass_, call_, static_cast<Items const&>(*this)..., context_item<Key, Value>{std::move(value)}};
  }

  template <class Key>
  static constexpr bool has = (holds<Key, Items>() || ...);

  template <class Key>
  auto const& get() const {
    static_assert(has<Key>, "redco[L002]: a layer needs a context entry that nobody set; pass it with .with<Key>(value)");
    return find<Key>(*this);
  }

 private:
  template <class Key, class Value>
  static Value const& find(context_item<Key, Value> const& item) {
    return item.value;
  }

  redco::pass const& pass_;
  std::uint32_t call_;
};

}  // namespace redco
