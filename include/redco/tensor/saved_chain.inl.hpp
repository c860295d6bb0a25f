#pragma once

#include <redco/tensor/saved_chain.hpp>

#include <redco/config.hpp>

#include <torch/csrc/autograd/engine.h>

#include <algorithm>
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

}  // namespace redco::tensors
