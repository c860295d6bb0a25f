#pragma once

#include <redco/workdir/conclude.hpp>

#include <redco/options/command_line.hpp>
#include <redco/config.hpp>

namespace redco::workdir {

REDCO_INLINE void conclude(run_summary& summary, exit_code code, std::string const& reason) {
  if (summary.code != code) {
    summary.code = code;
    summary.reason = reason;
  }
  bool const ended = code == exit_code::done || code == exit_code::missed;
  bool const refused = code == exit_code::usage || code == exit_code::not_finite;
  if (!ended && !refused && !summary.checkpoint.empty()) summary.resume = options::resume_command();
}

}  // namespace redco::workdir
