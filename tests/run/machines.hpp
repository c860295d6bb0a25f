#pragma once

#include <redco/comm/rank_hosts.hpp>

#include <string>

/// Lets the ranks of this process run on `count` machines during its lifetime, for all rules that
/// depend on machines. Each machine has equally many consecutive ranks.
class pretended_machines {
 public:
  explicit pretended_machines(int count) {
    for (int i = 0; i < count; ++i) redco::comm::rank_hosts::all().of_process.push_back("machine" + std::to_string(i));
  }
  pretended_machines(pretended_machines const&) = delete;
  pretended_machines& operator=(pretended_machines const&) = delete;
  ~pretended_machines() { redco::comm::rank_hosts::all().of_process.clear(); }
};
