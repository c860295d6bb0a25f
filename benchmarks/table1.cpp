// Plans the seven models and servers of RedCoast's table 1 (arXiv 2310.16355). Prints the peak
// bytes of a device in f32 with AdamW, one example at a time, and the verdict whether they fit.
// Then prints the least number of devices that fit each model at each level of ZeRO, with any
// number of model shards and with replicas only. Runs nothing. If the folder of --measured holds
// the JSON lines of scripts/bench bart_large and gpt2_large, also prints their measured peaks.
// - `table1 --measured FOLDER`
#include <redco/cost/cost_of.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/bart.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/gptj.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/opt.hpp>
#include <redco/model/t5.hpp>
#include <redco/options/parse.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/shape/zero.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/fields.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

namespace {

constexpr std::int64_t gigabyte = 1'000'000'000;

struct table_options {
  std::filesystem::path measured;

  static constexpr auto fields() {
    return redco::fields(redco::field<"measured">(&table_options::measured,
                                                  "folder of bart_large.json and gpt2_large.json, the JSON lines of "
                                                  "large"));
  }
};

struct server {
  char const* name;
  int devices;
  std::int64_t gigabytes;  ///< memory of one device
};

std::string gigabytes(std::int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", static_cast<double>(bytes) / gigabyte);
  return text;
}

/// Returns the run on all devices with the largest legal number of model shards.
template <class Model>
redco::cost::setup widest(Model const& model, server const& on, std::int64_t sequence) {
  int shards = 1;
  for (int const width : redco::shard::legal_widths(redco::shard::facts_of(model).parameters, on.devices))
    if (on.devices % width == 0) shards = width;
  return {.mesh = {.dp = on.devices / shards, .tp = shards}, .load = {1, sequence}};
}

/// Returns the measured cell of a row: the largest peak of a rank on a CPU, from the JSON line of
/// its benchmark.
std::string measured(std::filesystem::path const& folder, std::string const& benchmark) {
  std::filesystem::path const file = folder / (benchmark + ".json");
  if (folder.empty() || !std::filesystem::exists(file))
    return "planned, not run; scripts/bench " + benchmark + " runs it on a CPU";
  redco::json::json_value const line = redco::json::read_json(file);
  std::int64_t peak = 0;
  for (auto const& one : line.at("measured_peak_bytes")) peak = std::max(peak, one.get<std::int64_t>());
  return "on this CPU: " + gigabytes(peak) + " measured, " +
         gigabytes(line.at("planned_peak_bytes").get<std::int64_t>()) + " planned";
}

/// Prints one row of the table. Returns true if the model fits.
template <class Model>
bool row(char const* name, Model const& model, server const& on, std::int64_t sequence, std::string const& ran) {
  redco::cost::setup const run = widest(model, on, sequence);
  redco::cost::memory const held = redco::cost::cost_of(model, redco::adamw{}, run).memory;
  bool const fits = held.peak() <= on.gigabytes * gigabyte;
  std::string verdict = fits ? "fits" : "does not fit";
  for (int const width : redco::shard::legal_widths(redco::shard::facts_of(model).parameters, on.devices)) {
    redco::cost::setup other = run;
    other.mesh = {.tp = width};
    std::int64_t const peak = redco::cost::cost_of(model, redco::adamw{}, other).memory.peak();
    if (fits || peak > on.gigabytes * gigabyte) continue;
    verdict += "; " + std::to_string(width) + " of the devices as one replica would: " + gigabytes(peak);
    break;
  }
  std::printf("| %s | %s (%d x %lldG) | %lld | %dx%d | %s | %s | %s | %s |\n", name, on.name, on.devices,
              static_cast<long long>(on.gigabytes), static_cast<long long>(sequence), run.mesh.dp, run.mesh.tp,
              gigabytes(held.persistent()).c_str(), gigabytes(held.peak()).c_str(), verdict.c_str(), ran.c_str());
  return fits;
}

/// Returns the least number of devices of `gigabytes` each that fit the model at a level of ZeRO,
/// with its mesh, or "none". `most_shards`: largest number of model shards.
template <class Model>
std::string least_devices(Model const& model, std::int64_t gigabytes, std::int64_t sequence, int level,
                          int most_shards) {
  constexpr int most_devices = 1024;
  auto const widths = redco::shard::legal_widths(redco::shard::facts_of(model).parameters, most_shards);
  for (int devices = 1; devices <= most_devices; ++devices)
    for (int const width : widths) {
      bool const grows = level > 0 || devices == width;  // Without ZeRO, replicas are equal.
      if (devices % width != 0 || !grows) continue;
      redco::cost::setup run{.mesh = {.dp = devices / width, .tp = width}, .load = {1, sequence}};
      run.zero.level = level;
      if (redco::cost::cost_of(model, redco::adamw{}, run).memory.peak() <= gigabytes * gigabyte)
        return std::to_string(devices) + " (" + std::to_string(run.mesh.dp) + "x" + std::to_string(width) + ")";
    }
  return "none";
}

/// Prints two rows of the table of least devices.
template <class Model>
void least_row(char const* name, Model const& model, server const& on, std::int64_t sequence) {
  for (int const most_shards : {1024, 1}) {
    std::printf("| %s | %lldG | %s |", name, static_cast<long long>(on.gigabytes), most_shards > 1 ? "any" : "1");
    for (int level = 0; level <= redco::shape::zero::most_level; ++level)
      std::printf(" %s |", least_devices(model, on.gigabytes, sequence, level, most_shards).c_str());
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) try {
  std::filesystem::path const folder =
      redco::options::parse_or_exit<table_options>(argc, argv, "Plans the models of RedCoast's table 1.")
          .values.measured;
  constexpr server two{"2x1080Ti", 2, 10}, four{"4xA100", 4, 40}, hosts{"2 TPU-v4 hosts", 8, 32},
      many{"16 TPU-v4 hosts", 64, 32};
  std::printf(
      "| model | server | length | mesh | states GB | peak GB of a device | verdict | run "
      "|\n|---|---|---:|---|---:|---:|---|---|\n");
  char const* const planned = "planned, not run";
  redco::gpt2 const gpt2_large{{.width = 1280, .heads = 20, .layers = 36}};
  redco::opt const opt_13b{{.width = 5120, .ffn = 20480, .heads = 40, .layers = 40}};
  redco::opt const opt_66b{{.width = 9216, .ffn = 36864, .heads = 72, .layers = 64}};
  int fitting = 0;
  fitting += row("BART-Large", redco::bart{}, two, 1024, measured(folder, "bart_large"));
  fitting += row("GPT2-Large", gpt2_large, two, 512, measured(folder, "gpt2_large"));
  fitting += row("LLaMA-7B", redco::llama{}, four, 1024, planned);
  fitting += row("GPT-J-6B", redco::gptj{}, four, 1024, planned);
  fitting += row("T5-XXL-11B", redco::t5{}, hosts, 512, planned);
  fitting += row("OPT-13B", opt_13b, hosts, 1024, planned);
  fitting += row("OPT-66B", opt_66b, many, 512, planned);
  std::printf("\n%d of 7 fit\n\nLeast number of devices that fit (mesh), by level of ZeRO\n\n", fitting);
  std::printf("| model | device | model shards | 0 | 1 | 2 | 3 |\n|---|---|---|---:|---:|---:|---:|\n");
  least_row("BART-Large", redco::bart{}, two, 1024);
  least_row("GPT2-Large", gpt2_large, two, 512);
  least_row("LLaMA-7B", redco::llama{}, four, 1024);
  least_row("GPT-J-6B", redco::gptj{}, four, 1024);
  least_row("T5-XXL-11B", redco::t5{}, hosts, 512);
  least_row("OPT-13B", opt_13b, hosts, 1024);
  least_row("OPT-66B", opt_66b, many, 512);
} catch (redco::error const& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return static_cast<int>(e.code());
}
