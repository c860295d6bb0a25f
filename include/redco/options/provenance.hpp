#pragma once

#include <cstdint>
#include <string_view>

namespace redco::options {

/// Source of an option's value: default, file of --config, or flag. A later source in this order
/// overrides an earlier one.
enum class provenance : std::uint8_t { standard, file, flag };

/// Returns the name of a source of a value for the printed table: "default", "file" or "flag".
constexpr std::string_view name_of(provenance source) {
  constexpr std::string_view names[] = {"default", "file", "flag"};
  return names[static_cast<unsigned>(source)];
}

}  // namespace redco::options
