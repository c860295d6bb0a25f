#pragma once

#include <redco/nn/context_entries.hpp>
#include <redco/nn/parameter.hpp>
#include <redco/nn/pass.hpp>
#include <redco/nn/watches.hpp>

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

namespace redco::nn::detail {

/// Returns a pointer to the tensor in the value of a context entry, which may be an at::Tensor or a
/// tensor with a layout. Returns null for an undefined tensor and for other types.
template <class Value>
at::Tensor const* tensor_in(Value const&) {
  return nullptr;
}
inline at::Tensor const* tensor_in(at::Tensor const& value) { return value.defined() ? &value : nullptr; }
template <shape::layout L>
  requires(!std::is_same_v<L, shape::partial>)
at::Tensor const* tensor_in(tensor<L> const& value) { return &value.local(); }

}  // namespace redco::nn::detail

namespace redco::nn {

/// A base of `context`, the second argument of every module call. Holds the pass (settings of one
/// forward call) and the parameter tensors of the call.
class context_base {
 public:
  /// Constructs the context of one call of the network. `call` is the number of the call within the
  /// micro-batch. `owner` keeps the modules alive that run with the context.
  context_base(redco::pass const& in, std::uint32_t call, std::shared_ptr<void const> owner,
               parameter_values parameters)
      : pass_(in), call_(call), owner_(std::move(owner)), parameters_(std::move(parameters)) {}

  /// Returns the tensor of parameter `p` in this call of the network. If the pass has a parameter
  /// watch (an observer that may replace tensors), returns the tensor that the watch gives.
  at::Tensor operator[](parameter p) const {
    at::Tensor const& value = parameters_[p];
    return pass_.watch != nullptr && p ? pass_.watch->before_use(p, value) : value;
  }
  parameter_values const& parameters() const { return parameters_; }

  redco::pass const& pass() const { return pass_; }
  /// Returns the number of this call of the network within its micro-batch.
  std::uint32_t call() const { return call_; }
  comm::group& tp() const { return *pass_.tp; }
  /// Returns the group of ranks along the mesh axes `set`. Requires that the field `rank` of the
  /// pass is set.
  comm::group& over(shape::axes set) const { return pass_.rank->group(set); }

  /// Returns the stream of random numbers of one layer (identified by its site number) in this call
  /// of the network.
  random::stream at(std::uint32_t site) const { return pass_.at(site, call_); }

 protected:
  redco::pass pass_;
  std::uint32_t call_;
  std::shared_ptr<void const> owner_;
  parameter_values parameters_;
};

/// A context with typed entries, such as encoder states, masks or a distance bias. Combinators pass
/// entries on without reading them. A layer that reads an entry which nobody set is a compile
/// error. A copy stays valid after the call, because blocks that run again in backward keep one.
template <context_entry... Entries>
class context : public context_base {
 public:
  using entries = std::tuple<Entries...>;
  using context_base::over;

  context(redco::pass const& in, std::uint32_t call, std::shared_ptr<void const> owner, parameter_values parameters,
          entries all)
      : context_base(in, call, std::move(owner), std::move(parameters)), entries_(std::move(all)) {}

  /// `with` returns a copy of this context with `entry` set. `without` returns a copy without the
  /// entry of a type. `in` returns a copy with another pass.
  template <context_entry Entry>
  auto with(Entry entry) const {
    return made(detail::entries_with(entries_, std::move(entry)));
  }
  template <context_entry Entry>
  auto without() const {
    return made(detail::entries_without<Entry>(entries_));
  }
  context in(redco::pass const& other) const { return {other, call_, owner_, parameters_, entries_}; }

  template <class Entry>  // clang 14 crashes if this template parameter is constrained.
  static constexpr bool has = detail::entry_index<Entry, Entries...>() < sizeof...(Entries);

  /// Returns the value of the context entry of type `Entry`, which must be set. Layers call
  /// require() first, which gives a compile error if the entry is missing.
  template <class Entry>
  auto const& get() const {
    return std::get<Entry>(entries_).value;
  }
  template <class Entry>
  static constexpr bool require() {
    static_assert(has<Entry>,
                  "redco[L002]: a layer needs a context entry that nobody set; pass it after the network's input: "
                  "net(x, entry{value})");
    return has<Entry>;
  }

  /// `tensors` returns the tensors in this context's entries. `over` returns a copy of this context
  /// with other tensors in their place. Recomputation uses both, because a block that runs again in
  /// backward depends on these tensors as well as on its input.
  std::vector<at::Tensor> tensors() const {
    std::vector<at::Tensor> all;
    auto const add = [&](auto const& entry) {
      if (at::Tensor const* const t = detail::tensor_in(entry.value)) all.push_back(*t);
    };
    std::apply([&](Entries const&... entry) { (add(entry), ...); }, entries_);
    return all;
  }
  context over(std::span<at::Tensor const> tensors) const {
    context other = *this;
    std::size_t next = 0;
    auto const put = [&](auto& entry) {
      using value = decltype(entry.value);
      if constexpr (std::is_constructible_v<value, at::Tensor const&>) {
        if (detail::tensor_in(entry.value) != nullptr) entry.value = value(tensors[next++]);
      }
    };
    std::apply([&](Entries&... entry) { (put(entry), ...); }, other.entries_);
    return other;
  }

 private:
  template <class... Others>
  context<Others...> made(std::tuple<Others...> all) const {
    return {pass_, call_, owner_, parameters_, std::move(all)};
  }

  entries entries_;
};

}  // namespace redco::nn
