#pragma once

#include <redco/layer/extent_of.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/fact/event.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/path.hpp>
#include <redco/fact/recorder.hpp>
#include <redco/fact/side_products.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/collective.hpp>
#include <redco/shape/extents.hpp>
#include <redco/shape/place.hpp>
#include <redco/adapt/plan/lora_options.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace redco::adapt::detail {

/// Returns the number of dimensions of a weight before its matrices: 1 for the weights of experts.
constexpr int first_dim(fact::parameter_fact const& weight) { return weight.shape.rank - 2; }

/// Adds one matrix of a LoRA adapter for weight `of` to the plan: its sizes, split and messages.
/// The matrix is B [Out, rank] if `dim` is 0, and A [rank, In] if `dim` is 1; weights of experts
/// have one for each expert. It is split as dimension `dim` of the weight's matrices, and its
/// experts as those of the weight. If only the other matrix is split, or each rank sees only its
/// own tokens, all ranks hold the matrix and sum its gradient. `is_joined`: true if the matrix is
/// read as one with the matrix before it.
constexpr void low_rank_half(fact::recorder& w, std::string_view name, fact::parameter_fact const& of, int dim,
                             extents shape, bool own_tokens, bool is_joined = false) {
  int const first = first_dim(of);
  if (first > 0) shape = {of.shape[0], shape[0], shape[1]};
  fact::parameter_fact half;
  half.shape = shape;
  half.is_joined = is_joined;
  half.why = fact::reason::adapter_whole;
  if (dim == 1) half.start = {fact::initial::kind::uniform, layers::fan_in_deviation(of.shape[first + 1])};
  for (shape::place const& p : of.places)
    if (p.dim >= 0 && (p.dim < first || p.dim == first + dim))
      half.split(p.axis, p.dim, p.units, p.rest), half.why = fact::reason::adapter;
  w.inside(name, [&] { w.parameter(dim == 1 ? "lora_A.weight" : "lora_B.weight", half); });
  if (own_tokens || of.on(shape::axis::tp).dim == first + 1 - dim) w.sum_of_gradient(shape);
}

/// A recorder that adds a layer's LoRA adapters to the plan: parameters, saved tensors, matrix
/// products and messages. If a weight is split along its outputs, B is split too. If it is split
/// along its inputs, A is split, and the adapter's product joins the weight's pending sum over
/// ranks.
class low_rank_facts final : public fact::side_products {
 public:
  constexpr explicit low_rank_facts(lora_options const& options) : options_(options) {}

  constexpr void state(fact::recorder& w, fact::flow const& input, std::span<fact::named_weight const> weights,
                       bool own_tokens, std::string_view whole) const override {
    auto const wanted = [&](std::string_view name) {
      fact::path here = w.here();
      here.push(name);
      return options_.adapts(here.view());
    };
    bool const as_one = !whole.empty() && wanted(whole), outer = std::exchange(w.frozen, false);
    std::int64_t const rank = w.size("rank of an adapter", options_.rank), in = input.shape[-1];
    fact::flow narrow = input;
    narrow.shape[-1] = rank;
    if (!own_tokens) narrow.split_dim = -1, narrow.units = 0;
    std::int64_t const tokens = narrow.shape.count() / rank;

    bool first = true;
    for (fact::named_weight const& one : weights) {
      if (!(as_one ? first : wanted(one.name))) continue;
      first = false;
      low_rank_half(w, as_one ? whole : one.name, one.fact, 1, {rank, in}, own_tokens);
      if (options_.dropout > 0)
        w.save("dropped_input", input.shape, input.split_dim, fact::width_kind::compute, input.units);
      w.save("low_rank", narrow.shape, narrow.split_dim, fact::width_kind::compute, narrow.units);
      w.multiply(tokens, in, rank);
    }
    shape::place shared;
    // Numbers of rows of B halves that are read as one tensor.
    std::int64_t shared_rows = 0, other_rows = 0, other_units = 0;
    bool is_joined = false;
    for (fact::named_weight const& one : weights) {
      if (!as_one && !wanted(one.name)) continue;
      std::int64_t const out = one.fact.shape[first_dim(one.fact)];
      low_rank_half(w, one.name, one.fact, 0, {out, rank}, own_tokens, is_joined);
      is_joined = as_one;
      w.multiply(tokens, rank, out);
      shape::place const cut = one.fact.on(shape::axis::tp);
      bool const is_shared = cut.dim == 0 && cut.rest == shape::remainder::shared;
      if (is_shared && !as_one) w.share(cut.units, {out, rank}, {out, rank}, 0, input);
      if (is_shared) shared = cut, shared_rows += out;
      else other_rows += out, other_units = cut.units;
    }
    if (as_one && shared_rows > 0) w.share(shared.units, {shared_rows, rank}, {other_rows, rank}, other_units, input);
    w.frozen = outer;
  }

 private:
  lora_options options_;
};

}  // namespace redco::adapt::detail

namespace redco::adapt {

/// A frozen layer with LoRA adapters for the weights that a `lora_options` value names: the
/// config's member to which `Options` points. A weight "q.weight" [Out, In] gets "q.lora_A.weight"
/// [rank, In] and "q.lora_B.weight" [Out, rank]. A starts with uniform random values, B with zeros,
/// so training starts from the outputs of `Layer`. Linear layers, gated units, attentions and
/// experts support adapters. Experts "experts.up" [E, Out, In] get "experts.up.lora_A.weight" [E,
/// rank, In] and "experts.up.lora_B.weight" [E, Out, rank].
template <auto Options, layer Layer>
struct low_rank_adapted : layers::detail::forwarding<Layer> {
  template <class Other>
  using rebind = low_rank_adapted<Options, Other>;
  using unpaired = low_rank_adapted<Options, layers::unpaired_t<Layer>>;
  static constexpr bool unnamed = layers::is_unnamed<Layer>;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    detail::low_rank_facts const adapters(layers::extent_of<Options>(config));
    auto const outer = std::exchange(w.sides, &adapters);
    bool const outer_frozen = std::exchange(w.frozen, true);
    Layer::template facts<X>(config, w);
    w.sides = outer;
    w.frozen = outer_frozen;
  }
};

}  // namespace redco::adapt
