#pragma once

#include <redco/shape/extents.hpp>
#include <redco/meta/enum_texts.hpp>

#include <cstdint>
#include <string_view>

namespace redco::compat {

/// A parameter of a model of Redco for Python (the original of this library): path and shape.
struct compat_parameter {
  /// Names from the root of the parameter tree to this parameter, joined by "/". Example:
  /// "model/layers/0/mlp/wi/kernel". No name is empty.
  std::string_view path;
  extents shape;  ///< Shape as stored by Redco for Python; a dense kernel is [in, out]
};

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

inline constexpr auto compat_reason_texts = meta::enum_texts<compat_reason>({
    {compat_reason::embedding, "an embedding: cut along its first dimension that divides"},
    {compat_reason::query_key_value, "named like q, k or v in an attention: cut along its last dimension that divides"},
    {compat_reason::attention_output, "named like o in an attention: cut along its first dimension that divides"},
    {compat_reason::widening, "named up, gate, wi or in: cut along its last dimension that divides"},
    {compat_reason::narrowing, "named down, wo or out: cut along its first dimension that divides"},
    {compat_reason::head, "named head: cut along its last dimension that divides"},
    {compat_reason::alternating,
     "no special name: cut along its last dimension that divides, or the one before it if the preceding such name, in the order of names, is cut along the same"},
    {compat_reason::one_shard, "replicated: one model shard is data parallel only"},
    {compat_reason::not_kernel_or_embedding, "replicated: its name is neither kernel nor embedding"},
    {compat_reason::no_dimension_divides, "replicated: no dimension divides in all parameters of this name"},
    {compat_reason::ranks_differ, "replicated: parameters of this name differ in rank"},
    {compat_reason::raises,
     "replicated: the original would have raised a TypeError, since parameters of this name differ in rank and one more does not divide"},
});

constexpr std::string_view sentence_of(compat_reason why) { return compat_reason_texts.text_of(why); }

/// The split that Redco for Python chooses for one parameter.
struct compat_split {
  /// Dimension of the parameter that is cut into one equal piece per model shard; -1: replicated.
  int dim = -1;
  compat_reason why = compat_reason::one_shard;

  friend constexpr bool operator==(compat_split const&, compat_split const&) = default;
};

}  // namespace redco::compat
