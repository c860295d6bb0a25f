// Measures how fast this machine trains, on its CPU or its devices, and writes the speeds to the
// file that redco-plan --search reads:
//   redco-calibrate --machine redco_machine.json
// Under a launcher, adds the cost of messages between its processes to the file:
//   mpirun -n 2 redco-calibrate --machine redco_machine.json
// Products and all-reduces are timed alone. Every other cost is the time that steps of small models
// need beyond products and messages. Each value is the median over several rounds.
// Exit codes: 0 done; 64 options; 70 a measurement failed; 74 output.
#include "link_calibration.hpp"
#include "sample_steps.hpp"
#include "timed_task.hpp"

#include <redco/run/main_of.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/run/training_step.hpp>

#include <redco/kernel/linear.hpp>

#include <redco/comm/make_world.hpp>
#include <redco/comm/rank_context.hpp>

#include <redco/tensor/device.hpp>
#include <redco/tensor/device_streams.hpp>
#include <redco/tensor/scalar_type.hpp>

#include <redco/cost/cost_of.hpp>
#include <redco/cost/machine_file.hpp>
#include <redco/cost/step_time.hpp>

#include <redco/model/gpt2.hpp>

#include <redco/options/launch.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <redco/safetensors/replace_file.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/shape/collective.hpp>

#include <redco/diag/error.hpp>
#include <redco/meta/fields.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace calibration;
using redco::dtype;
using redco::error;
using redco::exit_code;

struct calibrate_options {
  std::filesystem::path machine = "redco_machine.json";
  std::string device = "auto";

  static constexpr auto fields() {
    using o = calibrate_options;
    return redco::fields(
        redco::field<"machine">(&o::machine,
                                "file of the measured speeds; under a launcher, an existing file that "
                                "the links are added to")
            .in_group("measurement"),
        redco::field<"device">(&o::device,
                               "device that is measured: cpu, cuda, or auto (cuda if a device and its libraries exist)")
            .in_group("measurement"));
  }
};

constexpr std::array rank_counts = {1, 2, 4};

std::string name_of(redco::tensors::device_choice const& devices) { return c10::DeviceTypeName(devices.type, true); }

/// The matrix products that are timed, forward and backward on all ranks, and their number of
/// operations.
struct products {
  explicit products(redco::tensors::device_choice const& on)
      : devices(on), rows(256 * larger(on, 16)), width(256 * larger(on, 16)), wide(1024 * larger(on, 8)) {}

  double operations() const { return 3 * 2.0 * static_cast<double>(rows) * static_cast<double>(width * wide) * 8; }

  std::function<void()> of(redco::rank_context const& rank, dtype compute) const {
    at::Device const device = devices.of_rank(rank.rank);
    auto const random = [&](std::int64_t n, std::int64_t m) {
      return at::randn({n, m}).to(device, redco::tensors::scalar_type_of(compute));
    };
    at::Tensor const x = random(rows, width).requires_grad_(), w = random(wide, width).requires_grad_();
    at::Tensor const gradient = random(rows, wide);
    return [=] {
      for (int i = 0; i < 8; ++i) torch::autograd::grad({redco::kernel::linear(x, w)}, {x, w}, {gradient});
      redco::tensors::settle(device);
    };
  }

  redco::tensors::device_choice devices;
  std::int64_t rows, width, wide;
};

/// Returns a model whose step consists mostly of the parameter update.
sample update_sample(redco::tensors::device_choice const& devices) {
  std::int64_t const times = larger(devices, 8);
  return {{.vocab = 8192 * times, .context = 8, .width = 256 * times, .heads = 4 * times, .layers = 1},
          {.load = {1, 8}}};
}

