#pragma once

#include <redco/report/detail/html_text.hpp>
#include <redco/report/detail/metric_history.hpp>
#include <redco/report/detail/numbers.hpp>
#include <redco/report/detail/picture.hpp>
#include <redco/report/detail/plot_axis.hpp>
#include <redco/report/pictures/contact_sheet.hpp>
#include <redco/report/pictures/curves.hpp>
#include <redco/workdir/run_summary.hpp>
#include <redco/log/text.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/meta/utf8.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace redco::report::detail {

/// Style sheet of a run's report, in addition to that of all reports.
inline constexpr std::string_view run_page_style = R"(<style>
.pictures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,19rem),1fr));gap:1.2rem 1rem}
figure{margin:0;min-width:0}figcaption{color:var(--soft);font-size:.9rem;overflow-wrap:anywhere}
img{display:block;width:100%;height:auto}
pre{margin:.4rem 0;padding:.5rem .6rem;background:var(--card);border:1px solid var(--line);border-radius:.4rem;
font:.8rem/1.4 ui-monospace,"DejaVu Sans Mono",monospace;overflow-x:auto}
pre.text{white-space:pre-wrap;overflow-wrap:anywhere}summary{cursor:pointer}
td{overflow-wrap:anywhere}td.text{white-space:pre-wrap}.facts td:first-child{width:11rem;color:var(--soft)}
@media screen and (max-width:44rem){.facts tr{display:block;border-bottom:1px solid var(--line);padding:.3rem 0}
.facts td,.facts td:first-child{display:block;width:auto;border:0;padding:0}}
</style>
)";

