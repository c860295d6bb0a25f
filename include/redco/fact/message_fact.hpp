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
  axes over = axis::tp;  ///< to whose group it is sent
  bool backward = false;
  extents shape;
  width_kind kind = width_kind::compute;
  std::int64_t copies = 1;
  std::int64_t parts = 0;  ///< only on more shards than so many parts of a parameter, which sharer groups then hold
};

}  // namespace redco::fact
