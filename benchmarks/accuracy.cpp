// Compares the report with a run. For each case of a list, trains three steps and compares bytes
// and messages of the third step with the plan. Exit code 1 if the messages of a case differ, a
// peak is off by more than 5 %, or activations are less than 20 % of a peak.
// - `accuracy --cases benchmarks/accuracy.json --page docs/accuracy.md`: all cases; writes the page
// - `accuracy --cases benchmarks/accuracy.json --only bart`: the cases of one model

#include "accuracy_models.hpp"
#include "temporary_folder.hpp"

#include <redco/run/main_of.hpp>
#include <redco/run/trainer.hpp>
#include <redco/nn/nn.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/options/value_text.hpp>
#include <redco/pipeline/functions.hpp>
#include <redco/json/parse.hpp>
#include <redco/meta/fields.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr double largest_error = 0.05, least_activations = 0.2;

struct accuracy_options {
  std::filesystem::path cases;
  std::filesystem::path page;
  std::string only;

  static constexpr auto fields() {
    using o = accuracy_options;
    return redco::fields(redco::required_field<"cases">(&o::cases, "JSON file of the cases"),
                         redco::field<"page">(&o::page, "file to write the page to; default: none"),
                         redco::field<"only">(&o::only, "model whose cases are run; default: all cases"));
  }
};

struct accuracy_case {
  std::string model;
  redco::mesh mesh;
  redco::dtype dtype = redco::dtype::f32;
  int micro_batches = 1;
  bool recompute = false;
};

accuracy_case case_of(redco::json::json_value const& j) {
  accuracy_case c;
  c.model = j.at("model").get<std::string>();
  c.mesh = redco::options::parse_mesh(j.at("mesh").get<std::string>());
  std::string const type = j.at("dtype").get<std::string>();
  if (type != "f32" && type != "bf16") throw std::runtime_error("no dtype " + type + ": f32 or bf16");
  c.dtype = type == "bf16" ? redco::dtype::bf16 : redco::dtype::f32;
  c.micro_batches = j.at("micro_batches").get<int>();
  c.recompute = j.at("recompute").get<bool>();
  return c;
}

struct result {
  std::int64_t planned = 0, measured = 0;
  double activations = 0;  ///< activations' share of the planned peak
  bool same_messages = true;

  double error() const { return static_cast<double>(planned) / static_cast<double>(measured) - 1; }
};

/// Trains three steps and returns the peak bytes of the plan and the largest measured peak of a
/// rank.
template <class Subject>
result run(Subject const& subject, accuracy_case const& c) {
  temporary_folder const folder;
  redco::deployer_options where;
  where.mesh = c.mesh;
  where.dtype = c.dtype;
  where.recompute = c.recompute;
  where.workdir = folder.path;
  where.resume = "none";
  where.quiet = true;
  where.threads = 1;
  redco::deployer deployer(where);
  auto const pipeline =
      redco::collate([&](std::span<int const> rows) { return subject.batch_of(std::ssize(rows), c.dtype); }) |
      redco::loss([](auto const& net, typename Subject::batch const& b) { return Subject::loss(net, b); });
  redco::adamw const optimizer{.lr = 1e-3};
  redco::trainer trainer(deployer, subject.model, pipeline, optimizer);
  // six steps: batches are prepared ahead during step 3 too
  std::vector<int> examples(static_cast<std::size_t>(6 * subject.load.batch));
  std::iota(examples.begin(), examples.end(), 0);
  std::int64_t const micro_batch = subject.load.batch / c.mesh.dp / c.micro_batches;
  redco::fit_result const fitted = trainer.fit(examples, {.max_steps = 3,
                                                          .global_batch = subject.load.batch,
                                                          .micro_batch = micro_batch,
                                                          .save_last = false,
                                                          .save_argmin = {}});

  redco::cost::setup setup{c.mesh, subject.load, c.dtype, c.recompute, c.micro_batches};
  setup.load.batch = micro_batch;
  redco::cost::rank_cost const planned = redco::cost::cost_of(subject.model, optimizer, setup);
  result r;
  r.planned = planned.memory.peak();
  r.activations = static_cast<double>(std::max(planned.memory.activations, planned.memory.backward.activations +
                                                                               planned.memory.backward.recomputed)) /
                  static_cast<double>(r.planned);
  for (redco::run::step_measure const& rank : fitted.measures) {
    r.measured = std::max(r.measured, rank.peak_bytes);
    r.same_messages = r.same_messages && rank.sent == redco::run::planned_traffic(planned.messages, c.mesh);
  }
  return r;
}

