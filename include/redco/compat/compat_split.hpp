#pragma once

#include <redco/compat/compat_reason.hpp>

namespace redco::compat {

/// The split that Redco for Python chooses for one parameter.
struct compat_split {
  /// Dimension of the parameter that is cut into one equal piece per model shard; -1: replicated.
  int dim = -1;
  compat_reason why = compat_reason::one_shard;

  friend constexpr bool operator==(compat_split const&, compat_split const&) = default;
};

}  // namespace redco::compat
