#pragma once

#include <redco/options/detail/shown.hpp>
#include <redco/options/provenance.hpp>

#include <redco/json/value.hpp>

#include <redco/diag/error.hpp>
#include <redco/meta/fields.hpp>

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::options {

/// Options with the story of each value.
template <reflected Options>
class resolved {
 public:
  /// One row of the printed table.
  struct row {
    std::string name;  ///< of the member, as in JSON
    std::string flag;
    json_value value;
    provenance source;
  };

  resolved(Options options, std::vector<row> rows) : values(std::move(options)), rows_(std::move(rows)) {}

  Options values;

  std::vector<row> const& rows() const { return rows_; }

  /// Where the member `name` got its value. Errors: exit_code::internal for a name that is no option.
  provenance source_of(std::string_view name) const {
    for (row const& r : rows_) {
      if (r.name == name) return r.source;
    }
    throw error(exit_code::internal, "'" + std::string(name) + "' is no option; use the name that fields() gives it");
  }

  /// Whether a file or a flag gave it, be it the default's value. Where options exclude each other, the one with the
  /// greater `source_of` was meant.
  bool given(std::string_view name) const { return source_of(name) != provenance::standard; }

  /// The values as the flat object that `--config` reads back.
  json_value json() const {
    json_value object = json_value::object();
    for (row const& r : rows_) object[r.name] = r.value;
    return object;
  }

  /// One line per option: flag, value, where it came from.
  void print(std::ostream& out) const {
    std::size_t flag_width = 0;
    std::size_t value_width = 0;
    for (row const& r : rows_) {
      flag_width = r.flag.size() > flag_width ? r.flag.size() : flag_width;
      value_width = detail::shown(r.value).size() > value_width ? detail::shown(r.value).size() : value_width;
    }
    value_width = value_width > 40 ? 40 : value_width;
    for (row const& r : rows_) {
      out << "  " << detail::padded(r.flag, flag_width) << "  " << detail::padded(detail::shown(r.value), value_width)
          << "  " << name_of(r.source) << '\n';
    }
  }

 private:
  std::vector<row> rows_;
};

}  // namespace redco::options
