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

/// Reads the options of a program into the reflected struct `Options`. A flag overrides the JSON
/// file of `--config`, which overrides the default; the last occurrence of a flag counts. A member
/// `n_model_shards` has the flag `--n-model-shards` and the JSON key "n_model_shards". A bool
/// `quiet` has `--quiet` and `--no-quiet`. A list takes all following words. Members of nested
/// structs are options, too. Throws `error` with exit code 64 for invalid options and 65 for an
/// unreadable file. Throws `help_requested` for --help.
template <meta::reflected Options>
resolved<Options> resolve(int argc, char const* const* argv, std::string_view about = {}) {
  Options options{};
  std::vector<detail::entry> entries;
  detail::collect(options, entries);
  detail::apply(entries, argc, argv, about);
  std::vector<row> rows = detail::rows_of(entries);
  return {std::move(options), std::move(rows)};
}

}  // namespace redco::options
