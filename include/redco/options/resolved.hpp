#pragma once

#include <redco/options/detail/entry.hpp>
#include <redco/options/row.hpp>
#include <redco/json/dump.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/fields.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::options::detail {

inline std::vector<row> rows_of(std::vector<entry> const& entries) {
  std::vector<row> rows;
  for (entry const& e : entries) rows.push_back({e.name, e.flag, e.write(), e.source});
  return rows;
}

/// Returns the source (default, file or flag) of the value of the option `name`. Throws `error`
/// with exit code 70 if no option has this name.
inline provenance source_of(std::vector<row> const& rows, std::string_view name) {
  for (row const& r : rows) {
    if (r.name == name) return r.source;
  }
  throw error(exit_code::internal, "'" + std::string(name) + "' is no option; use the name that fields() gives it");
}

/// Returns a flat JSON object with the values of all options, in the format of a --config file.
inline std::string json_text(std::vector<row> const& rows) {
  json::json_line line;
  for (row const& r : rows) line.add_text(r.name, json_text(r.value));
  return line.text();
}

inline void print(std::vector<row> const& rows, std::ostream& out) {
  std::size_t flag_width = 0, value_width = 0;
  for (row const& r : rows) {
    flag_width = std::max(flag_width, r.flag.size());
    value_width = std::max(value_width, shown(r.value).size());
  }
  value_width = std::min<std::size_t>(value_width, 40);
  for (row const& r : rows) {
    out << "  " << padded(r.flag, flag_width) << "  " << padded(shown(r.value), value_width) << "  "
        << name_of(r.source) << '\n';
  }
}

inline std::map<std::string, std::string> agreed(std::vector<entry> const& entries) {
  std::map<std::string, std::string> all;
  for (entry const& e : entries) {
    bool const of_process = e.type.kind == "PATH" || e.of_process;
    if (!of_process) all[e.flag] = shown(e.write());
  }
  return all;
}

}  // namespace redco::options::detail

namespace redco::options {

/// The options of a program, with the source of each value.
template <meta::reflected Options>
class resolved {
 public:
  resolved(Options options, std::vector<row> rows) : values(std::move(options)), rows_(std::move(rows)) {}

  Options values;

  std::vector<row> const& rows() const { return rows_; }

  /// Returns the source (default, file or flag) of the value of the option `name`. Throws `error`
  /// with exit code 70 if no option has this name.
  provenance source_of(std::string_view name) const { return detail::source_of(rows_, name); }

  /// Returns true if a file or a flag has set the option `name`, even to its default value. If two
  /// options exclude each other, use the one with the greater `source_of`.
  bool given(std::string_view name) const { return source_of(name) != provenance::standard; }

  /// Returns a flat JSON object with the values of all options, in the format of a --config file.
  std::string json() const { return detail::json_text(rows_); }

  /// Prints a table of the options: flag, value and source of the value, one line per option.
  void print(std::ostream& out) const { detail::print(rows_, out); }

 private:
  std::vector<row> rows_;
};

/// Returns a flat JSON object with the values of all options, in the format of a --config file.
template <meta::reflected Options>
std::string to_json(Options options) {
  std::vector<detail::entry> entries;
  detail::collect(options, entries);
  return detail::json_text(detail::rows_of(entries));
}

/// Returns the options that must be equal in all processes of a run, as text by flag, for example
/// {"--lr", "0.001"}. Omits paths and `per_process` fields, because they may differ between hosts.
template <meta::reflected Options>
std::map<std::string, std::string> agreed_options(Options options) {
  std::vector<detail::entry> entries;
  detail::collect(options, entries);
  return detail::agreed(entries);
}

/// Returns the options of this program that must be equal in all processes, as text by flag.
/// `main_of` sets them; empty in programs without `main_of`.
inline std::map<std::string, std::string>& program_options() {
  static std::map<std::string, std::string> all;
  return all;
}

}  // namespace redco::options
