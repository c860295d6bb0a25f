#pragma once

#include <redco/report/detail/html_text.hpp>
#include <redco/report/detail/numbers.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/cost/stage_costs.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/schedule/pipeline_table.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redco::report::detail {

/// Returns the name of a run's schedule, with the number of chunks per stage if there are several.
inline std::string schedule_name(shard_report const& r) {
  std::string const name{r.run.table != nullptr ? "of a file"
                                                : schedule::pipeline_kind_texts.text_of(r.run.stages.schedule)};
  return name + (r.run.stages.chunks_per_stage > 1
                     ? ", " + std::to_string(r.run.stages.chunks_per_stage) + " chunks per stage"
                     : "");
}

/// Returns a range of blocks by its first and last block, such as "0-2".
inline std::string range_text(shape::block_range const& blocks) {
  std::int64_t const last = blocks.end - 1;
  return std::to_string(blocks.begin) + (last > blocks.begin ? "-" + std::to_string(last) : "");
}

/// Returns the blocks of a stage's chunks, such as "0-2 6-8".
inline std::string blocks_text(cost::stage_cost const& stage) {
  std::string text;
  for (cost::stage_cost::chunk const& one : stage.chunks) text += (text.empty() ? "" : " ") + range_text(one.blocks);
  return text;
}

/// Returns " of stage 0, which needs most" if the run has several pipeline stages, otherwise an
/// empty text.
inline std::string stage_scope(shard_report const& r) {
  return r.stages.empty() ? "" : " of stage " + std::to_string(r.largest_stage) + ", which needs most";
}

/// Names of the columns of the table of pipeline stages.
inline constexpr std::array<std::string_view, 7> stage_columns = {"stage",     "blocks",        "parameters", "at most",
                                                                  "in flight", "to next, back", "of products"};

/// Returns the cells of the table of pipeline stages, one row per stage.
inline std::vector<std::array<std::string, 7>> stage_rows(shard_report const& r) {
  double all = 0;
  for (cost::stage_cost const& one : r.stages) all += static_cast<double>(one.cost.operations.total());
  std::vector<std::array<std::string, 7>> rows;
  for (std::size_t i = 0; i < r.stages.size(); ++i) {
    cost::stage_cost const& one = r.stages[i];
    double const share = all > 0 ? static_cast<double>(one.cost.operations.total()) / all : 0;
    rows.push_back({std::to_string(i), blocks_text(one), bytes_text(one.cost.memory.parameters),
                    bytes_text(one.cost.memory.peak()), std::to_string(one.in_flight),
                    bytes_text(one.sent) + ", " + bytes_text(one.received),
                    std::to_string(static_cast<int>(1000 * share + 0.5) / 10) + "." +
                        std::to_string(static_cast<int>(1000 * share + 0.5) % 10) + " %"});
  }
  return rows;
}

/// Returns the table of pipeline stages for a console, or an empty text for one stage. Bytes are
/// those of a rank; tensors to the next and back to the preceding stage are those of one
/// micro-batch.
inline std::string stages_text(shard_report const& r) {
  if (r.stages.empty()) return "";
  std::array<std::size_t, 7> widths = {5, 9, 12, 10, 11, 22, 13};
  for (cost::stage_cost const& one : r.stages) widths[1] = std::max(widths[1], blocks_text(one).size() + 2);
  std::string text = "pipeline stages, schedule " + schedule_name(r) + "\n";
  auto const line = [&](auto const& cells) {
    text += "  ";
    for (std::size_t i = 0; i < widths.size(); ++i) text += padded_left(std::string(cells[i]), widths[i]);
    text += "\n";
  };
  line(stage_columns);
  for (auto const& row : stage_rows(r)) line(row);
  return text;
}

inline std::string markdown_stages(shard_report const& r) {
  if (r.stages.empty()) return "";
  std::string text = "\n## Pipeline stages, schedule " + schedule_name(r) + "\n\n";
  auto const line = [&](auto const& cells) {
    for (auto const& cell : cells) text += "| " + std::string(cell) + " ";
    text += "|\n";
  };
  line(stage_columns);
  text += "|---:|---:|---:|---:|---:|---:|---:|\n";
  for (auto const& row : stage_rows(r)) line(row);
  return text;
}

inline std::string html_stages(shard_report const& r) {
  if (r.stages.empty()) return "";
  std::string text = "<h2>Pipeline stages</h2>\n<p>Schedule " + schedule_name(r) +
                     ". The other sections are of stage " + std::to_string(r.largest_stage) +
                     ", which needs most.</p>\n<table class=\"narrow\"><thead><tr>";
  for (std::string_view const name : stage_columns) text += "<th class=\"n\">" + escaped(name) + "</th>";
  text += "</tr></thead><tbody>\n";
  for (auto const& row : stage_rows(r)) {
    text += "<tr>";
    for (std::string const& cell : row) text += "<td class=\"n\">" + escaped(cell) + "</td>";
    text += "</tr>\n";
  }
  return text + "</tbody></table>\n";
}

}  // namespace redco::report::detail
