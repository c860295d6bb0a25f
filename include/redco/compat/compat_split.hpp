#pragma once

#include <redco/compat/compat_reason.hpp>

namespace redco::compat {

/// Decision of the Python original for one parameter.
struct compat_split {
  int dim = -1;  ///< Dimension that is cut into one equal part per model shard; -1: replicated.
  compat_reason why = compat_reason::one_shard;

  friend constexpr bool operator==(compat_split const&, compat_split const&) = default;
};

}  // namespace redco::compat
