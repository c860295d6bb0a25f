#pragma once

#include <redco/options/detail/apply.hpp>
#include <redco/options/detail/entry.hpp>
#include <redco/options/detail/rows.hpp>
#include <redco/options/resolved.hpp>

#include <redco/meta/fields.hpp>

#include <string_view>
#include <utility>
#include <vector>

namespace redco::options {

/// Reads the options of a program: the defaults of the reflected struct `Options`, overruled by the JSON file that
/// `--config` names, overruled by flags, of which the last one counts. Members that are reflected structs give their
/// options to the same list. A member `n_model_shards` is the flag `--n-model-shards` and the key "n_model_shards"; a
/// bool, optional or not, has `--quiet` and `--no-quiet`; a list takes the words that follow it and may be repeated.
///
/// Errors: exit_code::usage for what is unknown (with the nearest name), does not fit its type, or is required and not
/// given; exit_code::data for a
/// file that is missing or not JSON; `help_requested` for --help.
template <reflected Options>
resolved<Options> resolve(int argc, char const* const* argv, std::string_view about = {}) {
  Options options{};
  std::vector<detail::entry> entries;
  detail::collect(options, entries);
  detail::apply(entries, argc, argv, about);
  std::vector<row> rows = detail::rows_of(entries);
  return {std::move(options), std::move(rows)};
}

}  // namespace redco::options
