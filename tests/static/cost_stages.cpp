// Costs of pipeline stages: parameters, memory by schedule, messages between stages, the exchange
// of gradients of tied tables.
#include <redco/cost/cost_of.hpp>
#include <redco/cost/fits.hpp>
#include <redco/cost/stage_costs.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/model/t5.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/hosts.hpp>
#include <redco/shape/scattered_edges.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using redco::cost::setup;
using redco::cost::stage_cost;
using redco::schedule::pipeline_kind;
using redco::shape::collective;

template <auto const& Model>
constexpr std::vector<stage_cost> stages(setup const& s) {
  return redco::cost::detail::costs_of_stages(redco::shard::facts_of<Model>(s.load),
                                              redco::optimizer::demands_of(redco::adamw{}), s);
}

/// Returns the messages of a stage with this purpose and kind.
constexpr redco::cost::message_total sent(stage_cost const& stage, std::string_view purpose, collective kind) {
  for (redco::cost::message_total const& one : stage.cost.messages)
    if (one.purpose == purpose && one.collective == kind) return one;
  return {};
}
constexpr bool is(redco::cost::message_total const& one, std::int64_t calls, std::int64_t bytes) {
  return one.calls == calls && one.payload_bytes == bytes;
}

constexpr redco::gpt2 gpt2{{.vocab = 64, .context = 16, .width = 24, .heads = 2, .layers = 6}};
constexpr setup run{.mesh = {.pp = 3, .dp = 2, .tp = 2}, .load = {2, 12}, .micro_batches = 4};
constexpr setup one_stage{.mesh = {.dp = 2, .tp = 2}, .load = {2, 12}, .micro_batches = 4};
constexpr std::int64_t f32 = 4, table = 32 * 24 * f32, edge = 2 * 12 * 24 * f32;

// Parameters and operations of the stages are those of the model; two stages hold the tied table.
constexpr bool adds_up() {
  auto const whole = redco::cost::cost_of<gpt2>(redco::adamw{}, one_stage);
  std::int64_t parameters = 0, optimizer = 0, forward = 0, activations = 0;
  for (stage_cost const& one : stages<gpt2>(run)) {
    parameters += one.cost.memory.parameters;
    optimizer += one.cost.memory.optimizer;
    forward += one.cost.operations.forward;
    activations += one.cost.memory.activations / one.in_flight;
  }
  // A stage stores the input of its first block, which the preceding stage does not.
  return parameters == whole.memory.parameters + table && optimizer == whole.memory.optimizer + 2 * table &&
         forward == whole.operations.forward && activations == whole.memory.activations;
}
static_assert(adds_up());

// Micro-batches in flight: 1F1B has fewer on later stages, GPipe has all, ZB-H1 as many as stages.
constexpr bool in_flight(pipeline_kind kind, std::int64_t micro_batches, int first, int second, int third) {
  setup s = run;
  s.stages.schedule = kind;
  s.micro_batches = micro_batches;
  auto const all = stages<gpt2>(s);
  return all[0].in_flight == first && all[1].in_flight == second && all[2].in_flight == third;
}
static_assert(in_flight(pipeline_kind::one_f_one_b, 8, 3, 2, 1));
static_assert(in_flight(pipeline_kind::one_f_one_b, 2, 2, 2, 1));
static_assert(in_flight(pipeline_kind::gpipe, 8, 8, 8, 8));
static_assert(in_flight(pipeline_kind::zb_h1, 8, 3, 3, 3));

// Activations of all micro-batches in flight, and tensors between stages.
constexpr auto three = [] {
  auto const all = stages<gpt2>(run);
  struct kept {
    std::int64_t activations[3], transfers[3], backward[3];
  } k{};
  for (std::size_t i = 0; i < 3; ++i) {
    k.activations[i] = all[i].cost.memory.activations;
    k.transfers[i] = all[i].cost.memory.transfers;
    k.backward[i] = all[i].cost.memory.backward.activations;
  }
  return k;
}();
static_assert(three.activations[0] % 3 == 0 && three.activations[0] / 3 > three.activations[1] / 4);
static_assert(three.transfers[0] == 4 * edge && three.transfers[1] == 4 * edge && three.transfers[2] == edge);
static_assert(three.backward[1] > three.activations[1] / 2);

// Two chunks per stage: the activations of the chunks, and a message at each of the five cuts.
constexpr setup two_chunks = [] {
  setup s = run;
  s.micro_batches = 3;
  s.stages.schedule = pipeline_kind::interleaved;
  s.stages.chunks_per_stage = 2;
  return s;
}();
constexpr auto of_chunks = [] {
  auto const all = stages<gpt2>(two_chunks);
  struct kept {
    int in_flight[3];
    std::int64_t parameters, first, second, sent[3];
  } k{};
  for (std::size_t i = 0; i < 3; ++i) {
    k.in_flight[i] = all[i].in_flight;
    k.parameters += all[i].cost.memory.parameters;
    k.sent[i] = sent(all[i], redco::cost::name_of_stage_activations, collective::send).calls;
  }
  k.first = all[0].chunks[0].blocks.begin, k.second = all[0].chunks[1].blocks.begin;
  return k;
}();
static_assert(of_chunks.in_flight[0] == 6 && of_chunks.in_flight[1] == 6 && of_chunks.in_flight[2] == 4);
static_assert(of_chunks.sent[0] == 6 && of_chunks.sent[1] == 6 && of_chunks.sent[2] == 3);
static_assert(of_chunks.first == 0 && of_chunks.second == 3);
static_assert(of_chunks.parameters == redco::cost::cost_of<gpt2>(redco::adamw{}, one_stage).memory.parameters + table);

