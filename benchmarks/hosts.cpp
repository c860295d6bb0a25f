// Measures step times of plans whose ranks are processes, and prints them with the predicted times.
// Each process is planned as one host. The script hosts_compare.py starts the processes through
// REDCO_* variables and makes a table of the results.
// - `hosts --machine redco_machine.json --folder FOLDER`
// The machine file is the one that redco-calibrate wrote for this number of processes. All
// processes share the folder, which must be empty.

#include "plan_steps.hpp"

#include <redco/run/main_of.hpp>
#include <redco/cost/machine_file.hpp>
#include <redco/cost/step_time.hpp>
#include <redco/options/deployer_options.hpp>
#include <redco/options/launch.hpp>
#include <redco/options/overlap.hpp>
#include <redco/options/value_text.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/json/parse.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/fields.hpp>

#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

namespace {

struct host_options {
  std::filesystem::path machine;
  std::filesystem::path folder;

  static constexpr auto fields() {
    return redco::fields(
        redco::required_field<"machine">(&host_options::machine, "file of the machine's speeds, from redco-calibrate"),
        redco::required_field<"folder">(&host_options::folder, "an empty folder, the same for all processes"));
  }
};

/// Returns the runs to measure: meshes with one rank per process, in f32 and bf16, with
/// micro-batches of one and of four examples.
std::vector<redco::cost::setup> runs() {
  int const processes = redco::options::launched().processes;
  redco::deployer_options const where;
  std::vector<redco::cost::setup> all;
  for (int tp = 1; tp <= 2 && tp <= processes; ++tp)
    for (redco::dtype const compute : {redco::dtype::f32, redco::dtype::bf16})
      for (std::int64_t const at_once : {1, 4}) {
        redco::cost::setup run{.mesh = {.dp = processes / tp, .tp = tp}, .load = plan_steps::load, .compute = compute};
        run.load.batch = at_once;
        run.micro_batches = plan_steps::load.batch / run.mesh.dp / at_once;
        run.hosts = processes;
        run.zero.bucket = redco::options::gradient_bucket(run.mesh, processes, {}, where.gradient_bucket);
        all.push_back(run);
      }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  return redco::main_of<
      host_options>(argc, argv, "Measures step times of plans over several processes.", [](host_options const& o) {
    redco::cost::machine const machine =
        redco::cost::read_machine(redco::json::read_json(o.machine), o.machine.string());
    std::ostream out(std::cout.rdbuf(std::cerr.rdbuf()));  // messages of the library go to stderr
    int number = 0;
    for (redco::cost::setup const& run : runs()) {
      redco::cost::rank_cost const cost = redco::cost::cost_of(plan_steps::model, redco::adamw{}, run);
      redco::cost::found_plan const plan{run, false, cost.memory.peak(), redco::cost::step_time_of(cost, run, machine)};
      auto const seconds = plan_steps::seconds_of(plan, o.folder / std::to_string(number++));
      out << redco::options::to_text(run.mesh) << ' ' << name_of(run.compute) << ' ' << run.load.batch << ' '
          << plan.time.total() << ' ' << plan.time.messages;
      for (double const one : seconds) out << ' ' << one;
      out << std::endl;
    }
  });
}
