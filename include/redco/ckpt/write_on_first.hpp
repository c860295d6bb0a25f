#pragma once

#include <redco/ckpt/detail/disk_phase.hpp>
#include <redco/comm/group.hpp>
#include <redco/workdir/disk_limits.hpp>

#include <string>

namespace redco::ckpt {

/// Calls `write` on rank 0, which writes files that no other rank writes, such as a page. The other
/// ranks wait for rank 0 at least until the deadline of disks. `task` is the name of the work in
/// the error of a wait, such as "writing the results of step 400". All ranks of `world` must call
/// it.
template <class Write>
void write_on_first(comm::group& world, std::string const& task, workdir::disk_limits const& limits, Write write) {
  detail::disk_deadline const patient(world, limits);
  std::string const text = task + "; --disk-deadline limits the wait for rank 0";
  comm::collective_label const label(text);
  if (world.rank() == 0) write();
  world.barrier();
}

}  // namespace redco::ckpt
