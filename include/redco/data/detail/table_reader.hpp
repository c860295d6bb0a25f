#pragma once

#include <redco/data/detail/text_on_disk.hpp>
#include <redco/data/table.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::data::detail {

inline constexpr std::size_t longest_row = std::size_t{64} << 20;

/// Returns the names in quotes, separated by commas; at most 32 of them.
inline std::string listed(std::span<std::string const> names) {
  constexpr std::size_t most = 32;
  std::string text;
  for (std::string const& name : names.first(std::min(names.size(), most)))
    text += (text.empty() ? "\"" : ", \"") + name + "\"";
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

/// A reader of the bytes of a table, in pieces of any size. finish() returns the table. The errors
/// are those of `read_table`.
class table_reader {
 public:
  /// Creates the reader of the file `path`, whose name is used only in messages. `separator`
  /// replaces that of `options`. Requires at least one column.
  table_reader(std::string path, std::span<std::string const> columns, char separator, table_options const& options)
      : separator_(separator), options_(options), row_(columns.size()) {
    read_.path = std::move(path);
    read_.columns.assign(columns.begin(), columns.end());
  }

  void take(std::string_view bytes);
  table finish();

 private:
  enum class state { row_begin, field_begin, unquoted, quoted, quote_in_quoted };

  void take_in_row(char c, bool line_break);
  void end_field();
  void end_row();
  void read_header();
  void check_row();

  /// Marks the current row as wrong. The first reason is kept.
  void wrong(std::string const& why) {
    if (why_wrong_.empty()) why_wrong_ = at_line(row_line_) + why;
  }
  std::string at_line(std::int64_t line) const { return read_.path + ":" + std::to_string(line) + ": "; }
  /// Returns the current field for messages: `column "label"`, or `field 3` if it has no name.
  std::string field_name() const {
    if (has_header_ && fields_ < header_.size()) return "column \"" + header_[fields_] + "\"";
    return "field " + std::to_string(fields_ + 1);
  }
  std::string separator_name() const { return separator_ == '\t' ? "a tab" : std::string{'"', separator_, '"'}; }

  char separator_;
  table_options options_;
  table read_;
  line_encoding encoding_;

  state state_ = state::row_begin;
  bool after_return_ = false;    // the previous byte is a carriage return
  std::int64_t line_ = 1;        // line of the current byte
  std::int64_t row_line_ = 1;    // line where the current row begins
  std::int64_t quote_line_ = 1;  // line of the last opening quote
  std::size_t row_bytes_ = 0;    // bytes of the current row so far
  std::size_t fields_ = 0;       // ended fields of the current row
  std::string field_;            // the current field without its quotes
  std::string why_wrong_;        // the reason why the current row is wrong; empty if it is right

  bool has_header_ = false;
  std::vector<std::string> header_;
  std::vector<std::vector<std::size_t>> targets_;  // for each field, its columns in the result
  std::vector<std::string> row_;                   // the current row of the result
};

}  // namespace redco::data::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/detail/table_reader.inl.hpp>
#endif
