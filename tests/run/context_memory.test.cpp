#include "peaks.hpp"

#include <redco/cost/cost_of.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/llama.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/dtype.hpp>

#include <cstdint>

// Compares the planned peak of tensor memory with the measured one in runs whose ranks compute
// parts of the same sequences.

namespace context_memory_test {

using namespace redco;
using run_test::in;

/// Compares the peak of a step on sequences of 128 tokens with the plan.
template <class Model>
void check_peak(Model const& model, mesh const& on, dtype type, bool recompute, std::int64_t micro_batches) {
  INFO("dp " << on.dp << ", cp " << on.cp << ", tp " << on.tp << ", " << redco::name_of(type) << ", " << micro_batches
             << " micro-batches, " << (recompute ? "recomputed" : "saved"));
  deployer_options where = in({}, on);
  where.dtype = type;
  where.recompute = recompute;
  constexpr std::int64_t rows = 16, length = 128;
  std::int64_t const most =
      peak_test::largest_peak(peak_test::measured_steps(model, where, rows, length, micro_batches));
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
  llama one_head = rotary;  // of keys and values, which both shards hold
  one_head.config.kv_heads = 1;
  check_peak(one_head, {.cp = 2, .tp = 2}, dtype::f32, false, 2);
  check_peak(one_head, {.cp = 2, .tp = 2}, dtype::bf16, true, 1);
}

}  // namespace context_memory_test
