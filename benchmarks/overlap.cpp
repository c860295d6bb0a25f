// Measures steps whose messages overlap compute, steps whose messages do not, and the messages
// alone, in turns. Prints one JSON line. Meant for ranks in several processes that a network joins:
// scripts/bench overlap.
//   overlap --mesh 2x1 --steps 7 --threads 1

#include "timing.hpp"

#include <redco/run/deployer.hpp>
#include <redco/run/main_of.hpp>
#include <redco/run/network_state.hpp>
#include <redco/run/step.hpp>
#include <redco/run/step_work.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/replica_round.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/cost/machine_file.hpp>
#include <redco/cost/step_time.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/options/launch.hpp>
#include <redco/options/value_text.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/shape/zero.hpp>

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

/// Model and batch of the demo.
constexpr redco::gpt2 whole{{.vocab = 256, .context = 256, .width = 384, .heads = 6, .layers = 6}};
constexpr redco::models::sequence_parallel<redco::gpt2> by_tokens{whole.config};

struct overlap_options {
  redco::deployer_options deployer;
  std::int64_t batch = 16;
  int steps = 7;
  bool split_tokens = false;
  std::filesystem::path machine;

  static constexpr auto fields() {
    using o = overlap_options;
    using redco::field;
    return redco::fields(
        field<"deployer">(&o::deployer, "where to run"),
        field<"batch">(&o::batch, "examples of a step over all ranks").at_least(1),
        field<"steps">(&o::steps, "steps of each kind, after two that do not count").at_least(1),
        field<"split_tokens">(&o::split_tokens,
                              "splits the activations between blocks by tokens over the model shards"),
        field<"machine">(&o::machine, "file of redco-calibrate; prints predictions next to measurements"));
  }
};

double rounded(double x) { return std::round(x * 1e4) / 1e4; }

/// Kinds of steps: messages before or after compute, messages that overlap compute, messages alone.
enum kind { sequential, overlapped, alone, kinds };

redco::cost::setup setup_of(redco::deployer const& where, overlap_options const& o, kind how) {
  redco::cost::setup run{.mesh = where.mesh(), .load = {o.batch / where.mesh().size(redco::shape::batch_axes), 256}};
  run.zero.level = where.options().zero;
  run.zero.overlaps = how == overlapped && run.zero.level > 1;
  run.compute = where.compute();
  run.hosts = redco::options::launched().processes;
  if (how == overlapped) run.zero.bucket = where.gradient_bucket();
  run.overlap_shards = how == overlapped && where.overlaps_shards();
  return run;
}

/// Sends the messages of a step between the ranks, without the compute of the step.
void exchange(redco::rank_context& rank, redco::cost::messages const& all, redco::dtype type) {
  for (redco::cost::message_total const& one : all) {
    if (one.calls == 0 || one.ranks == 1) continue;
    redco::comm::group& ranks = rank.group(one.over);
    std::int64_t const numbers = one.payload_bytes / one.calls / redco::shape::size_of(type), parts = ranks.size();
    at::Tensor const x = at::zeros({parts, numbers / parts}, redco::tensors::scalar_type_of(type));
    for (std::int64_t call = 0; call < one.calls; ++call) {
      if (one.collective == redco::shape::collective::all_gather) ranks.all_gather(x[0], 0);
      else if (one.collective == redco::shape::collective::reduce_scatter) ranks.reduce_scatter(x, 0);
      else ranks.all_reduce(x);
    }
  }
}

/// The micro-batch of a step, whose loss a function computes.
class one_batch final : public redco::run::step_work {
 public:
  explicit one_batch(std::function<redco::mean()> loss) : loss_(std::move(loss)) {}

  redco::terms loss(std::int32_t, redco::comm::replica_round const&, redco::nn::stage_link*) override {
    return redco::tensors::as_terms(loss_(), 1);
  }
  void compute(redco::run::step_executor& step, redco::comm::replica_round const& round) override {
    step.add(loss(0, round, nullptr));
  }

 private:
  std::function<redco::mean()> loss_;
};

