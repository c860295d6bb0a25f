#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redco::compat {

/// Reason for which Redco for Python cuts a parameter along a dimension or replicates the
/// parameter. A dimension "divides" if its extent is a multiple of the number of model shards.
enum class compat_reason : std::uint8_t {
  /// Embedding. Redco for Python cuts the first dimension with an extent that is a multiple of the
  /// number of model shards.
  embedding,
  /// Attention query, key or value, by its name. Redco for Python cuts the last dimension with an
  /// extent that is a multiple of the number of model shards.
  query_key_value,
  /// Attention output, by its name. Redco for Python cuts the first dimension with an extent that
  /// is a multiple of the number of model shards.
  attention_output,
  /// Layer whose name says that it widens the activation (up, gate, wi, in). Redco for Python cuts
  /// the last dimension with an extent that is a multiple of the number of model shards.
  widening,
  /// Layer whose name begins with "down" or "wo", or has the word "out". Redco for Python cuts the
  /// first dimension whose extents are multiples of the number of model shards in all these
  /// parameters.
  narrowing,
  /// Output head, by its name. Redco for Python cuts the last dimension with an extent that is a
  /// multiple of the number of model shards.
  head,
  /// Any other name. Redco for Python cuts the last dimension with an extent that is a multiple of
  /// the number of model shards. Successive rules of this kind alternate: if the preceding one cut
  /// this dimension, the next lower such dimension is cut, if there is one.
  alternating,
  one_shard,  ///< Replicated by Redco for Python, because there is one model shard
  /// Replicated by Redco for Python, because the last name of the path is neither "kernel" nor
  /// "embedding".
  not_kernel_or_embedding,
  /// Replicated by Redco for Python. In each dimension, at least one parameter of this name has an
  /// extent that is no multiple of the number of model shards.
  no_dimension_divides,
  /// Replicated by Redco for Python, because two parameters of this name differ in their number of
  /// dimensions.
  ranks_differ,
  /// Replicated here, because Redco for Python raises TypeError. Parameters of this name differ in
  /// their number of dimensions, and an extent of a later parameter is no multiple of the number of
  /// model shards.
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