result run(accuracy_case const& c) {
  if (c.model == "mlp") return run(mlp_subject(), c);
  if (c.model == "gpt2") return run(gpt2_subject(), c);
  if (c.model == "gpt2 split tokens") return run(split_gpt2_subject(), c);
  if (c.model == "decoder") return run(decoder_subject(), c);
  if (c.model == "llama") return run(llama_subject(), c);
  if (c.model == "bart") return run(bart_subject(), c);
  if (c.model == "vit") return run(vit_subject(), c);
  throw std::runtime_error("no model " + c.model + ": mlp, gpt2, gpt2 split tokens, decoder, llama, bart or vit");
}

std::string percent(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", 100 * x);
  return text;
}

std::string row(accuracy_case const& c, result const& r) {
  return "| " + c.model + " | " + redco::options::to_text(c.mesh) + " | " + std::string(name_of(c.dtype)) + " | " +
         std::to_string(c.micro_batches) + " | " + (c.recompute ? "yes" : "no") + " | " + std::to_string(r.planned) +
         " | " + std::to_string(r.measured) + " | " + percent(r.activations) + " | " +
         (r.same_messages ? "equal" : "DIFFER") + " | " + percent(r.error()) + " |";
}

constexpr char const* head =
    "# The report against the run\n\n"
    "Printed by `scripts/bench accuracy`. Planned bytes: the largest number of tensor bytes of a rank in the plan. Measured\n"
    "bytes: the largest number of tensor bytes on the fullest rank during step 3. Messages: `equal` if the messages, payload\n"
    "bytes and wire bytes that the communicators count in that step equal the plan's. Cases: `benchmarks/accuracy.json`;\n"
    "models: `benchmarks/accuracy_models.hpp`.\n\n"
    "| model | mesh | dtype | micro-batches | recomputed | planned bytes | measured bytes | activations | messages | error |\n"
    "|---|---|---|---|---|---|---|---|---|---|\n";

constexpr char const* tail =
    "\nNext: [the plan and its report](plan.md), [performance](performance.md), [verify](verify.md).\n";

/// Runs the cases and writes the page. Returns 1 if a case misses its bounds.
int run_all(accuracy_options const& o) {
  std::string page = head;
  std::string worst_row;
  double worst = 0;
  bool good = true;
  std::ostream out(std::cout.rdbuf(std::cerr.rdbuf()));  // messages of the library go to stderr
  for (redco::json::json_value const& j : redco::json::read_json(o.cases)) {
    accuracy_case const c = case_of(j);
    if (!o.only.empty() && c.model != o.only) continue;
    result const r = run(c);
    good = good && r.same_messages && std::abs(r.error()) <= largest_error && r.activations >= least_activations;
    worst = std::max(worst, std::abs(r.error()));
    page += row(c, r) + "\n";
    out << row(c, r) << std::endl;
  }
  page += "\nworst case: " + percent(worst) + "\n" + tail;
  out << "worst case: " << percent(worst) << std::endl;
  if (!o.page.empty() && !(std::ofstream(o.page) << page << std::flush))
    throw redco::error(redco::exit_code::io, "cannot write " + o.page.string());
  std::cout.rdbuf(out.rdbuf());
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return redco::main_of<accuracy_options>(argc, argv, "Compares the planned bytes and messages with runs.", run_all);
}
