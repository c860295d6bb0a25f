#include "nn/sharded.hpp"

#include "operator_count.hpp"

#include <redco/kernel/cpu/small_product.hpp>
#include <redco/tensor/kernel_set.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// Gradient steps of a small network: to substituted parameters, with constant parameters, and their
// cost.

namespace small_steps_test {

using namespace redco;
using tensor_list = std::vector<at::Tensor>;

struct small {
  using net = sequential<linear<2, 12>, relu, linear<12, 12>, relu, linear<12, 1>>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, 2}; }
};

struct small_of_tanh {
  using net = sequential<linear<2, 12>, tanh_layer, linear<12, 12>, tanh_layer, linear<12, 1>>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, 2}; }
};

at::Tensor inputs(std::int64_t rows, double phase, at::ScalarType type) {
  return sharded::values_of("x", std::vector<std::int64_t>{rows, 2}).add(phase).sin().to(type);
}

/// Calls f(network, store) on the only rank of a world, in this dtype.
template <model M = small>
void with_network(
    dtype compute, std::vector<std::string> const& frozen,
    std::type_identity_t<std::function<void(bound_network<M> const&, redco::nn::parameter_store const&)>> const& f) {
  redco::comm::run_ranks(mesh{}, {}, [&](rank_context& rank) {
    redco::nn::parameter_store const store(shard::placed_parameters(plan_of(M{}, rank.mesh)), rank.rank, compute, 5,
                                           frozen);
    sharded::fill(store, 0);
    pass in;
    in.tp = &rank.tp;
    in.rank = &rank;
    in.training = true;
    f(bound_network<M>(make_network(M{}, store, rank.rank, rank.mesh), in), store);
  });
}

at::Tensor error(at::Tensor const& y) { return (y - 0.3).square().mean(); }

/// Returns the result of `stepped`, computed by ATen's operators.
bound_network<small> stepped_by_hand(bound_network<small> const& net, at::Tensor const& loss, double rate) {
  tensor_list next = net.parameters();
  auto const g = torch::autograd::grad({loss}, next, {}, true, true);
  for (std::size_t i = 0; i < next.size(); ++i) next[i] = next[i] - rate * g[i];
  return net.substituted(next);
}

TEST_CASE("a stepped network has the meta-gradients of a step by operators, over two steps") {
  tensor_list found, expected;
  with_network(dtype::f64, {}, [&](bound_network<small> const& net, redco::nn::parameter_store const&) {
    auto const x = inputs(6, 0.1, at::kDouble), asked = inputs(7, 0.9, at::kDouble);
    auto const meta = [&](auto const& step) {
      auto const once = step(net, error(net(x)), 0.2), twice = step(once, error(once(x)), 0.2);
      return torch::autograd::grad({error(twice(asked))}, net.parameters());
    };
    found = meta([](auto const& from, at::Tensor const& loss, double rate) { return from.stepped(loss, rate); });
    kernel::cpu::forced_small_work const none(0);
    expected = meta(stepped_by_hand);
  });
  REQUIRE(found.size() == 6);
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(at::allclose(found[i], expected[i], 1e-12, 1e-14));
}

TEST_CASE("a network of tanh has one node per linear map and the meta-gradients of operators") {
  operator_count::totals call, back;
  tensor_list found, expected;
  with_network<small_of_tanh>(
      dtype::f64, {}, [&](bound_network<small_of_tanh> const& net, redco::nn::parameter_store const&) {
        auto const x = inputs(6, 0.1, at::kDouble), asked = inputs(7, 0.9, at::kDouble);
        at::Tensor y;
        {
          operator_count const count;
          y = net(x);
          call = count.all();
        }
        {
          operator_count const count;
          torch::autograd::grad({y}, net.parameters(), {inputs(6, 0.4, at::kDouble).narrow(1, 0, 1)});
          back = count.all();
        }
        auto const meta = [&] {
          return torch::autograd::grad({error(net.stepped(error(net(x)), 0.2)(asked))}, net.parameters());
        };
        found = meta();
        redco::tensors::forced_kernel_set const reference(redco::tensors::kernel_set::composed);
        expected = meta();
      });
  CHECK(call.operators == std::map<std::string, int>{});
  CHECK(back.nodes == std::map<std::string, int>{{"fused_linear", 3}});
  REQUIRE(found.size() == 6);
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(at::allclose(found[i], expected[i], 1e-12, 1e-14));
}

