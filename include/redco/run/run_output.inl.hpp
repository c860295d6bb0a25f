#pragma once

#include <redco/run/run_output.hpp>

#include <redco/report/run_page.hpp>
#include <redco/workdir/run_summary.hpp>
#include <redco/options/command_line.hpp>
#include <redco/config.hpp>

#include <exception>
#include <iostream>
#include <mutex>
#include <system_error>
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

REDCO_INLINE void run_output::write_page() {
  if (std::chrono::steady_clock::now() >= next_page_) write_page(std::nullopt);
}

REDCO_INLINE void run_output::write_last_page() { write_page(summary); }

/// Writes report.html. `end`: state of a run that has ended. A page that cannot be written is a
/// warning.
REDCO_INLINE void run_output::write_page(std::optional<workdir::run_summary> const& end) {
  if (workdir.empty() || !speaks) return;
  bool const refused = end && !began && end->code != exit_code::done && end->code != exit_code::missed;
  std::error_code unknown;
  if (refused && std::filesystem::is_regular_file(workdir / "report.html", unknown)) return;
  auto const start = std::chrono::steady_clock::now();
  try {
    facts.summary = end;
    facts.resume = options::resume_command();
    report::write_run_page(workdir, facts);
  } catch (std::exception const& e) {
    log.warning(std::string("no page of the run: ") + e.what());
  }
  auto const now = std::chrono::steady_clock::now();
  next_page_ = now + 20 * (now - start);
}

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
  last->write_last_page();
  std::error_code ignored;
  if (auto const page = last->workdir / "report.html"; std::filesystem::is_regular_file(page, ignored))
    s.files.push_back(page.string());
  s.warnings = last->log.warnings();
  s.lost_lines += last->log.lost();
  std::string const text = workdir::summary_text(s);
  if (last->speaks) std::cout << text << std::endl;
  last->log.quiet_line(text);
  last->summary.reset();
}

}  // namespace redco::run
