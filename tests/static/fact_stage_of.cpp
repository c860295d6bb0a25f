// Programs of pipeline stages: blocks, parameters, messages, and the tensors that pass a cut.
#include <redco/shard/facts.hpp>
#include <redco/shard/stages.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/gpt_neo.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/model/t5.hpp>
#include <redco/fact/stage_of.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace {

using redco::fact::event;
using redco::fact::event_kind;
using redco::fact::program;
using redco::shape::stage_cuts;

template <auto const& Model>
constexpr program stage(stage_cuts const& cuts, int index) {
  return redco::fact::stage_of(redco::shard::facts_of<Model>({2, 12}), cuts, index);
}

constexpr int count(program const& p, event_kind kind) {
  int number = 0;
  for (event const& e : p.events) number += e.kind == kind;
  return number;
}

constexpr bool has(program const& p, std::string_view parameter) {
  for (redco::fact::parameter_fact const& fact : p.parameters)
    if (fact.name.view() == parameter) return true;
  return false;
}

constexpr std::int64_t numbers(program const& p) {
  std::int64_t sum = 0;
  for (redco::fact::parameter_fact const& fact : p.parameters) sum += fact.shape.count() * fact.copies();
  return sum;
}

/// Returns the operations of forward of all blocks and layers of a program.
constexpr std::int64_t work(program const& p) {
  std::int64_t sum = 0, copies = 1;
  for (event const& e : p.events) {
    if (e.kind == event_kind::repeat) copies = e.blocks.count();
    if (e.kind == event_kind::repeat_end) copies = 1;
    if (e.kind == event_kind::multiply) sum += e.count * copies;
  }
  return sum;
}

/// Returns the number of calls of all collectives that the events of a program send.
constexpr std::int64_t calls(program const& p) {
  std::int64_t sum = 0;
  for (event const& e : p.events)
    if (e.kind == event_kind::message) sum += p.messages[static_cast<std::size_t>(e.count)].copies;
  return sum;
}

/// Returns true if the stages together have all work and messages of the model once, and all its
/// parameters, of which several stages hold `repeated` numbers again.
template <auto const& Model>
constexpr bool covers(stage_cuts const& cuts, std::int64_t repeated, std::int64_t again = 0) {
  program const whole = redco::shard::facts_of<Model>({2, 12});
  std::int64_t parameters = 0, operations = 0, sent = 0;
  for (int i = 0; i < cuts.size(); ++i) {
    program const part = stage<Model>(cuts, i);
    parameters += numbers(part);
    operations += work(part);
    sent += calls(part);
  }
  return parameters == numbers(whole) + repeated && operations == work(whole) && sent == calls(whole) + again;
}

constexpr redco::gpt2 gpt2{{.vocab = 64, .context = 16, .width = 24, .heads = 2, .layers = 6}};
constexpr stage_cuts three = stage_cuts::of({1, 3, 2});
static_assert(covers<gpt2>(three, 64 * 24));
static_assert(covers<gpt2>(stage_cuts::of({1, 1, 1, 1, 1, 1}), 64 * 24));
static_assert(numbers(stage<gpt2>(stage_cuts(), 0)) == numbers(redco::shard::facts_of<gpt2>()));
static_assert(has(stage<gpt2>(three, 0), "wpe.weight") && !has(stage<gpt2>(three, 2), "wpe.weight"));
static_assert(has(stage<gpt2>(three, 0), "wte.weight") && !has(stage<gpt2>(three, 1), "wte.weight") &&
              has(stage<gpt2>(three, 2), "wte.weight"));
static_assert(!has(stage<gpt2>(three, 0), "ln_f.weight") && has(stage<gpt2>(three, 2), "ln_f.weight"));
static_assert(count(stage<gpt2>(three, 0), event_kind::receive) == 0 &&
              count(stage<gpt2>(three, 1), event_kind::receive) == 1);
static_assert(count(stage<gpt2>(three, 1), event_kind::send) == 1 &&
              count(stage<gpt2>(three, 2), event_kind::send) == 0);
static_assert(count(stage<gpt2>(three, 1), event_kind::loss) == 0 &&
              count(stage<gpt2>(three, 2), event_kind::loss) > 0);
static_assert(stage<gpt2>(three, 1).events[0].tensor.shape == redco::extents{2, 12, 24});