/// Returns the text of a file, without the part before the last `most` bytes. Empty if the file
/// cannot be read.
inline std::string end_of_file(std::filesystem::path const& path, std::uintmax_t most) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) return "";
  std::uintmax_t const size = std::filesystem::file_size(path, failure);
  std::ifstream file(path, std::ios::binary);
  if (failure || !file) return "";
  if (size > most) file.seekg(static_cast<std::streamoff>(size - most));
  std::string text(static_cast<std::size_t>(std::min(size, most)), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

/// Returns any bytes as text for HTML, at most `most` code points of it.
inline std::string page_text(std::string_view text, std::size_t most = 2000) {
  std::string_view const begin = log::fit(text, most);
  std::string valid;
  meta::append_well_formed(valid, begin);
  return escaped(valid) + (begin.size() < text.size() ? "\u2026" : "");
}

inline std::string table_row(std::string_view name, std::string const& html) {
  return "<tr><td>" + page_text(name) + "</td><td>" + html + "</td></tr>\n";
}

/// Returns the curves of all metrics. A metric and its evaluation share a picture.
inline std::string page_curves(std::filesystem::path const& workdir) {
  std::ifstream rows(workdir / "metrics.jsonl", std::ios::binary);
  metric_history const metrics(rows);
  auto const rank_of = [](std::string_view name) {
    bool const loss = name == "loss" || name.ends_with("/loss");
    bool const means = name.ends_with("lr") || name.ends_with("grad_norm") || name.ends_with("_per_second");
    return loss ? 0 : means ? 2 : 1;
  };
  constexpr std::string_view mark = "eval/";
  std::vector<std::string> names;
  for (series const& one : metrics.all()) {
    std::string const name = one.name.starts_with(mark) ? one.name.substr(mark.size()) : one.name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::stable_sort(names.begin(), names.end(),
                   [&](std::string const& a, std::string const& b) { return rank_of(a) < rank_of(b); });
  constexpr std::size_t most = 60;
  std::string text;
  for (std::string const& name : names) {
    if (&name - names.data() == std::ptrdiff_t{most}) break;
    std::vector<series> both;
    for (std::string const side : {"", "eval/"})
      if (series const* const one = metrics.find(side + name))
        both.push_back({side.empty() ? "train" : "eval", one->x, one->y});
    double low = INFINITY, high = 0;
    for (series const& one : both)
      for (double const value : one.y)
        if (is_plottable(value)) low = std::min(low, value), high = std::max(high, value);
    bool const spreads = rank_of(name) == 0 || name.ends_with("grad_norm");
    bool const log_y = spreads && low > 0 && high > 100 * low;
    text += "<figure>" + curves(both, {.title = name, .log_y = log_y}) + "</figure>\n";
  }
  if (text.empty()) return "";
  text = "<h2>Metrics</h2>\n<div class=\"pictures\">\n" + text + "</div>\n";
  if (names.size() > most)
    text += "<p>" + std::to_string(names.size() - most) + " more metrics are in metrics.jsonl.</p>\n";
  return text;
}

/// Returns the pictures of the folder pictures/ as images, which cannot change the page.
inline std::string page_pictures(std::filesystem::path const& workdir) {
  std::error_code failure;
  std::vector<std::filesystem::path> files;
  for (auto const& entry : std::filesystem::directory_iterator(workdir / "pictures", failure))
    if (entry.path().extension() == ".svg" || entry.path().extension() == ".png") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  constexpr std::uintmax_t most_bytes = 4 << 20;
  constexpr std::size_t most = 40;
  std::string text, left_out;
  std::size_t shown = 0;
  for (auto const& file : files) {
    std::string const name = file.filename().string();
    std::uintmax_t const size = std::filesystem::file_size(file, failure);
    std::string const content = failure || size > most_bytes || shown == most ? "" : end_of_file(file, most_bytes);
    if (content.empty()) {
      left_out += (left_out.empty() ? "" : ", ") + page_text(name);
      continue;
    }
    ++shown;
    std::string const type = file.extension() == ".svg" ? "svg+xml" : "png";
    text += "<figure><img alt=\"" + page_text(name) + "\" src=\"data:image/" + type + ";base64," + base64_of(content) +
            "\"><figcaption>" + page_text(name) + "</figcaption></figure>\n";
  }
  if (!text.empty()) text = "<h2>Pictures</h2>\n<div class=\"pictures\">\n" + text + "</div>\n";
  return text + (left_out.empty() ? "" : "<p>Only in the folder pictures: " + left_out + ".</p>\n");
}

/// Returns the newest file outputs_epoch<i>.json of a working directory; empty if there is none.
inline std::filesystem::path newest_outputs(std::filesystem::path const& workdir) {
  constexpr std::string_view before = "outputs_epoch", after = ".json";
  std::error_code failure;
  std::filesystem::path newest;
  std::int64_t highest = -1;
  for (auto const& entry : std::filesystem::directory_iterator(workdir, failure)) {
    std::string const name = entry.path().filename().string();
    if (!name.starts_with(before) || !name.ends_with(after)) continue;
    std::int64_t epoch = -1;
    std::from_chars(name.data() + before.size(), name.data() + name.size() - after.size(), epoch);
    if (epoch > highest) highest = epoch, newest = entry.path();
  }
  return newest;
}

/// Returns the first examples of the newest outputs, if these are short values or texts.
inline std::string page_samples(std::filesystem::path const& workdir) {
  std::filesystem::path const file = newest_outputs(workdir);
  if (file.empty()) return "";
  std::string text;
  try {
    json::json_value const all = json::read_json(file, {.bytes = 8 << 20});
    auto const shown = [](json::json_value const& one) {
      std::string const value = one.is_string() ? one.get<std::string>() : json::dump_json(one);
      return one.is_string() || value.size() <= 200 ? "<td class=\"text\">" + page_text(value, 600) + "</td>"
                                                    : "<td></td>";
    };
    for (std::size_t i = 0; all.is_array() && i < std::min<std::size_t>(all.size(), 6); ++i) {
      if (!all[i].is_object() || !all[i].contains("example") || !all[i].contains("output")) continue;
      if (all[i]["example"] == "(not shown)") continue;
      text += "<tr>" + shown(all[i]["example"]) + shown(all[i]["output"]) + "</tr>\n";
    }
  } catch (std::exception const&) {
    return "<h2>Samples</h2>\n<p>" + page_text(file.filename().string()) +
           " is too large for this page, or damaged.</p>\n";
  }
  if (text.empty()) return "";
  return "<h2>Samples</h2>\n<p>The first of " + page_text(file.filename().string()) +
         ".</p>\n<table>\n<thead><tr><th>example</th><th>output</th></tr></thead>\n" + text + "</table>\n";
}

/// Returns the warnings in the end of log.txt, with their times.
inline std::string page_warnings(std::filesystem::path const& workdir) {
  std::string const log = end_of_file(workdir / "log.txt", 4 << 20);
  constexpr std::size_t stamp = 25, most = 50;
  std::vector<std::string_view> found;
  for (std::string_view rest = log; !rest.empty();) {
    std::string_view const line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.size() > stamp && line.substr(stamp).starts_with("warning: ")) found.push_back(line);
  }
  if (found.empty()) return "";
  std::string text = "<h2>Warnings</h2>\n";
  if (found.size() > most) {
    text += "<p>The last " + std::to_string(most) + " of " + std::to_string(found.size()) + " in log.txt.</p>\n";
    found.erase(found.begin(), found.end() - std::ptrdiff_t{most});
  }
  text += "<table class=\"facts\">\n";
  for (std::string_view const line : found)
    text +=
        "<tr><td>" + page_text(line.substr(0, 19)) + "</td><td>" + page_text(line.substr(stamp + 9)) + "</td></tr>\n";
  return text + "</table>\n";
}

}  // namespace redco::report::detail
