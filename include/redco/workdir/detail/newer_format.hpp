#pragma once

#include <redco/diag/error.hpp>

namespace redco::workdir::detail {

/// Error 65 for a checkpoint that a newer redco wrote: not damaged, so nobody puts it aside or takes an older one.
struct newer_format : error {
  using error::error;
};

}  // namespace redco::workdir::detail
