#pragma once

#include <redco/shape/extents.hpp>

#include <string_view>

namespace redco::compat {

/// A parameter of a model of Redco for Python (the original of this library): path and shape.
struct compat_parameter {
  /// Names from the root of the parameter tree to this parameter, joined by "/". Example:
  /// "model/layers/0/mlp/wi/kernel". No name is empty.
  std::string_view path;
  extents shape;  ///< Shape as stored by Redco for Python; a dense kernel is [in, out]
};

}  // namespace redco::compat
