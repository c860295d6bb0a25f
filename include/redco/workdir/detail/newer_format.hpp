#pragma once

#include <redco/diag/error.hpp>

namespace redco::workdir::detail {

/// An error with exit code 65 for a checkpoint that a newer redco wrote. Such a checkpoint is not
/// damaged, so it is not set aside and no older one replaces it.
struct newer_format : error {
  using error::error;
};

}  // namespace redco::workdir::detail
