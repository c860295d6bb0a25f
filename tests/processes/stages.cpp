// A small training whose pipeline stages are processes; stages.py starts it.
// - `--limit 500`: lets the process allocate only this number of MiB more than at its start
// - `--killed 2`: process 2 is killed when it computes its tenth micro-batch
// - `--machines 2`: the processes count as processes on two machines
// - `--experts 8`: the feed-forward layers are mixtures of 8 experts
// - `--save`: saves the trained model to the folder `model` of the work folder
// - `--peaks`: process 0 prints the planned and the measured peak of each rank's tensor memory

#include <redco/train.hpp>

#include <redco/run/stage_choices.hpp>
#include <redco/comm/rank_hosts.hpp>
#include <redco/report/run_request.hpp>
#include <redco/cost/stage_costs.hpp>
#include <redco/pretrained/stored_names/llama.hpp>
#include <redco/shard/facts.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/olmoe.hpp>
#include <redco/options/launch.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include <sys/resource.h>

namespace {

struct my_options {
  redco::deployer_options deployer;
  redco::training_flags training{.max_steps = 3, .global_batch = 6, .micro_batch = 1, .lr = 1e-3};
  std::int64_t width = 24, layers = 4, length = 16, experts = 0;
  double dropout = 0.1;
  int killed = -1, limit = 0, machines = 1;
  bool save = false, peaks = false;

  static constexpr auto fields() {
    using o = my_options;
    using redco::field;
    return redco::fields(
        field<"deployer">(&o::deployer, "where to run"), field<"training">(&o::training, "how to train"),
        field<"width">(&o::width, "width of the model"), field<"layers">(&o::layers, "number of blocks"),
        field<"length">(&o::length, "tokens of an example"), field<"dropout">(&o::dropout, "dropout probability"),
        field<"experts">(&o::experts, "experts of each feed-forward layer; 0: none"),
        field<"save">(&o::save, "saves the trained model"),
        field<"killed">(&o::killed, "index of the process that is killed in its tenth micro-batch"),
        field<"limit">(&o::limit, "MiB that the process may allocate after its start; 0: no limit"),
        field<"machines">(&o::machines, "machines on which the processes seem to be"),
        field<"peaks">(&o::peaks, "prints the planned and the measured peak of each rank's memory"));
  }
};

/// Limits the address space of this process to `mebibytes` more than it has now.
void limit_memory(int mebibytes) {
  std::ifstream pages("/proc/self/statm");
  std::uint64_t now = 0;
  pages >> now;
  rlimit const limit{now * 4096 + (static_cast<std::uint64_t>(mebibytes) << 20), RLIM_INFINITY};
  ::setrlimit(RLIMIT_AS, &limit);
}

/// Lets the processes, which are connected, seem to be on `count` machines.
void pretend_machines(int count) {
  auto& names = redco::comm::rank_hosts::all().of_process;
  for (std::size_t i = 0; i < names.size(); ++i)
    names[i] = "machine" + std::to_string(i * static_cast<std::size_t>(count) / names.size());
}

template <class Model>
void train(my_options const& o, Model const& model) {
  redco::deployer deployer(o.deployer);
  if (o.machines > 1) pretend_machines(o.machines);
  std::atomic<int> computed{0};
  auto const job =
      redco::collate([&o](std::span<std::string const> texts) { return redco::next_token_batch(texts, o.length); }) |
      redco::loss([&](auto const& net, redco::token_batch const& b) {
        if (redco::options::launched().process == o.killed && ++computed == 10) std::raise(SIGKILL);
        return redco::cross_entropy(net(b.input_ids), b.labels);
      });
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < 17; ++i) {
    std::string text = std::to_string(i * 7 + 3);
    while (std::ssize(text) < o.length - i % 3) text += " and " + std::to_string(std::ssize(text) * (i + 2) % 97);
    texts.push_back(text.substr(0, static_cast<std::size_t>(o.length - i % 3)));
  }
  redco::trainer trainer(deployer, model, job, redco::adamw{.lr = 1e-3, .clip_norm = 1}, o.training);
  redco::fit_result const result = trainer.fit(texts, {.save_last = false, .save_argmin = {}});
  if (o.save) trainer.save_model(deployer.workdir() / "model");
  if (!o.peaks || redco::options::launched().process > 0) return;
  redco::mesh const& on = trainer.plan().mesh;
  // The last byte of a text is a label only.
  redco::cost::setup run = redco::report::setup_of(on, {o.training.global_batch, o.length - 1}, o.training.micro_batch,
                                                   deployer.compute(), deployer.options().recompute);
  run.machines = o.machines;
  redco::run::set_stages(run, trainer.plan().stages, deployer.schedule());
  auto const stages = redco::cost::stage_costs(redco::shard::facts_of(model, run.load),
                                               redco::optimizer::demands_of(redco::adamw{}), run);
  for (int rank = 0; rank < on.ranks(); ++rank) {
    redco::cost::memory const& m =
        stages[static_cast<std::size_t>(on.coordinate(rank, redco::shape::axis::pp))].cost.memory;
    std::cout << "rank " << rank << ": planned " << m.peak() << ", of which " << m.persistent()
              << " throughout, measured " << result.measures[static_cast<std::size_t>(rank)].peak_bytes << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  return redco::main_of<my_options>(argc, argv, [](my_options const& o) {
    if (o.limit > 0) limit_memory(o.limit);
    if (o.experts > 0)
      train(o, redco::models::olmoe{{.vocab = 256,
                                     .context = o.length,
                                     .width = o.width,
                                     .ffn = o.width,
                                     .heads = 4,
                                     .kv_heads = 2,
                                     .layers = o.layers,
                                     .experts = o.experts,
                                     .experts_per_token = 2,
                                     .balance = 0.01,
                                     .deviation = 0.1}});
    else
      train(o, redco::gpt2{{.vocab = 256,
                            .context = o.length,
                            .width = o.width,
                            .heads = 4,
                            .layers = o.layers,
                            .dropout = o.dropout}});
    return 0;
  });
}
