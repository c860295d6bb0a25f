#pragma once

#include <redco/shape/axes_text.hpp>
#include <redco/shape/mesh.hpp>

#include <string>

namespace redco::shape {

/// Returns a name for the groups of ranks over the mesh axes `over`, for messages and reports. It
/// is "world" for all axes, otherwise the axes along which the mesh has more than one rank, such as
/// "tp" or "dp+ep". On one mesh, equal names mean groups of equal ranks.
inline std::string group_name(mesh const& on, axes over) {
  if (over == every_axis) return "world";
  axes several;
  for (axis const a : all_axes)
    if (over.has(a) && on[a] > 1) several = several | a;
  return axes_text(several.empty() ? over : several);
}

}  // namespace redco::shape
