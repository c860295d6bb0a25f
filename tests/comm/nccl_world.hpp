#pragma once

// Ranks whose groups call the NCCL functions of fake_nccl.cpp, with tensors in CPU memory.

#include "comm/cpu_stream.hpp"
#include "comm/fake_nccl.hpp"
#include "comm/values.hpp"

#include <redco/comm/detail/device_queue.hpp>
#include <redco/comm/detail/nccl_group.hpp>
#include <redco/comm/detail/nccl_link.hpp>
#include <redco/comm/detail/rank_threads.hpp>
#include <redco/comm/in_process_group.hpp>
#include <redco/comm/rank_context.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <dlfcn.h>

namespace comm_test {

/// Runs `f` on the ranks of a mesh, with groups that `make(which, members, line)` makes. Throws the
/// error with which the ranks fail.
template <class Make, class F>
void on_groups(redco::mesh const& shape, Make const& make, F const& f) {
  using std::chrono::milliseconds;
  milliseconds const deadline(20'000);
  auto const line = std::make_shared<redco::comm::lifeline>(shape.ranks());
  redco::comm::rank_groups groups(shape, 0, shape.ranks(),
                                  [&](auto const& which, auto const& members) { return make(which, members, line); });
  groups.begin_run(deadline);
  redco::comm::detail::rank_threads threads(0, shape.ranks());
  threads.run({*line, groups, 1, deadline, f}, milliseconds(5), [](std::vector<int> const&) {});
  if (line->failed()) throw line->cause();
}

/// Returns the path of the library, which is in the folder of this program.
inline std::string fake_nccl_path() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libfake_nccl.so";
}

template <class Function>
Function* of_fake(char const* name) {
  static void* const library = dlopen(fake_nccl_path().c_str(), RTLD_NOW);
  return reinterpret_cast<Function*>(dlsym(library, name));
}

inline void plan_fake(fake_plan const& plan) { of_fake<plan_function>("fake_nccl_plan")(&plan); }

inline fake_counts count_fake() {
  fake_counts counted;
  of_fake<counts_function>("fake_nccl_counts")(&counted);
  return counted;
}

class cpu_queue final : public redco::comm::detail::device_queue {
 public:
  void* handle() override { return &stream_; }
  void follow() override {}
  void mark() override {
    reached_->store(false);
    stream_.enqueue([reached = reached_] { reached->store(true); });
  }
  bool reached() override { return reached_->load(); }

 private:
  std::shared_ptr<std::atomic<bool>> reached_ = std::make_shared<std::atomic<bool>>(false);
  cpu_stream stream_;
};

/// Host memory as devices: one device per calling thread, or one for all threads.
class cpu_devices final : public redco::comm::detail::device_access {
 public:
  explicit cpu_devices(bool shared) : shared_(shared) {}

  bool holds(at::Tensor const&) const override { return true; }
  std::int64_t number_of(at::Device) const override {
    static std::atomic<std::int64_t> threads{0};
    thread_local std::int64_t const own = ++threads;
    return shared_ ? 0 : own;
  }
  std::unique_ptr<redco::comm::detail::device_queue> make_queue(at::Device) const override {
    return std::make_unique<cpu_queue>();
  }

 private:
  bool shared_;
};

struct nccl_world {
  redco::mesh shape;
  bool by_rank = false, shared = false, one_process = true;

  template <class F>
  void run(F const& f) const {
    using redco::comm::detail::nccl_group;
    auto const devices = std::make_shared<cpu_devices>(shared);
    auto const make = [&](auto const& which, std::vector<int> const& members, auto const& line) {
      auto const library = [] { return redco::comm::detail::nccl_library::open(fake_nccl_path()); };
      return nccl_group::make(redco::comm::in_process_group::make(which.name, members, line), members,
                              nccl_group::means{devices, library, line, 0, one_process, by_rank});
    };
    on_groups(shape, make, f);
  }

  template <class F>
  redco::error failure_of(F const& f) const {
    try {
      run(f);
    } catch (redco::error const& failure) {
      return failure;
    }
    return redco::error(redco::exit_code::done, "nothing failed");
  }
};

}  // namespace comm_test
