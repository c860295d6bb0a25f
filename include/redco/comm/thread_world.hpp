#pragma once

#include <redco/comm/rank_options.hpp>
#include <redco/comm/world.hpp>

#include <redco/shape/mesh.hpp>

#include <redco/tensor/function_ref.hpp>

#include <memory>

namespace redco::comm {

/// A world whose ranks are threads of this process. They start with the first run and sleep between runs; behind a failure the
/// groups are made anew. One thread uses it at a time.
class thread_world final : public world {
 public:
  /// Errors: exit code 64 for a mesh without ranks.
  thread_world(mesh const& shape, rank_options const& options);
  ~thread_world() override;

  void run(function_ref<void(rank_context&)> f) override;

 private:
  struct crew;

  std::unique_ptr<crew> crew_;
};

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/thread_world.inl.hpp>
#endif
