#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redco::compat {

/// Reason of the Python original for the cut dimension of a parameter, or for replicating the
/// parameter.
enum class compat_reason : std::uint8_t {
  embedding,         ///< cut along the first dimension that divides
  query_key_value,   ///< query, key or value: cut along the last dimension that divides
  attention_output,  ///< attention output: cut along the first dimension that divides
  widening,          ///< widening layer: cut along the last dimension that divides
  narrowing,         ///< narrowing layer: cut along the first dimension that divides
  head,              ///< head: cut along the last dimension that divides
  /// No special name: cut along the last dimension that divides, or the one before if the preceding
  /// alternating name was cut along an equal dimension.
  alternating,
  one_shard,  ///< replicated, because there is one model shard
  /// Replicated, because the last name of the path is neither kernel nor embedding
  not_kernel_or_embedding,
  /// Replicated, because no dimension divides for all parameters of this name
  no_dimension_divides,
  ranks_differ,  ///< replicated, because two parameters of this name have different ranks
  /// Replicated, because the original raises TypeError: ranks differ, and another parameter of this
  /// name does not divide.
  raises,
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
