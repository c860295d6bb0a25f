#pragma once

#include <redco/layer/activations.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/routing_traits.hpp>
#include <redco/layer/tree.hpp>
#include <redco/fact/event.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/path.hpp>
#include <redco/fact/program.hpp>
#include <redco/fact/recorder.hpp>
#include <redco/fact/side_products.hpp>

#include <cstdint>
#include <type_traits>

namespace redco::layers {

/// The sizes of a `moe` layer for a model's config.
struct expert_sizes {
  std::int64_t experts = 1;
  std::int64_t chosen = 1;  ///< Number of experts per token
  std::int64_t width = 1;
  std::int64_t hidden = 1;
  std::int64_t sent = 1;  ///< Number of features that are sent to experts and back
  activation_kind activation = activation_kind::silu;
  bool gated = true;
  routing_form routing = {};
};

}  // namespace redco::layers

namespace redco::layers::detail {

/// Tag of `moe` layers, which has_experts searches in a layer tree.
struct expert_layer {};

template <class Dispatch, class X>
struct moe_out {
  using result = std::conditional_t<Dispatch::descends, X, shape::partial>;
  using type = typename takes<needs::features_alike, X, result>::type;
};

/// Returns the weights of all experts that read the layer's features (`is_first`), or of those that
/// return them.
constexpr fact::parameter_fact expert_weight(expert_sizes const& s, bool is_first) {
  fact::parameter_fact weight;
  weight.shape = is_first ? extents{s.experts, s.hidden, s.sent} : extents{s.experts, s.sent, s.hidden};
  weight.start = {fact::initial::kind::normal, fan_in_deviation(weight.shape[2])};
  weight.split(shape::axis::ep, 0, s.experts).split(shape::axis::tp, is_first ? 1 : 2, s.hidden);
  weight.why = fact::reason::expert;
  return weight;
}

/// Declares to the recorder `w` the parameters of a layer of experts.
constexpr void expert_parameters(fact::recorder& w, expert_sizes const& s, bool descends) {
  fact::parameter_fact gate;
  gate.shape = {s.experts, s.width};
  gate.start = {fact::initial::kind::normal, fan_in_deviation(s.width)};
  gate.why = fact::reason::router;
  w.parameter("gate.weight", gate);
  if (s.routing.bias_rate != 0) {
    fact::parameter_fact bias;
    bias.shape = {s.experts};
    bias.trained = bias.decay = false;
    bias.why = fact::reason::router;
    w.parameter("gate.bias", bias);
  }
  if (s.gated) w.parameter("experts.gate", expert_weight(s, true));
  w.parameter("experts.up", expert_weight(s, true));
  w.parameter("experts.down", expert_weight(s, false));
  if (!descends) return;
  fact::parameter_fact descend, ascend;
  descend.shape = {s.sent, s.width};
  descend.start = {fact::initial::kind::normal, fan_in_deviation(s.width)};
  ascend.shape = {s.width, s.sent};
  ascend.start = {fact::initial::kind::normal, fan_in_deviation(s.sent)};
  descend.why = ascend.why = fact::reason::declared;
  w.parameter("descend.weight", descend);
  w.parameter("ascend.weight", ascend);
}

/// Declares to the recorder `w` the tensors that the router of a layer of experts saves.
constexpr void routing_facts(fact::recorder& w, expert_sizes const& s, std::int64_t tokens) {
  using fact::width_kind;
  routing_form const& r = s.routing;
  extents const chosen{tokens, s.chosen};
  w.save("input");
  w.multiply(tokens, s.width, s.experts);
  w.save("experts", chosen, -1, width_kind::index);
  bool const late = r.function == router_function::softmax_of_chosen,
             balances = r.balance != balance_loss::none && r.coefficient != 0;
  if (!late || balances) w.save("probabilities", {tokens, s.experts}, -1, width_kind::accumulate);
  if (late ? balances || r.scale != 1 : r.normalised) w.save("chosen", chosen, -1, width_kind::accumulate);
  if (r.normalised && !late) w.save("totals", {tokens, 1}, -1, width_kind::accumulate);
  if (!balances) return;
  std::int64_t const groups = w.activation.shape[0];
  if (w.sequences.parts > 1) {
    w.message_when_recorded({groups, s.experts + 1}, shape::axis::cp);
    bool const has_padding = w.sequences.parts * w.activation.shape[1] != w.sequences.whole;
    if (has_padding) w.save("counted", {tokens, 1}, -1, width_kind::accumulate);
  }
  w.save("balance", {groups, s.experts}, -1, width_kind::accumulate);
}

/// Declares to the recorder `w` what the experts save, multiply and send for the rows of all
/// tokens. Numbers of rows are those of equal loads: the real ones follow from the routing. The
/// activation is `reads`, of which each row is sent to `s.chosen` experts.
constexpr void expert_row_facts(fact::recorder& w, expert_sizes const& s, std::int64_t tokens) {
  using shape::collective, fact::width_kind;
  std::int64_t const rows = shape::saturating_multiply(tokens, s.chosen), ins = s.gated ? 2 * s.hidden : s.hidden;
  extents const sent{rows, s.sent}, inner{rows, s.hidden};
  w.save("slots", {rows}, -1, width_kind::index);
  for (bool const backward : {false, true})
    w.message(collective::all_to_all, backward, sent, width_kind::compute, 2, shape::axis::ep);
  w.save("rows", sent, -1, width_kind::compute);
  w.multiply(rows, s.sent, ins);
  fact::named_weight const gate{"experts.gate", expert_weight(s, true)}, up{"experts.up", gate.fact};
  fact::flow const input{sent, -1, 0, w.activation.id}, hidden{inner, 1, s.hidden, w.activation.id};
  s.gated ? fact::state_side_products(w, input, {gate, up}) : fact::state_side_products(w, input, {up});
  if (s.gated) w.save("gate_and_up", {rows, ins}, 1, width_kind::compute, s.hidden);
  else if (!keeps_output(s.activation)) w.save("up", {rows, ins}, 1, width_kind::compute, s.hidden);
  w.save("activated", {rows, s.hidden}, 1, width_kind::compute, s.hidden);
  w.multiply(rows, s.hidden, s.sent);
  fact::state_side_products(w, hidden, {{"experts.down", expert_weight(s, false)}});
  w.save("results", sent, -1, width_kind::compute);
  w.save("weights", {tokens, s.chosen}, -1, width_kind::accumulate);
}

/// Declares to the recorder `w` the backward of the experts, which reads gradients of `rows` rows.
constexpr void expert_backward_facts(fact::recorder& w, expert_sizes const& s, fact::flow const& input,
                                     std::int64_t rows) {
  std::int64_t const ins = s.gated ? 2 * s.hidden : s.hidden;
  w.backward(input);
  w.workspace("gradient_of_results", {{rows, s.sent}, -1, 0, -1});
  w.workspace("gradient_of_hidden", {{rows, ins}, 1, s.hidden, -1});
  w.weight_gradient({s.experts, ins, s.sent}, 1, s.hidden);
}

}  // namespace redco::layers::detail

