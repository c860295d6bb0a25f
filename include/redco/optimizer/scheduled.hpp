#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace redco {

/// An optimizer whose learning rate is any function (step from 0, steps of the run) -> rate, with
/// captures. The `lr` of the description is not used. The type cannot be a template argument; give
/// the plain description to plans.
template <class Description>
struct scheduled : Description {
  std::function<double(std::int64_t, std::int64_t)> schedule;

  scheduled(Description description, std::function<double(std::int64_t, std::int64_t)> f)
      : Description(std::move(description)), schedule(std::move(f)) {}

  double learning_rate_at(std::int64_t step, std::int64_t run_steps) const { return schedule(step, run_steps); }
};

}  // namespace redco
