#pragma once

#include <redco/tensor/saved_tensors.hpp>

#include <redco/config.hpp>

#include <torch/csrc/autograd/engine.h>

#include <memory>
#include <utility>
#include <vector>

namespace redco::tensors::detail {

struct joined_link {
  saved_link* link;
  saved_chain::role as;
};

/// Returns this thread's hooks for saved tensors (saved_link), in the order in which they pack a
/// tensor.
inline std::vector<joined_link>& saved_links() {
  thread_local std::vector<joined_link> all;
  return all;
}

/// The object by which libtorch calls this thread's hooks (saved_link) for one saved tensor. It
/// packs the tensor through all hooks in order, and unpacks it in reverse order.
struct chained_hooks final : torch::autograd::SavedVariableHooks {
  saved_link::packed now;

  void call_pack_hook(at::Tensor const& x) override {
    now.x = x.detach();  // without detach, a saved output would keep its own node alive
    for (joined_link const& one : saved_links()) {
      auto [moved, unpack] = one.link->pack(now.x);
      now.x = std::move(moved);
      if (!unpack) continue;
      if (!now.unpack) now.unpack = std::move(unpack);
      else
        now.unpack = [before = std::move(now.unpack), last = std::move(unpack)](at::Tensor const& far) {
          return before(last(far));
        };
    }
  }

  at::Tensor call_unpack_hook() override {
    if (!now.unpack) return now.x;
    at::NoGradGuard const unrecorded;
    return now.unpack(now.x);
  }
};

struct chained_engine final : torch::autograd::Engine {
  std::unique_ptr<torch::autograd::SavedVariableHooks> get_default_saved_variable_hooks() override {
    if (saved_links().empty()) return nullptr;
    return std::make_unique<chained_hooks>();
  }

  static Engine& only() {
    static chained_engine engine;
    return engine;
  }
};

inline thread_local saved_watch* watching = nullptr;

}  // namespace redco::tensors::detail

namespace redco::tensors {

REDCO_INLINE saved_chain::scope::scope(saved_link& link, role as) : link_(&link) {
  torch::autograd::set_default_engine_stub(&detail::chained_engine::only);
  auto& all = detail::saved_links();
  auto const at = std::ranges::find_if(
      all, [as](detail::joined_link const& one) { return as == role::watches && one.as == role::moves; });
  all.insert(at, {&link, as});
}

REDCO_INLINE saved_chain::scope::~scope() {
  auto& all = detail::saved_links();
  all.erase(std::ranges::find(all, link_, &detail::joined_link::link));
}

REDCO_INLINE saved_watch::saved_watch() { detail::watching = this; }

REDCO_INLINE saved_watch::~saved_watch() { detail::watching = nullptr; }

REDCO_INLINE saved_watch::layer::layer(std::string_view component) : watch_(detail::watching) {
  if (watch_ != nullptr) watch_->here_.push_back(component);
}

REDCO_INLINE saved_watch::layer::~layer() {
  if (watch_ == nullptr) return;
  watch_->here_.pop_back();
  watch_->names_.clear();
}

REDCO_INLINE saved_watch::layer_path saved_watch::here() {
  return detail::watching == nullptr ? layer_path() : detail::watching->here_;
}

REDCO_INLINE saved_watch::elsewhere::elsewhere(layer_path other) : watch_(detail::watching), back_(std::move(other)) {
  if (watch_ != nullptr) watch_->here_.swap(back_);
}

REDCO_INLINE std::string saved_watch::path() const {
  std::string text;
  for (std::string_view const component : here_) text.append(text.empty() ? "" : ".").append(component);
  return text;
}

REDCO_INLINE std::vector<saved_watch::entry>::iterator saved_watch::find(at::Tensor const& x) {
  return std::ranges::find_if(entries_, [&](entry const& e) { return e.shares_storage(x); });
}

REDCO_INLINE saved_link::packed saved_watch::pack(at::Tensor const& x) {
  add(x);
  return {x};
}

REDCO_INLINE void saved_watch::add(at::Tensor const& x) {
  std::string const here = path();
  auto one = find(x);
  if (one == entries_.end()) {
    auto const name = std::ranges::find(names_, x.storage().data(), &name_of_storage::data);
    one = entries_.insert(one, {x, {}, name == names_.end() ? "" : name->slot});
  }
  if (std::ranges::find(one->layers, here) == one->layers.end()) one->layers.push_back(here);
}

REDCO_INLINE void saved_watch::expect(at::Tensor const& x) {
  if (detail::watching != nullptr) detail::watching->add(x);
}

REDCO_INLINE void saved_watch::name(std::string_view slot, at::Tensor const& x) {
  saved_watch* const watch = detail::watching;
  if (watch == nullptr || !x.defined()) return;
  auto const one = watch->find(x);
  if (one == watch->entries_.end()) watch->names_.push_back({x.storage().data(), slot});
  else if (one->slot.empty() && one->layers.front() == watch->path()) one->slot = slot;
}

REDCO_INLINE void saved_watch::leave_out(at::Tensor const& x) {
  std::erase_if(entries_, [&](entry const& e) { return e.shares_storage(x); });
}

REDCO_INLINE std::int64_t saved_watch::bytes() const {
  std::int64_t sum = 0;
  for (entry const& one : entries_) sum += one.bytes();
  return sum;
}

}  // namespace redco::tensors
