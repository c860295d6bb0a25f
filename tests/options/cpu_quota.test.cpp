#include <redco/options/cpu_quota.hpp>

#include <catch.hpp>
#include <temporary_folder.hpp>

#include <climits>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace {

using redco::options::cpu_quota;
using redco::options::threads_within;

/// Returns the quota that is read from a folder with these files of proc/ and sys/.
int quota_of(std::map<std::string, std::string> const& files) {
  temporary_folder const root;
  for (auto const& [name, text] : files) {
    std::filesystem::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text;
  }
  return cpu_quota(root.path);
}

}  // namespace

TEST_CASE("the CPU quota is the smallest of a process's cgroup and of the groups above") {
  CHECK(quota_of({}) == INT_MAX);
  CHECK(quota_of({{"proc/self/cgroup", "0::/a/b\n"}, {"sys/fs/cgroup/a/b/cpu.max", "max 100000\n"}}) == INT_MAX);
  CHECK(quota_of({{"proc/self/cgroup", "0::/a/b\n"}, {"sys/fs/cgroup/a/b/cpu.max", "300000 100000\n"}}) == 3);
  CHECK(quota_of({{"proc/self/cgroup", "0::/a/b\n"},
                  {"sys/fs/cgroup/a/cpu.max", "250000 100000\n"},
                  {"sys/fs/cgroup/a/b/cpu.max", "max 100000\n"}}) == 2);
  CHECK(quota_of({{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "50000 100000\n"}}) == 1);
}

TEST_CASE("the CPU quota of a container is read at the top of its view of the cgroups") {
  CHECK(quota_of({{"proc/self/cgroup", "0::/docker/1f\n"}, {"sys/fs/cgroup/cpu.max", "400000 100000\n"}}) == 4);
}

TEST_CASE("the CPU quota is read from version 1 of the cgroups") {
  std::string const groups = "12:memory:/jobs/7\n4:cpu,cpuacct:/jobs/7\n1:name=systemd:/other\n";
  std::string const folder = "sys/fs/cgroup/cpu,cpuacct/jobs/7/";
  CHECK(quota_of({{"proc/self/cgroup", groups},
                  {folder + "cpu.cfs_quota_us", "600000\n"},
                  {folder + "cpu.cfs_period_us", "100000\n"}}) == 6);
  CHECK(quota_of({{"proc/self/cgroup", groups},
                  {folder + "cpu.cfs_quota_us", "-1\n"},
                  {folder + "cpu.cfs_period_us", "100000\n"}}) == INT_MAX);
}

TEST_CASE("the threads of a process are at most its CPU quota") {
  CHECK(threads_within(8, 8, 1, INT_MAX) == 8);
  CHECK(threads_within(8, 8, 2, INT_MAX) == 4);
  CHECK(threads_within(8, 8, 2, 6) == 3);
  CHECK(threads_within(8, 8, 4, 3) == 1);
  CHECK(threads_within(4, 64, 16, INT_MAX) == 4);
  CHECK(threads_within(4, 64, 16, 2) == 2);
}
