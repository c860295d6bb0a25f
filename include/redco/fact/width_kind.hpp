#pragma once

#include <cstdint>

namespace redco::fact {

/// Element types of an activation or message, relative to the run's compute dtype.
enum class width_kind : std::uint8_t {
  compute,     ///< The compute dtype: f32, bf16 or f64
  accumulate,  ///< At least f32: norm statistics, log-sum-exp
  index,       ///< Indices, i64
};

}  // namespace redco::fact
