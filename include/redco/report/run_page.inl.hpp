#pragma once

#include <redco/report/run_page.hpp>

#include <redco/report/detail/html_style.hpp>
#include <redco/report/detail/run_page_parts.hpp>
#include <redco/safetensors/replace_file.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <string_view>
#include <system_error>

namespace redco::report::detail {

/// Returns the planned and the measured peak of memory.
inline std::string page_memory(run_facts const& facts) {
  if (!facts.planned_bytes && facts.measured_bytes.empty()) return "";
  std::string text = "<h2>Memory of a rank</h2>\n<table class=\"facts\">\n";
  if (facts.planned_bytes) text += table_row("planned peak", bytes_text(*facts.planned_bytes));
  if (!facts.measured_bytes.empty()) {
    auto const [least, most] = std::minmax_element(facts.measured_bytes.begin(), facts.measured_bytes.end());
    text +=
        table_row("measured peak (step 3)", (*least < *most ? bytes_text(*least) + " to " : "") + bytes_text(*most));
  }
  return text + "</table>\n";
}

/// Returns the state of a run as the chips of its page and as a table.
inline std::string page_state(run_facts const& facts) {
  std::string text = "<ul class=\"run\">\n";
  auto const item = [&](std::string const& entry, std::string const& style = "") {
    if (!entry.empty())
      text += "<li" + (style.empty() ? "" : " class=\"" + style + "\"") + ">" + page_text(entry) + "</li>\n";
  };
  auto const& s = facts.summary;
  if (!s) item("running");
  else item(std::string(workdir::status_name(s->code)), s->code == exit_code::done ? "good" : "bad");
  if (!facts.mesh.empty()) item("mesh " + facts.mesh);
  item(facts.computing);
  if (s && s->step > 0)
    item("step " + std::to_string(s->step) + (s->steps > 0 ? " of " + std::to_string(s->steps) : ""));
  if (s && s->seconds > 0) item(log::clock_text(s->seconds, true));
  if (s && s->per_second > 0) item(log::count_text(s->per_second) + " " + s->unit + "/s");
  text += "</ul>\n";
  if (!s) return text;
  std::string rows;
  if (!s->reason.empty()) rows += table_row("reason", page_text(s->reason));
  if (s->train_loss) rows += table_row("last loss", log::short_text(*s->train_loss, 4));
  for (auto const& best : s->best)
    rows +=
        table_row("best " + best.name, log::short_text(best.value, 4) + " (step " + std::to_string(best.step) + ")");
  for (std::string const& line : s->lines) rows += table_row("result", page_text(line));
  if (!s->checkpoint.empty()) rows += table_row("checkpoint", page_text(s->checkpoint));
  if (s->lost_lines > 0) rows += table_row("lost lines", std::to_string(s->lost_lines));
  return text + (rows.empty() ? "" : "<table class=\"facts\">\n" + rows + "</table>\n");
}

inline std::string folded(std::string_view name, std::string const& text) {
  if (text.empty()) return "";
  return "<details><summary>" + std::string(name) + "</summary>\n<pre>" + page_text(text, 100'000) +
         "</pre></details>\n";
}

}  // namespace redco::report::detail

namespace redco::report {

REDCO_INLINE std::string run_page(std::filesystem::path const& workdir, run_facts const& facts) {
  std::string title = facts.title;
  if (title.empty()) title = std::filesystem::absolute(workdir).lexically_normal().filename().string();
  if (title.empty()) title = "run";
  std::string const name = detail::page_text(title, 200);
  std::string text =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      name + "</title>\n" + std::string(detail::html_style) + std::string(detail::run_page_style) +
      "</head>\n<body>\n<h1>" + name + "</h1>\n";
  text += detail::page_state(facts);
  if (!facts.resume.empty())
    text += "<p>Continue the run:</p>\n<pre class=\"text\">" + detail::page_text(facts.resume) + "</pre>\n";
  text += detail::page_warnings(workdir);
  text += detail::page_curves(workdir);
  text += detail::page_pictures(workdir);
  text += detail::page_samples(workdir);
  text += detail::page_memory(facts);
  std::string const more = detail::folded("plan", facts.plan) +
                           detail::folded("config.json", detail::end_of_file(workdir / "config.json", 64 << 10));
  if (!more.empty()) text += "<h2>Plan and options</h2>\n" + more;
  return text + "</body>\n</html>\n";
}

REDCO_INLINE std::filesystem::path save_picture(std::filesystem::path const& workdir, std::string const& name,
                                                std::string const& svg) {
  bool const plain =
      !name.empty() && name.size() <= 100 && name[0] != '.' && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.';
      });
  if (!plain)
    throw error(exit_code::usage, "a picture cannot be named \"" + name +
                                      "\": use letters, digits, '-', '_' and '.', at most 100 of them");
  std::filesystem::path const folder = workdir / "pictures", file = folder / (name + ".svg");
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  safetensors::replace_file(file, svg, "check the workdir");
  return file;
}

REDCO_INLINE void write_run_page(std::filesystem::path const& workdir, run_facts const& facts) {
  safetensors::replace_file(workdir / "report.html", run_page(workdir, facts), "check the workdir");
}

}  // namespace redco::report
