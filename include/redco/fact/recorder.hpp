#pragma once

#include <redco/fact/block_slice.hpp>
#include <redco/fact/block_slices.hpp>
#include <redco/fact/event.hpp>
#include <redco/fact/flow.hpp>
#include <redco/fact/message_fact.hpp>
#include <redco/fact/mistake_fact.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/path.hpp>
#include <redco/fact/program.hpp>
#include <redco/fact/width_kind.hpp>

#include <redco/shape/extents.hpp>
#include <redco/shape/saturating.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::fact {

class side_products;
/// What a layer's `facts` talks to: it states its parameters, what its forward saves for backward, its messages, and how the
/// activation changes. Each statement is an event of the model's program. The same code runs at compile time and at run time.
class recorder {
 public:
  /// `stated`: the model says what its input is; else it is [batch, sequence] until a layer tells its features.
  constexpr recorder(extents input, extents encoder_input, bool stated) : stated_(stated) {
    activation.shape = input;
    source.shape = encoder_input;
    program_.events.reserve(512);
    program_.layers.reserve(64);
    program_.parameters.reserve(64);
    program_.messages.reserve(32);
  }

  flow activation;                        ///< what flows from layer to layer
  flow source;                            ///< what an encoder reads
  flow encoded;                           ///< what it gives and cross-attention reads
  double deviation = 0;                   ///< of drawn weights, where an outer layer prescribes it; 0: each layer's own
  bool frozen = false;                    ///< an outer layer has its parameters stay as they were loaded
  side_products const* beside = nullptr;  ///< that an outer layer states beside the products of weights

  /// The program that the layers have stated. Ends the recording.
  constexpr program take() { return std::move(program_); }

  /// States the parameter `leaf` of the current layer.
  constexpr void parameter(std::string_view leaf, parameter_fact fact) {
    fact.name = here_;
    fact.name.push(leaf);
    check_length(fact.name);
    fact.blocks = blocks_;
    if (frozen) fact.trained = false;
    if (deviation > 0 && fact.start.draw == initial::kind::normal) fact.start.deviation = deviation;
    program_.events.push_back(
        {.what = event_kind::parameter, .count = static_cast<std::int64_t>(program_.parameters.size())});
    program_.parameters.push_back(fact);
  }

  /// The path of the current layer.
  constexpr path const& here() const { return here_; }

  /// Returns `extent`, the layer's number of `what`. One below `least` breaks `rule`, and `least` is taken so that the facts go on.
  constexpr std::int64_t size(std::string_view what, std::int64_t extent, std::int64_t least = 1,
                              mistake rule = mistake::size) {
    if (extent >= least) return extent;
    refuse({.what = rule, .wanted = least, .found = extent, .reader = here_}, what);
    return least;
  }

  /// States that `extent`, the layer's number of `what`, is a multiple of `divisor`, its number of `by`: a mistake where it is not.
  constexpr void multiple(std::string_view what, std::int64_t extent, std::string_view by, std::int64_t divisor) {
    if (extent < 1 || divisor < 1 || extent % divisor == 0) return;
    mistake_fact m{.what = mistake::divisor, .wanted = divisor, .found = extent, .reader = here_};
    m.by.push(by);
    refuse(m, what);
  }

  /// States that the layer reads `rank` dimensions: 2 [batch, ids], 3 [batch, tokens, features], 4 [batch, channels, height,
  /// width]. False where it is given others: a mistake, after which the layer states nothing more.
  [[nodiscard]] constexpr bool expect_rank(int rank) { return expect_rank(activation, rank); }
  [[nodiscard]] constexpr bool expect_rank(flow& given, int rank) {
    if (given.shape.rank == 2 && rank == 3 && is_open(given)) given.shape.push(1);
    if (given.shape.rank == rank) return true;
    refuse_given(mistake::rank, "", rank, given.shape.rank, given.made);
    return false;
  }

  /// States that the layer reads an extent of `extent` along `dim`, which is of `what` ("features", "channels").
  constexpr void expect(std::string_view what, int dim, std::int64_t extent) { expect(activation, what, dim, extent); }
  constexpr void expect(flow const& given, std::string_view what, int dim, std::int64_t extent) {
    if (given.shape[dim] != extent) refuse_given(mistake::width, what, extent, given.shape[dim], given.made);
  }

