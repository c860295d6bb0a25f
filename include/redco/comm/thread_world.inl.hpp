#pragma once

#include <redco/comm/thread_world.hpp>

#include <redco/comm/detail/nccl_group.hpp>
#include <redco/comm/detail/rank_threads.hpp>
#include <redco/comm/in_process_group.hpp>
#include <redco/tensor/tensor_memory.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/options/cpu_quota.hpp>
#include <redco/options/value_text.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

namespace redco::comm {

/// Internal state of a thread world: the rank threads, the groups, and the `lifeline` (shared
/// failure state) of the current run.
struct thread_world::crew {
  crew(mesh const& m, rank_options const& o) : shape(m), options(o), threads(0, m.ranks()) {}

  void begin();

  mesh shape;
  rank_options options;
  std::shared_ptr<lifeline> line;
  std::optional<rank_groups> groups;
  detail::rank_threads threads;
};

REDCO_INLINE thread_world::thread_world(mesh const& shape, rank_options const& options) {
  for (shape::axis const a : shape::all_axes)
    if (shape[a] < 1)
      throw error(exit_code::usage, "a mesh of " + options::to_text(shape) + " has no ranks; give numbers from 1 on");
  tensors::kept_memory::install();
  crew_ = std::make_unique<crew>(shape, options);
}

REDCO_INLINE thread_world::~thread_world() = default;

REDCO_INLINE void thread_world::run(tensors::function_ref<void(rank_context&)> f) {
  using clock = std::chrono::steady_clock;
  crew_->begin();
  lifeline& line = *crew_->line;
  int const asked = crew_->options.threads;
  int const each =
      asked > 0 ? asked : std::max(1, std::min(at::get_num_threads(), options::cpu_quota()) / crew_->shape.ranks());
  std::optional<clock::time_point> last;  // time when all ranks must have ended after a failure
  crew_->threads.run({line, *crew_->groups, each, crew_->options.deadline, f}, std::chrono::milliseconds(50),
                     [&](std::vector<int> const& busy) {
                       if (line.failed() && !last) last = clock::now() + crew_->options.grace;
                       if (last && clock::now() > *last) detail::kill_process(line, busy, [](int) {});
                     });
  if (line.failed()) throw line.cause();
}

/// Prepares the next run. Creates new groups before the first run and after a failure.
REDCO_INLINE void thread_world::crew::begin() {
  if (!line || line->failed()) {
    groups.reset();
    line = std::make_shared<lifeline>(shape.ranks());
    groups.emplace(shape, 0, shape.ranks(), [this](auto const& which, std::vector<int> const& members) {
      return detail::nccl_group::make(in_process_group::make(which.name, members, line), members, line, 0, true,
                                      options.deterministic);
    });
  }
  line->begin();
  groups->begin_run(options.first_deadline);
}

}  // namespace redco::comm
