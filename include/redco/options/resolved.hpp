#pragma once

#include <redco/options/detail/entry.hpp>
#include <redco/options/row.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/fields.hpp>

#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::options::detail {

std::vector<row> rows_of(std::vector<entry> const& entries);

/// Returns the source (default, file or flag) of the value of the option `name`. Throws `error`
/// with exit code 70 if no option has this name.
provenance source_of(std::vector<row> const& rows, std::string_view name);

/// Returns a flat JSON object with the values of all options, in the format of a --config file.
std::string json_text(std::vector<row> const& rows);

void print(std::vector<row> const& rows, std::ostream& out);

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

}  // namespace redco::options

namespace redco::options::detail {

std::map<std::string, std::string> agreed(std::vector<entry> const& entries);

}  // namespace redco::options::detail

namespace redco::options {

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

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/resolved.inl.hpp>
#endif