// In a V, the first stage holds the tied table once, and no message passes the cut inside the last.
constexpr auto in_v = [] {
  setup s = two_chunks;
  s.stages.schedule = pipeline_kind::v_half;
  auto const all = stages<gpt2>(s);
  struct kept {
    std::int64_t parameters, sent, tied;
  } k{};
  for (stage_cost const& one : all) {
    k.parameters += one.cost.memory.parameters;
    k.sent += sent(one, redco::cost::name_of_stage_activations, collective::send).calls;
    k.tied += sent(one, redco::cost::name_of_tied_gradients, collective::send).calls;
  }
  return k;
}();
static_assert(in_v.parameters == redco::cost::cost_of<gpt2>(redco::adamw{}, one_stage).memory.parameters);
static_assert(in_v.sent == 4 * 3 && in_v.tied == 0);

// Each micro-batch passes each cut once in each direction.
constexpr auto activations = redco::cost::name_of_stage_activations, gradients = redco::cost::name_of_stage_gradients,
               tied = redco::cost::name_of_tied_gradients;
static_assert(is(sent(stages<gpt2>(run)[0], activations, collective::send), 4, 4 * edge));
static_assert(is(sent(stages<gpt2>(run)[0], activations, collective::recv), 0, 0));
static_assert(is(sent(stages<gpt2>(run)[0], gradients, collective::recv), 4, 4 * edge));
static_assert(is(sent(stages<gpt2>(run)[1], activations, collective::recv), 4, 4 * edge));
static_assert(is(sent(stages<gpt2>(run)[1], gradients, collective::send), 4, 4 * edge));
static_assert(is(sent(stages<gpt2>(run)[2], activations, collective::send), 0, 0));
// The last stage sends the gradient of the tied table once, and the first stage the sum.
static_assert(is(sent(stages<gpt2>(run)[0], tied, collective::send), 1, table) &&
              is(sent(stages<gpt2>(run)[0], tied, collective::recv), 1, table));
static_assert(is(sent(stages<gpt2>(run)[1], tied, collective::send), 0, 0));
static_assert(is(sent(stages<gpt2>(run)[2], tied, collective::send), 1, table));

// On hosts of two ranks, all tensors leave the host, for both ranks. On one host, none does.
constexpr setup on_hosts = [] {
  setup s = run;
  s.hosts = 6;
  return s;
}();
static_assert(sent(stages<gpt2>(on_hosts)[0], activations, collective::send).host_bytes == 2 * 4 * edge);
static_assert(sent(stages<gpt2>(run)[0], activations, collective::send).host_bytes == 0 &&
              sent(stages<gpt2>(run)[0], activations, collective::send).inside_bytes == 4 * edge);

// T5: after the first decoder block, the encoder's output passes the cuts, too.
constexpr redco::t5 t5{
    {.vocab = 96, .width = 48, .ffn = 96, .heads = 4, .head_dim = 12, .layers = 2, .decoder_layers = 2}};
constexpr setup t5_run = [] {
  setup s{.mesh = {.pp = 3}, .load = {2, 8, 10}, .micro_batches = 2};
  s.stages.cuts.push(1);
  s.stages.cuts.push(3);
  s.stages.cuts.push(4);
  return s;
}();
constexpr std::int64_t source = 2 * 10 * 48 * f32, target = 2 * 8 * 48 * f32;
struct exchanged {
  std::int64_t sent[3];
  redco::cost::message_total activations[3], tied[3];
};
constexpr exchanged of_t5 = [] {
  auto const all = stages<t5>(t5_run);
  exchanged e{};
  for (std::size_t i = 0; i < 3; ++i) {
    e.sent[i] = all[i].sent;
    e.activations[i] = sent(all[i], activations, collective::send);
    e.tied[i] = sent(all[i], tied, collective::send);
  }
  return e;
}();
static_assert(of_t5.sent[0] == source && of_t5.sent[1] == source + target && of_t5.sent[2] == 0);
static_assert(is(of_t5.activations[1], 4, 2 * (source + target)));
// Three stages hold the shared table: the first exchanges it with both others. Two stages hold each
// table of distances.
constexpr std::int64_t shared = 96 * 48 * f32, distances = 32 * 4 * f32;
static_assert(is(of_t5.tied[0], 3, 2 * shared + distances) && is(of_t5.tied[1], 3, shared + 2 * distances) &&
              is(of_t5.tied[2], 2, shared + distances));

