#pragma once

#include <redco/fact/block_slices.hpp>
#include <redco/fact/detail/saved_records.hpp>
#include <redco/fact/event.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/path.hpp>
#include <redco/fact/program.hpp>

#include <redco/shape/bytes.hpp>
#include <redco/shape/extents.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::fact {

class side_products;

/// A recorder of a model's program. Each layer type's function `facts` calls it to declare
/// parameters, tensors saved for backward, messages and changes of the activation. Each call
/// becomes an event of the program. The same code runs at compile time and at run time.
class recorder : public detail::saved_records {
 public:
  /// Starts to record a model with input shapes `input` and `encoder_input`. `stated` is false if
  /// the model does not declare its input. Then the first layer may add a dimension of features to
  /// the input shape [batch, sequence].
  constexpr recorder(extents input, extents encoder_input, bool stated) : detail::saved_records(stated) {
    activation.shape = input;
    source.shape = encoder_input;
    program_.events.reserve(512);
    program_.layers.reserve(64);
    program_.parameters.reserve(64);
    program_.messages.reserve(32);
  }

  flow source;   ///< Input of the model's encoder (token ids), if it has one
  flow encoded;  ///< Output of the model's encoder, which cross-attention reads
  /// Standard deviation that an outer layer prescribes for normal initial weights of inner layers;
  /// 0: each layer's own.
  double deviation = 0;
  /// A division of sequences: number of ranks (along the mesh axis cp) that compute parts of each,
  /// and number of tokens of a whole one if there are several. `shards` is the number of
  /// tensor-parallel ranks.
  struct division {
    std::int64_t parts = 1, whole = 0, shards = 1;
  };
  division sequences;
  bool frozen = false;  ///< True while an outer layer freezes the parameters of its inner layers
  /// Products, such as low-rank adapters, that an outer layer adds to the products of inner layers'
  /// weights; may be null.
  side_products const* sides = nullptr;

  /// Returns the recorded program by move. The recorder must not be used afterwards.
  constexpr program take() { return std::move(program_); }

  /// Declares a parameter of the current layer, and returns its index in program::parameters.
  /// `leaf` is its name within the layer, such as "weight".
  constexpr std::size_t parameter(std::string_view leaf, parameter_fact fact) {
    fact.name = here_;
    fact.name.push(leaf);
    check_length(fact.name);
    fact.blocks = blocks_;
    if (frozen) fact.trained = false;
    if (deviation > 0 && fact.start.draw == initial::kind::normal) fact.start.deviation = deviation;
    program_.events.push_back(
        {.kind = event_kind::parameter, .count = static_cast<std::int64_t>(program_.parameters.size())});
    fact.blocks_before = blocks_before_;
    fact.reader_count = 0;
    if (blocks_.depth == 0) fact.read_at({blocks_before_, blocks_before_ + 1});
    program_.parameters.push_back(fact);
    return program_.parameters.size() - 1;
  }

  /// Declares that the current layer, outside blocks, reads the parameter `name` (its full name) of
  /// another layer, as a tied head does.
  constexpr void read_parameter(std::string_view name) {
    for (parameter_fact& fact : program_.parameters)
      if (fact.name.view() == name) fact.read_at({blocks_before_, blocks_before_ + 1});
  }

  /// Declares a layer whose result all blocks in `body` read, such as T5's biases by distance.
  /// Calls `layer`, which declares the layer, and then `body` with the activation from before the
  /// layer. During backward of `body`, a gradient of the result stays in memory. Each pipeline
  /// stage that has some of the blocks computes the layer itself.
  template <class Layer, class Body>
  constexpr void for_blocks(Layer&& layer, Body&& body) {
    flow const input = activation;
    std::size_t const parameters = program_.parameters.size(), begin = program_.events.size();
    shape::block_range blocks{blocks_before_, blocks_before_};
    layer();
    std::size_t const declared = program_.parameters.size(), end = program_.events.size();
    flow const result = std::exchange(activation, input);
    waiting(result, body);
    if (blocks_.depth > 0 || blocks_before_ == blocks.begin) return;
    blocks.end = blocks_before_;
    for (std::size_t i = parameters; i < declared; ++i) program_.parameters[i].readers[0] = blocks;
    for (std::size_t i = begin; i <= end; ++i) program_.events[i].on_stages_of = blocks;
    program_.events.back().on_stages_of = blocks;
  }

