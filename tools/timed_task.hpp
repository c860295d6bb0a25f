#pragma once

#include <redco/comm/make_world.hpp>
#include <redco/comm/rank_context.hpp>

#include <redco/tensor/parallel.hpp>

#include <redco/shape/mesh.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <vector>

namespace calibration {

constexpr int rounds = 3, repeats = 4;

inline double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return (x[(x.size() - 1) / 2] + x[x.size() / 2]) / 2;
}

/// A function to be timed on all ranks of a mesh concurrently, which are threads or processes.
struct task {
  redco::mesh mesh;
  /// Called once on every rank. Returns the function that is then called repeatedly and timed.
  std::function<std::function<void()>(redco::rank_context&)> prepare;
  /// Seconds of each call, until all ranks have finished. Empty in processes without rank 0.
  std::vector<double> seconds{};
  /// Share of this process's threads that compute during each call, from its CPU time. Meaningful
  /// if each process has one rank.
  std::vector<double> busy{};
};

inline void time(task& t) {
  using clock = std::chrono::steady_clock;
  redco::comm::make_world(t.mesh, {})->run([&](redco::rank_context& rank) {
    auto const call = t.prepare(rank);
    for (int i = -2; i < repeats; ++i) {
      rank.world.barrier();
      auto const began = clock::now();
      std::clock_t const computed = std::clock();
      call();
      rank.world.barrier();
      if (rank.rank != 0 || i < 0) continue;
      t.seconds.push_back(std::chrono::duration<double>(clock::now() - began).count());
      double const computing = static_cast<double>(std::clock() - computed) / CLOCKS_PER_SEC;
      t.busy.push_back(computing / t.seconds.back() / at::get_num_threads());
    }
  });
}

}  // namespace calibration
