#include "nn/sharded.hpp"

#include <redco/nn/convolutions.hpp>
#include <redco/nn/norms.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

// Compares batch norm with libtorch's.

namespace norms_test {

using namespace redco;
using sharded::check_module;
using sharded::distance;
using sharded::tensor_map;
using sharded::values_of;

at::Tensor images() { return values_of("images", std::vector<std::int64_t>{3, 2, 4, 5}); }

TEST_CASE("batch norm in training equals torch's in values, first and second derivatives") {
  using net = sequential<named<"c", conv2d<2, 3, 2>>, named<"n", batch_norm<3, redco::layers::real{1e-3}>>>;
  check_module<model_of<net, input<2, 4, 5>>>(images(),
                                              [](tensor_map const& p, at::Tensor const& x) {
                                                return at::batch_norm(at::conv2d(x, p.at("c.weight"), p.at("c.bias")),
                                                                      p.at("n.weight"), p.at("n.bias"), {}, {}, true,
                                                                      0.1, 1e-3, false);
                                              },
                                              {1, 2, 3}, sharded::call{}, {.training = true});
}

using alone = model_of<named<"n", batch_norm<2, redco::layers::real{1e-3}, redco::layers::real{0.3}>>, input<2, 4, 5>>;

/// A batch norm with its own parameters on one rank of a mesh.
struct rank_norm {
  redco::nn::parameter_store store;
  std::shared_ptr<redco::nn::network<alone> const> net;