  /// The same of features, the last dimension. They are told to an input that the model does not state.
  constexpr void expect_features(std::int64_t features) {
    if (is_open(activation)) activation.shape[-1] = features;
    expect("features", -1, features);
  }

  /// States that the current activation is added to `other`, or takes its place: both have one shape.
  constexpr void expect_like(flow const& other) {
    extents const &given = activation.shape, &wanted = other.shape;
    if (given == wanted || is_open(other)) return;
    int dim = given.rank - 1;
    while (given.rank == wanted.rank && given[dim] == wanted[dim]) --dim;
    bool const width = given.rank == wanted.rank;
    refuse({.what = width ? mistake::width : mistake::rank,
            .wanted = width ? wanted[dim] : wanted.rank,
            .found = width ? given[dim] : given.rank,
            .reader = maker(other.made),
            .giver = maker(activation.made),
            .makers = {other.made, activation.made}},
           !width                                    ? ""
           : dim == given.rank - 1 && given.rank < 4 ? "features"
           : dim == 1                                ? "channels"
                                                     : "positions");
  }

  /// States that forward saves the current activation for backward; one saved by two layers is one storage.
  constexpr void save(std::string_view slot) { state({.what = event_kind::save, .slot = slot, .tensor = activation}); }

  /// States that forward saves another tensor beside the activation.
  constexpr void save(std::string_view slot, extents shape, int split_dim, width_kind kind, std::int64_t units = 0) {
    state({.what = event_kind::save, .width = kind, .slot = slot, .tensor = {shape, split_dim, units, -1}});
  }

  /// The same of one that lies beside the tensor saved last, in one storage along the last dimension.
  constexpr void save_beside(std::string_view slot, extents shape, int split_dim, width_kind kind,
                             std::int64_t units = 0) {
    state({.what = event_kind::save,
           .width = kind,
           .slot = slot,
           .tensor = {shape, split_dim, units, -1},
           .beside = true});
  }

  /// States that forward saves a tensor of the batch itself.
  constexpr void save_batch(std::string_view slot, extents shape, width_kind kind) {
    state({.what = event_kind::batch, .width = kind, .slot = slot, .tensor = {shape, -1, 0, -1}});
  }

  /// The same, or on several shards the part of each in its place.
  constexpr void save_batch_or_local(std::string_view slot, extents shape, width_kind kind) {
    save_batch(slot, shape, kind);
    state({.what = event_kind::save, .width = kind, .slot = slot, .tensor = {shape, -1, 0, -1}, .more_than = 1});
  }

  /// States a tensor that the loss makes: to its backward (`event_kind::loss`), while it is computed (`loss_workspace`), or as
  /// a sum that becomes one of the former (`loss_sum`).
  constexpr void loss(event_kind lasts, std::string_view slot, extents shape, int split_dim, std::int64_t units,
                      width_kind kind = width_kind::compute) {
    state({.what = lasts, .width = kind, .slot = slot, .tensor = {shape, split_dim, units, -1}});
  }

  /// States one moment of the layer's backward, which holds the gradients of `input` and of the current activation. To be
  /// stated in the order of forward, after what the moment still reads.
  constexpr void backward(flow const& input) {
    state({.what = event_kind::moment, .tensor = activation});
    if (!is_input(input)) workspace("input_gradient", input);
    workspace("output_gradient", activation);
  }

  /// States what else the layer holds in the moment stated last: a tensor like `like`; the gradient of a weight, unless it is frozen.
  constexpr void workspace(std::string_view slot, flow const& like, width_kind kind = width_kind::compute) {
    state({.what = event_kind::hold, .width = kind, .slot = slot, .tensor = like, .more_than = more_than_});
  }
  constexpr void weight_gradient(extents shape, int split_dim, std::int64_t units) {
    if (frozen) return;
    state({.what = event_kind::weight_gradient, .slot = "weight_gradient", .tensor = {shape, split_dim, units, -1}});
  }

  /// Runs `body`, the facts of a branch beside which the gradient of an activation like `waiting` waits in backward.
  template <class Body>
  constexpr void carrying(flow const& waiting, Body&& body) {
    flow const like = waiting;  // it may be the activation itself
    state({.what = event_kind::branch, .slot = "gradient", .tensor = like});
    body();
    state({.what = event_kind::branch_end, .slot = "gradient", .tensor = like});
  }

