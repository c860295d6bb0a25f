#include "sharded.hpp"

#include <redco/nn/detail/routing.hpp>
#include <redco/nn/experts.hpp>
#include <redco/nn/load_balance.hpp>
#include <redco/layer/experts.hpp>
#include <redco/layer/routing_traits.hpp>
#include <redco/layer/wrappers.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// The choice of experts by routers whose scores are given: groups, biases, and padding.

namespace router_choice_test {

using redco::layers::moe, redco::layers::experts, redco::layers::top, redco::layers::real;
namespace dispatch = redco::layers::dispatch;
namespace routing = redco::layers::routing;

constexpr std::int64_t count = 4, width = 4;
template <class... Traits>
using layer = moe<experts<count, width, 6>, top<2>, dispatch::cdac, routing::balanced_by_bias<real{0.5}>, Traits...>;

template <class Layer>
struct model_of {
  using net = redco::sequential<redco::named<"moe", Layer>>;
  redco::no_config config;
  constexpr redco::extents input(redco::workload const& load) const { return {load.batch, load.sequence, width}; }
};

/// A network of one rank whose router returns its input as scores: the gate is the unit matrix.
template <class Layer>
struct transparent {
  using model = model_of<Layer>;
  redco::nn::parameter_store store;
  std::shared_ptr<redco::nn::network<model> const> net;
  redco::pass in;

  transparent(redco::rank_context const& rank, std::int64_t examples, redco::dtype compute = redco::dtype::f64)
      : store(redco::shard::placed_parameters(redco::plan_of(model{}, rank.mesh)), rank.rank, compute, 1),
        in(redco::nn::training_pass(rank).with_examples(0, examples)) {
    at::NoGradGuard const no_grad;
    for (auto const& p : store.parameters())
      if (p.name == "moe.gate.weight") at::Tensor(p.value).copy_(at::eye(count));
    net = std::make_shared<redco::nn::network<model> const>(model{}, store, rank.rank, rank.mesh);
    at::Tensor(balance().bias.master).zero_();
  }

  redco::nn::load_balance const& balance() const { return net->balances().at(0); }

  /// Returns the layer's output for the scores `x`, and sets `loads` to the tokens of each expert.
  at::Tensor operator()(at::Tensor const& x, at::Tensor const& mask = {}) {
    at::Tensor(balance().loads).zero_();
    redco::bound_network<model> const bound(net, in);
    at::Tensor const y = mask.defined() ? bound(x, redco::key_mask{mask}) : bound(x);
    loads = balance().loads.clone();
    return y;
  }

  at::Tensor loads;
};

using sharded::must;

/// Calls `f(layer())` for the layers of all functions of a router, with the traits `Traits`.
template <class... Traits, class F>
void for_each_function(F const& f) {
  f(layer<Traits...>());
  f(layer<routing::softmax_of_chosen, Traits...>());
  f(layer<routing::sigmoid, Traits...>());
}

TEST_CASE("a group of experts is rated by the sum of its two best experts, not by its best") {
  // The best expert is in the first group, and the second group has the larger sum of two.
  for_each_function<routing::group_limited<2, 1>>([]<class Layer>(Layer) {
    redco::comm::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
      transparent<Layer> own(rank, 1);
      own(at::tensor({2.0, -3.0, 1.5, 1.4}, at::kDouble).view({1, 1, count}));
      must(own.loads.equal(at::tensor({0., 0., 1., 1.}, at::kDouble)), "the second group is chosen");
    });
  });
}

TEST_CASE("biases of a router choose experts for each of its functions, and do not weigh them") {
  for_each_function([]<class Layer>(Layer) {
    redco::comm::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
      transparent<Layer> own(rank, 1);
      at::Tensor const x = at::tensor({0.4, 0.3, 0.2, 0.1}, at::kDouble).view({1, 1, count});
      at::Tensor const y = own(x).detach();
      must(own.loads.equal(at::tensor({1., 1., 0., 0.}, at::kDouble)), "the best scores are chosen");
      at::Tensor bias = own.balance().bias.master;
      bias[0].add_(50);
      bias[1].add_(50);
      must(own(x).detach().equal(y), "a bias of the chosen experts changes no weight");
      bias[3].add_(100);
      own(x);
      must(own.loads[3].template item<double>() == 1, "the biased expert is chosen");
    });
  });
}

