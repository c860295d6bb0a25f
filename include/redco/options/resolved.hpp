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

/// Options with the story of each value.
template <reflected Options>
class resolved {
 public:
  resolved(Options options, std::vector<row> rows) : values(std::move(options)), rows_(std::move(rows)) {}

  Options values;

  std::vector<row> const& rows() const { return rows_; }

  /// Where the member `name` got its value. Errors: exit_code::internal for a name that is no option.
  provenance source_of(std::string_view name) const { return detail::source_of(rows_, name); }

  /// Whether a file or a flag gave it, be it the default's value. Where options exclude each other, the one with the
  /// greater `source_of` was meant.
  bool given(std::string_view name) const { return source_of(name) != provenance::standard; }

  /// The values as the text of the flat JSON object that `--config` reads back.
  std::string json() const { return detail::json_text(rows_); }

  /// One line per option: flag, value, where it came from.
  void print(std::ostream& out) const { detail::print(rows_, out); }

 private:
  std::vector<row> rows_;
};

}  // namespace redco::options
