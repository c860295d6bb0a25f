#pragma once

#include <redco/nn/context_item.hpp>
#include <redco/nn/pass.hpp>

#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/random/stream.hpp>
#include <redco/shape/layout.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco {

namespace detail {

/// The tensor in a context's value, which may be one with a layout; null where it is something else.
template <class Value>
at::Tensor const* tensor_in(Value const&) {
  return nullptr;
}
inline at::Tensor const* tensor_in(at::Tensor const& value) { return &value; }
template <layout L>
  requires(!std::is_same_v<L, partial>)
at::Tensor const* tensor_in(tensor<L> const& value) { return &value.local(); }

}  // namespace detail

/// What layers see beside their input: the pass, and a typed map that combinators carry through unread (encoder states,
/// masks, a bias made by the first block). A key that a layer needs and nobody set is a compile error. A copy stays
/// good as long as somebody holds it: blocks that run again in backward do.
template <class... Items>
class context {
 public:
  using items = std::tuple<Items...>;

  /// `owner` keeps the modules alive that are run with this context.
  context(redco::pass const& in, std::uint32_t call, std::shared_ptr<void const> owner, items entries)
      : pass_(in), call_(call), owner_(std::move(owner)), items_(std::move(entries)) {}

  redco::pass const& pass() const { return pass_; }
  group& tp() const { return *pass_.tp; }
  /// The ranks along these axes; requires a pass that knows its rank.
  redco::group& over(axes set) const { return pass_.rank->group(set); }

  /// The stream of a random site in this call of the network.
  random::stream at(std::uint32_t site) const { return pass_.at(site, call_); }

  /// This context with `Key` set to `value`, without `Key`, in another pass.
  template <class Key, class Value>
  auto with(Value value) const {
    return made(detail::items_with<Key>(items_, std::move(value)));
  }
  template <class Key>
  auto without() const {
    return made(detail::items_without<Key>(items_));
  }
  context in(redco::pass const& other) const { return {other, call_, owner_, items_}; }

  template <class Key>
  static constexpr bool has = detail::place_of<Key, Items...>() < sizeof...(Items);

  /// The entry under `Key`. What a layer cannot do without it asks for with require() first.
  template <class Key>
  auto const& get() const {
    return std::get<detail::place_of<Key, Items...>()>(items_).value;
  }
  template <class Key>
  static constexpr bool require() {
    static_assert(has<Key>,
                  "redco[L002]: a layer needs a context entry that nobody set; pass it with .with<Key>(value)");
    return has<Key>;
  }

  /// The tensors among the entries, and this context with others in their place: what a block that is run again depends
  /// on beside its input.
  std::vector<at::Tensor> tensors() const {
    std::vector<at::Tensor> all;
    auto const add = [&]<class Key, class Value>(context_item<Key, Value> const& item) {
      if (at::Tensor const* const t = detail::tensor_in(item.value)) all.push_back(*t);
    };
    std::apply([&](Items const&... item) { (add(item), ...); }, items_);
    return all;
  }
  context over(std::span<at::Tensor const> tensors) const {
    context other = *this;
    std::size_t next = 0;
    auto const put = [&]<class Key, class Value>(context_item<Key, Value>& item) {
      if constexpr (std::is_constructible_v<Value, at::Tensor const&>) {
        if (detail::tensor_in(item.value) != nullptr) item.value = Value(tensors[next++]);
      }
    };
    std::apply([&](Items&... item) { (put(item), ...); }, other.items_);
    return other;
  }

 private:
  template <class... Others>
  context<Others...> made(std::tuple<Others...> entries) const {
    return {pass_, call_, owner_, std::move(entries)};
  }

  redco::pass pass_;
  std::uint32_t call_;
  std::shared_ptr<void const> owner_;
  items items_;
};

}  // namespace redco
