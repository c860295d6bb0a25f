#pragma once

#include <redco/shape/extents.hpp>

#include <string_view>

namespace redco::compat {

/// A parameter of the Python original: its path and shape.
struct compat_parameter {
  /// Non-empty names in the tree, joined by "/": "model/layers/0/mlp/wi/kernel".
  std::string_view path;
  extents shape;  ///< shape as stored in the original: a dense kernel is [in, out]
};

}  // namespace redco::compat