  /// States that the activation that is made next is made of `other` too.
  constexpr void read(flow const& other) { state({.what = event_kind::read, .tensor = other}); }

  /// States that the layer makes a new activation, of the current one and of what else it reads.
  constexpr void produce(extents shape, int split_dim = -1, std::int64_t units = 0, making how = making::function) {
    bool const same = shape.rank == activation.shape.rank && width_of(shape) == width_of(activation.shape);
    if (!same) makers_.push_back(layer());
    int const made = same ? activation.made : static_cast<int>(makers_.size()), from = activation.id;
    activation = {shape, split_dim, units, ++last_, made};
    state({.what = event_kind::make,
           .how = how,
           .tensor = activation,
           .from = from,
           .count = how == making::collective ? forward_message_ : 0});
  }

  /// States that the layer hands the current activation to the loss, and nothing to a layer behind it.
  constexpr void hand_to_loss() {
    state({.what = event_kind::make, .how = making::logits, .tensor = {.id = ++last_}, .from = activation.id});
  }

  /// States a product [rows, inner] x [inner, columns] of forward, in logical extents.
  constexpr void multiply(std::int64_t rows, std::int64_t inner, std::int64_t columns) {
    std::int64_t operations = 2;
    for (std::int64_t const extent : {rows, inner, columns}) operations = saturating_multiply(operations, extent);
    state({.what = event_kind::multiply, .count = operations});
  }

  /// States that the layer gives its activation another shape, in the same storage.
  constexpr void reshape(extents shape) { activation.shape = shape; }

  /// States a collective whose logical payload has this shape, over the ranks along some axes.
  constexpr void message(collective what, bool backward, extents shape, width_kind kind = width_kind::compute,
                         std::int64_t times = 1, axes over = axis::tp) {
    add_message(what, backward, shape, kind, times * blocks_.count(), over);
  }

  /// States an all-reduce of `count` elements, at least f32, over the replicas (axes dp and ep).
  constexpr void sum_over_replicas(bool backward, std::int64_t count) {
    add_message(collective::all_reduce, backward, {count}, width_kind::accumulate, blocks_.count(), batch_axes);
  }

  /// States that what the layer saves for backward and computes is not known.
  constexpr void uncounted() { state({.what = event_kind::uncounted}); }

  /// States that a replicated activation enters column-parallel layers: its gradient is all-reduced, after their backward.
  /// The model's input has no gradient.
  constexpr void enter(flow const& entering) {
    if (is_input(entering)) return;
    state({.what = event_kind::enter, .tensor = entering});
    reduces(entering, entering);
    std::int64_t copies = blocks_.count();
    if (entering.id == block_.input && block_.from_batch) copies -= copies / block_.times;
    add_message(collective::all_reduce, true, entering.shape, width_kind::compute, copies);
  }

  /// States that, between layers, a gradient like `whole` is summed over the ranks into one like `part`.
  constexpr void reduces(flow const& whole, flow const& part) {
    begin_moment(1);
    workspace("gradient", whole);
    workspace("reduced_gradient", part);
    more_than_ = 0;
  }

  /// States that, on more shards than `parts`, neighbours hold rows of a parameter alike, so that the gradients of these `rows`
  /// (logical) are summed on their way to it, which takes a copy of the leaf's: of its `other` rows too, in `units`. The
  /// gradient of `input` waits.
  constexpr void share(std::int64_t parts, extents rows, extents other, std::int64_t units, flow const& input) {
    begin_moment(parts);
    if (!is_input(input)) workspace("input_gradient", input);
    extents both = rows;
    both[0] *= 2;
    workspace("shared_gradients", {both, 0, parts, -1});
    workspace("gathered_gradients", {rows, -1, 0, -1});
    other[0] *= 2;
    if (units > 0) workspace("other_gradients", {other, 0, units, -1});
    message(collective::all_reduce, true, rows);
    more_than_ = 0;
  }

  /// States that a layer adds a bias after the reduction of its pending sum.
  constexpr void addend() { ++addends_; }
  /// How many biases wait beside the pending sum that is reduced now.
  constexpr std::int64_t take_addends() { return std::exchange(addends_, 0); }

  /// Runs `body` with `component` appended to the path.
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