TEST_CASE("a stepped network keeps its frozen parameters") {
  std::vector<bool> same, moved;
  with_network(dtype::f32, {"2.*"}, [&](bound_network<small> const& net, redco::nn::parameter_store const&) {
    auto const next = net.stepped(error(net(inputs(6, 0.1, at::kFloat))), 0.2);
    for (std::size_t i = 0; i < net.parameters().size(); ++i) {
      same.push_back(next.parameters()[i].is_same(net.parameters()[i]));
      moved.push_back(!next.parameters()[i].equal(net.parameters()[i]));
    }
  });
  CHECK(same == std::vector<bool>{false, false, true, true, false, false});
  CHECK(moved == std::vector<bool>{true, true, false, false, true, true});
}

TEST_CASE("a fixed network gives the same values, gradients to its input alone, and makes its constants once") {
  at::Tensor own, fixed, g_own, g_fixed;
  bool recorded = true, once = false, substituted = true;
  with_network(dtype::f32, {}, [&](bound_network<small> const& net, redco::nn::parameter_store const& store) {
    auto const x = inputs(6, 0.1, at::kFloat).requires_grad_();
    own = net(x), fixed = net.fixed()(x);
    g_own = torch::autograd::grad({own.sum()}, {x})[0], g_fixed = torch::autograd::grad({fixed.sum()}, {x})[0];
    store.gradients().zero_();
    net.fixed()(x).sum().backward();
    recorded = store.gradients().count_nonzero().item<std::int64_t>() > 0;
    once = net.fixed().parameters()[0].is_same(net.fixed().parameters()[0]);
    auto const next = net.stepped(error(net(x.detach())), 0.2);
    substituted = next.fixed().parameters()[0].requires_grad() ||
                  !next.fixed().parameters()[0].equal(next.parameters()[0].detach());
  });
  CHECK(own.equal(fixed));
  CHECK(g_own.equal(g_fixed));
  CHECK(!recorded);
  CHECK(once);
  CHECK(!substituted);
}

struct seen_layers final : redco::nn::layer_watch {
  std::vector<double> lowest;  ///< lowest value of each layer's output, except of pending sums
  void call(at::Tensor const&, pass const&) override {}
  void enter(std::string_view, activation const&) override {}
  void leave(activation const& y) override {
    if (y.local.defined()) lowest.push_back(y.local.min().item<double>());
  }
};

TEST_CASE("a watch of layers sees the input of a relu that follows a linear map") {
  seen_layers watch;
  at::Tensor unseen, seen;
  with_network(dtype::f32, {}, [&](bound_network<small> const& net, redco::nn::parameter_store const&) {
    auto const x = inputs(6, 0.1, at::kFloat);
    pass in = net.pass();
    in.layers = &watch;
    seen = net.in(in)(x), unseen = net(x);
  });
  REQUIRE(watch.lowest.size() == 3);  // the first layer, the last layer, the network
  CHECK(watch.lowest[0] < 0);
  CHECK(seen.equal(unseen));
}

TEST_CASE("a step of a small network takes exactly the expected operators and nodes") {
  using counts = std::map<std::string, int>;
  operator_count::totals call, inner, outer;
  int constant = -1;
  with_network(dtype::f32, {}, [&](bound_network<small> const& net, redco::nn::parameter_store const&) {
    auto const x = inputs(6, 0.1, at::kFloat), g = at::ones({6, 1});
    at::Tensor y;
    {
      operator_count const count;
      y = net(x);
      call = count.all();
    }
    {
      operator_count const count;
      net.fixed();
      constant = count.operators();
    }
    at::Tensor const loss = at::mse_loss(y, g);
    bound_network<small> next = net;
    {
      operator_count const count;
      next = net.stepped(loss, 0.1);
      inner = count.all();
    }
    y = next(x);
    operator_count const count;
    y.backward(g);
    outer = count.all();
  });
  CHECK(call.operators == counts{});
  CHECK(call.nodes == counts{});
  CHECK(constant == 0);
  CHECK(inner.nodes == counts{{"MseLossBackward0", 1}, {"fused_linear", 3}});
  CHECK(outer.nodes == counts{{"MseLossBackwardBackward0", 1},
                              {"gradient_step", 1},
                              {"fused_linear", 6},
                              {"fused_linear_gradients", 3},
                              {"torch::autograd::AccumulateGrad", 6}});
}

}  // namespace small_steps_test
