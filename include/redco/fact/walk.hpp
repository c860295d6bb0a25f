#pragma once

#include <redco/fact/activation_fact.hpp>
#include <redco/fact/mistake_fact.hpp>
#include <redco/fact/parameter_fact.hpp>

#include <redco/shape/extents.hpp>
#include <redco/shape/saturating.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace redco {

/// The activation that flows from layer to layer during a walk.
struct flow {
  extents shape;           ///< logical
  int split_dim = -1;      ///< the dimension that the mesh cuts, -1: replicated
  std::int64_t units = 0;  ///< indivisible units along split_dim: heads or columns
  int id = 0;              ///< which tensor it is, so that its storage is counted once; 0: the model's input
  int made = 0;            ///< which of the walk's widths it has, so that a mistake can name its maker; 0: the input's
};

/// What a layer's `facts` talks to: it states its parameters, what its forward keeps, its messages, and how the activation
/// changes. `Sink` receives the facts (`add(parameter_fact)`, `add(saved_fact)`, `add(message_fact)`, `amend(i, role, copies)`
/// of saved fact i, `add_work(operations, in_block)`, `add(mistake_fact)`, `made(width, layer)`): a counter, an array or a
/// vector, so the same walk runs at compile time and at run time.
template <class Sink>
class walk {
 public:
  /// `stated`: the model says what its input is; else it is [batch, sequence] until a layer tells its features.
  constexpr walk(Sink& sink, extents input, extents encoder_input, bool stated) : sink_(sink), stated_(stated) {
    activation.shape = input;
    source.shape = encoder_input;
  }

  flow activation;
  flow source;           ///< what an encoder reads
  flow encoded;          ///< what it gives and cross-attention reads
  double deviation = 0;  ///< of drawn weights, where an outer layer prescribes it; 0: each layer's own

  /// States the parameter `leaf` of the current layer.
  constexpr void parameter(std::string_view leaf, parameter_fact fact) {
    fact.name = here_;
    fact.name.push(leaf);
    fact.blocks = blocks_;
    if (deviation > 0 && fact.start.draw == initial::kind::normal) fact.start.deviation = deviation;
    sink_.add(fact);
  }

  /// `extent`, the layer's number of `what`. One below 1 is a mistake, and taken as 1 so that the facts go on.
  constexpr std::int64_t size(std::string_view what, std::int64_t extent) {
    if (extent >= 1) return extent;
    mistake_fact m;
    m.what = mistake::size;
    m.of.push(what);
    m.wanted = 1;
    m.found = extent;
    m.reader = here_;
    sink_.add(m);
    return 1;
  }

  /// States that the layer reads `rank` dimensions: 2 [batch, ids], 3 [batch, tokens, features], 4 [batch, channels, height,
  /// width]. False where it is given others: a mistake, after which the layer states nothing more.
  [[nodiscard]] constexpr bool expect_rank(int rank) { return expect_rank(activation, rank); }
  [[nodiscard]] constexpr bool expect_rank(flow& given, int rank) {
    if (given.shape.rank == 2 && rank == 3 && is_open(given)) given.shape.push(1);
    if (given.shape.rank == rank) return true;
    refuse(mistake::rank, "", rank, given.shape.rank, given.made);
    return false;
  }

  /// States that the layer reads `extent` numbers of `what` along `dim`.
  constexpr void expect(std::string_view what, int dim, std::int64_t extent) { expect(activation, what, dim, extent); }
  constexpr void expect(flow const& given, std::string_view what, int dim, std::int64_t extent) {
    if (given.shape[dim] != extent) refuse(mistake::width, what, extent, given.shape[dim], given.made);
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
    mistake_fact m;
    m.what = given.rank == wanted.rank ? mistake::width : mistake::rank;
    if (m.what == mistake::width)
      m.of.push(dim == given.rank - 1 && given.rank < 4 ? "features" : dim == 1 ? "channels" : "positions");
    m.wanted = m.what == mistake::width ? wanted[dim] : wanted.rank;
    m.found = m.what == mistake::width ? given[dim] : given.rank;
    m.makers = {other.made, activation.made};
    sink_.add(m);
  }

  /// States that forward keeps the current activation; an activation kept by two layers is one storage.
  constexpr void keep(std::string_view slot) {
    flow const& f = activation;
    if (is_kept(f.id)) return;
    mark(f.id);
    std::int64_t copies = blocks_.count();
    bool const entry = f.id == block_.input;
    if (entry && block_.first_kept) copies -= copies / block_.times;
    saved_role const role = is_input(f)                  ? saved_role::batch
                            : entry && blocks_.rank == 1 ? saved_role::entry
                                                         : saved_role::stored;
    if (entry && copies > 0) block_.entry = saved_;
    if (copies > 0) state(slot, f, width_kind::compute, role, is_input(f) ? 1 : copies);
  }