  /// Runs `body` once for the equal blocks of a slice, under its number(). The slices of a row are stated from first to last.
  template <class Body>
  constexpr void repeated(block_slice blocks, Body&& body) {
    auto const outer_blocks = blocks_;
    auto const outer_block = block_;
    int const entry = activation.id;
    if (!blocks_.push(blocks))
      refuse({.what = mistake::depth,
              .wanted = block_slices::capacity,
              .found = block_slices::capacity + 1,
              .reader = here_},
             "repeats around a layer");
    activation.id = ++last_;
    block_ = {activation.id, blocks.count(), entry == 0};
    inside(blocks.number().view(), [&] {
      state({.what = event_kind::repeat, .slot = "block_input", .tensor = activation, .from = entry, .blocks = blocks});
      body();
      state({.what = event_kind::repeat_end, .slot = "block_output", .tensor = activation, .blocks = blocks});
    });
    blocks_ = outer_blocks;
    block_ = outer_block;
  }

 private:
  /// The block of the innermost repeat.
  struct block {
    int input = -1;
    std::int64_t times = 1;
    bool from_batch = false;  ///< the first one's input is the model's
  };

  static constexpr bool is_input(flow const& f) { return f.id == 0; }
  /// Whether nobody has said how many features it has.
  constexpr bool is_open(flow const& f) const { return is_input(f) && !stated_; }

  /// The extent that layers hand on: features, of an image [batch, channels, height, width] channels.
  static constexpr std::int64_t width_of(extents const& shape) { return shape[shape.rank == 4 ? 1 : -1]; }

  /// The layer that made a width; without a name for the model's input.
  constexpr path maker(int made) const {
    if (made == 0) return {};
    return program_.layers[static_cast<std::size_t>(makers_[static_cast<std::size_t>(made - 1)])];
  }

  constexpr void refuse_given(mistake what, std::string_view of, std::int64_t wanted, std::int64_t found, int made) {
    refuse(
        {.what = what, .wanted = wanted, .found = found, .reader = here_, .giver = maker(made), .makers = {-1, made}},
        of);
  }

  constexpr void check_length(path const& name) {
    if (name.missing == 0) return;
    refuse({.what = mistake::depth,
            .wanted = static_cast<std::int64_t>(path::capacity),
            .found = static_cast<std::int64_t>(name.size + name.missing),
            .reader = name},
           "characters in the path of a layer");
  }

  /// The first mistake counts, but a rank's before a width's: it keeps a layer from stating its facts.
  constexpr void refuse(mistake_fact m, std::string_view of) {
    m.of.push(of);
    mistake_fact& first = program_.mistake;
    if (!first || (first.what == mistake::width && m.what == mistake::rank)) first = m;
  }

  /// The place of the current layer in the program's list.
  constexpr int layer() {
    if (layer_ < 0) {
      layer_ = static_cast<int>(program_.layers.size());
      program_.layers.push_back(here_);
    }
    return layer_;
  }

  constexpr void state(event e) {
    e.layer = layer();
    program_.events.push_back(e);
  }

  /// A moment of no layer's own, on more shards than so many.
  constexpr void begin_moment(std::int64_t more_than) {
    more_than_ = more_than;
    state({.what = event_kind::moment, .tensor = {.id = -1}, .more_than = more_than});
  }

  constexpr void add_message(collective what, bool backward, extents const& shape, width_kind kind, std::int64_t copies,
                             axes over = axis::tp) {
    if (copies == 0) return;
    message_fact fact;
    fact.layer = here_;
    fact.what = what;
    fact.backward = backward;
    fact.shape = shape;
    fact.kind = kind;
    fact.copies = copies;
    fact.parts = more_than_;
    fact.over = over;
    auto const place = static_cast<std::int64_t>(program_.messages.size());
    if (!backward) forward_message_ = place;
    state({.what = event_kind::message, .count = place, .more_than = more_than_});
    program_.messages.push_back(fact);
  }

  program program_;
  bool stated_;
  path here_;
  int layer_ = -1;  ///< where here_ stands in the program; -1: nowhere yet
  block_slices blocks_;
  block block_;
  std::vector<int> makers_;     ///< the layers that made a width
  int last_ = 0;                ///< the identity given last
  std::int64_t addends_ = 0;    ///< biases that wait beside the pending sum
  std::int64_t more_than_ = 0;  ///< of the events stated now
  std::int64_t forward_message_ = 0;
};

}  // namespace redco::fact
