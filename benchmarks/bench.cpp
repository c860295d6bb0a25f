// Measures speed and memory of a training step; prints one JSON line on standard output.
// - `bench W1 --mesh 1x2 --dtype f32`: the demo's GPT-2, random ids, T 256, batch 16, AdamW
// - `bench W1 --mesh 1x2 --loop hand`: W1 without trainer, pipeline, modules and plan
// - `bench W2 --mesh 1x2 --dtype bf16`: GPT-2 small, T 256, batch 4
// - `bench W3 --mesh 1x2 --dtype bf16`: a LLaMA of 6 layers, width 512, T 256, batch 8
// - `bench L1 --device cuda --dtype bf16`: a LLaMA of 1.24 billion parameters, T 2048, batch 8
// - `bench M1 --mesh 1x1`: an OLMoE of 4 layers, width 512, 4 of 16 experts, T 256, batch 8
// - `bench bf16_loss`: a small model after 200 steps in bf16 and f32; exit code 1 if losses differ
//   by more than 1 %

#include "device_peak.hpp"
#include "hand_gpt2.hpp"
#include "step_watch.hpp"
#include "temporary_folder.hpp"

#include <redco/run/trainer.hpp>
#include <redco/text/batches.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/cost/machine_file.hpp>
#include <redco/cost/step_time.hpp>
#include <redco/pretrained/stored_names/llama.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/olmoe.hpp>
#include <redco/options/launch.hpp>
#include <redco/options/parse.hpp>
#include <redco/options/value_text.hpp>
#include <redco/pipeline/functions.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/random/random_words.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace {

struct bench_options {
  redco::mesh mesh;
  std::string device = redco::deployer_options{}.device;
  redco::dtype dtype = redco::dtype::f32;
  bool tf32 = false;
  bool cuda_graph = false;
  int steps = 13;
  std::int64_t batch = 0;
  std::int64_t micro_batch = 0;
  std::int64_t length = 0;
  double dropout = 0;
  std::string loop = "trainer";
  int threads = 0;
  int zero = 0;
  std::optional<bool> overlap;
  std::optional<std::filesystem::path> machine;
  double peak = 0;
  std::filesystem::path write_start;
  bool paced = false;

  static constexpr auto fields() {
    using o = bench_options;
    using redco::field;
    return redco::fields(
        field<"mesh">(&o::mesh, "data-parallel x tensor-parallel ranks, or axes by name: dp=2,tp=2"),
        field<"device">(&o::device,
                        "device that computes: cpu, cuda, or auto (cuda if a device and its libraries exist)"),
        field<"dtype">(&o::dtype, "type that the model computes in"),
        field<"tf32">(&o::tf32, "f32 products on a CUDA device round their factors"),
        field<"cuda_graph">(&o::cuda_graph, "forward and backward are recorded once and repeated; not with --paced"),
        field<"batch">(&o::batch, "examples of a step; 0: the workload's").at_least(0),
        field<"micro_batch">(&o::micro_batch, "examples of a replica at once; 0: all").at_least(0),
        field<"length">(&o::length, "tokens of an example; 0: the workload's").at_least(0),
        field<"steps">(&o::steps, "updates; the median leaves the first three out").at_least(1),
        field<"dropout">(&o::dropout, "share of embeddings, branches and attention that is set to 0")
            .at_least(0)
            .at_most(1),
        field<"loop">(&o::loop, "trainer, or hand: kernels and collectives without trainer and plan"),
        field<"threads">(&o::threads, "threads of each rank; 0: the cores divided by the ranks").at_least(0),
        field<"zero">(&o::zero, "training state of which each replica keeps a share: --zero of a deployer").at_least(0),
        field<"overlap">(&o::overlap, "gradients are summed while backward runs; default: between processes"),
        field<"machine">(&o::machine, "file of the machine's speed: prints predicted times of a step"),
        field<"peak">(&o::peak, "TFLOP/s that a device reaches at most; 0: by its name, for bf16").at_least(0),
        field<"write_start">(&o::write_start, "folder for the weights before training and the ids; trains nothing"),
        field<"paced">(&o::paced, "one step for each line on standard input"));
  }
};

