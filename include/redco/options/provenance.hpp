#pragma once

#include <cstdint>
#include <string_view>

namespace redco::options {

/// Where the value of an option came from. A greater one has overruled the smaller ones.
enum class provenance : std::uint8_t { standard, file, flag };

/// As the printed table says it.
constexpr std::string_view name_of(provenance source) {
  constexpr std::string_view names[] = {"default", "file", "flag"};
  return names[static_cast<unsigned>(source)];
}

}  // namespace redco::options
