#pragma once

#include <redco/options/detail/entry.hpp>

#include <redco/json/value.hpp>

#include <redco/meta/fields.hpp>

#include <vector>

namespace redco::options {

/// The options as the flat JSON object that `--config` reads back.
template <reflected Options>
json_value to_json(Options options) {
  std::vector<detail::entry> entries;
  detail::collect(options, entries);
  json_value object = json_value::object();
  for (detail::entry const& e : entries) object[e.name] = e.write();
  return object;
}

}  // namespace redco::options
