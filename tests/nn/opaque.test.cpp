// Only this file includes torch::nn, as a user's program may, and it does so before Catch2
// (torch_catch.hpp).
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include "torch_catch.hpp"

#include <redco/nn/network.hpp>
#include <redco/nn/opaque.hpp>
#include <redco/nn/sequential.hpp>
#include <redco/nn/wrappers.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/report/report_text.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/shard/plan.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <cmath>
#include <map>
#include <mutex>
#include <string>

namespace opaque_test {

struct owner : torch::nn::Module {
  torch::nn::Linear fc = register_module("fc", torch::nn::Linear(5, 4));
  torch::nn::LayerNorm norm = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({4})));
  at::Tensor shift = register_parameter("shift", at::arange(4, at::kFloat) - 1.5);

  at::Tensor forward(at::Tensor const& x) { return norm(fc(x)) + shift; }
};
using net = redco::sequential<redco::named<"mine", redco::opaque<owner>>, redco::named<"twin", redco::opaque<owner>>>;
using alone = redco::model_of<redco::sequential<redco::named<"mine", redco::opaque<owner>>>>;

using values = std::map<std::string, at::Tensor>;

/// Returns the initial parameters, which must be equal on all ranks, and the output for x, if x is
/// defined.
template <class Model>
values started(redco::mesh const& on, redco::dtype compute, std::uint64_t seed, at::Tensor const& x = {}) {
  values all;
  std::mutex mutex;
  redco::comm::run_ranks(on, {}, [&](redco::rank_context& rank) {
    redco::nn::parameter_store const store(redco::shard::placed_parameters(redco::plan_of(Model{}, on)), rank.rank,
                                           compute, seed);
    auto const built = std::make_shared<redco::nn::network<Model> const>(Model{}, store, rank.rank, on);
    redco::pass const in = redco::nn::evaluation_pass(rank);
    std::lock_guard const lock(mutex);
    for (auto const& p : store.parameters()) {
      auto const [at, first] = all.emplace(p.name, p.master.clone());
      if (!first && !at->second.equal(p.master))
        throw std::runtime_error("does not hold: " + p.name + " is alike on all ranks");
    }
    if (x.defined()) all["y"] = redco::bound_network<Model>(built, in)(x).detach();
  });
  return all;
}

TEST_CASE("a torch module keeps the values that its constructor gave it, on every mesh") {
  auto const one = started<redco::model_of<net>>({.dp = 1}, redco::dtype::f32, 11);
  CHECK(one.at("mine.norm.weight").equal(at::ones({4})));
  CHECK(one.at("mine.norm.bias").equal(at::zeros({4})));
  CHECK(one.at("mine.shift").equal(at::arange(4, at::kFloat) - 1.5));
  // torch draws uniformly up to 1 / sqrt(inputs).
  CHECK(one.at("mine.fc.weight").abs().max().item<double>() <= 1 / std::sqrt(5.0));
  CHECK(one.at("mine.fc.weight").std().item<double>() == Approx(1 / std::sqrt(15.0)).epsilon(0.4));
  CHECK(one.at("mine.fc.bias").ne(0).all().item<bool>());
  CHECK_FALSE(one.at("mine.fc.weight").equal(one.at("twin.fc.weight")));
  for (redco::mesh const& on : {redco::mesh{.dp = 2}, {.tp = 2}, {.dp = 2, .tp = 2}})
    for (auto const& [name, value] : started<redco::model_of<net>>(on, redco::dtype::f32, 11)) {
      INFO(name);
      CHECK(value.equal(one.at(name)));
    }
  CHECK_FALSE(started<redco::model_of<net>>({.dp = 1}, redco::dtype::f32, 12)
                  .at("mine.fc.weight")
                  .equal(one.at("mine.fc.weight")));
  CHECK(started<redco::model_of<net>>({.dp = 1}, redco::dtype::bf16, 11)
            .at("mine.fc.weight")
            .equal(one.at("mine.fc.weight")));
}

TEST_CASE("a torch module computes its usual result, and its construction does not move torch's generator") {
  at::Tensor const x = at::linspace(-1, 1, 15).view({3, 5});
  torch::manual_seed(5);
  auto const ours = started<alone>({.dp = 1}, redco::dtype::f32, 3, x);
  at::Tensor const drawn = at::rand({3});
  torch::manual_seed(5);
  CHECK(drawn.equal(at::rand({3})));
  owner theirs;
  torch::NoGradGuard const quiet;
  for (auto& p : theirs.named_parameters()) p.value().copy_(ours.at("mine." + p.key()));
  CHECK(at::allclose(theirs.forward(x), ours.at("y")));
}

TEST_CASE("a torch module keeps parameter values that were set before its construction") {
  alone const model{};
  redco::comm::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
    redco::nn::parameter_store const store(redco::shard::placed_parameters(redco::plan_of(model, rank.mesh)), 0,
                                           redco::dtype::f64, 1);
    {
      torch::NoGradGuard const quiet;
      store.find("mine.shift")->master.fill_(7);
    }
    redco::nn::network<alone> const first(model, store, 0, rank.mesh), second(model, store, 0, rank.mesh);
    if (!store.find("mine.shift")->value.eq(7).all().item<bool>())
      throw std::runtime_error("does not hold: loaded values stay");
  });
}

TEST_CASE("the cost of an opaque layer is not counted, and the report says so") {
  std::string const text =
      redco::report_text(redco::report_of(redco::model_of<net>{}, redco::sgd{}, {.mesh = {.dp = 1}, .load = {3, 5}}));
  INFO(text);
  CHECK(text.find("twin                not counted\n") != std::string::npos);
  CHECK(text.find("replicated: an opaque layer is data parallel only") != std::string::npos);
  auto const line = [&](std::string const& start) {
    auto const at = text.find("\n  " + start);
    return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  };
  CHECK(line("peak").find("without the layers that are not counted") != std::string::npos);
  CHECK(line("matrix products").find("without the layers that are not counted") != std::string::npos);
}

}  // namespace opaque_test