  /// Declares that the current activation is the output of the model's encoder, which blocks of the
  /// decoder read. Forward saves it once, however many blocks read it.
  constexpr void end_encoder() {
    save("states");
    encoded = activation;
    program_.encoded = activation;
    program_.encoder_blocks = blocks_before_;
  }

  /// Declares one moment of the layer's backward, at which the gradients of `input` and of the
  /// current activation are in memory. Call it in the order of forward, after declaring the saved
  /// tensors that backward reads at this moment.
  constexpr void backward(flow const& input) {
    state({.kind = event_kind::moment, .tensor = activation});
    if (has_gradient(input)) workspace("input_gradient", input);
    workspace("output_gradient", activation);
  }

  /// Declares a temporary tensor with shape and cut of `like` that the layer holds at the moment of
  /// backward declared last. `weight_gradient` declares the gradient of a weight; it does nothing
  /// if the weight is frozen.
  constexpr void workspace(std::string_view slot, flow const& like, width_kind kind = width_kind::compute) {
    state({.kind = event_kind::hold,
           .width = kind,
           .slot = slot,
           .tensor = like,
           .min_shards_exclusive = min_shards_exclusive_});
  }
  constexpr void weight_gradient(extents shape, int split_dim, std::int64_t units) {
    if (frozen) return;
    state({.kind = event_kind::weight_gradient, .slot = "weight_gradient", .tensor = {shape, split_dim, units, -1}});
  }

  /// Calls `body`, which declares a branch, such as that of a residual connection. During the
  /// branch's backward, a gradient with the shape of `kept` stays in memory.
  template <class Body>
  constexpr void carrying(flow const& kept, Body&& body) {
    beside([&] { waiting(kept, body); });
  }

  /// Calls `body`, which declares a layer while an activation from before the layer is kept for
  /// after the layer. Blocks of `body` cannot be cut into pipeline stages.
  template <class Body>
  constexpr void beside(Body&& body) {
    ++branches_;
    body();
    --branches_;
  }

  /// Declares that the next activation is computed from the tensor `other` as well as from the
  /// current activation.
  constexpr void read(flow const& other) { state({.kind = event_kind::read, .tensor = other}); }

  /// Declares that the layer makes a new activation of this shape. It is computed from the current
  /// activation and the tensors declared by read(), and becomes the current activation.
  constexpr void produce(extents shape, int split_dim = -1, std::int64_t units = 0, making how = making::function) {
    bool const same = shape.rank == activation.shape.rank && width_of(shape) == width_of(activation.shape);
    if (!same) makers_.push_back(layer());
    int const made = same ? activation.made : static_cast<int>(makers_.size()), from = activation.id;
    activation = {shape, split_dim, units, ++last_, made};
    state({.kind = event_kind::make,
           .how = how,
           .tensor = activation,
           .from = from,
           .count = how == making::collective ? forward_message_ : 0});
  }

  /// Declares that the loss reads the current activation, and that no later layer does.
  constexpr void hand_to_loss() {
    state({.kind = event_kind::make, .how = making::logits, .tensor = {.id = ++last_}, .from = activation.id});
  }

  /// Declares a matrix product [rows, inner] x [inner, columns] of forward. The sizes are those of
  /// the unsharded matrices.
  constexpr void multiply(std::int64_t rows, std::int64_t inner, std::int64_t columns) {
    std::int64_t operations = 2;
    for (std::int64_t const extent : {rows, inner, columns})
      operations = shape::saturating_multiply(operations, extent);
    state({.kind = event_kind::multiply, .count = operations});
  }

  /// Changes the shape of the current activation without a new storage, as a view does.
  constexpr void reshape(extents shape) { activation.shape = shape; }

  /// Declares a collective over the ranks along the mesh axes `over`. `shape` is the shape of the
  /// complete payload, and `times` the number of calls per layer. If tensor-parallel ranks send
  /// their parts of the last dimension, `units` is its number of indivisible units; otherwise 0.
  constexpr void message(shape::collective collective, bool backward, extents shape,
                         width_kind kind = width_kind::compute, std::int64_t times = 1,
                         shape::axes over = shape::axis::tp, std::int64_t units = 0) {
    add_message({.collective = collective,
                 .over = over,
                 .backward = backward,
                 .shape = shape,
                 .units = units,
                 .kind = kind,
                 .copies = times * blocks_.count()});
  }

