#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <unistd.h>

namespace redco::comm {

/// On which hosts the processes of a run are, "node2 (10.7.0.2)" each, for messages; empty where the ranks are threads of one process.
/// Written when the processes have found each other, and with each world of theirs.
struct rank_places {
  std::vector<std::string> of_process = {};
  int ranks_each = 1;

  static rank_places& all() {
    static rank_places one;
    return one;
  }
};

/// " on node2 (10.7.0.2)", or nothing.
inline std::string place_of_process(int process) {
  auto const which = static_cast<std::size_t>(process);
  std::vector<std::string> const& all = rank_places::all().of_process;
  return which < all.size() ? " on " + all[which] : "";
}

inline std::string place_of_rank(int rank) { return place_of_process(rank / rank_places::all().ranks_each); }

/// What this host calls itself.
inline std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "?";
}

}  // namespace redco::comm
