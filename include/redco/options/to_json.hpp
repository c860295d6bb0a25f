#pragma once

#include <redco/options/detail/entry.hpp>
#include <redco/options/detail/rows.hpp>

#include <redco/meta/fields.hpp>

#include <string>
#include <vector>

namespace redco::options {

/// Returns a flat JSON object with the values of all options, in the format of a --config file.
template <meta::reflected Options>
std::string to_json(Options options) {
  std::vector<detail::entry> entries;
  detail::collect(options, entries);
  return detail::json_text(detail::rows_of(entries));
}

}  // namespace redco::options
