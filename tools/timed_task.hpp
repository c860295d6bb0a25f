#pragma once

#include <redco/comm/make_world.hpp>
#include <redco/comm/rank_context.hpp>

#include <redco/tensor/parallel.hpp>

#include <redco/shape/mesh.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
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
  /// Share of its computation that this process loses during each call (time_next_to_computation).
  std::vector<double> lost{};
};

inline void time(task& t) {
  using clock = std::chrono::steady_clock;
  redco::comm::make_world(t.mesh, {})->run([&](redco::rank_context& rank) {
    auto const call = t.prepare(rank);
    for (int i = -2; i < repeats; ++i) {
      rank.world.barrier();
      auto const began = clock::now();
      call();
      rank.world.barrier();
      if (rank.rank == 0 && i >= 0) t.seconds.push_back(std::chrono::duration<double>(clock::now() - began).count());
    }
  });
}

/// Threads that compute until destruction, as many as this process uses for an operator.
class computing_threads {
 public:
  computing_threads() {
    for (int i = 0; i < at::get_num_threads(); ++i)
      threads_.emplace_back([this] {
        double volatile x = 1;
        while (!ends_) {
          for (int k = 0; k < 1000; ++k) x = x * 0.5 + 1;
          ++rounds_;
        }
      });
  }
  computing_threads(computing_threads const&) = delete;
  computing_threads& operator=(computing_threads const&) = delete;
  ~computing_threads() {
    ends_ = true;
    for (std::thread& one : threads_) one.join();
  }

  /// Returns the speed of the computation while `f` runs, in rounds per second.
  template <class F>
  double speed_during(F const& f) const {
    auto const began = std::chrono::steady_clock::now();
    std::int64_t const before = rounds_;
    f();
    auto const after = static_cast<double>(rounds_ - before);
    return after / std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }

 private:
  std::atomic<bool> ends_ = false;
  std::atomic<std::int64_t> rounds_ = 0;
  std::vector<std::thread> threads_;
};

/// Measures how much slower this process computes during each call of the task. Processor time
/// would overstate it, because a thread that waits for messages polls before it sleeps. Each
/// process must have one rank.
inline void time_next_to_computation(task& t) {
  redco::comm::make_world(t.mesh, {})->run([&](redco::rank_context& rank) {
    auto const call = t.prepare(rank);
    computing_threads const computation;
    for (int i = -2; i < repeats; ++i) {
      rank.world.barrier();
      double const alone = computation.speed_during([] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); });
      rank.world.barrier();
      double const during = computation.speed_during(call);
      if (i >= 0 && alone > 0) t.lost.push_back(std::clamp(1 - during / alone, 0.0, 1.0));
    }
  });
}

}  // namespace calibration
