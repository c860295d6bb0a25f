#pragma once

#include <redco/fact/event.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/path.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/collective.hpp>
#include <redco/shape/extents.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace redco::fact {

/// A collective that a layer declares: one kind of message in the forward or backward pass of a
/// micro-batch.
struct message_fact {
  path layer = {};
  shape::collective collective = shape::collective::all_reduce;
  shape::axes over = shape::axis::tp;  ///< Mesh axes over which the ranks of the collective extend
  bool backward = false;
  extents shape = {};
  /// Number of indivisible units of the last dimension, of which each tensor-parallel rank sends
  /// those that it holds; 0: each rank sends the whole payload
  std::int64_t units = 0;
  width_kind kind = width_kind::compute;
  std::int64_t copies = 1;
  /// True if only a forward that autograd records sends the message, so that a block which backward
  /// runs again sends it then, and not in its first forward
  bool when_recorded = false;
  /// Number of tensor-parallel ranks; the message is sent only with more ranks than this. 0:
  /// always. For a parameter whose gradients are shared, it is the number of the parameter's parts.
  /// With more ranks than parts, several ranks hold equal parts and must sum their gradients.
  std::int64_t parts = 0;
};

/// Kinds of mistake in the sizes of a model, with the codes of their errors.
enum class mistake : std::uint8_t {
  none,
  width,    ///< Error L004: a layer reads or adds another extent than it receives
  rank,     ///< Error L005: a layer reads another number of dimensions than it receives
  size,     ///< Error L006: a size of a layer is below 1
  divisor,  ///< Error L009: a size is not a multiple of another size
  depth,    ///< Error L010: a layer's path is too long, or too many repeats are nested
  blocks,   ///< Error L011: a rewrite names blocks that the model does not have
  experts,  ///< Error L012: a router chooses more than there is, or sends features that it has not
};

/// A mistake in the sizes of a model, found while layers declare their parameters and tensors: the
/// kind, the wrong numbers and the layers at fault.
struct mistake_fact {
  mistake kind = mistake::none;
  /// Name of the wrong size, such as "features", "channels" or "heads"; empty if the number of
  /// dimensions is wrong.
  path of = {};
  /// Name of the divisor if a size is not divisible; its value is the member `wanted`.
  path by = {};
  std::int64_t wanted = 0;
  std::int64_t found = 0;
  /// Path of the layer that reads the tensor or has the wrong size; for a sum of two tensors, the
  /// layer that made the other addend. Empty: the model.
  path reader = {};
  path producer = {};  ///< Path of the layer that made the tensor; empty: the model's input
  /// Indices (flow::made) of the layers that set the two sizes: first the wanted size, then the
  /// found size. The first index is -1 if `reader` already names the layer.
  std::array<int, 2> makers{-1, 0};

  constexpr explicit operator bool() const { return kind != mistake::none; }
  friend constexpr bool operator==(mistake_fact const&, mistake_fact const&) = default;
};

/// A program of a model: the parameters, saved tensors, operations and messages that its layers
/// declare for one batch size and sequence length. Events are in the order of forward. Equal
/// repeated blocks are listed once, between a `repeat` and a `repeat_end` event.
struct program {
  std::vector<event> events;
  /// Paths of the layers that have events, in the order of their first event. A layer with events
  /// before and after its inner layers may appear twice.
  std::vector<path> layers;
  std::vector<parameter_fact> parameters;
  std::vector<message_fact> messages;
  mistake_fact mistake;  ///< First mistake in the sizes of the model, if there is one
  /// Output of the model's encoder, which blocks of the decoder read; rank 0 if the model has none.
  flow encoded = {};
  std::int64_t encoder_blocks = 0;  ///< Number of blocks that run before `encoded` is complete
  /// True if pipeline stages may begin at every block. False if an outermost `repeat` is inside a
  /// branch, such as residual<repeat<...>>, because the branch begins and ends outside of its
  /// blocks.
  bool has_cuttable_rows = true;
  path repeat_in_branch = {};  ///< Path of the first outermost `repeat` inside a branch

  /// Returns the path of the layer that declared the event `e`. Requires that `e.layer` is not -1.
  constexpr std::string_view layer_of(event const& e) const { return layers[static_cast<std::size_t>(e.layer)].view(); }
};

}  // namespace redco::fact