/// Returns the blocks of the first stack of a stage's program.
constexpr redco::fact::block_slice blocks_of(program const& p) {
  for (event const& e : p.events)
    if (e.kind == event_kind::repeat) return e.blocks;
  return {};
}
static_assert(blocks_of(stage<gpt2>(three, 1)) == redco::fact::block_slice{.times = 3, .base = 1});
static_assert(stage<gpt2>(three, 1).parameters[0].copies() == 3);

// A stage that begins with the second of two block types lists this type first.
constexpr redco::gpt_neo neo{{.vocab = 64, .context = 16, .width = 24, .heads = 2, .layers = 6}};
static_assert(covers<neo>(stage_cuts::of({3, 2, 1}), 64 * 24));
static_assert(stage<neo>(stage_cuts::of({3, 2, 1}), 1).parameters[0].name.view() == "h.1::2.ln_1.weight");
static_assert(stage<neo>(stage_cuts::of({3, 2, 1}), 1).parameters[0].blocks[0] ==
              redco::fact::block_slice{.times = 2, .first = 0, .step = 2, .base = 3});
static_assert(stage<neo>(stage_cuts::of({3, 2, 1}), 0).parameters[2].copies() == 2);
static_assert(!has(stage<neo>(stage_cuts::of({3, 2, 1}), 2), "h.0::2.ln_1.weight"));

/// Returns true if each activation that an event of a stage reads was made or received before.
constexpr bool reads_known(program const& p, bool first) {
  for (std::size_t i = 0; i < p.events.size(); ++i) {
    event const& e = p.events[i];
    bool const from =
        e.kind == event_kind::repeat || (e.kind == event_kind::make && e.how != redco::fact::making::logits);
    if (!from || (first && e.from == 0) || e.layer < 0) continue;
    bool known = e.from == 0 || !e.on_stages_of.is_empty();
    for (std::size_t j = 0; j < i; ++j) known = known || p.events[j].tensor.id == e.from;
    if (!known) return false;
  }
  return true;
}
static_assert(reads_known(stage<neo>(stage_cuts::of({3, 2, 1}), 1), false) &&
              reads_known(stage<neo>(stage_cuts::of({3, 2, 1}), 2), false));

// T5: after the first block of the decoder, the encoder's output passes each cut. Stages compute
// the biases by distance of their own blocks, whose tables and messages of other layers stay
// single.
constexpr redco::t5 t5{
    {.vocab = 96, .width = 48, .ffn = 96, .heads = 4, .head_dim = 12, .layers = 3, .decoder_layers = 4}};
constexpr stage_cuts four = stage_cuts::of({2, 3, 1, 1});
static_assert(covers<t5>(four, 2 * 96 * 48 + 3 * 32 * 4));
static_assert(covers<t5>(stage_cuts::of({3, 4}), 96 * 48));
static_assert(count(stage<t5>(four, 0), event_kind::send) == 1 && count(stage<t5>(four, 1), event_kind::send) == 2);
static_assert(count(stage<t5>(four, 2), event_kind::receive) == 2 && count(stage<t5>(four, 2), event_kind::send) == 2);
static_assert(count(stage<t5>(stage_cuts::of({3, 4}), 0), event_kind::send) == 1);
static_assert(count(stage<t5>(stage_cuts::of({4, 3}), 0), event_kind::send) == 2);
static_assert(reads_known(stage<t5>(four, 1), false) && reads_known(stage<t5>(four, 2), false) &&
              reads_known(stage<t5>(four, 3), false));

/// Returns the number of tensors with the name `slot` that the events of a stage save.
constexpr int saves(program const& p, std::string_view slot) {
  int number = 0;
  for (event const& e : p.events) number += e.kind == event_kind::save && e.slot == slot;
  return number;
}
static_assert(saves(stage<t5>(four, 0), "states") == 0 && saves(stage<t5>(four, 1), "states") == 1 &&
              saves(stage<t5>(four, 2), "states") == 1 && saves(stage<t5>(four, 3), "states") == 1);
static_assert(saves(stage<t5>(four, 1), "bias") == 2 && saves(stage<t5>(four, 2), "bias") == 1);
static_assert(count(stage<t5>(four, 2), event_kind::branch) == count(stage<t5>(four, 2), event_kind::branch_end));

// Tokens that are split over the shards pass a cut split.
constexpr redco::models::sequence_parallel<redco::gpt2> split{
    {.vocab = 64, .context = 16, .width = 24, .heads = 2, .layers = 6}};
static_assert(stage<split>(three, 1).events[0].tensor.split_dim == 1);
static_assert(covers<split>(three, 64 * 24));

}  // namespace

int main() {}
