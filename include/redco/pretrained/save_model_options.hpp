#pragma once

#include <redco/shape/dtype.hpp>

#include <cstdint>
#include <optional>

namespace redco {

/// How a model's weights are written.
struct save_model_options {
  std::optional<dtype> type{};               ///< of floating-point values, rounded to it; nothing: the parts' own
  std::uint64_t file_bytes = 5'000'000'000;  ///< of tensors in one file; a larger tensor has a file of its own
};

}  // namespace redco