/// Returns the seconds of each turn of each kind of step on this rank, from one barrier of all
/// ranks to the next.
template <class Model>
std::array<std::vector<double>, kinds> measured(redco::rank_context& rank, redco::deployer const& where,
                                                Model const& model, overlap_options const& o) {
  std::array<std::vector<double>, kinds> seconds;
  auto const made = [&](redco::shape::zero const& zero) {
    return std::make_unique<redco::run::trained_network<Model>>(
        model, redco::plan_of(model, rank.mesh), redco::adamw{.lr = 3e-4}, where.compute(), 42, rank.rank,
        std::vector<std::string>{}, redco::tensors::cpu_device(), zero);
  };
  redco::shape::zero apart = where.zero();
  apart.overlaps = false;
  if (!apart.on(rank.mesh).sums_in_backward()) apart.bucket = 0;
  auto const overlapping = made(where.zero().on(rank.mesh)), waiting = made(apart.on(rank.mesh));
  redco::cost::messages const messages =
      redco::cost::cost_of(model, redco::adamw{}, setup_of(where, o, sequential)).messages;
  std::int64_t const rows = o.batch / rank.mesh.size(redco::shape::batch_axes);
  at::Tensor const ids = (at::arange(rows * 257, at::kLong) * 7919 + 13 * rank.rank).remainder(251).view({rows, 257});
  redco::pass in = redco::nn::training_pass(rank).with_examples(0, rows);
  for (int turn = -2; turn < o.steps; ++turn) {
    for (int i = 0; i < kinds; ++i) {
      int const now = turn % 2 == 0 ? i : kinds - 1 - i;
      rank.world.barrier();
      auto const began = std::chrono::steady_clock::now();
      if (now == alone) {
        exchange(rank, messages, where.compute());
      } else {
        bool const overlaps = now == overlapped;
        in.shard_lane = overlaps && where.overlaps_shards() ? &rank.lane(redco::shape::axis::tp) : nullptr;
        auto& net = overlaps ? *overlapping : *waiting;
        one_batch work([&] { return redco::cross_entropy(net.in(in)(ids.slice(1, 0, 256)), ids.slice(1, 1)); });
        redco::run::step_executor step(net, rank, {}, overlaps ? where.gradient_bucket() : 0);
        step.run(work, {turn + 2, o.steps + 2});
      }
      rank.world.barrier();
      std::chrono::duration<double> const took = std::chrono::steady_clock::now() - began;
      if (turn >= 0) seconds[static_cast<std::size_t>(now)].push_back(took.count());
    }
  }
  return seconds;
}

template <class Model>
void compare(redco::deployer& where, Model const& model, overlap_options const& o) {
  std::array<double, kinds> predicted{};
  if (!o.machine.empty()) {
    auto const machine = redco::cost::read_machine(redco::json::read_json(o.machine), o.machine.string());
    for (kind const how : {sequential, overlapped}) {
      redco::cost::setup const run = setup_of(where, o, how);
      predicted[how] =
          redco::cost::step_time_of(redco::cost::cost_of(model, redco::adamw{}, run), run, machine).total();
    }
  }
  where.run([&](redco::rank_context& rank) {
    auto const seconds = measured(rank, where, model, o);
    if (rank.rank != 0) return;
    double const off = median(seconds[sequential]), on = median(seconds[overlapped]), sent = median(seconds[alone]);
    redco::json::json_value line = {{"mesh", redco::options::to_text(where.mesh())},
                                    {"dtype", std::string(name_of(where.compute()))},
                                    {"batch", o.batch},
                                    {"split_tokens", o.split_tokens},
                                    {"zero", o.deployer.zero},
                                    {"bucket_mib", o.deployer.gradient_bucket},
                                    {"steps", o.steps},
                                    {"step_s_sequential", rounded(off)},
                                    {"step_s_overlapped", rounded(on)},
                                    {"speedup", rounded(off / on)},
                                    {"messages_s", rounded(sent)},
                                    {"hidden", rounded((off - on) / sent)}};
    if (!o.machine.empty()) {
      line["predicted_s_sequential"] = rounded(predicted[sequential]);
      line["predicted_s_overlapped"] = rounded(predicted[overlapped]);
    }
    std::cout << line.dump() << std::endl;
  });
}

}  // namespace

int main(int argc, char** argv) {
  return redco::main_of<overlap_options>(argc, argv, "Measures the time that overlapped messages save.",
                                         [](overlap_options const& options) {
                                           overlap_options o = options;
                                           o.deployer.overlap = true;
                                           redco::deployer where(o.deployer);
                                           if (o.split_tokens) compare(where, by_tokens, o);
                                           else compare(where, whole, o);
                                         });
}
