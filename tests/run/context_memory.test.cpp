#include "stages.hpp"

#include <redco/run/fit_result.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/llama.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/dtype.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

// Compares the planned peak of tensor memory with the measured one in runs whose ranks compute
// parts of the same sequences.

namespace context_memory_test {

using namespace redco;
using run_test::in;
using run_test::numbers;
using run_test::silence;

/// Trains for three steps on sequences of 128 tokens, and compares the peak with the plan.
template <class Model>
void check_peak(Model const& model, mesh const& on, dtype type, bool recompute, std::int64_t micro_batches) {
  INFO("dp " << on.dp << ", cp " << on.cp << ", tp " << on.tp << ", " << redco::name_of(type) << ", " << micro_batches
             << " micro-batches, " << (recompute ? "recomputed" : "saved"));
  silence const quiet;
  temporary_folder const folder;
  deployer_options where = in(folder.path, on);
  where.dtype = type;
  where.recompute = recompute;
  constexpr std::int64_t rows = 16, length = 128;
  deployer deployer(where);
  auto const pipeline =
      redco::collate([](std::span<std::int64_t const> examples) {
        auto const ids = at::arange(std::ssize(examples) * (length + 1)).remainder(120).view({-1, length + 1});
        return token_batch{ids.narrow(1, 0, length).contiguous(), ids.narrow(1, 1, length).contiguous()};
      }) |
      redco::loss(
          [](auto const& net, token_batch const& b) { return redco::cross_entropy(net(b.input_ids), b.labels); });
  redco::trainer trainer(deployer, model, pipeline, adamw{.lr = 1e-3});
  run_test::options_of<Model, decltype(pipeline)> o;
  o.max_steps = 3;
  o.global_batch = on.dp * rows * micro_batches;
  o.micro_batch = rows;
  o.save_last = false;
  o.save_argmin = {};
  std::int64_t most = 0;
  auto const fitted = trainer.fit(numbers(6 * *o.global_batch), o);
  for (run::step_measure const& one : fitted.measures) most = std::max(most, one.peak_bytes);
  cost::setup run{.mesh = on, .load = {rows, length}, .compute = type, .recompute = recompute};
  run.micro_batches = micro_batches;
  cost::rank_cost const plan = cost::cost_of(model, adamw{}, run);
  std::int64_t const planned = plan.memory.peak();
  INFO("planned " << planned << ", measured " << most << ", of which parameters and optimizer "
                  << plan.memory.persistent());
  CHECK(static_cast<double>(planned) >= 0.97 * static_cast<double>(most));
  CHECK(static_cast<double>(planned) <= 1.03 * static_cast<double>(most));
  CHECK(plan.memory.persistent() < planned * 3 / 4);  // parameters do not hide an error
}

TEST_CASE("the peak of a step with parts of sequences is within 3 % of the plan") {
  gpt2 const learned{{.vocab = 123, .context = 128, .width = 64, .heads = 4, .layers = 4, .dropout = 0.1}};
  llama const rotary{{.vocab = 123, .context = 128, .width = 64, .ffn = 176, .heads = 4, .kv_heads = 2, .layers = 4}};
  for (dtype const type : {dtype::f32, dtype::bf16})
    for (bool const recompute : {false, true}) {
      check_peak(learned, {.cp = 2}, type, recompute, 2);
      check_peak(rotary, {.cp = 2}, type, recompute, 1);
      check_peak(rotary, {.cp = 4}, type, recompute, 2);  // keys and values go round
      check_peak(learned, {.cp = 3}, type, recompute, 1);
    }
  check_peak(rotary, {.dp = 2, .cp = 2}, dtype::f32, false, 2);
  check_peak(rotary, {.cp = 2, .tp = 2}, dtype::f32, false, 2);
}

}  // namespace context_memory_test
