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

/// How a parameter starts. All draws are keyed by the global element index, so every mesh starts bit-equal. `own`: as the
/// tensor of the user's module that owns it; it is NaN until the network is built.
struct initial {
  enum class kind : std::uint8_t { zeros, ones, normal, uniform, own } draw = kind::zeros;
  double deviation = 0;  ///< of `normal` and `uniform`

  friend constexpr bool operator==(initial const&, initial const&) = default;
};

/// Why a parameter is split the way it is; the sentence is printed by the shard report.
enum class reason : std::uint8_t {
  column,           ///< output features, first of a column-then-row pair
  row,              ///< input features, behind a column-parallel layer
  heads,            ///< whole attention heads
  key_value_heads,  ///< whole key-value heads, shared by neighbours where there are fewer heads than shards
  vocabulary,       ///< rows of a vocabulary, the last shard padded
  column_bias,      ///< follows its column-parallel weight
  row_bias,         ///< added once, after the reduction
  norm,             ///< small, applied to replicated activations
  position,         ///< indexed by position, added as a replicated branch
  token_type,       ///< indexed by token type, added as a replicated branch
  class_token,      ///< one row, put before the others
  unpaired,         ///< no partner behind it: splitting would cost a gather
  convolution,      ///< convolutions are replicated
  recurrent,        ///< recurrent layers are replicated
  statistics,       ///< of the activations, equal on all ranks
  opaque,           ///< a user's callable: data parallel only
  declared,         ///< declared replicated in the model's type
  overridden,       ///< replicated by the user's override
  adapter,          ///< of a low-rank adapter, cut as the weight beside it
  adapter_whole,    ///< of a low-rank adapter, along what the weight is not cut
  stated,           ///< a user's layer type says so
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
      "adapter: cut as the weight that it stands beside",
      "adapter: replicated, the weight that it stands beside is not cut along this",
      "as the facts of its layer state it",
  };
  return sentences[static_cast<std::size_t>(why)];
}

/// One parameter of a model type as its layer states it: logical extents, and the places where ranks may cut it.
struct parameter_fact {
  path name;
  extents shape;                  ///< logical, unpadded
  std::array<place, 2> places{};  ///< over different axes, along different dimensions; those without a dim are none
  bool trained = true;            ///< has a gradient; else it stays as it was loaded
  bool decay = true;              ///< weight decay applies (not to norms and biases)
  fact::block_slices blocks;      ///< that have it; the name has `*` or a slice for each
  initial start;
  reason why = reason::stated;

  /// States that the ranks of an axis cut the parameter along `dim`, in `units` equal units; -1: they do not.
  /// Error 70 for a third place, or one over the axis or along the dimension of another.
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

  /// Its place over an axis; one without a dim where the axis does not cut it.
  constexpr place on(axis over) const {
    for (place const& p : places)
      if (p.dim >= 0 && p.axis == over) return p;
    return {over};
  }

  /// Whether it is half of a low-rank adapter.
  constexpr bool is_adapter() const { return why == reason::adapter || why == reason::adapter_whole; }

  /// How many parameters of this name the model has.
  constexpr std::int64_t copies() const { return blocks.count(); }
};

}  // namespace redco::fact