  /// Declares `times` all-reduces of the gradient of a parameter, of this shape, over the
  /// tensor-parallel ranks. Does nothing if the parameter is frozen.
  constexpr void sum_of_gradient(extents const& shape, std::int64_t times = 1) {
    if (!frozen) add_message({.backward = true, .shape = shape, .copies = times * blocks_.count()}, -1);
  }

  /// Declares an all-reduce over the ranks along the mesh axes `over` of `shape` elements in the
  /// accumulation type (at least f32). Only a forward that autograd records sends it.
  constexpr void message_when_recorded(extents const& shape, shape::axes over) {
    add_message({.over = over,
                 .shape = shape,
                 .kind = width_kind::accumulate,
                 .copies = blocks_.count(),
                 .when_recorded = true});
  }

  /// Declares an all-reduce over the data-parallel replicas (batch_axes) of `count` elements in the
  /// accumulation type (at least f32).
  constexpr void sum_over_replicas(bool backward, std::int64_t count) {
    add_message({.over = shape::batch_axes,
                 .backward = backward,
                 .shape = {count},
                 .kind = width_kind::accumulate,
                 .copies = blocks_.count()});
  }

  /// Declares that the layer's saved tensors and operations are unknown, as for a user's opaque
  /// callable.
  constexpr void uncounted() { state({.kind = event_kind::uncounted}); }

  /// Declares that the current activation has no gradient, such as features of the context.
  constexpr void end_gradient() { constant_ = activation.id; }

  /// Declares that a replicated activation enters column-parallel layers, so that its gradient is
  /// all-reduced after their backward. Does nothing for an activation without gradient, such as the
  /// model's input.
  constexpr void enter(flow const& entering) {
    if (!has_gradient(entering)) return;
    state({.kind = event_kind::enter, .tensor = entering});
    reduces(entering, entering);
    std::int64_t copies = blocks_.count();
    if (entering.id == block_.input && block_.from_batch) copies -= copies / block_.times;
    add_message({.backward = true, .shape = entering.shape, .copies = copies}, entering.id);
  }

  /// Declares a moment of backward at which the ranks sum a gradient with the shape of `whole`, and
  /// each rank gets a result with the shape of `part`. Both tensors are in memory.
  constexpr void reduces(flow const& whole, flow const& part) {
    begin_moment(1);
    workspace("gradient", whole);
    workspace("reduced_gradient", part);
    min_shards_exclusive_ = 0;
  }

  /// Declares that backward sums the gradient of `rows`, rows of a weight over all ranks, within
  /// sharer groups (neighbouring ranks with equal rows). The sum happens only with more than
  /// `parts` ranks. During the sum, memory holds the gradient of `input` and a copy of the weight's
  /// complete gradient. `other` are the weight's other rows, cut into `units`. Does nothing if the
  /// weight is frozen.
  constexpr void share(std::int64_t parts, extents rows, extents other, std::int64_t units, flow const& input) {
    if (frozen) return;
    begin_moment(parts);
    if (has_gradient(input)) workspace("input_gradient", input);
    extents both = rows;
    both[0] *= 2;
    workspace("shared_gradients", {both, 0, parts, -1});
    workspace("gathered_gradients", {rows, -1, 0, -1});
    other[0] *= 2;
    if (units > 0) workspace("other_gradients", {other, 0, units, -1});
    sum_of_gradient(rows);
    min_shards_exclusive_ = 0;
  }

  /// Returns the blocks of the outermost `repeat` that are being declared. Outside of repeats,
  /// returns a slice of one block.
  constexpr block_slice blocks() const { return blocks_.depth > 0 ? blocks_[0] : block_slice{}; }

  /// Declares that a layer has a bias to add after the reduction of its pending sum.
  constexpr void addend() { addends_ += frozen ? 0 : 1; }
  /// Returns the number of trained biases declared since the last reduction of a pending sum, and
  /// sets this number to 0.
  constexpr std::int64_t take_addends() { return std::exchange(addends_, 0); }

