// Ranks along ep run forward and backward of a layer of experts whose tokens are routed uniformly.
// The first process prints planned and counted bytes of a step, and the median time of a step;
// experts.py starts the program on two hosts.

#include <redco/train.hpp>

#include <redco/nn/network.hpp>
#include <redco/nn/nn.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/cost/messages.hpp>
#include <redco/shard/facts.hpp>
#include <redco/options/launch.hpp>
#include <redco/layer/experts.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace redco;
namespace dispatch = redco::layers::dispatch;

constexpr std::int64_t width = 64, count = 8;

struct my_options {
  redco::deployer_options deployer;
  std::int64_t steps = 8, examples = 4, length = 256;
  std::string dispatch = "cdac";

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(field<"deployer">(&o::deployer, "where to run"), field<"steps">(&o::steps, "number of steps"),
                         field<"examples">(&o::examples, "examples of each rank"),
                         field<"length">(&o::length, "tokens of an example, a multiple of 8"),
                         field<"dispatch">(&o::dispatch, "cdac: sends all features; dcca: sends a quarter of them"));
  }
};

/// A layer of 8 experts, of which 2 are chosen.
template <class Dispatch>
struct layer_of_experts {
  using net = sequential<named<"moe", layers::moe<layers::experts<count, width, 16>, layers::top<2>, Dispatch>>>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, load.sequence, width}; }
};

/// Returns inputs whose token t prefers the experts t, t + 1, ... modulo 8 of a router that reads
/// the first 8 features.
at::Tensor cyclic(std::int64_t examples, std::int64_t tokens) {
  at::Tensor const t = at::arange(tokens, at::kLong).unsqueeze(1), e = at::arange(width, at::kLong).unsqueeze(0);
  return (count - (e - t).remainder(count)).to(at::kFloat).unsqueeze(0).expand({examples, tokens, width}).contiguous();
}

template <class Dispatch>
void exchange(my_options const& o) {
  using model = layer_of_experts<Dispatch>;
  redco::deployer deployer(o.deployer);
  mesh const& on = deployer.mesh();
  cost::setup const run{.mesh = on, .load = {o.examples, o.length}, .compute = deployer.compute()};
  std::int64_t planned = 0;
  for (cost::message_total const& one : cost::messages_of(cost::simulation(shard::facts_of(model{}, run.load), run)))
    if (one.over == shape::axes(shape::axis::ep)) planned += one.wire_bytes;
  deployer.run_ranks([&](rank_context& rank) {
    nn::parameter_store const store(shard::placed_parameters(plan_of(model{}, on)), rank.rank, deployer.compute(), 3);
    for (auto const& p : store.parameters())
      if (p.name == "moe.gate.weight") at::Tensor(p.value.detach()).copy_(at::eye(count, width));
    auto const net = std::make_shared<nn::network<model> const>(model{}, store, rank.rank, on);
    at::Tensor const x = cyclic(o.examples, o.length).requires_grad_();
    comm::group& ranks = rank.group(shape::axis::ep);
    std::vector<double> seconds;
    for (std::int64_t step = 0; step < o.steps; ++step) {
      rank.world.barrier();
      ranks.reset_counters();
      auto const begin = std::chrono::steady_clock::now();
      pass const in = nn::training_pass(rank, 0, step).with_examples(0, o.examples);
      bound_network<model>(net, in)(x).pow(2).sum().backward();
      rank.world.barrier();
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    if (rank.rank != 0) return;
    std::nth_element(seconds.begin(), seconds.begin() + std::ssize(seconds) / 2, seconds.end());
    std::cout << "planned " << planned << " counted " << ranks.counters()[shape::collective::all_to_all].wire_bytes
              << " seconds " << seconds[seconds.size() / 2] << std::endl;
  });
}

}  // namespace

int main(int argc, char** argv) {
  return redco::main_of<my_options>(argc, argv, [](my_options const& o) {
    if (o.dispatch == "dcca") exchange<dispatch::dcca<layers::real{0.25}>>(o);
    else exchange<dispatch::cdac>(o);
    return 0;
  });
}
