#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redco::compat {

/// Why the Python original cuts a parameter where it does, or nowhere.
enum class compat_reason : std::uint8_t {
  embedding,                ///< first dimension that divides
  query_key_value,          ///< last one
  attention_output,         ///< first one
  widening,                 ///< last one
  narrowing,                ///< first one
  head,                     ///< last one
  alternating,              ///< last one, or the one before it where the alternating name before took the same
  one_shard,                ///< replicated, as all that follow
  not_kernel_or_embedding,  ///< the last name of its path is another
  no_dimension_divides,     ///< for all parameters of this name at once
  ranks_differ,             ///< two parameters of this name
  raises,                   ///< TypeError: ranks differ, and one more parameter of this name does not divide
};

constexpr std::string_view sentence_of(compat_reason why) {
  constexpr std::string_view sentences[] = {
      "an embedding: cut along its first dimension that divides",
      "named like q, k or v in an attention: cut along its last dimension that divides",
      "named like o in an attention: cut along its first dimension that divides",
      "named up, gate, wi or in: cut along its last dimension that divides",
      "named down, wo or out: cut along its first dimension that divides",
      "named head: cut along its last dimension that divides",
      "no special name: cut along its last dimension that divides, or the one before it if the preceding such name, in "
      "the order of names, is cut along the same",
      "replicated: one model shard is data parallel only",
      "replicated: its name is neither kernel nor embedding",
      "replicated: no dimension divides in all parameters of this name",
      "replicated: parameters of this name differ in rank",
      "replicated: the original would have raised a TypeError, since parameters of this name differ in rank and one "
      "more does not divide",
  };
  return sentences[static_cast<std::size_t>(why)];
}

}  // namespace redco::compat