constexpr redco::models::gpt2_config w1(bench_options const& o) {
  return {.vocab = 256, .context = 256, .width = 384, .heads = 6, .layers = 6, .dropout = o.dropout};
}
constexpr redco::models::gpt2_config w2(bench_options const& o) {
  return {.vocab = 50257, .context = 1024, .width = 768, .heads = 12, .layers = 12, .dropout = o.dropout};
}
constexpr redco::models::llama_config w3{
    .vocab = 4096, .context = 256, .width = 512, .ffn = 1376, .heads = 8, .kv_heads = 4, .layers = 6};
constexpr redco::models::llama_config l1{.vocab = 128256,
                                         .context = 2048,
                                         .width = 2048,
                                         .ffn = 8192,
                                         .heads = 32,
                                         .kv_heads = 8,
                                         .layers = 16,
                                         .norm_epsilon = 1e-5,
                                         .theta = 500000,
                                         .tied = true};

constexpr redco::models::olmoe_config m1{.vocab = 4096,
                                         .context = 256,
                                         .width = 512,
                                         .ffn = 256,
                                         .heads = 8,
                                         .kv_heads = 8,
                                         .layers = 4,
                                         .experts = 16,
                                         .experts_per_token = 4,
                                         .padding = -1};

using ids = std::vector<std::int64_t>;

/// Returns `rows` sequences of `length` ids. `next` computes each id from the previous id and a
/// keyed random word.
template <class Next>
std::vector<ids> sequences(std::int64_t rows, std::int64_t length, Next const& next) {
  std::vector<ids> all;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::vector<std::uint32_t> words(static_cast<std::size_t>(length));
    redco::random::random_words(words.data(), 0, length, static_cast<std::uint32_t>(r), 0, 0,
                                redco::random::make_stream(42, 0, 0, 0));
    ids row;
    for (std::uint32_t const word : words) row.push_back(next(row.empty() ? 0 : row.back(), word));
    all.push_back(std::move(row));
  }
  return all;
}

redco::token_batch batch_of_rows(std::span<ids const> rows) {
  auto const n = std::ssize(rows), length = std::ssize(rows.front()) - 1;
  redco::token_batch batch{at::empty({n, length}, at::kLong), at::empty({n, length}, at::kLong)};
  for (std::int64_t r = 0; r < n; ++r) {
    auto const& row = rows[static_cast<std::size_t>(r)];
    std::copy_n(row.begin(), length, batch.input_ids.data_ptr<std::int64_t>() + r * length);
    std::copy_n(row.begin() + 1, length, batch.labels.data_ptr<std::int64_t>() + r * length);
  }
  return batch;
}

redco::deployer_options deployment_of(bench_options const& o, std::filesystem::path const& folder) {
  redco::deployer_options d;
  d.mesh = o.mesh;
  d.device = o.device;
  d.dtype = o.dtype;
  d.tf32 = o.tf32;
  d.cuda_graph = o.cuda_graph;
  d.threads = o.threads;
  d.zero = o.zero;
  d.overlap = o.overlap;
  d.workdir = folder;
  if (o.paced) d.deadline = 3600;  // ranks wait during the turns of other programs
  d.resume = "none";
  d.quiet = true;
  return d;
}

double rounded(double x, double digits) { return std::round(x * digits) / digits; }

/// Waits until the devices of a run are idle. Without this wait, the program whose turn is next
/// would pay for unfinished work.
void finish_devices(redco::deployer const& deployer) {
  if (deployer.device().is_cpu()) return;
  for (int rank = 0; rank < deployer.mesh().ranks(); ++rank)
    at::accelerator::synchronizeDevice(deployer.device(rank).index());
}

/// Adds the devices of the ranks and their peak speed to the JSON line.
void describe_devices(redco::deployer const& deployer, bench_options const& o, redco::json::json_value& line) {
  at::Device const first = deployer.device();
  line["device"] = first.is_cpu() ? "cpu" : "cuda";
  if (first.is_cpu() && o.peak == 0) return;
  int devices = 1;
  while (devices < o.mesh.ranks() && deployer.device(devices) != first) ++devices;
  std::string const name = device_name(first);
  double const known = o.dtype == redco::dtype::bf16 ? bf16_peak_tflops(name) : 0;
  double const peak = o.peak > 0 ? o.peak : known;
  line["device_name"] = name;
  if (peak > 0) line["peak_tflop_s"] = peak * devices;
}