  rank_norm(rank_context const& rank, dtype compute)
      : store(shard::placed_parameters(plan_of(alone{}, rank.mesh)), rank.rank, compute, 1) {
    sharded::fill(store, rank.tp_index());
    store.find("n.running_mean")->master.zero_();
    store.find("n.running_variance")->master.fill_(1);
    net = std::make_shared<redco::nn::network<alone> const>(alone{}, store, rank.rank, rank.mesh);
  }
  at::Tensor operator()(rank_context& rank, at::Tensor const& x, bool training, bool gaps = false) const {
    pass const in =
        training ? redco::nn::training_pass(rank).with_round({&rank.dp, gaps}) : redco::nn::evaluation_pass(rank);
    return bound_network<alone>(net, in)(x);
  }
};

TEST_CASE("running statistics equal torch's, and evaluation uses them") {
  at::Tensor const mean = at::zeros({2}, at::kDouble), variance = at::ones({2}, at::kDouble);
  at::Tensor const other = images() * 1.7 + 0.4;
  redco::comm::run_ranks({.dp = 1}, {}, [&](rank_context& rank) {
    rank_norm const norm(rank, dtype::f64);
    at::Tensor const weight = norm.store.find("n.weight")->value, bias = norm.store.find("n.bias")->value;
    for (at::Tensor const& x : {images(), other}) {
      at::Tensor const expected = at::batch_norm(x, weight, bias, mean, variance, true, 0.3, 1e-3, false);
      sharded::must(distance(norm(rank, x, true), expected) < 1e-12, "training");
    }
    sharded::must(distance(norm.store.find("n.running_mean")->value, mean) < 1e-12, "mean");
    sharded::must(distance(norm.store.find("n.running_variance")->value, variance) < 1e-12, "variance");
    at::Tensor const expected = at::batch_norm(images(), weight, bias, mean, variance, false, 0.3, 1e-3, false);
    sharded::must(distance(norm(rank, images(), false), expected) < 1e-12, "evaluation");
    sharded::must(distance(norm.store.find("n.running_mean")->value, mean) < 1e-12, "evaluation changes nothing");
  });
}

TEST_CASE("a recomputed block updates its running statistics once per step, as torch does") {
  using block = sequential<named<"n", batch_norm<4, redco::layers::real{1e-3}, redco::layers::real{0.3}>>,
                           named<"l", linear<4, 4>>>;
  using net = model_of<named<"h", repeat<2, residual<block>>>, input<4>>;
  at::Tensor const x = values_of("x", std::vector<std::int64_t>{5, 4});
  for (bool const recompute : {false, true}) {
    redco::comm::run_ranks({.dp = 1}, {}, [&](rank_context& rank) {
      redco::nn::parameter_store const store(shard::placed_parameters(plan_of(net{}, rank.mesh)), 0, dtype::f64, 1);
      sharded::fill(store, 0);
      auto const of = [&](std::string const& name) { return store.find(name)->value; };
      at::Tensor mean[2], variance[2];
      for (int i = 0; i < 2; ++i) {
        std::string const norm = "h." + std::to_string(i) + ".n.";
        of(norm + "running_mean").zero_(), of(norm + "running_variance").fill_(1);
        mean[i] = at::zeros({4}, at::kDouble), variance[i] = at::ones({4}, at::kDouble);
      }
      auto const bound = std::make_shared<redco::nn::network<net> const>(net{}, store, 0, rank.mesh);
      for (int step = 0; step < 3; ++step) {
        pass const in = redco::nn::training_pass(rank, 0, step, {.recompute = recompute});
        at::Tensor const batch = x * (1 + step);
        bound_network<net>(bound, in)(batch.clone().requires_grad_()).square().sum().backward();
        at::NoGradGuard const quiet;
        at::Tensor y = batch;
        for (int i = 0; i < 2; ++i) {
          std::string const at = "h." + std::to_string(i);
          y = y + at::linear(at::batch_norm(y, of(at + ".n.weight"), of(at + ".n.bias"), mean[i], variance[i], true,
                                            0.3, 1e-3, false),
                             of(at + ".l.weight"), of(at + ".l.bias"));
        }
      }
      for (int i = 0; i < 2; ++i) {
        std::string const norm = "h." + std::to_string(i) + ".n.";
        sharded::must(distance(of(norm + "running_mean"), mean[i]) < 1e-12, norm + "running_mean");
        sharded::must(distance(of(norm + "running_variance"), variance[i]) < 1e-12, norm + "running_variance");
      }
    });
  }
}

TEST_CASE("running statistics in bf16 are tracked in f32 and saved in both types") {
  redco::comm::run_ranks({.dp = 1}, {}, [&](rank_context& rank) {
    rank_norm const norm(rank, dtype::bf16);
    for (int i = 0; i < 3; ++i) norm(rank, images().to(at::kBFloat16), true);
    auto const* const mean = norm.store.find("n.running_mean");
    at::Tensor const expected = images().to(at::kBFloat16).to(at::kFloat).mean(at::IntArrayRef{0, 2, 3}) * (1 - 0.343);
    sharded::must(distance(mean->master, expected) < 1e-6, "master");
    sharded::must(mean->value.equal(mean->master.to(at::kBFloat16)), "value");
  });
}

/// Returns first and second derivatives by x of a quadratic loss of batch norm, for one part of the
/// unsplit images.
template <class Norm>
std::pair<at::Tensor, at::Tensor> derivatives(at::Tensor const& part, std::int64_t begin, Norm const& norm) {
  auto const own = [&](char const* name) {
    return values_of(name, images().sizes().vec()).narrow(0, begin, part.size(0));
  };
  at::Tensor const x = part.detach().clone().requires_grad_();
  at::Tensor const y = norm(x), loss = (y * y * own("loss") + y * own("slope")).sum();
  at::Tensor const first = torch::autograd::grad({loss}, {x}, {}, true, true)[0];
  return {first.detach(), torch::autograd::grad({(first * own("direction")).sum()}, {x})[0]};
}

TEST_CASE("batch norm over uneven replicas equals batch norm of the whole batch up to second derivatives") {
  at::Tensor const plain_weight = values_of("n.weight", std::vector<std::int64_t>{2}),
                   plain_bias = values_of("n.bias", std::vector<std::int64_t>{2});
  auto const [first, second] = derivatives(images(), 0, [&](at::Tensor const& x) {
    return at::batch_norm(x, plain_weight, plain_bias, {}, {}, true, 0.1, 1e-3, false);
  });
  redco::comm::run_ranks({.dp = 2}, {}, [&, first = first, second = second](rank_context& rank) {
    std::int64_t const begin = rank.rank == 0 ? 0 : 2, size = rank.rank == 0 ? 2 : 1;
    rank_norm const norm(rank, dtype::f64);
    auto const [one, two] =
        derivatives(images().narrow(0, begin, size), begin, [&](at::Tensor const& x) { return norm(rank, x, true); });
    sharded::must(distance(one, first.narrow(0, begin, size)) < 1e-12, "first derivatives");
    sharded::must(distance(two, second.narrow(0, begin, size)) < 1e-12, "second derivatives");
  });
}

TEST_CASE("a replica without a micro-batch sits out the round of the other replicas") {
  at::Tensor const plain_weight = values_of("n.weight", std::vector<std::int64_t>{2}),
                   plain_bias = values_of("n.bias", std::vector<std::int64_t>{2});
  at::Tensor const own = images().narrow(0, 0, 1);
  auto const [first, second] = derivatives(own, 0, [&](at::Tensor const& x) {
    return at::batch_norm(x, plain_weight, plain_bias, {}, {}, true, 0.1, 1e-3, false);
  });
  redco::comm::run_ranks({.dp = 3}, {}, [&, first = first, second = second](rank_context& rank) {
    comm::replica_round const round{&rank.dp, true};
    if (rank.rank != 1) return round.sit_out();
    rank_norm const norm(rank, dtype::f64);
    auto const [one, two] = derivatives(own, 0, [&](at::Tensor const& x) { return norm(rank, x, true, true); });
    round.finish();
    sharded::must(distance(one, first) < 1e-12, "first derivatives");
    sharded::must(distance(two, second) < 1e-12, "second derivatives");
  });
}

TEST_CASE("the messages of batch norm between replicas are in the plan") {
  for (bool const recompute : {false, true}) {
    auto const planned =
        redco::cost::cost_of(alone{}, sgd{}, {.mesh = {.dp = 2}, .load = {3, 2}, .recompute = recompute})
            .messages[cost::messages::statistics];
    redco::comm::run_ranks({.dp = 2}, {}, [&](rank_context& rank) {
      rank_norm const norm(rank, dtype::f32);
      norm(rank, images().to(at::kFloat).requires_grad_(), true).sum().backward();
      auto const& sent = rank.dp.counters()[redco::shape::collective::all_reduce];
      sharded::must(sent.calls == planned.calls && sent.calls == 3, "calls");
      sharded::must(sent.payload_bytes == planned.payload_bytes && sent.wire_bytes == planned.wire_bytes, "bytes");
    });
  }
}

}  // namespace norms_test
