#pragma once

#include <algorithm>
#include <filesystem>

namespace redco::options {

/// Returns the number of cores whose time the cgroups of this process may use. It is the smallest
/// quota of its group and of the groups above, rounded down, at least 1. Returns INT_MAX if there
/// is no quota. Reads `cpu.max` (version 2 of cgroups) and `cpu.cfs_quota_us` (version 1). `root`
/// is the folder that has proc/ and sys/. Rounds down because the kernel stops all threads of a
/// group that uses up its quota.
int cpu_quota(std::filesystem::path const& root = "/");

/// Returns the number of threads that a process may use, at most the CPU quota of its cgroup. A
/// process that is bound to cores uses these, another process its share of the host's cores.
constexpr long threads_within(long bound_cores, long host_cores, int processes_on_host, int quota) {
  bool const bound = bound_cores < host_cores;
  return std::max(1L,
                  bound ? std::min<long>(bound_cores, quota) : std::min<long>(host_cores, quota) / processes_on_host);
}

}  // namespace redco::options

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/cpu_quota.inl.hpp>
#endif