auto language_model(step_watch& watch) {
  return redco::collate([](std::span<ids const> rows) { return batch_of_rows(rows); }) |
         redco::loss([&watch](auto const& net, redco::token_batch const& b) {
           if (net.pass().training) watch.enter(net.pass().step);
           return redco::cross_entropy(net(b.input_ids), b.labels);
         });
}

/// Writes the weights before training and the ids of `data` to the folder o.write_start.
template <class Model>
void write_start(Model const& model, std::vector<ids> const& data, bench_options const& o) {
  temporary_folder const folder;
  redco::deployer deployer(deployment_of(o, folder.path));
  step_watch watch(false, std::cout);
  redco::trainer trainer(deployer, model, language_model(watch), redco::adamw{});
  trainer.fit(data, {.epochs = 0, .sanity_check = false, .save_last = false, .save_argmin = {}});
  std::filesystem::create_directories(o.write_start);
  trainer.save_model(o.write_start);
  std::ofstream(o.write_start / "ids.json") << redco::json::json_value(data).dump() << '\n';
}

/// Trains the model on `data`. If `evaluated` is not null, stores the loss on `data` after training
/// in it.
template <class Model>
void train(Model const& model, std::vector<ids> const& data, std::int64_t batch, double lr, bench_options const& o,
           step_watch& watch, redco::json::json_value& line, double* evaluated = nullptr) {
  temporary_folder const folder;
  redco::deployer deployer(deployment_of(o, folder.path));
  redco::adamw const optimizer{.lr = lr};
  redco::trainer trainer(deployer, model, language_model(watch), optimizer);
  std::vector<double> norms;
  watch.begin();
  redco::fit_result const result =
      trainer.fit(data, {.epochs = o.steps,
                         .max_steps = o.steps,
                         .global_batch = batch,
                         .micro_batch = o.micro_batch,
                         .eval = evaluated ? redco::examples<ids>(data) : redco::examples<ids>(),
                         .sanity_check = false,
                         .save_last = false,
                         .save_argmin = {},
                         .on_step = [&](redco::fit_event const& e) {
                           if (o.paced) finish_devices(deployer);
                           norms.push_back(e.grad_norm);
                           watch.done(e.loss);
                         }});
  if (evaluated) *evaluated = result.evaluation.at("loss");
  redco::cost::setup setup;
  setup.mesh = o.mesh;
  std::int64_t const rows = batch / o.mesh.dp, at_once = o.micro_batch > 0 ? std::min(o.micro_batch, rows) : rows;
  setup.load = {at_once, std::ssize(data.front()) - 1};
  setup.micro_batches = (rows + at_once - 1) / at_once;
  setup.compute = o.dtype;
  setup.hosts = redco::options::launched().processes;
  setup.zero.bucket = deployer.gradient_bucket();
  setup.zero.level = o.zero;
  setup.zero.overlaps = o.zero > 1 && deployer.zero().overlaps;
  setup.overlap_shards = deployer.overlaps_shards();
  for (redco::run::step_measure const& rank : result.measures) {
    line["peak_bytes"].push_back(rank.peak_bytes);
    if (!deployer.device().is_cpu()) line["device_bytes"].push_back(rank.device_bytes);
  }
  // Losses and gradient norms of the first steps, to compare programs
  auto const first_of = [](std::vector<double> const& all) {
    return std::vector(all.begin(), all.begin() + std::min<std::ptrdiff_t>(4, std::ssize(all)));
  };
  line["losses"] = first_of(watch.losses);
  line["norms"] = first_of(norms);
  redco::cost::rank_cost const cost = redco::cost::cost_of(model, optimizer, setup);
  line["kept_bytes"] = cost.memory.persistent() - cost.memory.batches;
  line["report_bytes"] = cost.memory.peak();
  line["flops"] = static_cast<double>(cost.operations.forward + cost.operations.backward) * o.mesh.dp;
  describe_devices(deployer, o, line);
  if (!o.machine) return;
  auto const machine = redco::cost::read_machine(redco::json::read_json(*o.machine), o.machine->string());
  redco::cost::step_time const time = redco::cost::step_time_of(cost, setup, machine);
  line["predicted_s"] = rounded(time.total(), 1e4);
  line["predicted_messages_s"] = rounded(time.messages, 1e4);
  line["predicted_hidden_s"] = rounded(time.hidden, 1e4);
}

