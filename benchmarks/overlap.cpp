// Steps whose gradients are summed while backward runs beside steps that sum them behind it, in turns, and beside the sum alone; one
// JSON line. It is meant for ranks in several processes, which a network joins: scripts/bench overlap.
//   overlap --mesh 2x1 --steps 7 --threads 1

#include <redco/run/deployer.hpp>
#include <redco/run/main_of.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/run/training_step.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/options/mesh_text.hpp>
#include <redco/optimizer/adamw.hpp>
#include <redco/json/value.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <vector>

namespace {

/// The demo's model and batch.
constexpr redco::gpt2 model{{.vocab = 256, .context = 256, .width = 384, .heads = 6, .layers = 6}};

struct overlap_options {
  redco::deployer_options deployer;
  std::int64_t batch = 16;
  int steps = 7;

  static constexpr auto fields() {
    using o = overlap_options;
    using redco::field;
    return redco::fields(field<"deployer">(&o::deployer),
                         field<"batch">(&o::batch, "examples of a step over all ranks"),
                         field<"steps">(&o::steps, "of each kind, behind two that do not count"));
  }
};

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2;
}

double rounded(double x) { return std::round(x * 1e4) / 1e4; }

enum kind { behind, meanwhile, alone, kinds };

/// Seconds of each turn of each kind on this rank, from where all ranks are to where they are again.
std::array<std::vector<double>, kinds> measured(redco::rank_context& rank, redco::deployer const& place,
                                                overlap_options const& o) {
  std::array<std::vector<double>, kinds> seconds;
  redco::trained_network<redco::gpt2> net(model, redco::plan_of(model, rank.mesh), redco::adamw{.lr = 3e-4},
                                          place.compute(), 42, rank.rank);
  std::int64_t const rows = o.batch / rank.mesh.size(redco::example_axes);
  at::Tensor const ids = (at::arange(rows * 257, at::kLong) * 7919 + 13 * rank.rank).remainder(251).view({rows, 257});
  redco::pass in;
  in.tp = &rank.tp;
  in.rank = &rank;
  in.training = true;
  in.examples = rows;
  for (int turn = -2; turn < o.steps; ++turn) {
    for (int i = 0; i < kinds; ++i) {
      int const now = turn % 2 == 0 ? i : kinds - 1 - i;
      rank.world.barrier();
      auto const began = std::chrono::steady_clock::now();
      if (now == alone) {
        rank.group(redco::example_axes).all_reduce(net.store.gradients());
      } else {
        redco::training_step step(net, rank, false, now == meanwhile ? place.gradient_bucket() : 0);
        step.expect_last();
        step.add(redco::cross_entropy(net.in(in)(ids.slice(1, 0, 256)), ids.slice(1, 1)));
        step.finish(turn + 2, o.steps + 2, false);
      }
      rank.world.barrier();
      std::chrono::duration<double> const took = std::chrono::steady_clock::now() - began;
      if (turn >= 0) seconds[static_cast<std::size_t>(now)].push_back(took.count());
    }
  }
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  return redco::main_of<overlap_options>(
      argc, argv, "What gradients that travel while backward runs save.", [](overlap_options const& given) {
        overlap_options o = given;
        o.deployer.overlap = true;
        redco::deployer place(o.deployer);
        place.run([&](redco::rank_context& rank) {
          auto const seconds = measured(rank, place, o);
          if (rank.rank != 0) return;
          double const off = median(seconds[behind]), on = median(seconds[meanwhile]), sum = median(seconds[alone]);
          redco::json::json_value const line = {{"mesh", redco::options::to_text(place.mesh())},
                                                {"dtype", std::string(name_of(place.compute()))},
                                                {"batch", o.batch},
                                                {"bucket_mib", o.deployer.gradient_bucket},
                                                {"steps", o.steps},
                                                {"step_s_behind", rounded(off)},
                                                {"step_s_overlapped", rounded(on)},
                                                {"speedup", rounded(off / on)},
                                                {"sum_s", rounded(sum)},
                                                {"hidden", rounded((off - on) / sum)}};
          std::cout << line.dump() << std::endl;
        });
      });
}
