#pragma once

#include <redco/options/detail/entry.hpp>
#include <redco/options/detail/rows.hpp>

#include <redco/meta/fields.hpp>

#include <string>
#include <vector>

namespace redco::options {

/// The options as the text of the flat JSON object that `--config` reads back.
template <reflected Options>
std::string to_json(Options options) {
  std::vector<detail::entry> entries;
  detail::collect(options, entries);
  return detail::json_text(detail::rows_of(entries));
}

}  // namespace redco::options
