#include "walls/training.hpp"

#include <redco/optimizer/optimizers.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

// Second-order MAML (Finn et al. 2017) on sinusoids: the outer gradient passes through the inner
// gradients, which pass through split layers and hand-written kernels.

namespace {

using namespace redco;

struct sinusoids {
  using net = sequential<
      named<"in", redco::layers::replicated_linear<1, 12>>,
      residual<sequential<named<"n1", layer_norm<12>>, named<"attention", full_attention<12, 4, key_value_heads<2>>>>>,
      residual<
          sequential<named<"n2", layer_norm<12>>, named<"up", linear<12, 20>>, gelu, named<"down", linear<20, 12>>>>,
      named<"out", redco::layers::replicated_linear<12, 1>>>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, 6, 1}; }
};

/// The points [1, 6, 1] of task i: amplitude sin(x + phase).
struct points {
  at::Tensor x, y;
};
points points_of(std::int64_t task, double shift) {
  auto const i = static_cast<double>(task);
  at::Tensor const x = at::linspace(-2.5, 2.2, 6, at::kDouble).add(shift + 0.1 * i).view({1, 6, 1});
  return {x, at::sin(x + 0.7 * i) * (1 + 0.3 * i)};
}

at::Tensor squared_error(at::Tensor const& found, at::Tensor const& wanted) { return (found - wanted).square().mean(); }

/// Returns the loss after two inner steps, summed over tasks.
template <class Net>
mean adapted_loss(Net const& net, walls::share const& tasks, bool second_order = true) {
  at::Tensor sum = at::zeros({}, at::kDouble);
  for (std::int64_t task = tasks.begin; task < tasks.end; ++task) {
    points const seen = points_of(task, 0), asked = points_of(task, 0.4);
    std::vector<at::Tensor> fast = net.parameters();
    for (int inner = 0; inner < 2; ++inner) {
      at::Tensor const loss = squared_error(net.substituted(fast)(seen.x), seen.y);
      auto const gradients = torch::autograd::grad({loss}, fast, {}, true, second_order);
      for (std::size_t i = 0; i < fast.size(); ++i) fast[i] = fast[i] - 0.1 * gradients[i];
    }
    sum = sum + squared_error(net.substituted(fast)(asked.x), asked.y);
  }
  return {sum, static_cast<double>(tasks.size())};
}

constexpr std::int64_t tasks = 3;

/// Four shards hold two key-value heads, so neighbours share one.
std::vector<mesh> const maml_meshes{{.dp = 2}, {.tp = 2}, {.tp = 4}};

/// The gradient of the summed loss of all tasks. For one rank, also central differences of some
/// elements of each parameter.
struct meta_gradient {
  sharded::tensor_map gradient;
  std::map<std::string, double> worst;
};
meta_gradient meta_gradient_on(mesh const& on, bool second_order, bool differences) {
  meta_gradient result;
  sharded::whole_tensors whole;
  redco::comm::run_ranks(on, {}, [&](rank_context& rank) {
    redco::run::trained_network<sinusoids> const state({}, plan_of(sinusoids{}, on), adamw{}, dtype::f64, 5, rank.rank,
                                                       {});
    sharded::fill(state.store, rank.tp_index());
    walls::share const mine = walls::share_of(tasks, rank);
    pass const in = walls::pass_of(rank, mine, 0);
    bound_network<sinusoids> const net(state.net, in);
    adapted_loss(net, mine, second_order).sum.backward();
    rank.dp.all_reduce(state.store.gradients());
    if (rank.dp_index() == 0)
      for (auto const& p : state.store.parameters()) whole.add(p, p.gradient.clone(), rank.tp_index());
    if (!differences) return;
    for (auto const& p : state.store.parameters()) {
      at::Tensor const value = p.value.view({-1});
      for (std::int64_t const at : {std::int64_t{0}, value.numel() / 3, value.numel() - 1}) {
        auto const moved = [&](double by) {
          value.data_ptr<double>()[at] += by;
          double const loss = adapted_loss(net, mine).sum.item<double>();
          value.data_ptr<double>()[at] -= by;
          return loss;
        };
        double const expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        double const found = p.gradient.view({-1})[at].item<double>();
        double& worst = result.worst[p.name];
        worst = std::max(worst, std::abs(found - expected) / (1 + std::abs(expected)));
      }
    }
  });
  result.gradient = whole.all();
  return result;
}

}  // namespace

TEST_CASE("MAML: second-order gradients through sharded layers and own kernels agree with central differences") {
  auto const one = meta_gradient_on({.dp = 1}, true, true);
  for (auto const& [name, worst] : one.worst) {
    INFO(name);
    CHECK(worst < 1e-7);
  }
  auto const first_order = meta_gradient_on({.dp = 1}, false, false);
  CHECK(sharded::distance(first_order.gradient.at("up.weight"), one.gradient.at("up.weight")) > 1e-3);
  for (mesh const& shape : maml_meshes) {
    INFO("mesh " << walls::name_of(shape));
    for (auto const& [name, gradient] : meta_gradient_on(shape, true, false).gradient) {
      INFO(name);
      CHECK(sharded::distance(gradient, one.gradient.at(name)) < 1e-11);
    }
  }
}

TEST_CASE("MAML learns the same on every mesh") {
  auto const one = walls::check_meshes(
      sinusoids{}, adamw{.lr = 5e-3}, {.steps = 12, .examples = tasks},
      [](auto const& net, walls::share const& mine, int) { return adapted_loss(net, mine); }, maml_meshes);
  CHECK(one.losses.back() < 0.9 * one.losses.front());
}