  /// States that forward keeps another tensor beside the activation.
  constexpr void keep(std::string_view slot, extents shape, int split_dim, width_kind kind, std::int64_t units = 0,
                      saved_role role = saved_role::stored) {
    state(slot, {shape, split_dim, units}, kind, role, blocks_.count());
  }

  /// States one moment of the layer's backward, which holds the gradients of `input` and of the current activation. To be
  /// stated in the order of forward, after what the moment still reads.
  constexpr void backward(flow const& input) {
    ++moment_;
    if (!is_input(input)) workspace("input_gradient", input);
    workspace("output_gradient", activation);
  }

  /// States what else the layer holds in the moment stated last.
  constexpr void workspace(std::string_view slot, flow const& like, width_kind kind = width_kind::compute) {
    state(slot, like, kind, saved_role::workspace, 1);
  }
  constexpr void weight_gradient(extents shape, int split_dim, std::int64_t units) {
    state("weight_gradient", {shape, split_dim, units}, width_kind::compute, saved_role::weight_gradient, 1);
  }

  /// Runs `body`, the facts of a branch beside which the gradient of an activation like `waiting` waits in backward.
  template <class Body>
  constexpr void carrying(flow const& waiting, Body&& body) {
    state("gradient", waiting, width_kind::compute, saved_role::carried_until, 1);
    body();
    state("gradient", waiting, width_kind::compute, saved_role::carried_from, 1);
  }

  /// States that the layer makes a new activation.
  constexpr void produce(extents shape, int split_dim = -1, std::int64_t units = 0) {
    bool const same = shape.rank == activation.shape.rank && width_of(shape) == width_of(activation.shape);
    if (!same) sink_.made(++widths_, here_);
    activation = {shape, split_dim, units, fresh(), same ? activation.made : widths_};
  }

  /// States a product [rows, inner] x [inner, columns] of forward, in logical extents.
  constexpr void multiply(std::int64_t rows, std::int64_t inner, std::int64_t columns) {
    std::int64_t operations = saturating_multiply(2, blocks_.count());
    for (std::int64_t const extent : {rows, inner, columns}) operations = saturating_multiply(operations, extent);
    sink_.add_work(operations, blocks_.rank > 0);
  }

  /// States that the layer gives its activation another shape, in the same storage.
  constexpr void reshape(extents shape) { activation.shape = shape; }

  /// States a collective whose logical payload has this shape, over the ranks along some axes.
  constexpr void message(collective what, bool backward, extents shape, width_kind kind = width_kind::compute,
                         std::int64_t times = 1, axes over = axis::tp) {
    add_message(what, backward, shape, kind, times * blocks_.count(), over);
  }

  /// States an all-reduce of `count` numbers over the replicas.
  constexpr void sum_over_replicas(bool backward, std::int64_t count) {
    add_message(collective::all_reduce, backward, {count}, width_kind::accumulate, blocks_.count(), example_axes);
  }

  /// States that what the layer keeps and computes is not known.
  constexpr void uncounted() { state("", {}, width_kind::compute, saved_role::uncounted, 1); }

  /// States that a replicated activation enters column-parallel layers: its gradient is all-reduced, after their backward.
  /// The model's input has no gradient.
  constexpr void enter(flow const& entering) {
    if (is_input(entering)) return;
    reduces(entering, entering);
    std::int64_t copies = blocks_.count();
    if (entering.id == block_.input && block_.from_batch) copies -= copies / block_.times;
    if (copies > 0) add_message(collective::all_reduce, true, entering.shape, width_kind::compute, copies);
  }

  /// States that, between layers, `whole` gradients are summed over the ranks into ones like `part`.
  constexpr void reduces(flow const& whole, flow const& part) {
    ++moment_;
    state("gradient", whole, width_kind::compute, saved_role::reduction, 1);
    state("reduced_gradient", part, width_kind::compute, saved_role::reduction, 1);
  }

  /// States that, on more shards than `parts`, neighbours hold rows of a parameter alike, so that the gradients of these `rows`
  /// (logical) are summed on their way to it, which takes a copy of the leaf's: of its `other` rows too, in `units`. The
  /// gradient of `input` waits.
  constexpr void share(std::int64_t parts, extents rows, extents other, std::int64_t units, flow const& input) {
    ++moment_;
    parts_ = parts;
    if (!is_input(input)) workspace("input_gradient", input);
    extents both = rows;
    both[0] *= 2;
    workspace("shared_gradients", {both, 0, parts});
    workspace("gathered_gradients", {rows});
    other[0] *= 2;
    if (units > 0) workspace("other_gradients", {other, 0, units});
    message(collective::all_reduce, true, rows);
    parts_ = 0;
  }