std::function<void()> update_of(redco::rank_context& rank, redco::tensors::device_choice const& devices) {
  redco::gpt2 const model{update_sample(devices).config};
  at::Device const device = devices.of_rank(rank.rank);
  auto const state = std::make_shared<redco::run::trained_network<redco::gpt2>>(
      model, redco::plan_of(model, rank.mesh), redco::adamw{}, dtype::f32, 42, rank.rank, std::vector<std::string>{},
      device);
  return [state, &rank, device, step = std::int64_t{0}]() mutable {
    redco::run::training_step(*state, rank).finish(step++, 1'000, false);
    redco::tensors::settle(device);
  };
}

/// Returns the x >= 0 that minimises the sum of squares of (rows x - right) / scale.
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

/// The measurement of this machine: all timed tasks, and the speeds that follow from their times.
class machine_calibration {
 public:
  explicit machine_calibration(redco::tensors::device_choice const& devices) : devices_(devices) {
    for (int const ranks : rank_counts) {
      redco::mesh const replicas{.dp = ranks};
      for (dtype const compute : dtypes) {
        products_.push_back({compute, {replicas, [this, compute](auto& rank) { return product_.of(rank, compute); }}});
        add_steps(steps_, devices_, replicas, compute);
      }
      for (int group = 2; group <= ranks; group *= 2) {
        redco::mesh const shards{.dp = ranks / group, .tp = group};
        reductions_.push_back({shards, [this](auto& rank) { return reductions_of(rank, devices_, payload_); }});
        for (dtype const compute : dtypes) add_steps(steps_, devices_, shards, compute);
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
    m.device = name_of(devices_);
    redco::cost::memory const kept = cost_of(update_sample(devices_)).memory;
    m.update_bytes_per_second =
        static_cast<double>(kept.parameters + kept.gradients + kept.optimizer) / median(update_.seconds);
    for (task const& one : reductions_) {
      double const wire = static_cast<double>(reductions * redco::shape::all_reduce_ring_bytes(payload_, one.mesh.tp));
      m.groups.push_back({one.mesh.tp, one.mesh.ranks(), 0, wire / median(one.seconds)});
    }
    for (product_task const& one : products_) m.compute.push_back(speed_of(one, m));
    for (redco::cost::group_speed& group : m.groups) group.seconds_per_call = seconds_per_call(group, m);
    return m;
  }

 private:
  /// Bytes per second that are recorded for a cost too small to measure.
  static constexpr double instant = 1e15;

  /// Returns the compute speeds of one dtype and number of ranks. The time of steps beyond
  /// products, messages and update is fitted as a sum of costs per activation byte, weight byte and
  /// tensor.
  redco::cost::compute_speed speed_of(product_task const& products, redco::cost::machine m) const {
    int const ranks = products.timing.mesh.ranks();
    redco::cost::compute_speed speed{products.compute, ranks};
    speed.operations_per_second = product_.operations() * ranks / median(products.timing.seconds);
    m.compute = {speed};
    std::vector<std::array<double, 3>> rows_of;
    std::vector<double> rest, scale;
    for (step_task const& one : steps_) {
      redco::cost::setup const& run = one.settings.run;
      if (run.compute != products.compute || !(run.mesh == products.timing.mesh)) continue;
      redco::cost::rank_cost const cost = cost_of(one.settings);
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

  /// Returns the seconds per message that steps with shards need beyond their predicted time.
  double seconds_per_call(redco::cost::group_speed const& group, redco::cost::machine const& m) const {
    std::vector<double> all;
    for (step_task const& one : steps_) {
      redco::cost::setup const& run = one.settings.run;
      if (run.mesh.tp != group.group || run.mesh.ranks() != group.ranks) continue;
      redco::cost::rank_cost const cost = cost_of(one.settings);
      double const rest = median(one.timing.seconds) - redco::cost::step_time_of(cost, run, m).total();
      all.push_back(rest / static_cast<double>(cost.messages.calls()));
    }
    return std::max(0.0, median(all));
  }

  redco::tensors::device_choice devices_;
  products product_{devices_};
  std::int64_t payload_ = payload * larger(devices_, 64);
  std::vector<product_task> products_;
  std::vector<task> reductions_;
  std::vector<step_task> steps_;
  task update_{redco::mesh{}, [this](auto& rank) { return update_of(rank, devices_); }};
};

constexpr char const* writable = "give --machine a file in a writable folder";

void write(std::filesystem::path const& path, redco::cost::machine const& machine) {
  redco::safetensors::replace_file(path, redco::json::dump_json(redco::cost::machine_json(machine), 2) + "\n",
                                   writable);
  std::cerr << path.string() << ": written; redco-plan config.json --ranks 2 --search reads it" << std::endl;
}

void calibrate_machine(std::filesystem::path const& path, redco::tensors::device_choice const& devices) {
  redco::safetensors::check_replaceable(path, writable);  // an error now, not after a minute
  std::cerr << "measures this machine (" << devices.of_rank(0) << ": " << devices.why
            << ") for about a minute; let nothing else run" << std::endl;
  machine_calibration c(devices);
  c.measure();
  write(path, c.machine());
}

/// Measures the links between the processes of a launcher. Only the first process reads and writes
/// the file.
void calibrate_links(std::filesystem::path const& path, redco::tensors::device_choice const& devices) {
  redco::options::launch const& how = redco::options::launched();
  std::optional<redco::cost::machine> machine;
  redco::comm::make_world({.dp = how.processes}, {})->run([&](redco::rank_context& rank) {
    if (rank.rank != 0) return;
    if (!std::filesystem::exists(path))
      throw error(exit_code::usage, path.string() +
                                        " does not exist, and the links between processes are added to it; measure "
                                        "the machine first, without a launcher: redco-plan --calibrate");
    machine = redco::cost::read_machine(redco::json::read_json(path), path.string());
    if (std::string const here = name_of(devices); machine->device != here)
      throw error(exit_code::usage, path.string() + " describes a machine that computes on " + machine->device +
                                        ", but the links to measure are between ranks on " + here + ": give --device " +
                                        machine->device + ", or measure the machine again");
    redco::safetensors::check_replaceable(path, writable);
  });
  if (redco::options::launched().first())
    std::cerr << "measures the links between " << redco::options::to_text(how) << "; let nothing else run" << std::endl;
  link_calibration c(devices);
  c.measure();
  if (machine) write(path, c.added_to(*machine));
}

}  // namespace

int main(int argc, char** argv) {
  return redco::main_of<calibrate_options>(
      argc, argv,
      "Measures the training speed of this machine for redco-plan --search, in about a minute. Under a launcher, measures "
      "the links between its processes instead.",
      [](calibrate_options const& o) {
        redco::tensors::device_choice const devices = redco::tensors::choose_device(o.device);
        if (redco::options::launched().processes > 1) calibrate_links(o.machine, devices);
        else calibrate_machine(o.machine, devices);
      });
}
