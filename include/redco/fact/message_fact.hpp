#pragma once

#include <redco/fact/path.hpp>
#include <redco/fact/width_kind.hpp>

#include <redco/shape/axis.hpp>
#include <redco/shape/collective.hpp>
#include <redco/shape/extents.hpp>

#include <cstdint>

namespace redco::fact {

/// A collective in one forward or backward pass of a micro-batch.
struct message_fact {
  path layer;
  collective what = collective::all_reduce;
  axes over = axis::tp;  ///< Axes of the group that runs the collective
  bool backward = false;
  extents shape;
  width_kind kind = width_kind::compute;
  std::int64_t copies = 1;
  /// Number of shards above which the message is sent; 0: always. It is the number of parts of a
  /// parameter: with more shards, neighbouring ranks (a sharer group) hold the same part.
  std::int64_t parts = 0;
};

}  // namespace redco::fact
