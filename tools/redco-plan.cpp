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
#include <redco/report/answer_text.hpp>
#include <redco/report/answered_report.hpp>
#include <redco/report/pictures/pipeline_picture.hpp>
#include <redco/report/program_text.hpp>
#include <redco/report/report_format.hpp>
#include <redco/report/run_request.hpp>
#include <redco/report/search_text.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/report/step_memory.hpp>

#include <redco/schedule/pipeline_table.hpp>
#include <redco/schedule/pipeline_text.hpp>
#include <redco/schedule/pipeline_time.hpp>

#include <redco/cost/checks.hpp>
#include <redco/cost/machine_file.hpp>
#include <redco/cost/search.hpp>

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/pretrained.hpp>
#include <redco/model/model.hpp>
#include <redco/model/sequence_parallel.hpp>

#include <redco/options/deployer_options.hpp>
#include <redco/options/overlap.hpp>
#include <redco/options/parse.hpp>
#include <redco/options/value_text.hpp>
#include <redco/optimizer/muon.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <redco/safetensors/replace_file.hpp>
#include <redco/json/parse.hpp>

#include <redco/diag/error.hpp>
#include <redco/meta/enum_texts.hpp>
#include <redco/meta/fields.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

namespace {

using redco::error;
using redco::exit_code;

enum class optimizer_kind { adamw, adam, sgd, lion, ademamix, schedule_free, muon, adafactor };

constexpr auto optimizer_texts = redco::meta::enum_texts<optimizer_kind>({
    {optimizer_kind::adamw, "adamw"},
    {optimizer_kind::adam, "adam"},
    {optimizer_kind::sgd, "sgd"},
    {optimizer_kind::lion, "lion"},
    {optimizer_kind::ademamix, "ademamix"},
    {optimizer_kind::schedule_free, "schedule_free"},
    {optimizer_kind::muon, "muon"},
    {optimizer_kind::adafactor, "adafactor"},
});
constexpr std::string_view name_of(optimizer_kind kind) { return optimizer_texts.text_of(kind); }

}  // namespace

template <>
inline constexpr std::array redco::options::choices<optimizer_kind> = optimizer_texts.values();

namespace {

struct plan_options {
  int n_model_shards = 1;
  std::optional<int> ranks;
  std::optional<redco::mesh> mesh;
  std::int64_t batch = 1;
  std::optional<std::int64_t> sequence;
  std::optional<std::int64_t> source;
  std::optional<std::int64_t> micro_batch;
  optimizer_kind optimizer = optimizer_kind::adamw;
  redco::dtype dtype = redco::dtype::f32;
  redco::recomputed_blocks recompute = {};
  bool sequence_parallel = false;
  std::optional<std::string> device_memory;
  redco::report::report_format format = redco::report::report_format::txt;
  std::optional<std::filesystem::path> output;
  bool facts = false;
  bool timeline = false;
  bool search = false;
  std::optional<std::string> schedule;
  int n_pipeline_stages = 1;
  std::optional<std::string> stages;
  std::optional<int> chunks_per_stage;
  int hosts = 1;
  int zero = 0;
  std::optional<bool> overlap;
  double gradient_bucket = redco::deployer_options().gradient_bucket;
  bool calibrate = false;
  std::filesystem::path machine = "redco_machine.json";

