#pragma once

#include <redco/fact/block_slice.hpp>
#include <redco/fact/flow.hpp>
#include <redco/fact/width_kind.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redco::fact {

/// What an event states, with its members `tensor`, `from` and `count`.
enum class event_kind : std::uint8_t {
  parameter,  ///< the layer has parameter number `count`
  read,       ///< the next activation is made of `tensor` too
  enter,      ///< `tensor` enters column-parallel layers
  make,       ///< forward makes `tensor` of activation `from` and of what was read since the last one
  save,       ///< forward saves `tensor` for backward; an activation is one storage, however many layers save it
  batch,      ///< forward saves `tensor`, which is the batch's own
  moment,     ///< a moment of this layer's backward, or of a sum over ranks behind it: what follows is held at once
  hold,       ///< `tensor` in that moment
  weight_gradient,  ///< the same; it goes to the parameters, in a block that is run again at the block's end
  branch,           ///< a branch begins beside which, in backward, a gradient like `tensor` waits
  branch_end,
  repeat,          ///< equal `blocks` begin, the first with activation `from`; `tensor` is a block's input
  repeat_end,      ///< `tensor` is a block's output; the next slice of the row, if there is one, follows
  message,         ///< message number `count`
  multiply,        ///< `count` floating-point operations of forward
  loss,            ///< `tensor` lives from the loss to its backward
  loss_workspace,  ///< while the loss is computed
  loss_sum,   ///< the same; a sum in the wider dtype, which takes no memory of its own where it is the compute dtype
  uncounted,  ///< nothing is known of what the layer saves and computes
};

/// The word for it in a printed program.
constexpr std::string_view name_of(event_kind what) {
  constexpr std::string_view names[] = {"parameter", "read",     "enter",  "make", "save",     "batch", "moment",
                                        "hold",      "gradient", "branch", "end",  "repeat",   "end",   "message",
                                        "multiply",  "loss",     "chunk",  "sum",  "uncounted"};
  return names[static_cast<std::size_t>(what)];
}

/// What kind of step makes an activation.
enum class making : std::uint8_t {
  function,
  attention,   ///< queries, keys and values to attended values
  add,         ///< a residual connection or the end of parallel branches
  collective,  ///< message number `count`
  logits,      ///< hidden states to logits and loss: nothing flows on
};

/// One line of a model's program. Which members mean something depends on `what`.
struct event {
  event_kind what = event_kind::make;
  making how = making::function;
  width_kind width = width_kind::compute;  ///< of `tensor`
  int layer = -1;                          ///< a place in the program's layers; -1: as the parameter's name says
  std::string_view slot = {};              ///< under which name a tensor is saved or held; a literal
  flow tensor = {};                        ///< what is made, read, saved or held
  int from = -1;                           ///< the activation that `make` and `repeat` take
  std::int64_t count = 0;
  block_slice blocks = {};     ///< of `repeat` and `repeat_end`
  std::int64_t more_than = 0;  ///< happens only on more model shards than so many
  bool beside = false;         ///< `save`: in one storage with the tensor saved last, along the last dimension
};

}  // namespace redco::fact
