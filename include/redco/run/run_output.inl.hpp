#pragma once

#include <redco/run/run_output.hpp>

#include <redco/workdir/run_summary.hpp>
#include <redco/config.hpp>

#include <iostream>
#include <mutex>
#include <utility>

namespace redco::run::detail {

struct kept_output {
  std::mutex mutex;
  std::shared_ptr<run_output> last;
};
inline kept_output& kept() {
  static kept_output one;
  return one;
}

}  // namespace redco::run::detail

namespace redco::run {

REDCO_INLINE void keep_for_summary(std::shared_ptr<run_output> output) {
  std::scoped_lock const lock(detail::kept().mutex);
  detail::kept().last = std::move(output);
}

REDCO_INLINE void tell_end(exit_code code, std::string const& reason) {
  std::scoped_lock const lock(detail::kept().mutex);
  std::shared_ptr<run_output> const last = detail::kept().last;
  if (!last || !last->summary) return;
  workdir::run_summary& s = *last->summary;
  workdir::conclude(s, code, reason);
  s.warnings = last->log.warnings();
  s.lost_lines += last->log.lost();
  std::string const text = workdir::summary_text(s);
  if (last->speaks) std::cout << text << std::endl;
  last->log.quiet_line(text);
  last->summary.reset();
}

}  // namespace redco::run
