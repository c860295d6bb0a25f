// Prints the shard report of the model in a config.json, before anything is built or run:
//   redco-plan config.json --n-model-shards 4 --batch 8 --optimizer adamw --device-memory 40GiB
// Searches the fastest plan for a number of ranks, with the measured speed of this machine:
//   redco-plan --calibrate
//   redco-plan config.json --ranks 2 --batch 16 --sequence 256 --device-memory 8GiB --search
// Searches it for several hosts, with the measured links between one process on each host:
//   mpirun -n 2 redco-plan --calibrate
//   redco-plan config.json --ranks 4 --hosts 2 --batch 16 --sequence 256 --search
// Draws the computations of pipeline stages, or proves those of a file:
//   redco-plan --schedule 1f1b --n-pipeline-stages 4 --batch 8 --micro-batch 1 --output 1f1b.svg
//   redco-plan --schedule mine.csv
// Plans pipeline stages:
//   redco-plan config.json --mesh pp=4,dp=2,tp=2 --batch 32 --micro-batch 1 --stages 3,4,3,2
// Exit codes: 0 it fits, or no memory was named; 1 it does not fit; 64 options or mesh;
// 65 the configuration; 74 output.
#include "plan_options.hpp"
#include "requested_run.hpp"

#include <redco/report/answer_text.hpp>
#include <redco/report/answered_report.hpp>
#include <redco/report/pictures/pipeline_picture.hpp>
#include <redco/report/program_text.hpp>
#include <redco/report/report_format.hpp>
#include <redco/report/run_request.hpp>
#include <redco/report/search_text.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/report/stage_timeline.hpp>
#include <redco/report/step_memory.hpp>

#include <redco/schedule/pipeline_table.hpp>
#include <redco/schedule/pipeline_time.hpp>

#include <redco/cost/checks.hpp>
#include <redco/cost/machine_file.hpp>
#include <redco/cost/search.hpp>

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/pretrained.hpp>
#include <redco/model/model.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/log/run_log.hpp>

#include <redco/options/overlap.hpp>
#include <redco/options/parse.hpp>
#include <redco/options/value_text.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <redco/safetensors/replace_file.hpp>
#include <redco/json/parse.hpp>

#include <redco/shape/stage_cuts.hpp>
#include <redco/shape/zero.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

