#pragma once

#include <redco/tensor/saved_watch.hpp>

#include <redco/config.hpp>

#include <torch/csrc/autograd/engine.h>

#include <memory>

namespace redco {

namespace detail {

inline thread_local saved_watch* watching = nullptr;

struct watched_hooks final : torch::autograd::SavedVariableHooks {
  at::Tensor held;

  void call_pack_hook(at::Tensor const& x) override {
    held = x.detach();
    watching->add(held);
  }
  at::Tensor call_unpack_hook() override { return held; }
};

struct watched_engine final : torch::autograd::Engine {
  std::unique_ptr<torch::autograd::SavedVariableHooks> get_default_saved_variable_hooks() override {
    if (watching == nullptr) return nullptr;
    return std::make_unique<watched_hooks>();
  }

  static Engine& only() {
    static watched_engine engine;
    return engine;
  }
};

}  // namespace detail

REDCO_INLINE saved_watch::saved_watch() {
  torch::autograd::set_default_engine_stub(&detail::watched_engine::only);
  detail::watching = this;
}

REDCO_INLINE saved_watch::~saved_watch() { detail::watching = nullptr; }

REDCO_INLINE void saved_watch::add(at::Tensor const& x) { kept_.emplace(x.storage().data(), x); }

REDCO_INLINE void saved_watch::leave_out(at::Tensor const& x) { kept_.erase(x.storage().data()); }

REDCO_INLINE std::int64_t saved_watch::bytes() const {
  std::int64_t sum = 0;
  for (auto const& [data, one] : kept_) sum += static_cast<std::int64_t>(one.storage().nbytes());
  return sum;
}

}  // namespace redco
