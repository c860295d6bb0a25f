#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace redco::optimizer {

/// An optimizer `Description` whose learning rate comes from any function (step from 0, number of
/// steps of the run) -> rate, with captures. The member `lr` is ignored. This type cannot be a
/// template argument; compute plans from the plain `Description` instead.
template <class Description>
struct scheduled : Description {
  std::function<double(std::int64_t, std::int64_t)> schedule;

  scheduled(Description description, std::function<double(std::int64_t, std::int64_t)> f)
      : Description(std::move(description)), schedule(std::move(f)) {}

  double learning_rate_at(std::int64_t step, std::int64_t run_steps) const { return schedule(step, run_steps); }
};

}  // namespace redco::optimizer
