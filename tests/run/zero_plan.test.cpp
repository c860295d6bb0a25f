#include "peaks.hpp"

#include <redco/run/fit_result.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/tensor/tensor_memory.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/t5.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/zero.hpp>
#include <redco/adapt/plan/with_lora.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// Compares the plan of runs whose replicas keep shares of the parameters (ZeRO 3) with runs.

namespace zero_plan_run_test {

using namespace redco;
using run_test::in;
using run_test::numbers;
using run_test::silence;
using stage_test::language;
using stage_test::name_of;
using stage_test::tied;

template <class Model>
using options_of = run_test::options_of<Model, decltype(language())>;

/// Bytes of the state of one rank between two steps.
struct held_bytes {
  std::int64_t gradients = 0, slots = 0, all = 0;
};

template <class Model>
held_bytes measured(Model const& model, mesh const& on, dtype type) {
  std::vector<held_bytes> found(static_cast<std::size_t>(on.ranks()));
  comm::run_ranks(on, {.first_deadline = std::chrono::seconds(200), .threads = 1}, [&](rank_context& me) {
    auto const counter = std::make_shared<redco::tensors::memory_counter>();
    redco::tensors::memory_counter::scope const counting(counter);
    run::trained_network<Model> const net(model, plan_of(model, me.mesh), adamw{}, type, 3, me.rank, {},
                                          redco::tensors::cpu_device(), {.level = 3, .bucket = 512});
    held_bytes& held = found[static_cast<std::size_t>(me.rank)];
    held.gradients = static_cast<std::int64_t>(net.store.gradients().nbytes());
    for (update::segment const& s : net.segments)
      for (at::Tensor const& slot : s.slots) held.slots += static_cast<std::int64_t>(slot.nbytes());
    held.all = counter->current();
  });
  held_bytes most;
  for (held_bytes const& one : found)
    if (one.all > most.all) most = one;
  return most;
}

template <class Model>
void check_state(Model const& model, mesh const& on) {
  for (dtype const type : {dtype::f64, dtype::f32, dtype::bf16}) {
    INFO(name_of(on) << ", " << redco::name_of(type));
    cost::setup run{.mesh = on, .load = {2, 8}, .compute = type};
    run.zero.bucket = 512;
    run.zero.level = 3;
    cost::memory const plan = cost::cost_of(model, adamw{}, run).memory;
    held_bytes const held = measured(model, on, type);
    CHECK(held.gradients == plan.gradients);
    CHECK(held.slots == plan.optimizer);
    CHECK(held.all == plan.persistent() - plan.batches);
  }
}

TEST_CASE("a rank holds a share of parameters, masters, gradients and optimizer state, to the byte as planned") {
  t5 const two_stacks{
      {.vocab = 40, .width = 12, .ffn = 20, .heads = 2, .head_dim = 6, .layers = 3, .decoder_layers = 2}};
  with_lora<gpt2> const adapted{{tied.config, {.rank = 2, .targets = "q,v,down"}}};
  for (mesh const& on : {mesh{.dp = 2}, {.dp = 3}, {.dp = 4}, {.dp = 2, .tp = 2}}) {
    check_state(tied, on);
    check_state(adapted, on);
    check_state(two_stacks, on);
  }
}

template <class Model>
void check_messages(Model const& model, mesh const& on, std::int64_t keep, std::int64_t global_batch) {
  INFO(name_of(on) << ", " << keep << " blocks kept, " << global_batch << " examples");
  temporary_folder const folder;
  deployer_options where = in(folder.path, on);
  where.zero = 3;
  where.zero_keep = keep;
  where.gradient_bucket = 1.0 / 1024;
  stage_test::check_verified(model, where, adamw{.lr = 2e-3, .clip_norm = 0.5}, global_batch, 37);
}

TEST_CASE("verification passes with gathered blocks, and gathers and sums are those of the plan") {
  llama const untied{{.vocab = 23, .context = 16, .width = 12, .ffn = 20, .heads = 2, .kv_heads = 1, .layers = 2}};
  gpt2 one_block = tied;
  one_block.config.layers = 1;
  with_lora<gpt2> const adapted{{tied.config, {.rank = 2, .targets = "q,v,down"}}};
  for (std::int64_t const micro_batches : {1, 4})
    for (std::int64_t const keep : {0, 1, 4}) check_messages(tied, {.dp = 2}, keep, 2 * micro_batches);
  for (std::int64_t const keep : {0, 3}) check_messages(tied, {.dp = 3}, keep, 12);
  check_messages(tied, {.dp = 2, .tp = 2}, 1, 4);
  for (std::int64_t const keep : {0, 1}) {
    check_messages(one_block, {.dp = 2}, keep, 4);
    check_messages(untied, {.dp = 2}, keep, 4);
    check_messages(adapted, {.dp = 2}, keep, 4);
    check_messages(tied, {.pp = 2, .dp = 2}, keep, 8);
    check_messages(tied, {.pp = 2, .dp = 2, .tp = 2}, 3 * keep, 4);
  }
}

TEST_CASE("a run refuses to keep more blocks gathered than its model has, and to keep any without --zero 3") {
  temporary_folder const folder;
  auto const code = [&](int level, std::int64_t keep) {
    silence const quiet;
    deployer_options where = in(folder.path, {.dp = 2});
    where.zero = level;
    where.zero_keep = keep;
    return run_test::code_of([&] {
      deployer deployer(where);
      redco::trainer const trainer(deployer, tied, language(), adamw{});
    });
  };
  CHECK(code(3, 4) == 0);
  CHECK(code(3, 5) == 64);
  CHECK(code(3, -1) == 64);
  CHECK(code(2, 1) == 64);
}

/// Compares the peak of a step with the plan.
template <class Model>
void check_peak(Model const& model, mesh const& on, dtype type, std::int64_t keep, std::int64_t micro_batches,
                bool recompute, bool overlap = false, int level = 3,
                shape::zero_owner owner = shape::zero_owner::element) {
  INFO(name_of(on) << ", " << redco::name_of(type) << ", " << keep << " blocks kept, " << micro_batches
                   << " micro-batches, " << (recompute ? "recomputed" : "saved") << (overlap ? ", overlap" : "")
                   << ", level " << level << ", owner " << shape::name_of(owner));
  deployer_options where = in({}, on);
  where.dtype = type;
  where.zero = level;
  where.zero_owner = owner;
  where.zero_keep = keep;
  where.recompute = recompute;
  if (overlap) where.overlap = true;
  constexpr std::int64_t rows = 8, length = 64;
  auto const measures = peak_test::measured_steps(model, where, rows, length, micro_batches);
  cost::setup run{.mesh = on, .load = {rows, length}, .compute = type, .recompute = recompute};
  run.micro_batches = micro_batches;
  run.zero.bucket = on.pp == 1 ? 4 << 20 : 0;
  run.zero.level = level;
  run.zero.owner = owner;
  run.zero.keep = keep;
  run.zero.overlaps = overlap;
  cost::rank_cost const plan = cost::cost_of(model, adamw{}, run);
  std::int64_t const planned = plan.memory.peak();
  // A plan counts the matrices of a block that wait for their sum, and those whose sum overlaps, in
  // each block's backward. In this small model, they are a quarter of all gradients.
  double const above = overlap && owner == shape::zero_owner::whole ? 1.08 : 1.03;
  std::int64_t most = peak_test::largest_peak(measures);
  // A sum that ends early is not in flight at the peak, so the largest of several runs counts.
  for (int again = 0; overlap && again < 4 && static_cast<double>(planned) > above * static_cast<double>(most); ++again)
    most =
        std::max(most, peak_test::largest_peak(peak_test::measured_steps(model, where, rows, length, micro_batches)));
  INFO("planned " << planned << ", measured " << most);
  // Stages hold small tensors of their messages, too.
  CHECK(static_cast<double>(planned) >= (on.pp == 1 ? 1 : 0.99) * static_cast<double>(most));
  CHECK(static_cast<double>(planned) <= above * static_cast<double>(most));
  for (run::step_measure const& one : measures)
    if (on.pp == 1) CHECK(one.sent == run::planned_traffic(plan.messages, on));
}

TEST_CASE("the peak of a step with gathered blocks is at most 3 % below the plan, and never above") {
  gpt2 const small{{.vocab = 123, .context = 64, .width = 64, .heads = 4, .layers = 4, .dropout = 0.1}};
  llama const untied{{.vocab = 123, .context = 64, .width = 64, .ffn = 176, .heads = 4, .kv_heads = 2, .layers = 4}};
  for (dtype const type : {dtype::f32, dtype::bf16})
    for (bool const recompute : {false, true}) {
      check_peak(small, {.dp = 2}, type, 0, 2, recompute);
      check_peak(untied, {.dp = 3}, type, 2, 1, recompute);
      check_peak(small, {.pp = 2, .dp = 2}, type, 0, 4, recompute);
    }
  check_peak(small, {.dp = 4}, dtype::f32, 4, 1, false);
  check_peak(small, {.dp = 2}, dtype::f32, 0, 2, true, true);
  check_peak(untied, {.dp = 2, .tp = 2}, dtype::bf16, 1, 2, false, true);
  check_peak(untied, {.pp = 2, .dp = 2}, dtype::bf16, 1, 4, false);
}

TEST_CASE("the peak of a step whose matrices belong to replicas is near the plan, and never above") {
  gpt2 const small{{.vocab = 123, .context = 64, .width = 64, .heads = 4, .layers = 4, .dropout = 0.1}};
  constexpr shape::zero_owner whole = shape::zero_owner::whole;
  for (int const level : {2, 3}) {
    check_peak(small, {.dp = 2}, dtype::f32, 0, 2, false, false, level, whole);
    check_peak(small, {.dp = 3}, dtype::bf16, 0, 1, true, true, level, whole);
    check_peak(small, {.dp = 2, .tp = 2}, dtype::f32, 0, 2, false, true, level, whole);
  }
  check_peak(small, {.dp = 2}, dtype::f32, 2, 2, false, false, 3, whole);
  check_peak(small, {.pp = 2, .dp = 2}, dtype::f32, 0, 4, false, false, 3, whole);
  check_peak(small, {.pp = 2, .dp = 2}, dtype::f32, 0, 4, false, false, 2);
}

}  // namespace zero_plan_run_test
