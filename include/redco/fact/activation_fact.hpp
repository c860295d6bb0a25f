#pragma once

#include <redco/fact/path.hpp>

#include <redco/shape/axis.hpp>
#include <redco/shape/collective.hpp>
#include <redco/shape/extents.hpp>

#include <cstdint>

namespace redco {

/// The element type of an activation or message, relative to the run's compute dtype.
enum class width_kind : std::uint8_t {
  compute,     ///< f32, bf16 or f64 as the run computes
  accumulate,  ///< at least f32: norm statistics, log-sum-exp
  index,       ///< i64
};

/// How long a tensor of a layer lives.
enum class saved_role : std::uint8_t {
  stored,            ///< from forward to this layer's backward
  entry,             ///< the same; it is the input of an outermost repeated block
  first_entry,       ///< the same; the input of the first block only: the others' are kept as outputs
  batch,             ///< the same; it is the batch's own tensor
  batch_when_whole,  ///< the batch's own tensor on one shard, another one on several
  block_input,       ///< only under recomputation: what an outermost block is run again from; its facts follow
  block_output,      ///< only under recomputation: what the block gives again; ends its facts
  workspace,         ///< in one moment of this layer's backward
  reduction,         ///< the same; only on several shards, while a gradient is all-reduced
  weight_gradient,   ///< the same; it goes to the parameters, under recomputation at the end of the block
  carried_until,     ///< a gradient that waits while backward goes through a branch, whose facts follow
  carried_from,      ///< the same gradient; ends the facts of the branch
  loss,              ///< from the loss to its backward
  loss_workspace,    ///< while the loss is computed
  uncounted,         ///< nothing is known of what the layer keeps and computes
};

/// A tensor that a layer's forward keeps for its backward, or needs for a moment (workspace).
struct saved_fact {
  path layer;
  path slot;
  extents shape;           ///< logical; cut along split_dim by the mesh
  int split_dim = -1;      ///< -1: replicated
  std::int64_t units = 0;  ///< indivisible units along split_dim; a rank holds ceil(units / shards) of them
  width_kind kind = width_kind::compute;
  saved_role role = saved_role::stored;
  std::int64_t copies = 1;
  std::int64_t blocks = 1;  ///< how often the outermost `repeat` around it repeats
  int moment = 0;           ///< workspace of one moment is held at once
  bool in_block = false;    ///< inside a `repeat`: recomputation drops it
  std::int64_t parts = 0;   ///< only on more shards than so many
};

/// A collective in one forward or backward pass of a micro-batch.
struct message_fact {
  path layer;
  collective what = collective::all_reduce;
  axes over = axis::tp;  ///< to whose group it is sent
  bool backward = false;
  extents shape;
  width_kind kind = width_kind::compute;
  std::int64_t copies = 1;
  bool in_block = false;
  std::int64_t parts = 0;  ///< only on more shards than so many parts of a parameter, which neighbours then share
};

}  // namespace redco
