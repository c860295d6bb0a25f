#pragma once

#include <cstdint>

namespace redco::fact {

/// The element type of an activation or message, relative to the run's compute dtype.
enum class width_kind : std::uint8_t {
  compute,     ///< f32, bf16 or f64 as the run computes
  accumulate,  ///< at least f32: norm statistics, log-sum-exp
  index,       ///< i64
};

}  // namespace redco::fact
