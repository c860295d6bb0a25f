#pragma once

#include <redco/fact/path.hpp>
#include <redco/fact/width_kind.hpp>

#include <redco/shape/axis.hpp>
#include <redco/shape/collective.hpp>
#include <redco/shape/extents.hpp>

#include <cstdint>

namespace redco::fact {

/// A collective that a layer declares: one kind of message in the forward or backward pass of a
/// micro-batch.
struct message_fact {
  path layer;
  shape::collective what = shape::collective::all_reduce;
  shape::axes over = shape::axis::tp;  ///< Mesh axes over which the ranks of the collective extend
  bool backward = false;
  extents shape;
  width_kind kind = width_kind::compute;
  std::int64_t copies = 1;
  /// Number of tensor-parallel ranks; the message is sent only with more ranks than this. 0:
  /// always. For a parameter whose gradients are shared, it is the number of the parameter's parts.
  /// With more ranks than parts, several ranks hold equal parts and must sum their gradients.
  std::int64_t parts = 0;
};

}  // namespace redco::fact