namespace redco::layers {

/// A mixture of experts (Shazeer et al. 2017): `moe<experts<64, width, ffn>, top<8>>`. A router
/// chooses experts for each token; the result is the weighted sum of their results. No token is
/// dropped. `Dispatch` is dispatch::cdac or dispatch::dcca<ratio>, `Traits` are options of the
/// router (namespace layers::routing). Each rank along the mesh axis ep holds some of the experts,
/// to which the other ranks send tokens. Along tp, the hidden features of each expert are split.
/// `sum<moe<...>, shared>` adds a shared expert.
template <class Experts, class Top, class Dispatch = dispatch::cdac, routing_trait... Traits>
struct moe : detail::expert_layer {
  using layer_concept = leaf_tag;
  using dispatch_kind = Dispatch;
  static constexpr bool by_token = true;

  template <class X>
  using out = typename detail::moe_out<Dispatch, X>::type;

  /// Returns the sizes of the layer for a model's config.
  template <class Config>
  static constexpr expert_sizes sizes(Config const& config) {
    expert_sizes s{.experts = extent_of<Experts::count>(config),
                   .chosen = extent_of<Top::count>(config),
                   .width = extent_of<Experts::width>(config),
                   .hidden = extent_of<Experts::hidden>(config),
                   .activation = extent_of<Experts::activation>(config),
                   .gated = extent_of<Experts::gated>(config)};
    s.sent = s.width;
    if constexpr (Dispatch::descends)
      s.sent = static_cast<std::int64_t>(
          static_cast<double>(extent_of<Dispatch::ratio>(config)) * static_cast<double>(s.width) + 0.5);
    (Traits::apply(config, s.routing), ...);
    return s;
  }

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    expert_sizes const s = checked(sizes(config), w);
    w.expect_features(s.width);
    if constexpr (redco::shape::is_token_split<X>) {
      w.message(redco::shape::collective::all_gather, false, w.activation.shape);
      w.produce(w.activation.shape, -1, 0, fact::making::collective);
    }
    fact::flow const input = w.activation;
    extents const shape = input.shape;
    std::int64_t const tokens = shape.count() / s.width;
    detail::expert_parameters(w, s, Dispatch::descends);
    detail::routing_facts(w, s, tokens);
    extents sent = shape;
    sent[-1] = s.sent;
    if constexpr (Dispatch::descends) {
      w.multiply(tokens, s.width, s.sent);
      w.produce(sent);
      w.backward(input);
      w.weight_gradient({s.sent, s.width}, -1, 0);
    }
    fact::flow const reads = w.activation;
    w.enter(reads);
    w.message(redco::shape::collective::all_reduce, true, {tokens, s.chosen}, fact::width_kind::accumulate);
    detail::expert_row_facts(w, s, tokens);
    w.produce(sent);
    detail::expert_backward_facts(w, s, reads, tokens * s.chosen);
    if constexpr (Dispatch::descends) {
      fact::detail::finish_facts<redco::shape::partial, X>(w);
      fact::flow const combined = w.activation;
      w.save("combined");
      fact::shared_parameter_facts<X>(w, {s.width, s.sent});
      w.multiply(tokens, s.sent, s.width);
      w.produce(shape, combined.split_dim, combined.units);
      w.backward(combined);
      w.weight_gradient({s.width, s.sent}, -1, 0);
    }
  }

