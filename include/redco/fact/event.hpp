#pragma once

#include <redco/fact/block_slices.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/shape/extents.hpp>
#include <redco/meta/enum_texts.hpp>

#include <cstdint>
#include <string_view>

namespace redco::fact {

/// Kinds of element type of a tensor or message in a model's program, independent of the compute
/// dtype of a run.
enum class width_kind : std::uint8_t {
  compute,     ///< Compute dtype of the run: f32, bf16 or f64
  accumulate,  ///< Accumulation type, at least f32, for norm statistics and log-sum-exp
  index,       ///< Integer type i64, for indices
};

/// A tensor of a model's program, such as the activation that flows from layer to layer: its shape,
/// its cut over ranks and its identity.
struct flow {
  extents shape = {};  ///< Shape of the complete tensor over all ranks
  int split_dim = -1;  ///< Dimension that is cut over the tensor-parallel ranks; -1: replicated
  /// Number of indivisible units along split_dim, such as heads or columns. Each rank holds at most
  /// ceil(units / ranks).
  std::int64_t units = 0;
  /// Number of the activation, so that its storage is counted once. 0: the model's input; -1: a
  /// tensor that is no activation.
  int id = 0;
  /// Index that identifies the layer which gave the tensor its number of features, for error
  /// messages; 0: the model's input.
  int made = 0;
};

/// Kinds of event in the program of a model. The program lists everything that layers compute, save
/// and send, in the order of forward. The kind of an event determines the meaning of its members
/// `tensor`, `from` and `count`.
enum class event_kind : std::uint8_t {
  /// Event: the layer has a parameter, whose index in program::parameters is `event::count`
  parameter,
  read,  ///< Event: the next `make` event also reads `event::tensor`
  /// Event: a replicated `event::tensor` enters column-parallel layers. Backward sums its gradient
  /// over the ranks.
  enter,
  /// Event: forward makes activation `event::tensor`. It is computed from the activation with
  /// number `event::from` and from the tensors of all `read` events after the preceding `make`
  /// event.
  make,
  /// Event: forward saves `event::tensor` for backward. An activation that several layers save is
  /// stored once.
  save,
  /// Event: forward saves `event::tensor`, which is part of the batch and needs no extra memory
  batch,
  /// Event: a moment of backward begins, in this layer's backward or in the gradient sum over ranks
  /// that follows it. All tensors of the following `hold` events are in memory at this moment.
  moment,
  hold,  ///< Event: `event::tensor` is in memory at the current moment of backward
  /// Event: the weight gradient `event::tensor` is in memory at the current moment of backward. It
  /// is then added to the gradient buffers. In a recomputed block, it is added at the end of the
  /// block.
  weight_gradient,
  /// Event: a branch, such as that of a residual connection, begins. A gradient with the shape of
  /// `event::tensor` is held in memory during the branch's backward.
  branch,
  branch_end,
  /// Event: the blocks of one type in a `repeat` begin; `event::tensor` is the input of each block.
  /// The first block reads the activation with number `event::from`.
  repeat,
  /// Event: the blocks of one type in a `repeat` end; `event::tensor` is the output of each block.
  /// If block types alternate, the events of the next block type follow.
  repeat_end,
  message,  ///< Event: a message is sent, whose index in program::messages is `event::count`
  /// Event: forward computes matrix products of `event::count` floating-point operations
  multiply,
  /// Event: `event::tensor` is in memory from the computation of the loss until its backward
  loss,
  loss_workspace,  ///< Event: `event::tensor` is in memory while the loss is computed
  /// Event: `event::tensor`, a sum in the accumulation type (at least f32), is in memory while the
  /// loss is computed. It needs no extra memory if the compute dtype is equal to this type.
  loss_sum,
  /// Event: the layer declares neither the tensors that it saves nor its operations (a user's
  /// opaque callable).
  uncounted,
  /// Event: a pipeline stage receives `event::tensor` from the preceding stage. Backward sends the
  /// tensor's gradient back. Only programs of stages have it (see stage_of()).
  receive,
  /// Event: a pipeline stage sends `event::tensor` to the next stage. Backward receives the
  /// tensor's gradient. Only programs of stages have it.
  send,
};

inline constexpr auto event_texts = meta::enum_texts<event_kind>({
    {event_kind::parameter, "parameter"},
    {event_kind::read, "read"},
    {event_kind::enter, "enter"},
    {event_kind::make, "make"},
    {event_kind::save, "save"},
    {event_kind::batch, "batch"},
    {event_kind::moment, "moment"},
    {event_kind::hold, "hold"},
    {event_kind::weight_gradient, "gradient"},
    {event_kind::branch, "branch"},
    {event_kind::branch_end, "end"},
    {event_kind::repeat, "repeat"},
    {event_kind::repeat_end, "end"},
    {event_kind::message, "message"},
    {event_kind::multiply, "multiply"},
    {event_kind::loss, "loss"},
    {event_kind::loss_workspace, "chunk"},
    {event_kind::loss_sum, "sum"},
    {event_kind::uncounted, "uncounted"},
    {event_kind::receive, "receive"},
    {event_kind::send, "send"},
});

/// Returns the word for an event kind in the printed form of a model's program.
constexpr std::string_view name_of(event_kind kind) { return event_texts.text_of(kind); }

/// Kinds of computation that make an activation, used by `make` events to draw the graph of a
/// model.
enum class making : std::uint8_t {
  function,
  attention,   ///< Attention of queries to keys and values
  add,         ///< Addition in a residual connection or of parallel branches
  collective,  ///< Collective between ranks, whose index in program::messages is `event::count`
  /// Logits and loss from hidden states; no later layer reads the result.
  logits,
};

/// An event in the program of a model: one parameter, tensor, operation or message of a layer. The
/// member `kind`, the kind of event, determines which other members are used.
struct event {
  event_kind kind = event_kind::make;
  making how = making::function;
  width_kind width = width_kind::compute;  ///< Element type of the event's `tensor`
  /// Index in program::layers of the layer of this event; -1 for a parameter, whose full name
  /// contains the layer.
  int layer = -1;
  /// Name of a saved or held tensor within its layer, a string literal; otherwise empty.
  std::string_view slot = {};
  flow tensor = {};  ///< Tensor that the event makes, reads, saves or holds
  /// Number (flow::id) of the activation that a `make` or `repeat` event reads, or whose gradient a
  /// `message` event of backward carries; -1 for the gradient of a parameter
  int from = -1;
  std::int64_t count = 0;
  block_slice blocks = {};  ///< Blocks of a `repeat` or `repeat_end` event
  /// Number of tensor-parallel ranks; the event happens only with more ranks than this. 0: always.
  std::int64_t min_shards_exclusive = 0;
  /// True for a `save` event whose tensor shares storage with the tensor of the preceding `save`
  /// event: the two are adjacent along the last dimension.
  bool adjacent = false;
  /// Blocks of the model whose pipeline stages all run the event, which is outside blocks; empty if
  /// the event runs on one stage.
  shape::block_range on_stages_of = {0, 0};
};

}  // namespace redco::fact
