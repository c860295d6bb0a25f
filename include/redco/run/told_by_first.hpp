#pragma once

#include <redco/comm/broadcast_text.hpp>
#include <redco/comm/group.hpp>
#include <redco/workdir/object_bytes.hpp>

#include <string>

namespace redco::run {

/// Replaces `object` on all ranks by rank 0's object, so that all ranks take equal decisions. All
/// ranks call it. `Object`: any type that cereal can serialize. `what`: name of the object in error
/// messages.
template <class Object>
void told_by_first(Object& object, comm::group& world, char const* what) {
  std::string const text =
      comm::broadcast_text(world, world.rank() == 0 ? workdir::object_bytes(object) : std::string());
  if (world.rank() != 0) workdir::read_object(text, object, what);
}

}  // namespace redco::run
