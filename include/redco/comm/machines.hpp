#pragma once

#include <redco/comm/rank_hosts.hpp>
#include <redco/shape/hosts.hpp>
#include <redco/shape/mesh.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace redco::comm {

/// Returns the machines of the ranks of a mesh, equal in all processes. Returns one machine if the
/// machines are unknown, or if they do not have equal numbers of consecutive processes. Call it
/// after the processes have connected.
inline shape::host_map machines_of(mesh const& on) {
  std::vector<std::string> const& names = rank_hosts::all().of_process;
  std::size_t const processes = names.size();
  std::size_t each = 1;  // number of processes of a machine
  while (each < processes && names[each] == names[0]) ++each;
  if (each >= processes || processes % each != 0 || on.ranks() % static_cast<int>(processes) != 0) return {on, 1};
  std::set<std::string> machines;
  for (std::size_t i = 0; i < processes; ++i)
    if (i % each == 0) machines.insert(names[i]);
    else if (names[i] != names[i - i % each]) return {on, 1};
  if (machines.size() != processes / each) return {on, 1};
  return {on, static_cast<int>(machines.size())};
}

}  // namespace redco::comm
