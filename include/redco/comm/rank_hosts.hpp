#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <unistd.h>

namespace redco::comm {

/// A table of the hosts on which the processes run, such as "node2 (10.7.0.2)", for messages. The
/// table is empty if all ranks are threads of one process. It is filled when the processes connect.
/// `ranks_each` is the number of ranks per process in the latest world.
struct rank_hosts {
  std::vector<std::string> of_process = {};
  int ranks_each = 1;

  static rank_hosts& all() {
    static rank_hosts one;
    return one;
  }
};

/// Returns the host of a process as part of a sentence: " on node2 (10.7.0.2)". Returns an empty
/// text if the host is unknown.
inline std::string on_host_of_process(int process) {
  auto const which = static_cast<std::size_t>(process);
  std::vector<std::string> const& all = rank_hosts::all().of_process;
  return which < all.size() ? " on " + all[which] : "";
}

inline std::string on_host_of_rank(int rank) { return on_host_of_process(rank / rank_hosts::all().ranks_each); }

/// Returns the name of this machine, or "?" if the system does not report one.
inline std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "?";
}

}  // namespace redco::comm
