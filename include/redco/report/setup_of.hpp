#pragma once

#include <redco/cost/check_setup.hpp>
#include <redco/cost/setup.hpp>

#include <redco/model/model.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/recomputed_blocks.hpp>

#include <cstdint>

namespace redco::report {

/// Returns the settings of one rank for a run with the global batch `load`. Ranks along the axes dp
/// and ep take equal shares of the batch and compute `micro_batch` examples at once (0: the whole
/// share). Throws `error` with exit code 64 for an empty batch, a negative micro-batch or an axis
/// without ranks.
constexpr cost::setup setup_of(mesh const& on, workload const& load, std::int64_t micro_batch, dtype compute,
                               recomputed_blocks const& recompute) {
  cost::check_axes(on);
  cost::check_load(load);
  cost::check_count("the examples computed at once (micro_batch)", micro_batch, 0);
  std::int64_t const share = (load.batch - 1) / on.size(shape::batch_axes) + 1;
  std::int64_t const at_once = micro_batch > 0 && micro_batch < share ? micro_batch : share;
  cost::setup run;
  run.mesh = on;
  run.load = load;
  run.load.batch = at_once;
  run.compute = compute;
  run.recompute = recompute;
  run.micro_batches = (share - 1) / at_once + 1;
  return run;
}

}  // namespace redco::report
