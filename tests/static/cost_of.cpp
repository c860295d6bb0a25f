// Compares bytes and messages of constexpr models with numbers computed by hand.
#include <redco/cost/fits.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/optimizer/muon.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/bytes.hpp>
#include <redco/shape/zero.hpp>

namespace {

constexpr redco::gpt2 demo{{.vocab = 256, .context = 256, .width = 384, .heads = 6, .layers = 6}};
static_assert(redco::fits<demo, redco::adamw{.lr = 1e-3}, redco::mesh{.dp = 1, .tp = 2},
                          redco::workload{.batch = 16, .sequence = 256}, redco::GiB(4)>{});
static_assert(redco::fits<demo, redco::adamw{}, redco::mesh{}, redco::workload{.batch = 16, .sequence = 256},
                          redco::shape::MiB(610), redco::dtype::f32, redco::recomputed_blocks::every_kth(2)>{});
static_assert(redco::fits<demo, redco::adamw{}, redco::mesh{}, redco::workload{.batch = 16, .sequence = 256},
                          redco::shape::MiB(500), redco::dtype::f32, true>{});
static_assert(redco::legal<demo, redco::mesh{.dp = 5, .tp = 3}>{});

// Each block has 12 d^2 + 13 d numbers; both tables and the last norm are added.
constexpr std::int64_t d = 384, numbers = 6 * (12 * d * d + 13 * d) + 2 * 256 * d + 2 * d;
constexpr auto whole = redco::cost::cost_of<demo>(redco::adamw{}, {.mesh = {.dp = 1}, .load = {16, 256}});
static_assert(whole.memory.parameters == 4 * numbers && whole.memory.gradients == 4 * numbers);
static_assert(whole.memory.optimizer == 8 * numbers && whole.memory.masters == 0);
static_assert(whole.messages.calls() == 0 && whole.messages.wire_bytes() == 0);

// Saved per token: 16 d numbers, log-sum-exp per head and four statistics in a block; 2 d numbers
// and two statistics at the end.
constexpr std::int64_t tokens = 16 * 256;
static_assert(whole.memory.activations == 4 * tokens * (6 * (16 * d + 6 + 4) + 2 * d + 2));
static_assert(whole.memory.peak() >= whole.memory.at_loss() && whole.memory.peak() == whole.memory.at_backward());

// bf16 halves activations and gradients; master weights and optimizer slots stay f32.
constexpr auto half =
    redco::cost::cost_of<demo>(redco::adamw{}, {.mesh = {.dp = 1}, .load = {16, 256}, .compute = redco::dtype::bf16});
static_assert(half.memory.parameters == 2 * numbers && half.memory.masters == 4 * numbers);
static_assert(half.memory.optimizer == 8 * numbers);
static_assert(half.memory.activations == tokens * (6 * (2 * 16 * d + 4 * 10) + 2 * 2 * d + 4 * 2));
static_assert(redco::cost::cost_of<demo>(redco::sgd{}, {}).memory.optimizer == 0);

// Two owners of whole matrices have equal halves of six blocks. Five have 15 d^2 numbers at most,
// so that 72 d^2 become 75 d^2; two numbers pad both tables.
constexpr redco::cost::memory owned(int replicas, int level = 1) {
  redco::cost::setup run{.mesh = {.dp = replicas}, .load = {16, 256}};
  run.zero.level = level;
  run.zero.owner = redco::shape::zero_owner::whole;
  return redco::cost::cost_of<demo>(redco::optimizer::muon{}, run).memory;
}
static_assert(owned(2).parameters == 4 * numbers && owned(2).gradients == 4 * numbers);
static_assert(owned(2).optimizer == 4 * 36 * d * d + 8 * (numbers - 72 * d * d) / 2);
static_assert(owned(5).parameters == 4 * (numbers + 3 * d * d + 2));
static_assert(owned(5).shares_workspace == 4 * 15 * d * d);
static_assert(
    redco::fits<demo, redco::optimizer::muon{}, redco::mesh{.dp = 2}, redco::workload{.batch = 2, .sequence = 256},
                redco::GiB(1), redco::dtype::f32, redco::recomputed_blocks{}, 1, redco::shape::zero_owner::whole>{});
// Two owners have 7 and 5 d^2 of each block in turn, which are halves of all blocks.
static_assert(owned(2, 2).gradients == 2 * numbers && owned(2, 2).parameters == 4 * (numbers + 6 * 2 * d * d));
static_assert(owned(2, 3).gradients == 2 * numbers && owned(2, 3).parameters == 2 * numbers);
static_assert(owned(2, 3).optimizer == owned(2).optimizer);
static_assert(
    redco::fits<demo, redco::optimizer::muon{}, redco::mesh{.dp = 2}, redco::workload{.batch = 2, .sequence = 256},
                redco::GiB(1), redco::dtype::f32, redco::recomputed_blocks{}, 3, redco::shape::zero_owner::whole>{});

// Recomputation saves the inputs of blocks and everything outside of blocks.
constexpr auto again =
    redco::cost::cost_of<demo>(redco::adamw{}, {.mesh = {.tp = 2}, .load = {16, 256}, .recompute = true});
// Plus the local ids
static_assert(again.memory.activations == 4 * tokens * (6 * d + 2 * d + 2) + 8 * tokens);

// With six blocks, every_kth(4) recomputes one block and first_n(2) recomputes two.
constexpr auto fourth = redco::cost::cost_of<demo>(
    redco::adamw{}, {.mesh = {.tp = 2}, .load = {16, 256}, .recompute = redco::recomputed_blocks::every_kth(4)});
constexpr auto first_two = redco::cost::cost_of<demo>(
    redco::adamw{}, {.mesh = {.tp = 2}, .load = {16, 256}, .recompute = redco::recomputed_blocks::first_n(2)});
constexpr auto no_block = redco::cost::cost_of<demo>(redco::adamw{}, {.mesh = {.tp = 2}, .load = {16, 256}});
constexpr std::int64_t of_block = (no_block.memory.activations - again.memory.activations) / 6;
static_assert(fourth.memory.activations == no_block.memory.activations - of_block);
constexpr auto middle = redco::cost::cost_of<demo>(
    redco::adamw{}, {.mesh = {.tp = 2}, .load = {16, 256}, .recompute = redco::recomputed_blocks::in_range({2, 5})});
static_assert(first_two.memory.activations == no_block.memory.activations - 2 * of_block);
static_assert(middle.memory.activations == no_block.memory.activations - 3 * of_block);
static_assert(middle.memory.backward.recomputed == first_two.memory.backward.recomputed);
static_assert(again.memory.peak() < first_two.memory.peak() && first_two.memory.peak() < fourth.memory.peak());
static_assert(fourth.memory.peak() < no_block.memory.peak());

// The peak is the largest sum that any moment of a step holds.
constexpr std::int64_t most_of_moments(redco::cost::setup const& s) {
  auto const facts = redco::shard::facts_of<demo>(s.load);
  std::int64_t most = 0;
  redco::cost::simulation const of(facts, s);
  for (redco::cost::moment const& m : of.moments()) most = m.bytes() > most ? m.bytes() : most;
  return most;
}
static_assert(whole.memory.persistent() + most_of_moments({.load = {16, 256}}) == whole.memory.peak());
static_assert(first_two.memory.persistent() + most_of_moments({.mesh = {.tp = 2},
                                                               .load = {16, 256},
                                                               .recompute = redco::recomputed_blocks::first_n(2)}) ==
              first_two.memory.peak());

// One all-reduce for the embedding and two for each block in forward; in backward the head's
// replaces the embedding's.
constexpr auto two =
    redco::cost::cost_of<demo>(redco::adamw{}, {.mesh = {.dp = 3, .tp = 2}, .load = {16, 256}, .micro_batches = 4});
constexpr std::int64_t hidden = 4 * tokens * d;
using redco::cost::messages;
static_assert(two.messages[messages::forward].calls == 4 * 13 && two.messages[messages::backward].calls == 4 * 13);
static_assert(two.messages[messages::forward].payload_bytes == 4 * 13 * hidden);
// Parts of d^2 weights: 3 and 4 are split by columns, 1 and 4 by rows. The head's products neither
// follow nor precede a sum.
static_assert(two.operations.columns == 4 * 6 * 2 * tokens * 7 * d * d &&
              two.operations.rows == 4 * 6 * 2 * tokens * 5 * d * d);
static_assert(two.messages[messages::loss].calls == 4 * 2 &&
              two.messages[messages::loss].payload_bytes == 4 * 3 * 4 * tokens);
static_assert(two.messages[messages::gradients].payload_bytes == two.memory.gradients);
// Buckets of 4 MiB: ten and a part for matrices and tables, and one for all biases and norms.
constexpr auto in_buckets = redco::cost::cost_of<demo>(
    redco::adamw{}, {.mesh = {.dp = 2}, .load = {8, 256}, .zero = {.bucket = redco::shape::MiB(4)}});
static_assert(in_buckets.messages[messages::gradients].calls == 11 + 1 &&
              in_buckets.messages[messages::gradients].payload_bytes == 4 * numbers &&
              in_buckets.messages[messages::gradients].wire_bytes == 4 * numbers);
// Two replicas keep shares: a reduce-scatter, a gather, and a norm over all ranks.
constexpr auto shares =
    redco::cost::cost_of<demo>(redco::adamw{}, {.mesh = {.dp = 2}, .load = {8, 256}, .zero = {.level = 1}});
static_assert(shares.memory.optimizer == 4 * numbers && shares.memory.gradients == 4 * numbers &&
              shares.memory.shares_workspace == 2 * numbers);
static_assert(shares.messages[messages::gradients].calls == 0 &&
              shares.messages[messages::norm_of_gradients].ranks == 2 &&
              shares.messages.wire_bytes() == 4 * numbers + shares.messages[messages::loss_total].wire_bytes + 8);
static_assert(redco::fits<demo, redco::adamw{}, redco::mesh{.dp = 2}, redco::workload{8, 256}, shares.memory.peak(),
                          redco::dtype::f32, redco::recomputed_blocks{}, 1>{});
static_assert(shares.memory.peak() <
              redco::cost::cost_of<demo>(redco::adamw{}, {.mesh = {.dp = 2}, .load = {8, 256}}).memory.peak());
// With shares of the parameters, both buckets of a block are gathered for forward and backward, but
// once for the last block. Tables and the last norm, in one bucket, are gathered once.
constexpr auto by_block =
    redco::cost::cost_of<demo>(redco::adamw{}, {.mesh = {.dp = 2}, .load = {8, 256}, .zero = {.level = 3}});
constexpr std::int64_t gathers_of(redco::cost::messages const& all) {
  for (redco::cost::message_total const& one : all)
    if (one.purpose == messages::name_of_parameters) return one.calls;
  return 0;
}
static_assert(by_block.memory.parameters == 2 * numbers && by_block.memory.gradients == 2 * numbers &&
              by_block.memory.optimizer == 4 * numbers && by_block.memory.shares_workspace == 0);
static_assert(by_block.memory.gathered == 4 * (numbers - 5 * (12 * d * d + 13 * d)));
static_assert(gathers_of(by_block.messages) == 1 + 2 * (5 * 2 + 1));
static_assert(redco::fits<demo, redco::adamw{}, redco::mesh{.dp = 2}, redco::workload{8, 256}, by_block.memory.peak(),
                          redco::dtype::f32, redco::recomputed_blocks{}, 3>{});
static_assert(by_block.memory.peak() < shares.memory.peak());
static_assert(two.messages[messages::loss_total].ranks == 6 &&
              two.messages[messages::loss_total].payload_bytes == 8 * (3 * 16 + 1));
static_assert(again.messages[messages::forward].calls == 13 + 12);
static_assert(fourth.messages[messages::forward].calls == 13 + 2);
static_assert(first_two.messages[messages::forward].calls == 13 + 4);
static_assert(first_two.messages[messages::backward].calls == 13);

// Two operations for each multiplication: 12 d^2 weights in a block, scores and their sums, the
// head. Backward has twice as many.
constexpr std::int64_t block_work = tokens * 2 * (12 * d * d + 2 * 256 * d), head_work = tokens * 2 * 256 * d;
static_assert(whole.operations.forward == 6 * block_work + head_work && whole.operations.again == 0);
static_assert(whole.operations.backward == 2 * whole.operations.forward);
static_assert(again.operations.again == 6 * block_work && again.operations.forward == whole.operations.forward);
static_assert(first_two.operations.again == 2 * block_work && fourth.operations.again == block_work);
static_assert(two.operations.forward == 4 * whole.operations.forward);
static_assert(whole.operations.per_token({.load = {16, 256}}) == 6.0 * (6 * (12 * d * d + 2 * 256 * d) + 256 * d));

// The batch has no gradient, so the first column-parallel layer of an MLP needs no all-reduce in
// backward.
using net =
    redco::sequential<redco::named<"a", redco::linear<20, 12>>, redco::relu, redco::named<"b", redco::linear<12, 6>>>;
constexpr redco::model_of<net> mlp{};
constexpr auto pair = redco::cost::cost_of<mlp>(redco::adamw{}, {.mesh = {.tp = 2}, .load = {5, 1}, .prefetch = 1});
static_assert(pair.messages[messages::forward].calls == 1 && pair.messages[messages::backward].calls == 0);
static_assert(pair.memory.batches == 2 * 4 * 5 * 20 && pair.memory.activations == 4 * 5 * 6);

}  // namespace

int main() {}