  static constexpr auto fields() {
    using o = plan_options;
    using redco::field;
    return redco::fields(
        field<"n_model_shards">(&o::n_model_shards, "ranks that share one copy of the model")
            .at_least(1)
            .in_group("mesh"),
        field<"ranks">(&o::ranks, "number of ranks; default: one copy of the model").at_least(1).in_group("mesh"),
        field<"mesh">(&o::mesh,
                      "data-parallel x tensor-parallel ranks, or axes by name (dp=2,tp=2), instead of the two above")
            .in_group("mesh"),
        field<"hosts">(&o::hosts, "hosts, each with an equal number of consecutive ranks").at_least(1).in_group("mesh"),
        field<"zero">(
            &o::zero,
            "1: each replica keeps a share of the optimizer's state and of f32 copies of the parameters; 2: and "
            "of the gradients")
            .at_least(0)
            .in_group("mesh"),
        field<"batch">(&o::batch, "examples of one update, over all ranks").at_least(1).in_group("training"),
        field<"micro_batch">(&o::micro_batch,
                             "examples that a data-parallel shard computes at once; default: all of its share")
            .at_least(1)
            .in_group("training"),
        field<"sequence">(&o::sequence, "tokens of an example, at most the model's context; default: the context")
            .at_least(1)
            .in_group("training"),
        field<"source">(&o::source,
                        "tokens of an encoder's input, at most the model's context; default: those of --sequence")
            .at_least(1)
            .in_group("training"),
        field<"optimizer">(&o::optimizer, "optimizer, which determines the state that a rank holds")
            .in_group("training"),
        field<"dtype">(&o::dtype, "type that the model computes in").in_group("computation"),
        field<"recompute">(
            &o::recompute,
            "keeps only the input of these blocks and computes them again in backward: all, every k-th, the first n, or "
            "blocks B to E - 1 (from 0)")
            .in_group("computation"),
        field<"sequence_parallel">(&o::sequence_parallel,
                                   "splits the activations between blocks by tokens over the model shards")
            .in_group("computation"),
        field<"overlap">(
            &o::overlap,
            "sends gradients during backward, and activations of shards during matrix products; default: between hosts")
            .in_group("communication"),
        field<"gradient_bucket">(&o::gradient_bucket,
                                 "MiB of gradients that are summed together while they overlap with backward, more "
                                 "than 0 and at most 1e6")
            .in_group("communication"),
        field<"device_memory">(&o::device_memory,
                               "bytes that a rank may hold, with their unit, such as 40GiB: the report says if the run "
                               "fits; default: no limit")
            .in_group("report"),
        field<"format">(&o::format, "format of the report").in_group("report"),
        field<"output">(&o::output, "file to write the report to; default: standard output").in_group("report"),
        field<"facts">(&o::facts,
                       "prints the facts of the layers for one micro-batch, event by event, instead of the plan")
            .in_group("report"),
        field<"timeline">(&o::timeline,
                          "prints the bytes that a rank holds, layer by layer over a step, instead of the plan")
            .in_group("report"),
        field<"search">(
            &o::search,
            "prints the fastest combinations of mesh, micro-batch, dtype, recomputation and split of tokens "
            "that fit on --ranks")
            .in_group("report"),
        field<"schedule">(&o::schedule,
                          "order of computations of pipeline stages; default: 1f1b. Without a model, prints them, or "
                          "draws them if --output ends in .svg: gpipe, 1f1b, interleaved, zb-h1, v-half, or a file in "
                          "PyTorch's notation")
            .in_group("schedule"),
        field<"n_pipeline_stages">(&o::n_pipeline_stages,
                                   "pipeline stages, each with some of the blocks; on the cores of one machine, stages "
                                   "are slower than data-parallel or tensor-parallel ranks")
            .at_least(1)
            .in_group("schedule"),
        field<"stages">(&o::stages, "blocks of each pipeline stage, such as 3,3,2; default: about equal work")
            .in_group("schedule"),
        field<"chunks_per_stage">(&o::chunks_per_stage,
                                  "parts of the model that each stage of --schedule computes; default: 2 for "
                                  "interleaved and v-half, else 1")
            .at_least(1)
            .in_group("schedule"),
        field<"calibrate">(&o::calibrate,
                           "measures the speed of this machine for --search; under a launcher with one process on each "
                           "host, measures the links between the hosts. Takes no model")
            .in_group("measurement"),
        field<"machine">(
            &o::machine,
            "file of the measured speeds: --calibrate writes it, --search and predictions of the step time read it")
            .in_group("measurement"));
  }
};

/// The facts of an optimizer that a plan needs. One type for all optimizers, so that each model
/// family is compiled once.
struct kept_state {
  std::string_view name;
  redco::optimizer::slot_list kept, kept_of_matrices;
  bool updates_matrices, factors_matrices;

