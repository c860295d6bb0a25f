#pragma once

// A layer that is split over an axis without library layers: whole experts over ep, their columns
// over tp. The rest of the library knows the layer through its facts only.

#include <redco/model/model.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/fact/parameter_fact.hpp>

#include <cstdint>

namespace expert_test {

/// `Experts` experts [Width -> Hidden -> Width]. Expert i computes token i of every example, [B,
/// Experts, Width]. Each rank along ep holds some experts and has its own examples: tokens are sent
/// to the rank of their expert and back.
template <auto Experts, auto Width, auto Hidden>
struct expert_bank {
  using layer_concept = redco::layers::leaf_tag;
  template <class X>
  using out = redco::shape::partial;

  template <class X, class Config>
  static constexpr void facts(Config const& config, redco::fact::recorder& w) {
    using redco::shape::axis, redco::shape::collective, redco::layers::extent_of, redco::fact::width_kind;
    std::int64_t const experts = extent_of<Experts>(config), width = extent_of<Width>(config),
                       hidden = extent_of<Hidden>(config);
    redco::fact::parameter_fact up, down;
    up.shape = {experts, hidden, width};
    up.split(axis::ep, 0, experts).split(axis::tp, 1, hidden);
    up.start = {redco::fact::initial::kind::normal, 0.3};
    down.shape = {experts, width, hidden};
    down.split(axis::ep, 0, experts).split(axis::tp, 2, hidden);
    down.start = {redco::fact::initial::kind::normal, 0.2};
    w.expect_features(width);
    w.parameter("up", up);
    w.parameter("down", down);
    w.uncounted();
    redco::extents const shape = w.activation.shape;
    for (bool const backward : {false, true})
      w.message(collective::all_to_all, backward, shape, width_kind::compute, 2, axis::ep);
    w.produce(shape);
  }
};

/// A network with six experts between dense layers.
struct mixture {
  using net = redco::sequential<redco::named<"in", redco::layers::replicated_linear<5, 4>>, redco::layers::enter_layer,
                                redco::named<"bank", expert_bank<6, 4, 10>>,
                                redco::named<"out", redco::layers::replicated_linear<4, 3>>>;
  redco::no_config config;
  constexpr redco::extents input(redco::workload const& load) const { return {load.batch, load.sequence, 5}; }
};

}  // namespace expert_test