void by_hand(redco::models::gpt2_config const& config, std::vector<ids> const& data, bench_options const& o,
             step_watch& watch) {
  redco::comm::rank_options ranks;
  ranks.threads = o.threads;
  watch.begin();
  redco::comm::run_ranks(o.mesh, ranks, [&](redco::rank_context& rank) {
    hand_gpt2 net(config, rank, o.dtype);
    auto const share = data.size() / static_cast<std::size_t>(o.mesh.dp);
    auto const batch = batch_of_rows(std::span(data).subspan(share * static_cast<std::size_t>(rank.dp_index()), share));
    for (int step = 0; step < o.steps; ++step) {
      watch.enter(static_cast<std::uint64_t>(step));
      double const loss = net.step(batch.input_ids, batch.labels, step + 1, redco::adamw{.lr = 3e-4});
      if (rank.rank == 0) watch.done(loss);
    }
  });
}

/// Returns the data of a run. On a CPU, an epoch is one step. On a device, one epoch holds all
/// steps as in a real training, so that batches are copied ahead of their steps.
std::vector<ids> in_epochs(std::vector<ids> const& data, bench_options const& o) {
  std::vector<ids> all = data;
  if (redco::tensors::choose_device(o.device).type != at::kCPU)
    for (int step = 1; step < o.steps; ++step) all.insert(all.end(), data.begin(), data.end());
  return all;
}

/// Default sizes of a workload, used if no option overrides them.
struct usual {
  std::int64_t batch, length;
};

/// Measures the speed of a training step on random ids, prints the JSON line and returns the exit
/// code.
template <class Model>
int step_speed(std::string const& workload, Model const& model, usual const& size, bench_options const& o,
               std::ostream& out) {
  std::int64_t const batch = o.batch > 0 ? o.batch : size.batch, length = o.length > 0 ? o.length : size.length;
  if (length > model.config.context)
    throw redco::error(redco::exit_code::usage, "--length " + std::to_string(length) + ": " + workload +
                                                    " has at most " + std::to_string(model.config.context) +
                                                    " positions");
  auto const data = sequences(batch, length + 1, [&](std::int64_t, std::uint32_t word) {
    return static_cast<std::int64_t>(word) % model.config.vocab;
  });
  if (o.cuda_graph && o.paced)
    throw redco::error(redco::exit_code::usage, "--cuda-graph repeats steps that do not wait: leave --paced out");
  if (!o.write_start.empty()) {
    write_start(model, data, o);
    return 0;
  }
  bool const first = redco::options::launched().first();
  step_watch watch(o.paced, out, first);
  redco::json::json_value line = {{"program", "redco " + (o.cuda_graph ? "graph" : o.loop)},
                                  {"workload", workload},
                                  {"mesh", redco::options::to_text(o.mesh)},
                                  {"processes", redco::options::launched().processes},
                                  {"dtype", std::string(name_of(o.dtype))},
                                  {"batch", batch},
                                  {"length", length},
                                  {"dropout", o.dropout},
                                  {"zero", o.zero}};
  redco::json::json_value bytes = redco::json::json_value::object();
  if (o.loop == "hand") {
    if (o.dropout != 0) throw redco::error(redco::exit_code::usage, "--loop hand knows no dropout");
    if (!std::is_same_v<Model, redco::gpt2>)
      throw redco::error(redco::exit_code::usage, "--loop hand knows GPT-2 only: W1 or W2");
    if (o.device == "cuda") throw redco::error(redco::exit_code::usage, "--loop hand computes on the CPU only");
    if constexpr (std::is_same_v<Model, redco::gpt2>) by_hand(model.config, data, o, watch);
  } else if (o.loop == "trainer") {
    train(model, in_epochs(data, o), batch, 3e-4, o, watch, bytes);
  } else {
    throw redco::error(redco::exit_code::usage, "--loop " + o.loop + ": it is trainer or hand");
  }
  if (!first) return 0;
  double const step = step_watch::typical(watch.seconds);
  line["steps"] = watch.seconds.size();
  line["tok_s"] = rounded(static_cast<double>(batch * length) / step, 10);
  line["step_s"] = rounded(step, 1e4);
  line["step_cpu_s"] = rounded(step_watch::typical(watch.cpu), 1e4);
  line["first_step_s"] = rounded(watch.first, 100);
  line["peak_rss_gib"] = rounded(step_watch::peak_rss_gib(), 1e3);
  line["loss_step10"] =
      watch.losses.size() > 9 ? redco::json::json_value(rounded(watch.losses[9], 1e5)) : redco::json::json_value();
  if (bytes.contains("flops")) {
    double const reached = bytes["flops"].get<double>() / step / 1e12;
    line["tflop_s"] = rounded(reached, 1e4);
    if (bytes.contains("peak_tflop_s"))
      line["share_of_peak"] = rounded(reached / bytes["peak_tflop_s"].get<double>(), 1e4);
  }
  // The difference holds libtorch itself, working memory of products, and memory that the allocator
  // keeps.
  if (bytes.contains("report_bytes") && bytes["device"] == "cpu")
    line["rss_beyond_plan_gib"] =
        rounded(step_watch::peak_rss_gib() - bytes["report_bytes"].get<double>() * o.mesh.ranks() / (1 << 30), 1e3);
  line.update(bytes);
  out << line.dump() << std::endl;
  return 0;
}

