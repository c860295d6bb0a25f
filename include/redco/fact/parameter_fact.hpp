#pragma once

#include <redco/fact/block_slices.hpp>
#include <redco/fact/path.hpp>

#include <redco/shape/blocks.hpp>
#include <redco/shape/extents.hpp>
#include <redco/shape/place.hpp>
#include <redco/shape/stage_cuts.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/enum_texts.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redco::fact {

/// The initial values of a parameter. Random values are keyed by the global element index, so they
/// are equal on every mesh. The kind `own` takes the values of a tensor in a user's module; they
/// are NaN until the network is built.
struct initial {
  enum class kind : std::uint8_t { zeros, ones, normal, uniform, own } draw = kind::zeros;
  double deviation = 0;  ///< Standard deviation of the kinds `normal` and `uniform`

  friend constexpr bool operator==(initial const&, initial const&) = default;
};

/// Reasons why a parameter is sharded or replicated. The sharding report prints a sentence for each
/// reason.
enum class reason : std::uint8_t {
  column,  ///< Weight split by output features, because a row-parallel layer follows
  row,     ///< Weight split by input features, because the layer's input is split
  heads,   ///< Weight split by whole attention heads
  /// Weight split by whole key-value heads. With fewer heads than ranks, neighbouring ranks hold
  /// equal heads.
  key_value_heads,
  vocabulary,   ///< Table split by rows of the vocabulary; the last rank's rows are padded
  column_bias,  ///< Bias split like its column-parallel weight
  row_bias,     ///< Bias of a row-parallel layer: replicated, and added once after the reduction
  norm,         ///< Parameter of a norm: replicated, because its input is replicated
  position,     ///< Position table: replicated; its rows are added to the other embeddings
  token_type,   ///< Token-type table: replicated; its rows are added to the other embeddings
  class_token,  ///< Class token: replicated, because it is one row before the other tokens
  /// Weight replicated: no row-parallel layer follows, so a split output would have to be gathered
  unpaired,
  convolution,  ///< Parameter of a convolution: replicated
  recurrent,    ///< Parameter of a recurrent layer: replicated
  /// Running statistics, such as those of batch norm: equal on all ranks, not trained
  statistics,
  router,  ///< Weight of a router of experts: replicated, because each rank routes its own tokens
  /// Weights of experts: whole experts per rank along ep, and a part of their hidden features per
  /// rank along tp
  expert,
  opaque,      ///< Parameter of a user's callable: replicated, data parallel only
  declared,    ///< Parameter that the model's type declares replicated
  overridden,  ///< Parameter that a user's override (`keep_replicated`) makes replicated
  adapter,     ///< Low-rank adapter, split like the weight to which it is added
  /// Low-rank adapter, replicated because its weight is not split along this dimension.
  adapter_whole,
  stated,  ///< Parameter whose split a user's layer type declares without a reason
};

inline constexpr auto reason_texts = meta::enum_texts<reason>({
    {reason::column, "column-parallel: its row-parallel partner follows, so one reduction serves both"},
    {reason::row, "row-parallel: its input is already split, the partial results are summed once"},
    {reason::heads, "split by whole attention heads"},
    {reason::key_value_heads,
     "split by whole key-value heads, shared by neighbours where there are fewer heads than shards"},
    {reason::vocabulary, "vocabulary-parallel: each shard holds its rows, the last one is padded"},
    {reason::column_bias, "follows its column-parallel weight"},
    {reason::row_bias, "bias of a row-parallel layer: replicated, added once after the reduction"},
    {reason::norm, "replicated: a norm needs all features"},
    {reason::position, "replicated: positions are added once as a branch of the embedding's sum"},
    {reason::token_type, "replicated: token types are added once as a branch of the embedding's sum"},
    {reason::class_token, "replicated: one row before the others"},
    {reason::unpaired, "replicated: no row-parallel partner follows, splitting would cost a gather"},
    {reason::convolution, "replicated: convolutions are not split"},
    {reason::recurrent, "replicated: a recurrent layer needs all features at each step"},
    {reason::statistics, "replicated: statistics, not trained"},
    {reason::router, "replicated: every rank routes its own tokens"},
    {reason::expert, "whole experts along ep, their hidden features split along tp"},
    {reason::opaque, "replicated: an opaque layer is data parallel only"},
    {reason::declared, "replicated: declared so in the model's type"},
    {reason::overridden, "replicated: by an override"},
    {reason::adapter, "adapter: split like the weight to which it is added"},
    {reason::adapter_whole, "adapter: replicated, because its weight is not split along this dimension"},
    {reason::stated, "as the facts of its layer state it"},
});

constexpr std::string_view sentence_of(reason why) { return reason_texts.text_of(why); }

