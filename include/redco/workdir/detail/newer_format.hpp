#pragma once

#include <redco/diag/error.hpp>

namespace redco::workdir::detail {

/// An error with exit code 65 for a checkpoint in a format of a newer redco. Such a checkpoint is
/// not damaged, so a run does not rename it and does not continue from an older one.
struct newer_format : error {
  using error::error;
};

}  // namespace redco::workdir::detail
