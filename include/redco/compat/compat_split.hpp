#pragma once

#include <redco/compat/compat_reason.hpp>

namespace redco::compat {

/// What the Python original decides for one parameter.
struct compat_split {
  int dim = -1;  ///< cut into equal parts, one for each model shard; -1: replicated
  compat_reason why = compat_reason::one_shard;

  friend constexpr bool operator==(compat_split const&, compat_split const&) = default;
};

}  // namespace redco::compat
