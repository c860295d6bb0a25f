#pragma once

#include <redco/options/cpu_quota.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace redco::options::detail {

/// Returns the quota of one group in cores; 0 if the group has none.
inline double quota_of_group(std::filesystem::path const& group) {
  double quota = 0, period = 0;
  std::string word;
  // "max 100000" without a quota
  if (std::ifstream both(group / "cpu.max"); both >> word >> period && word != "max") quota = std::atof(word.c_str());
  std::ifstream first(group / "cpu.cfs_quota_us"), second(group / "cpu.cfs_period_us");
  if (first >> quota) second >> period;
  return quota > 0 && period > 0 ? quota / period : 0;
}

}  // namespace redco::options::detail

namespace redco::options {

REDCO_INLINE int cpu_quota(std::filesystem::path const& root) {
  double least = INT_MAX;
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // Number, controllers and path of a hierarchy: "0::/a" in version 2, "4:cpu,cpuacct:/a" in 1
    std::size_t const first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::string const controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && ("," + controllers + ",").find(",cpu,") == std::string::npos) continue;
    // A container sees its own group at the top, although the line has the host's path.
    for (std::filesystem::path group = line.substr(second + 1);; group = group.parent_path()) {
      if (double const quota = detail::quota_of_group(root / "sys/fs/cgroup" / controllers / group.relative_path());
          quota > 0)
        least = std::min(least, quota);
      if (group == group.parent_path()) break;
    }
  }
  return std::max(1, static_cast<int>(least));
}

}  // namespace redco::options
