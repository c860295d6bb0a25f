#pragma once

#include <redco/comm/rank_context.hpp>
#include <redco/comm/world.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/shape/mesh.hpp>

#include <memory>

namespace redco::comm {

/// A world whose ranks are threads of this process. The threads start with the first run and sleep
/// between runs. After a failure, the next run creates new groups. One thread uses a world at a
/// time.
class thread_world final : public world {
 public:
  /// Creates a world without starting its threads. Throws `error` with exit code 64 if the mesh has
  /// no ranks.
  thread_world(mesh const& shape, rank_options const& options);
  ~thread_world() override;

  void run(tensors::function_ref<void(rank_context&)> f) override;

 private:
  struct crew;

  std::unique_ptr<crew> crew_;
};

/// Calls `f(rank_context&)` concurrently on one thread per rank of the mesh `shape`, and returns
/// when all calls have returned. Uses a new comm::thread_world.
template <class F>
void run_ranks(mesh const& shape, rank_options const& options, F&& f) {
  thread_world(shape, options).run([&f](rank_context& rank) { f(rank); });
}

}  // namespace redco::comm

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/comm/thread_world.inl.hpp>
#endif