  /// Calls `body`, which declares an inner layer, while `component` is appended to the path of the
  /// current layer.
  template <class Body>
  constexpr void inside(std::string_view component, Body&& body) {
    std::size_t const outer = here_.size, outer_missing = here_.missing;
    int const outer_layer = std::exchange(layer_, -1);
    here_.push(component);
    check_length(here_);
    body();
    here_.size = outer;
    here_.missing = outer_missing;
    layer_ = outer_layer;
  }

  /// Declares the `times` blocks of a `repeat`: calls `body`, which calls repeated() for each
  /// slice.
  template <class Body>
  constexpr void row(std::int64_t times, Body&& body) {
    if (blocks_.depth == 0 && branches_ > 0 && program_.has_cuttable_rows) {
      program_.has_cuttable_rows = false;
      program_.repeat_in_branch = here_;
    }
    body();
    if (blocks_.depth == 0) blocks_before_ += times;
  }

  /// Declares all equal blocks of a slice: calls `body`, which declares one block, and appends `*`
  /// or the slice to the path. If block types alternate, call it once for each type, in the order
  /// of the slices.
  template <class Body>
  constexpr void repeated(block_slice blocks, Body&& body) {
    auto const outer_blocks = blocks_;
    auto const outer_block = block_;
    int const entry = activation.id;
    if (!blocks_.push(blocks))
      refuse({.kind = mistake::depth,
              .wanted = block_slices::capacity,
              .found = block_slices::capacity + 1,
              .reader = here_},
             "repeats around a layer");
    activation.id = ++last_;
    block_ = {activation.id, blocks.count(), entry == 0};
    inside(blocks.number().view(), [&] {
      state({.kind = event_kind::repeat, .slot = "block_input", .tensor = activation, .from = entry, .blocks = blocks});
      body();
      state({.kind = event_kind::repeat_end, .slot = "block_output", .tensor = activation, .blocks = blocks});
    });
    blocks_ = outer_blocks;
    block_ = outer_block;
  }

 private:
  template <class Body>
  constexpr void waiting(flow const& kept, Body&& body) {
    // A copy, because `kept` may be the activation itself, which changes.
    flow const like = kept;
    state({.kind = event_kind::branch, .slot = "gradient", .tensor = like});
    body();
    state({.kind = event_kind::branch_end, .slot = "gradient", .tensor = like});
  }

  constexpr bool has_gradient(flow const& f) const { return f.id != 0 && f.id != constant_; }

  /// The repeated block that is being declared, in the innermost `repeat`.
  struct block {
    int input = -1;
    std::int64_t times = 1;
    /// True if the input of the first block is the model's input, which has no gradient
    bool from_batch = false;
  };

  /// Declares a moment of backward that belongs to no layer: a gradient sum over ranks. It happens
  /// only with more than `min_shards_exclusive` tensor-parallel ranks.
  constexpr void begin_moment(std::int64_t min_shards_exclusive) {
    min_shards_exclusive_ = min_shards_exclusive;
    state({.kind = event_kind::moment, .tensor = {.id = -1}, .min_shards_exclusive = min_shards_exclusive});
  }

  constexpr void add_message(message_fact const& fact) { add_message(fact, activation.id); }

  /// Adds a message. `from` is the activation whose gradient a message of backward carries; -1:
  /// the gradient of a parameter.
  constexpr void add_message(message_fact const& fact, int from) {
    if (fact.copies == 0) return;
    auto const index = static_cast<std::int64_t>(program_.messages.size());
    if (!fact.backward) forward_message_ = index;
    state({.kind = event_kind::message, .from = from, .count = index, .min_shards_exclusive = min_shards_exclusive_});
    program_.messages.push_back(fact);
    program_.messages.back().layer = here_;
    program_.messages.back().parts = min_shards_exclusive_;
  }

  block_slices blocks_;
  block block_;
  /// Number of blocks of outermost `repeat`s that are declared completely
  std::int64_t blocks_before_ = 0;
  int branches_ = 0;  ///< Number of branches that are being declared, one inside the other
  int last_ = 0;      ///< Number of the latest activation (flow::id)
  /// Number of biases to add after the next reduction of a pending sum
  std::int64_t addends_ = 0;
  /// Number of tensor-parallel ranks; events declared now happen only with more ranks. 0: always.
  std::int64_t min_shards_exclusive_ = 0;
  std::int64_t forward_message_ = 0;
  /// flow::id of the latest activation without gradient; 0: the model's input
  int constant_ = 0;
};

}  // namespace redco::fact
