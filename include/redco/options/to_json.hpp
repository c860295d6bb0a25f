#pragma once

#include <redco/options/detail/entry.hpp>
#include <redco/options/detail/rows.hpp>

#include <redco/meta/fields.hpp>

#include <string>
#include <vector>

namespace redco::options {

/// Returns the options as a flat JSON object, readable by `--config`.
template <reflected Options>
std::string to_json(Options options) {
  std::vector<detail::entry> entries;
  detail::collect(options, entries);
  return detail::json_text(detail::rows_of(entries));
}

}  // namespace redco::options