  constexpr redco::optimizer::slot_list slots() const { return kept; }
  constexpr redco::optimizer::slot_list matrix_slots() const { return kept_of_matrices; }
};

kept_state state_of(optimizer_kind kind) {
  auto const state = []<class Rule>(Rule const& rule) {
    return kept_state{Rule::name, redco::optimizer::state_slots(rule), redco::optimizer::matrix_slots(rule),
                      redco::optimizer::updates_matrices(rule), redco::optimizer::factors_matrices(rule)};
  };
  switch (kind) {
    case optimizer_kind::adam: return state(redco::adam{});
    case optimizer_kind::sgd: return state(redco::sgd{});
    case optimizer_kind::lion: return state(redco::optimizer::lion{});
    case optimizer_kind::ademamix: return state(redco::optimizer::ademamix{});
    case optimizer_kind::schedule_free: return state(redco::optimizer::schedule_free{});
    case optimizer_kind::muon: return state(redco::optimizer::muon{});
    case optimizer_kind::adafactor: return state(redco::optimizer::adafactor{});
    case optimizer_kind::adamw: break;
  }
  return state(redco::adamw{});
}

[[noreturn]] void refuse(std::string const& why) { throw error(exit_code::usage, why); }

constexpr std::int64_t most_ranks = 1'000'000;

/// Throws `error` with exit code 64 unless the value is from 1 to 2^28.
void check_count(std::string const& flag, std::int64_t value) {
  if (value < 1 || value > redco::pretrained::config_reader::most)
    refuse(flag + " is " + std::to_string(value) + ": give a number from 1 to " +
           std::to_string(redco::pretrained::config_reader::most));
}

void check_length(std::string const& flag, std::int64_t value, std::int64_t context) {
  check_count(flag, value);
  if (value > context)
    refuse(flag + " " + std::to_string(value) + " is longer than the model's context of " + std::to_string(context) +
           "; give at most that");
}

redco::mesh mesh_of(plan_options const& o) {
  check_count("--n-model-shards", o.n_model_shards);
  check_count("--n-pipeline-stages", o.n_pipeline_stages);
  std::int64_t const asked = o.ranks ? std::int64_t{*o.ranks} : std::int64_t{o.n_model_shards} * o.n_pipeline_stages;
  check_count("--ranks", asked);
  int const ranks = static_cast<int>(asked);
  if (o.mesh && o.n_pipeline_stages > 1 && o.mesh->pp != o.n_pipeline_stages)
    refuse("--mesh " + redco::options::to_text(*o.mesh) + " has " + std::to_string(o.mesh->pp) +
           " pipeline stages and --n-pipeline-stages " + std::to_string(o.n_pipeline_stages) + "; give one of the two");
  if (ranks % o.n_pipeline_stages != 0)
    refuse(std::to_string(ranks) + " ranks cannot form " + std::to_string(o.n_pipeline_stages) +
           " equal pipeline stages; give --ranks a multiple of --n-pipeline-stages");
  redco::mesh const m = o.mesh ? *o.mesh : redco::options::mesh_of(ranks, o.n_model_shards, o.n_pipeline_stages);
  if (m.ranks() > most_ranks)
    refuse("mesh " + redco::options::to_text(m) + " has more than a million ranks; choose a smaller one");
  return m;
}

/// Returns the number of chunks of each stage, by default 2 for schedules that need several.
int chunks_of(plan_options const& o, redco::schedule::pipeline_kind kind) {
  using redco::schedule::pipeline_kind;
  return o.chunks_per_stage.value_or(kind == pipeline_kind::interleaved || kind == pipeline_kind::v_half ? 2 : 1);
}

/// Returns the table of --schedule, from a kind of pipeline or from a file.
redco::schedule::pipeline_table table_of(plan_options const& o) {
  auto const kind = redco::schedule::pipeline_kind_texts.value_of(*o.schedule);
  if (!kind) {
    std::string kinds;
    for (auto const& row : redco::schedule::pipeline_kind_texts.rows) kinds += std::string(row.text) + ", ";
    if (!std::filesystem::exists(*o.schedule))
      refuse("--schedule " + *o.schedule + " is no file; give one of " + kinds + "or the path of a file");
    return redco::schedule::read_pipeline_file(*o.schedule);
  }
  std::int64_t const at_once = o.micro_batch.value_or(o.batch);
  check_count("--batch", o.batch);
  check_count("--micro-batch", at_once);
  redco::schedule::pipeline_shape const shape{*kind, o.n_pipeline_stages, static_cast<int>((o.batch - 1) / at_once + 1),
                                              chunks_of(o, *kind)};
  if (auto const why = redco::schedule::refusal_of(shape); !why.empty())
    refuse("--schedule " + *o.schedule + " " + std::string(why) + ", but there are " + std::to_string(shape.stages) +
           " stages, " + std::to_string(shape.micro_batches) + " micro-batches and " +
           std::to_string(shape.chunks_per_stage) + " chunks per stage");
  return redco::schedule::table_of(shape);
}

/// Sets the schedule of a run's pipeline stages: a kind, or the table of a file.
void set_schedule(redco::report::run_request& run, plan_options const& o) {
  if (run.mesh.pp == 1 && o.schedule)
    refuse("--schedule " + *o.schedule +
           " has no meaning for a run with one pipeline stage; give --n-pipeline-stages, or "
           "leave the model out to draw a schedule");
  if (run.mesh.pp == 1 && o.chunks_per_stage)
    refuse("--chunks-per-stage has no meaning for a run with one pipeline stage; give --n-pipeline-stages");
  auto const kind = redco::schedule::pipeline_kind_texts.value_of(o.schedule.value_or("1f1b"));
  if (kind) {
    run.schedule = *kind;
    run.chunks_per_stage = chunks_of(o, *kind);
    return;
  }
  auto table = std::make_shared<redco::schedule::pipeline_table>(table_of(o));
  int const chunks = static_cast<int>(table->chunks() / table->stages());
  run.chunks_per_stage = o.chunks_per_stage.value_or(std::max(chunks, 1));
  run.table = std::move(table);
}

redco::report::run_request request_of(plan_options const& o, redco::workload const& load) {
  redco::report::run_request run{.mesh = mesh_of(o),
                                 .load = load,
                                 .micro_batch = o.micro_batch.value_or(0),
                                 .compute = o.dtype,
                                 .recompute = o.recompute,
                                 .hosts = o.hosts,
                                 .overlap = o.overlap,
                                 .gradient_bucket = o.gradient_bucket,
                                 .zero = o.zero,
                                 .form = o.mesh    ? redco::report::request_form::mesh
                                         : o.ranks ? redco::report::request_form::ranks
                                                   : redco::report::request_form::model_shards};
  if (o.stages) run.stages = redco::options::parse_stages(*o.stages);
  set_schedule(run, o);
  return run;
}

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
  redco::cost::search_space space{.load = load, .ranks = o.ranks.value_or(1), .hosts = o.hosts, .budget = budget};
  space.zero = o.zero;
  check_count("--ranks", space.ranks);
  if (space.ranks > most_ranks)
    refuse("--ranks " + std::to_string(space.ranks) + " is more than a million; choose fewer");
  redco::cost::check_hosts({.dp = space.ranks}, space.hosts);
  space.gradient_bucket =
      redco::options::gradient_bucket({.dp = space.ranks}, space.hosts, o.overlap, o.gradient_bucket, o.zero);
  redco::cost::search_result const found =
      redco::cost::search_both_forms(model, optimizer, space, machine_in(o.machine));
  write(o, redco::report::search_text(found, space));
  return found.plans.empty() ? exit_code::missed : exit_code::done;
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
  if (o.timeline) {
    if (asked.mesh.pp > 1) refuse("--timeline shows a run with one pipeline stage; leave --n-pipeline-stages out");
    redco::report::check_mesh(redco::shard::facts_of(model).parameters, asked);
    redco::cost::setup const run = redco::report::setup_of(asked);
    redco::cost::rank_cost const planned = redco::report_of(model, optimizer, run).cost;
    redco::fact::program const facts = redco::shard::facts_of(model, run.load);
    write(o, redco::report::timeline_text(redco::cost::simulation(facts, run), planned.memory));
    return exit_code::done;
  }
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
  kept_state const optimizer = state_of(o.optimizer);
  return folder.visit([&]<class Model>(Model const& model) {
    if (o.sequence_parallel) return plan(redco::models::sequence_parallel<Model>{model.config}, optimizer, o, config);
    return plan(model, optimizer, o, config);
  });
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return static_cast<int>(run(argc, argv));
  } catch (error const& e) {
    (e.code() == exit_code::done ? std::cout : std::cerr) << e.what() << std::endl;
    return static_cast<int>(e.code());
  } catch (std::exception const& e) {
    std::cerr << e.what() << "; this is a fault of redco-plan" << std::endl;
    return static_cast<int>(exit_code::internal);
  }
}
