#pragma once

#include <redco/fact/block_slices.hpp>
#include <redco/fact/path.hpp>

#include <redco/shape/extents.hpp>
#include <redco/shape/place.hpp>
#include <redco/diag/error.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace redco::fact {

/// The initial values of a parameter. Draws are keyed by the global element index, so every mesh
/// starts bit-equal. `own`: the value of the tensor in the user's module; NaN until the network is
/// built.
struct initial {
  enum class kind : std::uint8_t { zeros, ones, normal, uniform, own } draw = kind::zeros;
  double deviation = 0;  ///< Standard deviation of `normal` and `uniform`

  friend constexpr bool operator==(initial const&, initial const&) = default;
};

/// Reasons why a parameter is sharded or replicated. The shard report prints the sentence of each.
enum class reason : std::uint8_t {
  column,  ///< Output features: the first of a column-then-row pair
  row,     ///< Input features, after a column-parallel layer
  heads,   ///< Whole attention heads
  /// Whole key-value heads, shared by neighbouring ranks if there are fewer heads than shards.
  key_value_heads,
  vocabulary,   ///< Rows of a vocabulary; the last shard is padded
  column_bias,  ///< A bias that follows its column-parallel weight
  row_bias,     ///< A bias that is added once, after the reduction
  norm,         ///< Parameter of a norm: small, applied to replicated activations
  position,     ///< Position table, added as a replicated branch
  token_type,   ///< Token-type table, added as a replicated branch
  class_token,  ///< Class token: one row before the others
  unpaired,     ///< No row-parallel partner follows: splitting would cost a gather
  convolution,  ///< Convolutions are replicated
  recurrent,    ///< Recurrent layers are replicated
  statistics,   ///< Statistics of the activations, equal on all ranks
  opaque,       ///< A user's callable: data parallel only
  declared,     ///< Declared replicated in the model's type
  overridden,   ///< Replicated by the user's override
  adapter,      ///< Low-rank adapter, cut like the weight to which it is added
  /// Low-rank adapter, replicated because its weight is not cut along this dimension.
  adapter_whole,
  stated,  ///< Stated by a user's layer type
};

constexpr std::string_view sentence_of(reason why) {
  constexpr std::string_view sentences[] = {
      "column-parallel: its row-parallel partner follows, so one reduction serves both",
      "row-parallel: its input is already split, the partial results are summed once",
      "split by whole attention heads",
      "split by whole key-value heads, shared by neighbours where there are fewer heads than shards",
      "vocabulary-parallel: each shard holds its rows, the last one is padded",
      "follows its column-parallel weight",
      "bias of a row-parallel layer: replicated, added once after the reduction",
      "replicated: a norm needs all features",
      "replicated: positions are added once as a branch of the embedding's sum",
      "replicated: token types are added once as a branch of the embedding's sum",
      "replicated: one row before the others",
      "replicated: no row-parallel partner follows, splitting would cost a gather",
      "replicated: convolutions are not split",
      "replicated: a recurrent layer needs all features at each step",
      "replicated: statistics, not trained",
      "replicated: an opaque layer is data parallel only",
      "replicated: declared so in the model's type",
      "replicated: by an override",
      "adapter: split like the weight to which it is added",
      "adapter: replicated, because its weight is not split along this dimension",
      "as the facts of its layer state it",
  };
  return sentences[static_cast<std::size_t>(why)];
}

/// One parameter of a model type as its layer states it: its logical extents, and its places (the
/// cuts over mesh axes).
struct parameter_fact {
  path name;
  extents shape;  ///< Logical shape, without padding
  /// Cuts over different axes, along different dimensions. An entry with dim -1 is unused.
  std::array<place, 2> places{};
  /// True if the parameter has a gradient; otherwise it keeps its loaded value.
  bool trained = true;
  bool decay = true;  ///< True if weight decay applies, which norms and biases do without
  /// Blocks that have this parameter. The name has `*` or a slice for each level.
  fact::block_slices blocks;
  initial start;
  reason why = reason::stated;

  /// Declares that the ranks along an axis cut the parameter along `dim`, in `units` equal units.
  /// Does nothing if dim is -1. Throws `error` with exit code 70 for a third cut, or for a second
  /// cut over one axis or along one dimension.
  constexpr parameter_fact& split(axis over, int dim, std::int64_t units, remainder rest = remainder::refused) {
    if (dim < 0) return *this;
    for (place& p : places) {
      if (p.dim < 0) {
        p = {over, dim, units, rest};
        return *this;
      }
      if (p.dim == dim || p.axis == over) break;
    }
    throw error(exit_code::internal, "a parameter is cut over at most two axes, each along its own dimension");
  }

  /// Returns the parameter's cut over an axis; a place with dim -1 if the axis does not cut it.
  constexpr place on(axis over) const {
    for (place const& p : places)
      if (p.dim >= 0 && p.axis == over) return p;
    return {over};
  }

  /// Returns true if the parameter is one of the two factors of a low-rank adapter.
  constexpr bool is_adapter() const { return why == reason::adapter || why == reason::adapter_whole; }

  /// Returns the number of parameters of this name in the model, one for each block.
  constexpr std::int64_t copies() const { return blocks.count(); }
};

}  // namespace redco::fact
