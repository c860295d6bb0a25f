#pragma once

#include <redco/data/read_table.hpp>

#include <redco/data/detail/table_reader.hpp>
#include <redco/data/detail/text_on_disk.hpp>
#include <redco/diag/error.hpp>
#include <redco/diag/input_file.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

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
  throw error(exit_code::data, path.string() + " ends in neither .csv nor .tsv; set the separator");
}

}  // namespace redco::data::detail

namespace redco::data {

REDCO_INLINE table read_table(std::filesystem::path const& path, std::span<std::string const> columns,
                              table_options const& options) {
  std::string const extension = detail::lower_extension(path);
  if (extension == ".xlsx" || extension == ".xls" || extension == ".ods")
    throw error(exit_code::data, path.string() + " is a spreadsheet; export it as CSV in UTF-8, and give the result");
  if (columns.empty()) throw error(exit_code::data, "no column of " + path.string() + " is chosen; name at least one");
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
