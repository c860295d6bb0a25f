#pragma once

#include <redco/comm/group.hpp>

#include <redco/diag/exit_code.hpp>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::comm {

/// Named values that all ranks of a run must have alike: settings, sizes, digests of data.
///
///   comm::agreement values("settings", "start all processes by the same command");
///   values.add("optimizer.lr", "0.001");
///   values.check(rank.world);
class agreement {
 public:
  /// `what` names the values in messages, in the plural; `cure` is one thing to do; `code` is the
  /// exit code of a difference.
  agreement(std::string what, std::string cure, exit_code code = exit_code::usage)
      : what_(std::move(what)), cure_(std::move(cure)), code_(code) {}

  /// Adds a value. Messages list differences in the order of the calls; each name is added
  /// once.
  void add(std::string name, std::string text) { values_.emplace_back(std::move(name), std::move(text)); }
  void add(std::map<std::string, std::string> const& values, std::string const& prefix = {}) {
    for (auto const& [name, text] : values) add(prefix + name, text);
  }

  /// Leaves the comparison to another rank, which has the values of both: the first rank of a
  /// process, for what a process reads once. Rank 0 must not abstain.
  void abstain() { abstains_ = true; }

  /// Names where this rank has the values from, such as a folder. Ranks may have different origins.
  void from(std::string origin) { origin_ = std::move(origin); }

  exit_code code() const { return code_; }

  /// Returns the first difference between rank 0 and another rank as a sentence that names both
  /// with their hosts and values; empty if all agree. All ranks of the group call it in the same
  /// order, and all get the same text. Ranks that agree exchange 8 bytes. `member` is the word for
  /// a rank.
  std::string difference(group& ranks, std::string_view member = "rank") const;

  /// Errors: `error` with `code()` and the text of `difference()`, on every rank, if ranks differ.
  void check(group& ranks) const;

 private:
  std::string difference_to(agreement const& other, std::string const& self, std::string const& peer) const;

  std::string what_, cure_;
  exit_code code_;
  bool abstains_ = false;
  std::string origin_ = {};
  std::vector<std::pair<std::string, std::string>> values_ = {};
};

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/agreement.inl.hpp>
#endif
