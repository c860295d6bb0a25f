#pragma once

#include <redco/options/detail/rows.hpp>
#include <redco/options/provenance.hpp>
#include <redco/options/row.hpp>

#include <redco/diag/error.hpp>
#include <redco/meta/fields.hpp>

#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

}  // namespace redco::options
