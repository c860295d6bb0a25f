#pragma once

#include <redco/safetensors/xxh64.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace redco::workdir::detail {

/// Returns the end of a manifest's text: the last JSON member, which is the XXH64 hash of all bytes
/// `before`, and the closing brace.
inline std::string manifest_seal(std::string_view before) {
  return ",\n \"manifest_xxh64\": \"" + safetensors::xxh64::text_of(safetensors::xxh64::of(before)) + "\"\n}\n";
}

enum class seal_state { absent, broken, whole };

/// Returns the state of the hash at the end of a manifest's text: `absent`, `whole` if it matches
/// the text before it, `broken` otherwise.
inline seal_state seal_of(std::string_view text) {
  static std::string const form = manifest_seal("");
  std::size_t const digits = form.find_last_of(':') + 3;
  if (text.size() < form.size()) return seal_state::absent;
  std::string_view const seal = text.substr(text.size() - form.size());
  if (seal.substr(0, digits) != std::string_view(form).substr(0, digits)) return seal_state::absent;
  return seal == manifest_seal(text.substr(0, text.size() - form.size())) ? seal_state::whole : seal_state::broken;
}

}  // namespace redco::workdir::detail
