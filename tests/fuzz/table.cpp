// Reads any bytes as a CSV file. The first byte chooses the options, the second the sizes of the
// pieces in which the file is read. The table does not depend on the pieces. It has one field per
// column and row, in valid UTF-8. Written with quotes and read again, it is the same.
#include <redco/data/read_table.hpp>

#include <redco/data/detail/table_reader.hpp>
#include <redco/tokenizer/invalid_utf8.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using redco::data::table;
using redco::data::table_options;

void require(bool holds) {
  if (!holds) std::abort();
}

/// Returns the table, or nothing if the file is refused; `why` is the message.
std::optional<table> read(std::string_view bytes, std::size_t piece, table_options const& options, std::string& why) {
  static std::vector<std::string> const columns{"b", "a"};
  try {
    redco::data::detail::table_reader reader("file", columns, options.separator, options);
    for (std::size_t at = 0; at < bytes.size(); at += piece) reader.take(bytes.substr(at, piece));
    return reader.finish();
  } catch (redco::error const& e) {
    require(e.code() == redco::exit_code::data);
    why = e.what();
    return {};
  }
}

std::string quoted(std::string const& field) {
  std::string text = "\"";
  for (char const c : field) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + '"';
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size < 2) return 0;
  table_options options{.separator = ',', .quotes = (data[0] & 1) == 0, .invalid_utf8 = (data[0] & 2) / 2.0};
  options.skip_wrong_rows = (data[0] & 4) != 0;
  // Few inputs would have a header with both columns.
  std::string const bytes = "a,b\n" + std::string(reinterpret_cast<char const*>(data) + 2, size - 2);
  std::string why;
  auto const whole = read(bytes, bytes.size(), options, why);
  std::string why_in_pieces;
  auto const in_pieces = read(bytes, data[1] % 16 + 1u, options, why_in_pieces);
  require(whole.has_value() == in_pieces.has_value() && why == why_in_pieces);
  if (!whole) return 0;
  require(whole->rows == in_pieces->rows && whole->lines == in_pieces->lines && whole->skipped == in_pieces->skipped);
  require(whole->lines.size() == whole->rows.size());
  require(std::is_sorted(whole->lines.begin(), whole->lines.end()));
  std::string written = "b,a\r\n";
  for (std::vector<std::string> const& row : whole->rows) {
    require(row.size() == 2);
    for (std::string const& field : row) require(redco::tokenizer::invalid_utf8_of(field).bytes == 0);
    written += quoted(row[0]) + "," + quoted(row[1]) + "\r\n";
  }
  auto const again = read(written, written.size(), {.separator = ','}, why);
  require(again && again->rows == whole->rows);
  return 0;
}