TEST_CASE("biases of a router are centred after a step in which few experts got most tokens, in bf16 too") {
  for (redco::dtype const compute : {redco::dtype::f64, redco::dtype::bf16})
    redco::comm::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
      transparent<layer<>> own(rank, 1, compute);
      at::Tensor(own.balance().loads).copy_(at::tensor({9., 1., 1., 1.}, at::kDouble));
      redco::nn::update_biases(own.net->balances(), rank.world);
      auto const& bias = own.balance().bias;
      // One expert moves down and three up by 0.5; their mean, 0.25, is subtracted.
      at::Tensor const expected = at::tensor({-0.75, 0.25, 0.25, 0.25}, at::kDouble);
      must(bias.master.to(at::kDouble).equal(expected), "the mean of the biases is 0");
      must(bias.value.to(at::kDouble).equal(expected), "the values in the compute dtype are the new ones");
      at::Tensor const even = at::zeros({1, 1, count}, at::kDouble);
      own(even);
      must(own.loads[0].item<double>() == 0, "the next step chooses by the new biases");
    });
}

/// Returns the gradient of the input from the auxiliary loss and the sum of the output.
template <class Layer>
at::Tensor input_gradient(redco::rank_context const& rank, at::Tensor const& x, at::Tensor const& mask) {
  transparent<Layer> own(rank, x.size(0));
  at::Tensor const input = x.clone().requires_grad_();
  own(input, mask).narrow(0, 0, 2).sum().backward();
  return input.grad();
}

TEST_CASE("a sequence of padding only changes no gradient of the other sequences' balance, and no load") {
  redco::comm::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
    at::Tensor const x = at::sin(at::arange(3 * 5 * count, at::kDouble)).view({3, 5, count});
    at::Tensor const mask = at::ones({3, 5}, at::kBool);
    mask[2].fill_(false);
    auto const check = [&]<class Layer>(Layer) {
      at::Tensor const all = input_gradient<Layer>(rank, x, mask);
      at::Tensor const two = input_gradient<Layer>(rank, x.slice(0, 0, 2), mask.slice(0, 0, 2));
      must(at::allclose(all.slice(0, 0, 2), two, 1e-13, 1e-14), "the padding changes nothing");
      must(all[2].eq(0).all().template item<bool>(), "the padding has no gradient");
      transparent<Layer> own(rank, 3);
      own(x, at::zeros({3, 5}, at::kBool));
      must(own.loads.eq(0).all().template item<bool>(), "padding is not counted");
    };
    check(layer<routing::auxiliary_loss<real{0.25}>>());
    check(layer<routing::auxiliary_loss<real{0.25}>, routing::softmax_of_chosen>());
  });
}

TEST_CASE("a sequence of padding only has no gradient on ranks that have parts of the sequences") {
  redco::comm::run_ranks({.dp = 2}, {}, [&](redco::rank_context& rank) {
    at::Tensor const scores = at::sin(at::arange(3 * 5 * count, at::kDouble) + rank.rank).view({15, count});
    scores.requires_grad_();
    redco::nn::detail::routed_sequences of{3, 5};
    of.counted = at::ones({3, 5}, at::kBool);
    of.counted[2].fill_(false);
    of.ranks = &rank.world;
    redco::layers::routing_form const form{.balance = redco::layers::balance_loss::per_sequence, .coefficient = 0.25};
    redco::nn::detail::route(scores, form, 2, of).weights.mul(0).sum().backward();
    at::Tensor const gradient = scores.grad().view({3, 5, count});
    must(gradient[0].ne(0).any().item<bool>(), "the first sequence has a gradient");
    must(gradient[2].eq(0).all().item<bool>(), "the padding has no gradient");
  });
}

}  // namespace router_choice_test
