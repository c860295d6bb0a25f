// Measures how fast this machine trains and writes it to the file that redco-plan --search reads:
//   redco-calibrate --machine redco_machine.json
// Products and all-reduces are timed alone; everything else is what steps of small models take beyond them. All of it
// is measured in rounds, and medians count. Exit codes: 0 done; 64 options; 70 a measurement failed; 74 output.
#include <redco/run/trained_network.hpp>
#include <redco/run/training_step.hpp>

#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/kernel/linear.hpp>

#include <redco/text/token_batch.hpp>

#include <redco/comm/ranks.hpp>

#include <redco/tensor/scalar_type.hpp>

#include <redco/cost/cost_of.hpp>
#include <redco/cost/machine_json.hpp>
#include <redco/cost/step_time.hpp>

#include <redco/model/gpt2.hpp>

#include <redco/options/resolve.hpp>
#include <redco/optimizer/adamw.hpp>

#include <redco/json/dump.hpp>
#include <redco/json/value.hpp>
#include <redco/shape/ring_bytes.hpp>

#include <redco/diag/error.hpp>
#include <redco/meta/fields.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;
using redco::dtype;
using redco::error;
using redco::exit_code;

struct calibrate_options {
  std::filesystem::path machine = "redco_machine.json";

  static constexpr auto fields() {
    return redco::fields(redco::field<"machine">(&calibrate_options::machine, "file to write"));
  }
};

constexpr int rounds = 3, repeats = 4;
constexpr std::array rank_counts = {1, 2, 4};
constexpr std::array dtypes = {dtype::f32, dtype::bf16};

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return (x[(x.size() - 1) / 2] + x[x.size() / 2]) / 2;
}

/// Something to be timed on all ranks of a mesh at once.
struct task {
  redco::mesh mesh;
  /// Called on every rank; gives what is then called again and again.
  std::function<std::function<void()>(redco::rank_context&)> prepare;
  std::vector<double> seconds{};  ///< of one call on rank 0, after all ranks have come
};

void time(task& t) {
  redco::run_ranks(t.mesh, {}, [&](redco::rank_context& rank) {
    auto const call = t.prepare(rank);
    for (int i = -2; i < repeats; ++i) {
      rank.world.barrier();
      auto const began = clock_type::now();
      call();
      rank.world.barrier();
      if (rank.rank == 0 && i >= 0)
        t.seconds.push_back(std::chrono::duration<double>(clock_type::now() - began).count());
    }
  });
}

/// A training step of a small model.
struct sample {
  redco::gpt2_config config;
  redco::setup run;
};

