#pragma once

#include <cstdint>

namespace redco::fact {

/// Kinds of element type of a tensor or message in a model's program, independent of the compute
/// dtype of a run.
enum class width_kind : std::uint8_t {
  compute,     ///< Compute dtype of the run: f32, bf16 or f64
  accumulate,  ///< Accumulation type, at least f32, for norm statistics and log-sum-exp
  index,       ///< Integer type i64, for indices
};

}  // namespace redco::fact
