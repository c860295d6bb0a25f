#pragma once

#include <redco/data/read_table.hpp>

#include <redco/data/detail/json_lines.hpp>
#include <redco/data/detail/table_reader.hpp>
#include <redco/data/detail/text_on_disk.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>
#include <redco/diag/input_file.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::data::detail {

/// Returns the separator of the options, or of the extension of the path.
inline char separator_of(std::filesystem::path const& path, table_options const& options) {
  char const chosen = options.separator;
  if (static_cast<unsigned char>(chosen) >= 0x80 || chosen == '\n' || chosen == '\r' ||
      (chosen == '"' && options.quotes))
    throw error(exit_code::usage, "the separator of " + path.string() +
                                      " is a line break, a quote or no ASCII character; choose another one");
  if (chosen != 0) return chosen;
  std::string const extension = lower_extension(path);
  if (extension == ".csv") return ',';
  if (extension == ".tsv") return '\t';
  throw error(exit_code::data, path.string() + " ends in neither .csv, .tsv nor .jsonl; set the separator");
}

/// Appends the values under the table's columns of a JSON text to `read`. Throws `error` with exit
/// code 65 and `where` if the text is no object, or lacks a column or its text or number.
inline void append_object(table& read, std::string const& text, std::int64_t line, std::string const& where) {
  json::json_value const object = json_object_of(text, where);
  std::vector<std::string> row;
  for (std::string const& column : read.columns) {
    auto const found = object.find(column);
    if (found == object.end()) {
      std::vector<std::string> keys;
      for (auto const& entry : object.items()) keys.push_back(entry.key());
      throw error(exit_code::data, where + ": no key \"" + column + "\" among " + listed(keys) + "; name one of these");
    }
    if (found->is_structured() || found->is_null())
      throw error(exit_code::data, where + ": key \"" + column + "\" has neither a text nor a number; correct it");
    row.push_back(found->is_string() ? found->get<std::string>() : found->dump());
  }
  read.rows.push_back(std::move(row));
  read.lines.push_back(line);
}

inline table read_objects(std::filesystem::path const& path, std::span<std::string const> columns,
                          table_options const& options) {
  diag::input_file const checked(path);  // refuses a missing file and a folder
  std::ifstream in(path, std::ios::binary);
  table read;
  read.path = path.string();
  read.columns.assign(columns.begin(), columns.end());
  each_line(in, path, "table", options.invalid_utf8,
            [&](std::string const& line, std::int64_t number, std::string const& where) {
              try {
                append_object(read, line, number, where);
              } catch (error const& wrong) {
                if (!options.skip_wrong_rows) throw;
                if (read.skipped++ == 0) read.first_skipped = wrong.what();
              }
              return true;
            });
  if (read.rows.empty() && read.skipped > 0)
    throw error(exit_code::data, read.path + " has no correct row; the first of " + std::to_string(read.skipped) +
                                     " wrong rows: " + read.first_skipped);
  if (read.rows.empty()) throw error(exit_code::data, read.path + " has no row; give a file with examples");
  return read;
}

}  // namespace redco::data::detail

namespace redco::data {

REDCO_INLINE table read_table(std::filesystem::path const& path, std::span<std::string const> columns,
                              table_options const& options) {
  std::string const extension = detail::lower_extension(path);
  if (extension == ".xlsx" || extension == ".xls" || extension == ".ods")
    throw error(exit_code::data, path.string() + " is a spreadsheet; export it as CSV in UTF-8, and give the result");
  if (columns.empty()) throw error(exit_code::data, "no column of " + path.string() + " is chosen; name at least one");
  if (detail::is_json_lines(path)) return detail::read_objects(path, columns, options);
  diag::input_file const file(path);
  std::string piece(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), std::uint64_t{1} << 20)), '\0');
  file.read(0, std::as_writable_bytes(std::span(piece)));
  detail::refuse_other_formats(path, piece, "table");
  detail::table_reader reader(path.string(), columns, detail::separator_of(path, options), options);
  std::string_view const front = piece;
  reader.take(front.starts_with(detail::byte_order_mark) ? front.substr(detail::byte_order_mark.size()) : front);
  for (std::uint64_t position = piece.size(); position < file.size(); position += piece.size()) {
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(file.size() - position, piece.size())));
    file.read(position, std::as_writable_bytes(std::span(piece)));
    reader.take(piece);
  }
  return reader.finish();
}

}  // namespace redco::data