/// Trains a small model for 200 updates on learnable sequences in bf16 and in f32, and compares the
/// losses. Returns exit code 1 if they differ by more than 1 %.
int bf16_loss(bench_options o, std::ostream& out) {
  auto const data = sequences(64, 65, [](std::int64_t before, std::uint32_t word) {
    return word % 8 == 0 ? static_cast<std::int64_t>(word / 8 % 96) : (5 * before + 7) % 96;
  });
  redco::models::gpt2_config const config{.vocab = 96, .context = 64, .width = 96, .heads = 3, .layers = 2};
  o.steps = 200;
  double loss[2] = {};
  for (int i = 0; i < 2; ++i) {
    o.dtype = i == 0 ? redco::dtype::f32 : redco::dtype::bf16;
    step_watch watch(false, out);
    redco::json::json_value bytes;
    train(redco::gpt2{config}, data, 16, 3e-3, o, watch, bytes, loss + i);
  }
  redco::json::json_value const line = {{"workload", "bf16_loss"}, {"mesh", redco::options::to_text(o.mesh)},
                                        {"steps", o.steps},        {"f32", loss[0]},
                                        {"bf16", loss[1]},         {"relative", loss[1] / loss[0] - 1}};
  out << line.dump() << std::endl;
  return static_cast<int>(std::abs(loss[1] / loss[0] - 1) <= 0.01 ? redco::exit_code::done : redco::exit_code::missed);
}

}  // namespace

int main(int argc, char** argv) try {
  std::string const workload = argc > 1 ? argv[1] : "";
  bool const named = !workload.empty() && workload.front() != '-';
  std::vector<char const*> words(argv, argv + argc);
  if (named) words.erase(words.begin() + 1);
  auto const o = redco::options::parse_or_exit<bench_options>(
                     static_cast<int>(words.size()), words.data(),
                     "bench W1 | W2 | W3 | L1 | M1 | bf16_loss: one JSON line of speed and size.")
                     .values;
  std::ostream out(std::cout.rdbuf(std::cerr.rdbuf()));  // messages of the library go to stderr
  int code = static_cast<int>(redco::exit_code::usage);
  if (workload == "W1") code = step_speed(workload, redco::gpt2{w1(o)}, {16, 256}, o, out);
  else if (workload == "W2") code = step_speed(workload, redco::gpt2{w2(o)}, {4, 256}, o, out);
  else if (workload == "W3") code = step_speed(workload, redco::llama{w3}, {8, 256}, o, out);
  else if (workload == "L1") code = step_speed(workload, redco::llama{l1}, {8, 2048}, o, out);
  else if (workload == "M1") code = step_speed(workload, redco::models::olmoe{m1}, {8, 256}, o, out);
  else if (workload == "bf16_loss") code = bf16_loss(o, out);
  else std::cerr << "which workload? bench W1 --mesh 1x2 --dtype f32, or bench bf16_loss\n";
  std::cout.rdbuf(out.rdbuf());
  return code;
} catch (redco::error const& e) {
  std::cerr << "error: " << e.what() << std::endl;
  return static_cast<int>(e.code());
}
