#pragma once

#include <redco/options/gradient_bucket.hpp>

#include <redco/log/text.hpp>
#include <redco/shape/host_map.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>

namespace redco::options {

REDCO_INLINE std::int64_t gradient_bucket(mesh const& on, int hosts, std::optional<bool> overlap, double mebibytes) {
  if (!(mebibytes > 0 && mebibytes <= 1e6))
    throw error(exit_code::usage,
                "--gradient-bucket " + log::short_text(mebibytes, 4) + ": give MiB, more than 0 and at most 1e6");
  if (on.size(shape::batch_axes) == 1 || !overlap.value_or(shape::host_map{on, hosts}.parts(shape::batch_axes)))
    return 0;
  return std::max<std::int64_t>(1, std::llround(mebibytes * 1024 * 1024 / 8)) * 8;
}

}  // namespace redco::options