// With tokens that are split over the shards, each rank sends its tokens.
constexpr redco::models::sequence_parallel<redco::gpt2> split{
    {.vocab = 64, .context = 16, .width = 24, .heads = 2, .layers = 6}};
static_assert(stages<split>(run)[0].sent == edge / 2);

// Stages on different machines send half of a large tensor, which the receiver gathers.
constexpr auto gathers = redco::cost::name_of_stage_gathers;
constexpr std::int64_t large = 64 * 16 * 24 * f32;
constexpr setup on_machines(int hosts, int machines = 0) {
  setup s = run;
  s.load = {64, 16};
  s.hosts = hosts;
  s.machines = machines;
  return s;
}
struct parted {
  redco::cost::message_total sent[3], received[3], gathered[3];
  std::int64_t edges[3], transfers[3];
};
constexpr parted parted_on(setup const& s) {
  auto const all = stages<gpt2>(s);
  parted p{};
  for (std::size_t i = 0; i < 3; ++i) {
    p.sent[i] = sent(all[i], activations, collective::send);
    p.received[i] = sent(all[i], gradients, collective::recv);
    p.gathered[i] = sent(all[i], gathers, collective::all_gather);
    p.edges[i] = all[i].sent;
    p.transfers[i] = all[i].cost.memory.transfers;
  }
  return p;
}
constexpr parted on_six = parted_on(on_machines(6)), on_one = parted_on(on_machines(6, 1));
static_assert(is(on_six.sent[0], 4, 4 * large / 2) && is(on_six.received[0], 4, 4 * large / 2));
static_assert(on_six.edges[0] == large / 2 && on_six.edges[2] == 0);
static_assert(on_six.sent[0].host_bytes == 2 * 4 * large / 2 && on_six.gathered[0].host_bytes == 0);
// The first stage gathers gradients, the last one activations, and the others both.
static_assert(is(on_six.gathered[0], 4, 4 * large) && is(on_six.gathered[1], 8, 8 * large) &&
              is(on_six.gathered[2], 4, 4 * large));
static_assert(on_six.gathered[0].over == redco::shape::axis::tp && on_six.gathered[0].ranks == 2);
// A gather copies the part that it received.
static_assert(on_six.transfers[0] == on_one.transfers[0] + large / 2);
// On one machine, with shards on two machines, or with a stage that shares a machine with the next
// one, all tensors pass whole, and so do small tensors.
constexpr bool is_whole(setup const& s, std::int64_t bytes) {
  parted const p = parted_on(s);
  return is(p.sent[0], 4, 4 * bytes) && p.gathered[0].calls == 0 && p.gathered[1].calls == 0 &&
         p.gathered[2].calls == 0;
}
static_assert(is_whole(on_machines(6, 1), large));
static_assert(is_whole(on_machines(12), large));
static_assert(is_whole(on_machines(2), large));
static_assert(!is_whole(on_machines(3), large));
static_assert(is_whole(on_hosts, edge));

// Rule of tensors that pass in parts: ranks 0 to 3 are stage 0, in two replicas of two shards.
constexpr redco::shape::host_map pairs{{.pp = 2, .dp = 2, .tp = 2}, 4}, halves{{.pp = 2, .dp = 2, .tp = 2}, 2};
static_assert(redco::shape::is_scattered(pairs, 0, 1, 1 << 20, 1 << 22) &&
              redco::shape::is_scattered(halves, 1, 0, 1 << 20, 1 << 22));
static_assert(!redco::shape::is_scattered(halves, 0, 1, (1 << 20) + 1, 1 << 22));
static_assert(!redco::shape::is_scattered(pairs, 0, 1, 1 << 14, redco::shape::least_scattered_bytes - 1) &&
              redco::shape::is_scattered(pairs, 0, 1, 1 << 14, redco::shape::least_scattered_bytes));
static_assert(!redco::shape::is_scattered({{.pp = 2, .dp = 4}, 2}, 0, 1, 1 << 20, 1 << 22));

// Shards that have their own tokens have nothing to scatter.
constexpr auto of_tokens = [] {
  setup s = on_machines(6);
  s.load.batch = 128;  // each shard has as many bytes as the whole tensor above
  auto const all = stages<split>(s);
  return std::pair(all[0].sent, sent(all[0], gathers, collective::all_gather).calls);
}();
static_assert(of_tokens == std::pair<std::int64_t, std::int64_t>(large, 0));

// The largest stage decides.
constexpr std::int64_t largest = [] {
  std::int64_t most = 0;
  for (stage_cost const& one : stages<gpt2>(run)) most = most < one.cost.memory.peak() ? one.cost.memory.peak() : most;
  return most;
}();
static_assert(redco::cost::cost_of<gpt2>(redco::adamw{}, run).memory.peak() == largest);
static_assert(redco::fits<gpt2, redco::adamw{.lr = 1e-3}, redco::mesh{.pp = 3},
                          redco::workload{.batch = 2, .sequence = 12}, redco::shape::MiB(1)>{});

}  // namespace

int main() {}