std::function<void()> step_of(sample const& s, redco::rank_context& rank) {
  redco::gpt2 const model{s.config};
  auto const state = std::make_shared<redco::trained_network<redco::gpt2>>(
      model, redco::plan_of(model, s.run.mesh), redco::adamw{.lr = 1e-4}, s.run.compute, 42, rank.rank);
  auto const length = s.run.load.sequence;
  auto const ids =
      (at::arange(s.run.load.batch * (length + 1)) * 7919).remainder(s.config.vocab).view({-1, length + 1});
  redco::token_batch const batch{ids.narrow(1, 0, length).contiguous(), ids.narrow(1, 1, length).contiguous()};
  return [=, &rank, step = std::int64_t{0}]() mutable {
    redco::training_step one(*state, rank);
    for (std::int64_t i = 0; i < s.run.micro_batches; ++i) {
      redco::pass in;
      in.tp = &rank.tp;
      in.training = true;
      in.examples = s.run.load.batch;
      redco::bound_network<redco::gpt2> const net(state->net, in);
      one.add(redco::cross_entropy(net(batch.input_ids), batch.labels));
    }
    one.finish(step++, 1'000, false);
  };
}

/// Products of all ranks, forward and backward; and how many operations they have.
constexpr std::int64_t rows = 256, width = 256, wide = 1024;
constexpr double product_operations = 3 * 2.0 * rows * width * wide * 8;

std::function<void()> products_of(dtype compute) {
  auto const type = redco::scalar_type_of(compute);
  at::Tensor const x = at::randn({rows, width}).to(type).requires_grad_();
  at::Tensor const w = at::randn({wide, width}).to(type).requires_grad_();
  at::Tensor const gradient = at::randn({rows, wide}).to(type);
  return [=] {
    for (int i = 0; i < 8; ++i) torch::autograd::grad({redco::kernel::linear(x, w)}, {x, w}, {gradient});
  };
}

/// All-reduces in every group of model shards at once.
constexpr std::int64_t payload = 1 << 20, reductions = 8;

std::function<void()> reductions_of(redco::rank_context& rank) {
  return [&rank, x = at::zeros({payload / 4})] {
    for (std::int64_t i = 0; i < reductions; ++i) rank.tp.all_reduce(x);
  };
}

/// The end of a step of a model whose parameters are most of it.
sample const update_sample{{.vocab = 8192, .context = 8, .width = 256, .heads = 4, .layers = 1}, {.load = {1, 8}}};

std::function<void()> update_of(redco::rank_context& rank) {
  redco::gpt2 const model{update_sample.config};
  auto const state = std::make_shared<redco::trained_network<redco::gpt2>>(model, redco::plan_of(model, rank.mesh),
                                                                           redco::adamw{}, dtype::f32, 42, rank.rank);
  return [state, &rank, step = std::int64_t{0}]() mutable {
    redco::training_step(*state, rank).finish(step++, 1'000, false);
  };
}

/// Small models on a mesh: wide and narrow, with long and short sequences, in few and many micro-batches.
std::vector<sample> samples(redco::mesh const& on, dtype compute) {
  std::vector<sample> all;
  auto const add = [&](redco::gpt2_config const& config, bool one_at_once) {
    std::int64_t const share = 8 / on.dp, at_once = one_at_once ? 1 : share;
    redco::setup const run{
        .mesh = on, .load = {at_once, config.context}, .compute = compute, .micro_batches = share / at_once};
    all.push_back({config, run});
  };
  redco::gpt2_config const middle{.vocab = 256, .context = 128, .width = 192, .heads = 4, .layers = 2};
  add(middle, false);
  add(middle, true);
  add({.vocab = 256, .context = 64, .width = 320, .heads = 4, .layers = 1}, true);
  add({.vocab = 256, .context = 256, .width = 96, .heads = 4, .layers = 2}, false);
  return all;
}

redco::rank_cost cost_of(sample const& s) { return redco::cost_of(redco::gpt2{s.config}, redco::adamw{}, s.run); }

/// The x >= 0 with the smallest sum of squares of (rows x - right) / scale.
std::array<double, 3> solve(std::vector<std::array<double, 3>> rows_of, std::vector<double> right,
                            std::vector<double> const& scale) {
  std::array<double, 3> x{}, unit{};
  for (std::size_t i = 0; i < rows_of.size(); ++i) {
    right[i] /= scale[i];
    for (std::size_t j = 0; j < 3; ++j) unit[j] += (rows_of[i][j] /= scale[i]) * rows_of[i][j];
  }
  for (int turn = 0; turn < 20'000; ++turn)
    for (std::size_t j = 0; j < 3; ++j) {
      double slope = 0;
      for (std::size_t i = 0; i < rows_of.size(); ++i) {
        double rest = right[i];
        for (std::size_t k = 0; k < 3; ++k) rest -= rows_of[i][k] * x[k];
        slope += rows_of[i][j] * rest;
      }
      x[j] = std::max(0.0, x[j] + slope / unit[j]);
    }
  return x;
}

struct product_task {
  dtype compute;
  task timing;
};
struct step_task {
  sample what;
  task timing;
};

/// Everything that is timed, and the machine that its times describe.
class calibration {
 public:
  calibration() {
    for (int const ranks : rank_counts) {
      redco::mesh const replicas{.dp = ranks};
      for (dtype const compute : dtypes) {
        products_.push_back({compute, {replicas, [compute](auto&) { return products_of(compute); }}});
        add_steps(replicas, compute);
      }
      for (int group = 2; group <= ranks; group *= 2) {
        redco::mesh const shards{.dp = ranks / group, .tp = group};
        reductions_.push_back({shards, reductions_of});
        for (dtype const compute : dtypes) add_steps(shards, compute);
      }
    }
  }

  void measure() {
    for (int round = 0; round < rounds; ++round) {
      for (product_task& one : products_) time(one.timing);
      for (task& one : reductions_) time(one);
      for (step_task& one : steps_) time(one.timing);
      time(update_);
    }
  }

  redco::cost::machine machine() const {
    redco::cost::machine m;
    redco::cost::memory const kept = cost_of(update_sample).memory;
    m.update_bytes_per_second =
        static_cast<double>(kept.parameters + kept.gradients + kept.optimizer) / median(update_.seconds);
    for (task const& one : reductions_) {
      double const wire = static_cast<double>(reductions * redco::all_reduce_ring_bytes(payload, one.mesh.tp));
      m.groups.push_back({one.mesh.tp, one.mesh.ranks(), 0, wire / median(one.seconds)});
    }
    for (product_task const& one : products_) m.compute.push_back(speed_of(one, m));
    for (redco::cost::group_speed& group : m.groups) group.seconds_per_call = seconds_per_call(group, m);
    return m;
  }

 private:
  static constexpr double instant = 1e15;  ///< bytes per second of what takes no time that can be seen

  void add_steps(redco::mesh const& on, dtype compute) {
    for (sample const& one : samples(on, compute))
      steps_.push_back({one, {on, [one](auto& rank) { return step_of(one, rank); }}});
  }

  /// What steps of replicas take beyond products, messages and update is shared out among bytes and tensors.
  redco::cost::compute_speed speed_of(product_task const& products, redco::cost::machine m) const {
    int const ranks = products.timing.mesh.ranks();
    redco::cost::compute_speed speed{products.compute, ranks};
    speed.operations_per_second = product_operations * ranks / median(products.timing.seconds);
    m.compute = {speed};
    std::vector<std::array<double, 3>> rows_of;
    std::vector<double> rest, scale;
    for (step_task const& one : steps_) {
      redco::setup const& run = one.what.run;
      if (run.compute != products.compute || !(run.mesh == products.timing.mesh)) continue;
      redco::rank_cost const cost = cost_of(one.what);
      redco::cost::step_time const known = redco::cost::step_time_of(cost, run, m);
      scale.push_back(median(one.timing.seconds));
      rest.push_back(scale.back() - known.products - known.messages - known.update);
      rows_of.push_back({static_cast<double>(cost.activity.bytes * ranks),
                         static_cast<double>(cost.activity.weight_bytes * ranks),
                         static_cast<double>(cost.activity.tensors)});
    }
    auto const seconds = solve(rows_of, rest, scale);
    speed.activation_bytes_per_second = 1 / std::max(seconds[0], 1 / instant);
    speed.weight_bytes_per_second = 1 / std::max(seconds[1], 1 / instant);
    speed.seconds_per_tensor = seconds[2];
    return speed;
  }

  /// What steps of shards take beyond the rest of their cost, for each message.
  double seconds_per_call(redco::cost::group_speed const& group, redco::cost::machine const& m) const {
    std::vector<double> all;
    for (step_task const& one : steps_) {
      redco::setup const& run = one.what.run;
      if (run.mesh.tp != group.group || run.mesh.ranks() != group.ranks) continue;
      redco::rank_cost const cost = cost_of(one.what);
      double const rest = median(one.timing.seconds) - redco::cost::step_time_of(cost, run, m).total();
      all.push_back(rest / static_cast<double>(cost.messages.calls()));
    }
    return std::max(0.0, median(all));
  }

  std::vector<product_task> products_;
  std::vector<task> reductions_;
  std::vector<step_task> steps_;
  task update_{redco::mesh{}, update_of};
};

/// Appends nothing where it is asked before there is anything to write.
void write(std::filesystem::path const& path, std::string const& text, std::ios::openmode how) {
  std::ofstream file(path, std::ios::binary | how);
  file << text << std::flush;
  if (!file)
    throw error(exit_code::io, path.string() + ": cannot be written; give --machine a file in a writable folder");
}

void run(int argc, char const* const* argv) {
  auto const options = redco::options::resolve<calibrate_options>(
      argc, argv, "Measures for redco-plan --search how fast this machine trains, in about a minute.");
  std::filesystem::path const path = options.values.machine;
  write(path, "", std::ios::app);  // fails now rather than after a minute
  std::cout << "measures this machine for about a minute; let nothing else run" << std::endl;
  calibration c;
  c.measure();
  write(path, redco::json::dump_json(redco::cost::machine_json(c.machine()), 2) + "\n", std::ios::trunc);
  std::cout << path.string() << ": written; redco-plan config.json --ranks 2 --search reads it" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
    return static_cast<int>(exit_code::done);
  } catch (error const& e) {
    (e.code() == exit_code::done ? std::cout : std::cerr) << e.what() << std::endl;
    return static_cast<int>(e.code());
  } catch (std::exception const& e) {
    std::cerr << e.what() << "; this is a fault of redco-calibrate" << std::endl;
    return static_cast<int>(exit_code::internal);
  }
}