 private:
  /// Records mistakes in the sizes, and returns sizes with which recording can continue.
  static constexpr expert_sizes checked(expert_sizes s, fact::recorder& w) {
    constexpr auto wrong = fact::mistake::experts;
    s.width = w.size("features", s.width);
    s.hidden = w.size("hidden features of an expert", s.hidden);
    s.chosen = w.size("chosen experts", s.chosen);
    s.experts = w.size("experts, of which it chooses more", s.experts, s.chosen, wrong);
    if constexpr (Dispatch::descends) {
      s.sent = w.size("descended features", s.sent, 1, wrong);
      w.size("features, of which descending must leave fewer", s.width, s.sent + 1, wrong);
    }
    s.routing.groups = w.size("groups of experts", s.routing.groups);
    s.routing.chosen_groups = w.size("chosen groups of experts", s.routing.chosen_groups);
    s.routing.groups =
        w.size("groups of experts, of which it chooses more", s.routing.groups, s.routing.chosen_groups, wrong);
    w.multiple("experts", s.experts, "groups", s.routing.groups);
    return s;
  }
};

}  // namespace redco::layers

namespace redco::layers::detail {

struct is_expert_layer {
  template <class L, fact::path>
  static constexpr bool holds = std::is_base_of_v<expert_layer, L>;
};

}  // namespace redco::layers::detail

namespace redco::layers {

/// True if the layer tree `Net` contains a `moe` layer, whose tokens are sent along the mesh axis
/// ep.
template <layer Net>
inline constexpr bool has_experts = any_layer<Net, detail::is_expert_layer>;

}  // namespace redco::layers
