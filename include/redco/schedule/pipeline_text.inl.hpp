#pragma once

#include <redco/meta/trimmed.hpp>
#include <redco/config.hpp>
#include <redco/schedule/pipeline_text.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace redco::schedule::detail {

/// Largest index of a chunk or micro-batch in a schedule file.
inline constexpr std::int32_t largest_index = 99'999;

/// Removes a number from the begin of `text` and returns it, or nullopt if there is none up to
/// largest_index.
inline std::optional<std::int32_t> take_index(std::string_view& text) {
  std::int32_t value = 0;
  auto const [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || value < 0 || value > largest_index) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// Returns the computation that a cell such as "2F0" names, or nullopt.
inline std::optional<stage_op> stage_op_of(std::string_view cell) {
  auto const chunk = take_index(cell);
  if (!chunk || cell.empty()) return {};
  auto const work = stage_work_texts.value_of(cell.substr(0, 1));
  cell.remove_prefix(1);
  auto const micro = take_index(cell);
  if (!work || !micro || !cell.empty()) return {};
  return stage_op{*work, *chunk, *micro};
}

/// Returns the part of `text` up to `end`, and removes this part and `end` from `text`.
inline std::string_view take_until(std::string_view& text, char end) {
  std::size_t const size = std::min(text.find(end), text.size());
  std::string_view const part = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return part;
}

}  // namespace redco::schedule::detail

namespace redco::schedule {

REDCO_INLINE std::string text_of(pipeline_fault const& fault, pipeline_table const& table) {
  if (!fault) return "the pipeline is sound";
  auto const& list = table.of_stage.at(static_cast<std::size_t>(fault.stage));
  std::string const which = fault.index < list.size() ? text_of(list[fault.index]) : "a computation after the last one";
  return which + " of stage " + std::to_string(fault.stage) + " " +
         std::string(pipeline_fault_texts.text_of(fault.cause));
}

REDCO_INLINE std::string text_of(pipeline_table const& table) {
  std::string text;
  for (auto const& list : table.of_stage) {
    for (std::size_t i = 0; i < list.size(); ++i) text += (i > 0 ? "," : "") + text_of(list[i]);
    text += "\n";
  }
  return text;
}

REDCO_INLINE pipeline_table read_pipeline(std::string_view text, std::string const& source) {
  pipeline_table table;
  std::vector<std::size_t> line_of;  // of each stage
  auto const refuse = [&](std::size_t line, std::string const& why) {
    throw error(exit_code::data, source + ":" + std::to_string(line) + ": " + why);
  };
  for (std::size_t line = 1; !text.empty(); ++line) {
    std::string_view row = detail::take_until(text, '\n');
    if (meta::trimmed(row).empty()) continue;
    std::vector<stage_op> list;
    while (!row.empty()) {
      std::string_view const cell = meta::trimmed(detail::take_until(row, ','));
      if (cell.empty()) continue;
      auto const one = detail::stage_op_of(cell);
      if (!one && (cell.find("SEND") != cell.npos || cell.find("RECV") != cell.npos))
        refuse(line, std::string(cell) + " is a communication; remove it, redco adds sends and receives");
      if (!one)
        refuse(line, "\"" + std::string(cell) +
                         "\" is no computation; write chunk, F, B, I or W, and micro-batch, such as 2F0");
      table.micro_batches = std::max(table.micro_batches, one->micro + 1);
      auto const chunk = static_cast<std::size_t>(one->chunk);
      if (chunk >= table.chunks()) table.stage_of.resize(chunk + 1, -1);
      int& stage = table.stage_of[chunk];
      if (stage >= 0 && stage != static_cast<int>(line_of.size()))
        refuse(line, "chunk " + std::to_string(chunk) + " is also in line " +
                         std::to_string(line_of[static_cast<std::size_t>(stage)]) +
                         "; one stage computes all micro-batches of a chunk");
      stage = static_cast<int>(line_of.size());
      list.push_back(*one);
    }
    line_of.push_back(line);
    table.of_stage.push_back(std::move(list));
  }
  if (line_of.empty()) throw error(exit_code::data, source + " has no computation; write one line per pipeline stage");
  for (std::size_t chunk = 0; chunk < table.chunks(); ++chunk)
    if (table.stage_of[chunk] < 0)
      throw error(exit_code::data, source + " has no computation of chunk " + std::to_string(chunk));
  if (auto const fault = simulate(table).fault)
    refuse(line_of[static_cast<std::size_t>(fault.stage)], text_of(fault, table) + "; this schedule cannot run");
  return table;
}

REDCO_INLINE pipeline_table read_pipeline_file(std::filesystem::path const& path) {
  std::ifstream file(path, std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) throw error(exit_code::data, path.string() + " cannot be read; give the path of a schedule file");
  return read_pipeline(text, path.string());
}

}  // namespace redco::schedule