/// A parameter of a model, as its layer declares it: name, complete shape, cuts over mesh axes
/// (places), initial values, and the reason for the cuts.
struct parameter_fact {
  path name;
  extents shape;  ///< Complete shape over all ranks, without padding
  /// Cuts of the parameter (places), each over another mesh axis and along another dimension; an
  /// entry with `dim` -1 is unused.
  std::array<shape::place, 2> places{};
  /// True if the parameter is trained and has a gradient; false if it keeps its loaded value.
  bool trained = true;
  /// True if weight decay applies; false for parameters of norms and for biases
  bool decay = true;
  /// True if a layer reads the parameter and the parameter of its region before it as one matrix.
  /// The two are adjacent in memory, and belong to one replica.
  bool is_joined = false;
  /// Repeated blocks that have this parameter; empty outside repeats. For each repeat, the name has
  /// a component `*` or a slice such as `0::2`.
  block_slices blocks;
  /// Number of blocks of outermost `repeat`s that the model runs before this parameter's layer, or
  /// before the outermost `repeat` that contains the layer.
  std::int64_t blocks_before = 0;
  /// Positions of the layers outside blocks that read the parameter; empty for a parameter in a
  /// block. A layer's position is the number of blocks that run before it. The range of a parameter
  /// that blocks read, such as T5's table of distances, has the indices of these blocks.
  std::array<shape::block_range, 4> readers{};
  std::size_t reader_count = 0;
  initial start;
  reason why = reason::stated;

  /// Declares that the parameter is cut along dimension `dim` over the ranks of the mesh axis
  /// `over`, into `units` equal units. Does nothing if `dim` is -1. Throws `error` with exit code
  /// 70 for a third cut, or if an earlier cut has the same axis or dimension.
  constexpr parameter_fact& split(shape::axis over, int dim, std::int64_t units,
                                  shape::remainder rest = shape::remainder::refused) {
    if (dim < 0) return *this;
    for (shape::place& p : places) {
      if (p.dim < 0) {
        p = {over, dim, units, rest};
        return *this;
      }
      if (p.dim == dim || p.axis == over) break;
    }
    throw error(exit_code::internal, "a parameter is cut over at most two axes, each along its own dimension");
  }

  /// Returns the parameter's cut over the mesh axis `over`, or a cut with `dim` -1 if this axis
  /// does not cut the parameter.
  constexpr shape::place on(shape::axis over) const {
    for (shape::place const& p : places)
      if (p.dim >= 0 && p.axis == over) return p;
    return {over};
  }

  /// Returns true if the parameter is one of the two factors of a low-rank adapter.
  constexpr bool is_adapter() const { return why == reason::adapter || why == reason::adapter_whole; }

  /// Returns true if the parameter is a hidden matrix: a matrix in a repeated block, except a table
  /// of embeddings. Optimizers that update matrices as a whole, such as Muon, treat it so.
  constexpr bool is_hidden_matrix() const {
    return shape.rank == 2 && trained && blocks.depth > 0 && why != reason::vocabulary && why != reason::position &&
           why != reason::token_type && why != reason::class_token;
  }

  /// Adds layers that read the parameter, at these positions. Throws `error` with exit code 70 for
  /// a fifth range of positions.
  constexpr void read_at(shape::block_range const& positions) {
    if (reader_count == readers.size())
      throw error(exit_code::internal, "a parameter is read by layers at more than four positions of the model");
    readers[reader_count++] = positions;
  }

  /// Returns the pipeline stages that read the parameter. `block` is the index of the parameter's
  /// block in its outermost `repeat`; unused for a parameter outside blocks.
  constexpr shape::stage_set stages(shape::stage_cuts const& cuts, std::int64_t block) const {
    if (cuts.size() == 1) return {};
    shape::stage_set readers_of{0};
    auto const add = [&](std::int64_t first, std::int64_t last) {
      for (int chunk = cuts.chunk_of(first); chunk <= cuts.chunk_of(last); ++chunk)
        readers_of.bits |= std::uint64_t{1} << (chunk % cuts.stages());
    };
    if (blocks.depth > 0) add(blocks_before + block, blocks_before + block);
    for (std::size_t i = 0; i < reader_count; ++i) add(readers[i].begin, readers[i].end - 1);
    return readers_of;
  }

  /// Returns true if a layer of the chunk with index `chunk` reads the parameter. Requires a
  /// parameter outside blocks.
  constexpr bool is_read_in(shape::stage_cuts const& cuts, int chunk) const {
    bool reads = cuts.size() == 1;
    for (std::size_t i = 0; i < reader_count; ++i)
      reads = reads || (cuts.chunk_of(readers[i].begin) <= chunk && chunk <= cuts.chunk_of(readers[i].end - 1));
    return reads;
  }

  /// Returns the number of parameters that this declaration covers: one for each repeated block, or
  /// 1 outside repeats.
  constexpr std::int64_t copies() const { return blocks.count(); }
};

}  // namespace redco::fact