namespace planning {

void write(plan_options const& o, std::string const& text) {
  if (!o.output) {
    std::cout << text << std::flush;
    if (!std::cout) throw error(exit_code::io, "standard output cannot be written; is the disk full?");
    return;
  }
  redco::safetensors::replace_file(*o.output, text, "give --output a file in a writable folder");
}

/// Replaces this process by redco-calibrate in the same folder, because measuring needs libtorch.
[[noreturn]] void calibrate(plan_options const& o) {
  std::filesystem::path const program =
      std::filesystem::read_symlink("/proc/self/exe").replace_filename("redco-calibrate");
  char const* const words[] = {"redco-calibrate", "--machine", o.machine.c_str(), nullptr};
  ::execv(program.c_str(), const_cast<char* const*>(words));
  refuse("--calibrate: " + program.string() +
         " cannot be run; build it next to redco-plan: cmake --build build/release --target redco-calibrate");
}

redco::cost::machine machine_in(std::filesystem::path const& file) {
  if (!std::filesystem::exists(file))
    refuse("--search needs the speed of this machine, and " + file.string() +
           " does not exist; measure it first: redco-plan "
           "--calibrate --machine " +
           file.string());
  return redco::cost::read_machine(redco::json::read_json(file), file.string());
}

template <class Model>
exit_code search(Model const& model, kept_state const& optimizer, plan_options const& o, redco::workload const& load,
                 std::int64_t budget) {
  redco::cost::search_space space{.load = load,
                                  .ranks = o.ranks.value_or(1),
                                  .most_stages = redco::shape::stage_cuts::most_stages,
                                  .hosts = o.hosts,
                                  .budget = budget,
                                  .must_overlap = o.overlap.value_or(false),
                                  .zero_keep = o.zero_keep,
                                  .zero_owner = o.zero_owner};
  if (o.zero_within != "run") refuse("--zero-within with --search: the search shares state over all replicas");
  if (o.zero || o.zero_owner != redco::shape::zero_owner::element) space.zero = {o.zero.value_or(0)};
  else space.zero = {0, 1, 2, 3};
  redco::shape::check_zero(o.zero.value_or(0), o.zero_keep);
  check_count("--ranks", space.ranks);
  if (space.ranks > most_ranks)
    refuse("--ranks " + std::to_string(space.ranks) + " is more than a million; choose fewer");
  redco::cost::check_hosts({.dp = space.ranks}, space.hosts);
  auto const bucket = [&](std::optional<bool> overlap, int level) {
    return redco::options::gradient_bucket({.dp = space.ranks}, space.hosts, overlap, o.gradient_bucket, level,
                                           level == 1 ? o.zero_owner : redco::shape::zero_owner::element);
  };
  space.gradient_bucket = bucket(o.overlap, o.zero.value_or(0) == 1 ? 1 : 0);
  space.zero_bucket = bucket({}, 2);
  redco::cost::search_result const found =
      redco::cost::search_both_forms(model, optimizer, space, machine_in(o.machine));
  write(o, redco::report::search_text(found, space));
  return found.plans.empty() ? exit_code::missed : exit_code::done;
}

/// Writes what a rank holds over a step. Pipeline stages have a timeline of their computations,
/// with the predicted times if the machine was measured.
template <class Model>
exit_code timeline(Model const& model, kept_state const& optimizer, plan_options const& o,
                   redco::report::run_request const& asked) {
  redco::report::check_mesh(redco::shard::facts_of(model).parameters, asked);
  redco::report::shard_report const planned = redco::report_of(model, optimizer, redco::report::setup_of(asked));
  redco::cost::setup const& run = planned.run;
  redco::fact::program const facts = redco::shard::facts_of(model, run.rank_load());
  if (run.mesh.pp == 1) {
    write(o, redco::report::timeline_text(redco::cost::simulation(facts, run), planned.cost.memory));
    return exit_code::done;
  }
  std::optional<redco::cost::machine> measured;
  if (std::filesystem::exists(o.machine)) measured = machine_in(o.machine);
  write(o, redco::report::stage_timeline_text(facts, redco::optimizer::demands_of(optimizer), run,
                                              measured ? &*measured : nullptr));
  return exit_code::done;
}

template <class Model>
exit_code plan(Model const& model, kept_state const& optimizer, plan_options const& o, std::string const& file) {
  std::int64_t context = redco::models::context_of(model, 0);
  if constexpr (redco::models::states_input<Model>) {
    if (o.sequence) refuse("--sequence has no meaning for a model with a fixed input size; leave it out");
    context = 1;
  } else if (context == 0) {
    if (!o.sequence) refuse("--sequence is missing: this model family has no context to use as the default");
    context = redco::pretrained::config_reader::most;
  }
  if (o.source && !redco::models::has_encoder<redco::models::net_of<Model>>)
    refuse("--source has no meaning for a model without an encoder before its decoder; leave it out");
  if (o.source && redco::models::states_source<Model>)
    refuse("--source has no meaning for a model whose encoder reads images; leave it out");
  std::int64_t const sequence = o.sequence.value_or(context), micro_batch = o.micro_batch.value_or(o.batch);
  check_count("--batch", o.batch);
  check_count("--micro-batch", micro_batch);
  check_count("--hosts", o.hosts);
  check_length("--sequence", sequence, context);
  if (o.source) check_length("--source", *o.source, context);
  redco::workload const load{o.batch, sequence, o.source.value_or(0)};
  if (redco::cost::cost_bound(redco::shard::facts_of(model), redco::optimizer::state_slots(optimizer).size(), {}) ==
      redco::shape::saturated)
    throw error(exit_code::data, file + ": the model has more bytes than 63 bits can count; correct its sizes");

  if (o.facts) {
    write(o, redco::report::program_text(redco::shard::facts_of(model, {micro_batch, sequence, o.source.value_or(0)})));
    return exit_code::done;
  }
  std::int64_t const budget = o.device_memory ? redco::options::parse_bytes(*o.device_memory) : 0;
  if constexpr (!redco::models::is_sequence_parallel<Model>)
    if (o.search) return search(model, optimizer, o, load, budget);
  redco::report::run_request const asked = request_of(o, load);
  if (o.timeline) return timeline(model, optimizer, o, asked);
  redco::report::shard_report const report = redco::report::answered_report(model, optimizer, asked, budget, o.machine);
  write(o, redco::report::report_as(o.format, report, std::filesystem::path(file).filename().string()));
  // Standard output may be the input of another program.
  if (o.format != redco::report::report_format::txt || o.output)
    (o.output ? std::cout : std::cerr) << redco::report::answer_text(report) << std::flush;
  return report.fits() ? exit_code::done : exit_code::missed;
}

/// Writes the computations of --schedule, as a picture if --output ends in .svg. Forward, input
/// gradients and weight gradients of a chunk take one unit of time each.
exit_code draw_schedule(plan_options const& o) {
  redco::schedule::pipeline_table const table = table_of(o);
  auto const run = redco::schedule::simulate(table);
  std::string const title = *o.schedule + ", " + std::to_string(table.stages()) + " stages, " +
                            std::to_string(table.micro_batches) + " micro-batches";
  bool const picture = o.output && o.output->extension() == ".svg";
  write(o,
        picture ? redco::report::pipeline_picture(table, run, title) : redco::report::pipeline_text(table, run, title));
  return exit_code::done;
}

/// Throws `error` with exit code 64 for options that --search chooses itself, or that --calibrate
/// or --schedule do not use.
void check_alone(redco::options::resolved<plan_options> const& options, bool draws) {
  bool const measures = options.values.calibrate;
  constexpr std::string_view drawn[] = {"schedule", "n_pipeline_stages", "chunks_per_stage",
                                        "batch",    "micro_batch",       "output"};
  bool const of_file = draws && !redco::schedule::pipeline_kind_texts.value_of(*options.values.schedule);
  for (auto const& row : options.rows()) {
    if (!options.given(row.name)) continue;
    if (draws) {
      bool const used = std::find(std::begin(drawn), std::end(drawn), row.name) != std::end(drawn);
      if (!used) refuse("--schedule draws a pipeline and takes no model; leave " + row.flag + " out");
      if (of_file && row.name != "schedule" && row.name != "output")
        refuse("--schedule reads stages and micro-batches from its file; leave " + row.flag + " out");
      continue;
    }
    if (row.name == "machine" || row.name == (measures ? "calibrate" : "search")) continue;
    if (measures) refuse("--calibrate measures the machine and takes --machine only; leave " + row.flag + " out");
    for (std::string_view const chosen :
         {"n_model_shards", "mesh", "micro_batch", "dtype", "recompute", "sequence_parallel", "format", "facts",
          "timeline", "schedule", "n_pipeline_stages", "stages", "chunks_per_stage"})
      if (row.name == chosen)
        refuse("--search tries all meshes and settings and prints a table; leave " + row.flag + " out");
  }
}

exit_code run(int argc, char const* const* argv) {
  std::vector<char const*> words(argv, argv + argc);
  std::string config;
  if (argc > 1 && argv[1][0] != '-') {
    config = argv[1];
    words.erase(words.begin() + 1);
  }
  words[0] = "redco-plan CONFIG.JSON";
  auto const options = redco::options::resolve<plan_options>(
      static_cast<int>(words.size()), words.data(),
      "Prints what each rank of a run holds and sends, for the model of a Hugging Face config.json.");
  bool const draws = options.values.schedule && config.empty();
  if (options.values.search || options.values.calibrate || draws) check_alone(options, draws);
  if (draws) return draw_schedule(options.values);
  if (options.values.calibrate) {
    if (!config.empty()) refuse("--calibrate measures the machine and takes no model; leave " + config + " out");
    calibrate(options.values);
  }
  if (config.empty()) refuse("no model; write redco-plan config.json, or --help to list all options");
  plan_options const& o = options.values;
  redco::pretrained_folder const folder(config);
  // Standard output may be the input of another program.
  if (!folder.unused().empty()) std::cerr << redco::log::unused_text("config.json", folder.unused()) << std::endl;
  kept_state const optimizer = state_of(o.optimizer);
  return folder.visit([&]<class Model>(Model const& model) {
    if (o.sequence_parallel) return plan(redco::models::sequence_parallel<Model>{model.config}, optimizer, o, config);
    return plan(model, optimizer, o, config);
  });
}

}  // namespace planning

int main(int argc, char** argv) {
  using redco::exit_code;
  try {
    return static_cast<int>(planning::run(argc, argv));
  } catch (redco::error const& e) {
    (e.code() == exit_code::done ? std::cout : std::cerr) << e.what() << std::endl;
    return static_cast<int>(e.code());
  } catch (std::exception const& e) {
    std::cerr << e.what() << "; this is a fault of redco-plan" << std::endl;
    return static_cast<int>(exit_code::internal);
  }
}
