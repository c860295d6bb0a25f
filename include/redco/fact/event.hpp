#pragma once

#include <redco/fact/block_slice.hpp>
#include <redco/fact/flow.hpp>
#include <redco/fact/width_kind.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redco::fact {

/// Kinds of event in a program. Each kind uses the event's members `tensor`, `from` and `count`
/// differently.
enum class event_kind : std::uint8_t {
  parameter,  ///< The layer has the parameter with index `count`
  read,       ///< The next activation is also computed from `tensor`
  enter,      ///< `tensor` enters column-parallel layers
  /// Forward makes activation `tensor` from activation `from` and from all tensors read since the
  /// last `make`.
  make,
  /// Forward saves `tensor` for backward. An activation is one storage, however many layers save
  /// it.
  save,
  batch,  ///< Forward saves `tensor`, which belongs to the batch itself
  /// A moment of this layer's backward, or of the sum over ranks after that backward. The tensors
  /// of the `hold` events that follow are in memory at the same time.
  moment,
  hold,  ///< `tensor` is in memory during the current moment
  /// `tensor`, a weight gradient, is in memory during the current moment. It is then added to the
  /// parameters' gradients; in a block that runs again in backward, at the end of the block.
  weight_gradient,
  /// A branch begins. During the branch's backward, a gradient like `tensor` waits in memory.
  branch,
  branch_end,
  /// Equal `blocks` begin, the first with activation `from`. `tensor` is the input of a block.
  repeat,
  /// Equal blocks end. `tensor` is the output of a block. The next slice of the row follows, if
  /// there is one.
  repeat_end,
  message,         ///< The message with index `count` is sent
  multiply,        ///< Forward executes `count` floating-point operations
  loss,            ///< `tensor` is in memory from the loss until the loss's backward
  loss_workspace,  ///< `tensor` is in memory while the loss is computed
  /// `tensor` is in memory while the loss is computed: a sum in the wider dtype. It needs no memory
  /// if that is the compute dtype.
  loss_sum,
  /// The tensors that the layer saves and the operations that it executes are unknown.
  uncounted,
};

/// Returns the word for this kind of event in a printed program.
constexpr std::string_view name_of(event_kind what) {
  constexpr std::string_view names[] = {"parameter", "read",     "enter",  "make", "save",     "batch", "moment",
                                        "hold",      "gradient", "branch", "end",  "repeat",   "end",   "message",
                                        "multiply",  "loss",     "chunk",  "sum",  "uncounted"};
  return names[static_cast<std::size_t>(what)];
}

/// Kinds of step that make an activation.
enum class making : std::uint8_t {
  function,
  attention,   ///< Attended values from queries, keys and values
  add,         ///< The sum of a residual connection or of parallel branches
  collective,  ///< The result of the message with index `count`
  /// Logits and loss from hidden states. No later layer reads them.
  logits,
};

/// One line of a model's program. The kind `what` determines which other members are used.
struct event {
  event_kind what = event_kind::make;
  making how = making::function;
  width_kind width = width_kind::compute;  ///< Element type of `tensor`
  /// Index of the layer in program::layers; -1: the layer is part of the parameter's name.
  int layer = -1;
  /// Name under which a tensor is saved or held, a string literal.
  std::string_view slot = {};
  flow tensor = {};  ///< Tensor that is made, read, saved or held
  int from = -1;     ///< Activation that `make` and `repeat` start from
  std::int64_t count = 0;
  block_slice blocks = {};  ///< Blocks of `repeat` and `repeat_end`
  /// Number of model shards above which the event happens; 0: always.
  std::int64_t more_than = 0;
  /// True if a `save` shares storage with the tensor saved before: the two are adjacent along the
  /// last dimension.
  bool beside = false;
};

}  // namespace redco::fact
