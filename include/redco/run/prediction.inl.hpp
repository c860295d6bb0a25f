#pragma once

#include <redco/run/prediction.hpp>

#include <redco/json/value.hpp>
#include <redco/config.hpp>

#include <utility>

namespace redco::run::detail {

inline shown shown_json(json::json_value value) { return {std::make_shared<json::json_value const>(std::move(value))}; }

}  // namespace redco::run::detail

namespace redco::run {

REDCO_INLINE shown shown_value(bool value) { return detail::shown_json(value); }
REDCO_INLINE shown shown_value(std::int64_t value) { return detail::shown_json(value); }
REDCO_INLINE shown shown_value(std::uint64_t value) { return detail::shown_json(value); }
REDCO_INLINE shown shown_value(double value) { return detail::shown_json(value); }
REDCO_INLINE shown shown_value(std::string const& value) { return detail::shown_json(value); }

REDCO_INLINE shown shown_value(std::vector<shown> const& list) {
  json::json_value all = json::json_value::array();
  for (shown const& one : list) all.push_back(*one.value);
  return detail::shown_json(std::move(all));
}

REDCO_INLINE shown shown_pairs(std::vector<shown> const& examples, std::vector<shown> const& outputs) {
  json::json_value all = json::json_value::array();
  for (std::size_t i = 0; i < outputs.size(); ++i)
    all.push_back({{"example", *examples[i].value}, {"output", *outputs[i].value}});
  return detail::shown_json(std::move(all));
}

}  // namespace redco::run