  /// States that a layer adds a bias after the reduction of its pending sum.
  constexpr void addend() { ++addends_; }
  /// How many biases wait beside the pending sum that is reduced now.
  constexpr std::int64_t take_addends() { return std::exchange(addends_, 0); }

  /// Runs `body` with `component` appended to the path.
  template <class Body>
  constexpr void inside(std::string_view component, Body&& body) {
    std::size_t const outer = here_.size;
    here_.push(component);
    body();
    here_.size = outer;
  }

  /// Runs `body` once for `times` equal blocks named `*`.
  template <class Body>
  constexpr void repeated(std::int64_t times, Body&& body) {
    auto const outer_blocks = blocks_;
    auto const outer_block = block_;
    int const entry = activation.id;
    blocks_.push(times);
    activation.id = fresh();
    block_ = {activation.id, times, is_kept(entry), entry == 0};
    int const input = activation.id;
    inside("*", [&] {
      bool const outermost = blocks_.rank == 1;
      if (outermost) state("block_input", activation, width_kind::compute, saved_role::block_input, times);
      body();
      bool const kept = activation.id != input && is_kept(activation.id);
      if (kept && block_.entry >= 0) keep_first_entry();
      if (outermost) state("block_output", activation, width_kind::compute, saved_role::block_output, kept ? 0 : 1);
    });
    if (is_kept(input)) mark(entry);
    blocks_ = outer_blocks;
    block_ = outer_block;
  }

 private:
  /// The block of the innermost repeat: its input, and what the first one's is.
  struct block {
    int input = -1;
    std::int64_t times = 1;
    bool first_kept = false;  ///< a layer before the repeat keeps it
    bool from_batch = false;  ///< it is the model's input
    int entry = -1;           ///< which saved fact states that the blocks' inputs are kept
  };

  static constexpr bool is_input(flow const& f) { return f.id == 0; }
  /// Whether nobody has said how many features it has.
  constexpr bool is_open(flow const& f) const { return is_input(f) && !stated_; }

  /// The extent that layers hand on: features, of an image [batch, channels, height, width] channels.
  static constexpr std::int64_t width_of(extents const& shape) { return shape[shape.rank == 4 ? 1 : -1]; }

  constexpr void refuse(mistake what, std::string_view of, std::int64_t wanted, std::int64_t found, int maker) {
    mistake_fact m;
    m.what = what;
    m.of.push(of);
    m.wanted = wanted;
    m.found = found;
    m.reader = here_;
    m.makers = {-1, maker};
    sink_.add(m);
  }

  /// Identities are told apart among the last 1024, far more than flow side by side.
  static constexpr std::size_t memory = 1024;
  constexpr bool is_kept(int id) const { return kept_[static_cast<std::size_t>(id) % memory]; }
  constexpr void mark(int id) { kept_[static_cast<std::size_t>(id) % memory] = true; }
  constexpr int fresh() {
    ++last_;
    kept_[static_cast<std::size_t>(last_) % memory] = false;
    return last_;
  }

  /// A block keeps its output, which is the next one's input: of the inputs only the first counts by itself.
  constexpr void keep_first_entry() {
    std::int64_t const copies = block_.first_kept ? 0 : blocks_.count() / block_.times;
    sink_.amend(block_.entry, blocks_.rank == 1 ? saved_role::first_entry : saved_role::stored, copies);
  }

  constexpr void state(std::string_view slot, flow const& f, width_kind kind, saved_role role, std::int64_t copies) {
    saved_fact fact;
    fact.layer = here_;
    fact.slot.push(slot);
    fact.shape = f.shape;
    fact.split_dim = f.split_dim;
    fact.units = f.units;
    fact.kind = kind;
    fact.role = role;
    fact.copies = copies;
    fact.in_block = blocks_.rank > 0;
    if (fact.in_block) fact.blocks = blocks_[0];
    fact.moment = moment_;
    fact.parts = parts_;
    sink_.add(fact);
    ++saved_;
  }

  constexpr void add_message(collective what, bool backward, extents const& shape, width_kind kind, std::int64_t copies,
                             axes over = axis::tp) {
    message_fact fact;
    fact.layer = here_;
    fact.what = what;
    fact.backward = backward;
    fact.shape = shape;
    fact.kind = kind;
    fact.copies = copies;
    fact.in_block = blocks_.rank > 0;
    fact.parts = parts_;
    fact.over = over;
    sink_.add(fact);
  }

  Sink& sink_;
  bool stated_;
  path here_;
  extents blocks_;
  block block_;
  std::array<bool, memory> kept_{};
  int last_ = 0;
  int widths_ = 0;  ///< how many times a width was made
  int moment_ = 0;
  int saved_ = 0;             ///< how many saved facts are stated
  std::int64_t addends_ = 0;  ///< biases that wait beside the pending sum
  std::int64_t parts_ = 0;    ///< of the facts stated now
};

}  // namespace redco
