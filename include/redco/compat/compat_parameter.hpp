#pragma once

#include <redco/shape/extents.hpp>

#include <string_view>

namespace redco::compat {

/// A parameter as the Python original sees it.
struct compat_parameter {
  std::string_view path;  ///< its names in the tree, joined by "/", none of them empty: "model/layers/0/mlp/wi/kernel"
  extents shape;          ///< as stored there: a dense kernel is in x out
};

}  // namespace redco::compat
