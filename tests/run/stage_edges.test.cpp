#include "machines.hpp"
#include "stages.hpp"

#include "comm/values.hpp"

#include <redco/run/step.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/generate/beam_search.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/cost/stage_costs.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/model/t5.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

// Compares pipeline stages on different machines, which send replicated tensors in parts, with
// stages on one machine, which send them whole. Hidden states of 24 examples are large enough for
// parts, those of 6 examples are not.

namespace stage_edges_test {

using namespace stage_test;

namespace {

redco::gpt2 const wide{{.vocab = vocabulary, .context = 16, .width = 96, .heads = 2, .layers = 4, .dropout = 0.1}};
redco::models::sequence_parallel<redco::gpt2> const split_tokens{wide.config};

/// Returns a T5 with dropout, whose hidden states have `width` features.
redco::t5 t5_of(std::int64_t width, std::int64_t heads) {
  return {{.vocab = vocabulary,
           .width = width,
           .ffn = 36,
           .heads = heads,
           .head_dim = 6,
           .layers = 2,
           .decoder_layers = 3,
           .buckets = 8,
           .farthest = 12,
           .dropout = 0.1}};
}

/// Bytes that rank 0 sent to other stages, and its broadcasts among stages, while it generated.
std::mutex guard;
struct exchanged {
  std::int64_t sent = 0, broadcasts = 0;
} of_generation;

/// Returns `generate()`. Adds the messages of the group of the stages to `of_generation`.
template <class Net, class Generate>
at::Tensor watched(Net const& net, Generate const& generate) {
  redco::rank_context const& rank = *net.pass().rank;
  redco::comm::group& stages = rank.group(redco::shape::axis::pp);
  auto const before = stages.counters();
  at::Tensor const ids = generate();
  using redco::shape::collective;
  std::lock_guard const lock(guard);
  if (rank.rank == 0) {
    of_generation.sent += stages.counters()[collective::send].payload_bytes - before[collective::send].payload_bytes;
    of_generation.broadcasts += stages.counters()[collective::broadcast].calls - before[collective::broadcast].calls;
  }
  return ids;
}

/// Returns a job of a language model, whose predictions are continuations by four tokens.
auto continued(redco::generate_options const& options = {.max_new_tokens = 4}) {
  return redco::collate([](std::span<std::int64_t const> examples) { return texts_of(examples); }) |
         redco::loss([](auto const& net, redco::token_batch const& b) {
           return redco::cross_entropy(net(b.input_ids), b.labels);
         }) |
         redco::predict([options](auto const& net, redco::token_batch const& b) {
           return watched(net, [&] { return redco::generate(net, b.input_ids.narrow(1, 0, 2), options); });
         });
}

/// Returns a job that reverses texts. A prediction is the best of three beams.
auto reversed() {
  return redco::collate([](std::span<std::int64_t const> examples) { return pairs_of(examples); }) |
         redco::loss([](auto const& net, pair_batch const& b) {
           return redco::cross_entropy(net(b.decoder, redco::encoder_input{b.source}, redco::encoder_mask{b.mask}),
                                       b.labels);
         }) |
         redco::predict([](auto const& net, pair_batch const& b) {
           return watched(net, [&] {
             return redco::beam_search(net.with(redco::encoder_input{b.source}, redco::encoder_mask{b.mask}),
                                       at::zeros({b.source.size(0), 1}, at::kLong), {.max_new_tokens = 5, .beams = 3})
                 .ids;
           });
         });
}

template <class Model, class Pipeline>
run_test::options_of<Model, Pipeline> options_of() {
  run_test::options_of<Model, Pipeline> o;
  o.epochs = 2;
  o.global_batch = 54;
  o.micro_batch = 24;  // 24, 24 and 6 examples
  o.save_last = false;
  o.save_argmin = {};
  return o;
}

/// The results of a training on stages: losses, parameters, evaluation and predictions.
struct trained {
  run_test::outcome run;
  std::vector<at::Tensor> predictions;
  exchanged generated;
};

template <class Model, class Pipeline>
trained train(Model const& model, Pipeline const& pipeline, mesh const& on, int machines) {
  pretended_machines const some(machines);
  silence const quiet;
  temporary_folder const folder;
  redco::deployer deployer(in(folder.path, on));
  redco::trainer trainer(deployer, model, pipeline, redco::adamw{.lr = 1e-2, .clip_norm = 0.5});
  trained result;
  auto o = options_of<Model, Pipeline>();
  o.eval = numbers(60);
  o.on_step = [&](redco::fit_event const& e) { result.run.losses.push_back(e.loss); };
  result.run.evaluation = trainer.fit(numbers(108), o).evaluation;
  result.run.state = run_test::whole_state(trainer.states());
  of_generation = {};
  result.predictions = redco::predictor(trainer).predict(numbers(100), 100);
  result.generated = of_generation;
  return result;
}

/// Compares stages on `machines` machines with stages on one machine, bit by bit.
template <class Model, class Pipeline>
void check_equal(Model const& model, Pipeline const& pipeline, mesh const& on, int machines) {
  INFO(name_of(on) << " on " << machines << " machines");
  trained const whole = train(model, pipeline, on, 1), parts = train(model, pipeline, on, machines);
  REQUIRE(whole.run.losses.size() == 4);
  CHECK(whole.run.losses == parts.run.losses);
  CHECK(run_test::bit_equal(whole.run.state, parts.run.state));
  CHECK(whole.run.evaluation.at("loss") == parts.run.evaluation.at("loss"));
  REQUIRE(whole.predictions.size() == 100);
  for (std::size_t i = 0; i < 100; ++i) CHECK(whole.predictions[i].equal(parts.predictions[i]));
  CHECK(parts.generated.sent < whole.generated.sent);
  CHECK(parts.generated.broadcasts == whole.generated.broadcasts);
}

/// Verifies the first two steps of a fit against one rank. Returns the bytes that rank 0 exchanged
/// with other stages in the first step. With several chunks per stage, the schedule is interleaved.
template <class Model, class Pipeline>
std::int64_t verified_bytes(Model const& model, Pipeline const& pipeline, mesh const& on, int machines,
                            int chunks = 1) {
  pretended_machines const some(machines);
  INFO(name_of(on) << " on " << machines << " machines");
  temporary_folder const folder;
  redco::run::verify_result result;
  {
    silence const quiet;
    redco::deployer_options where = in(folder.path, on);
    where.chunks_per_stage = chunks;
    if (chunks > 1) where.schedule = "interleaved";
    redco::deployer deployer(where);
    redco::trainer trainer(deployer, model, pipeline, redco::adamw{.lr = 1e-2});
    auto o = options_of<Model, Pipeline>();
    if (chunks > 1) o.micro_batch = 16;  // 16, 16, 16 and 6 examples
    result = trainer.verify(numbers(108), o);
  }
  INFO(result.text(100) << result.verdict());
  CHECK(result.ok());
  CHECK(result.messages_remark.find("not as planned") == std::string::npos);
  std::int64_t between_stages = 0;
  for (auto const& one : result.messages) {
    CHECK(one.equal());
    if (one.over == "pp") between_stages = one.counted_bytes;
  }
  return between_stages;
}

}  // namespace

TEST_CASE("stages that send parts train, evaluate and generate to the same bits") {
  check_equal(wide, continued(), {.pp = 2, .dp = 1, .tp = 2}, 2);
  check_equal(wide, continued(), {.pp = 4, .dp = 1, .tp = 2}, 4);
  check_equal(wide, continued(), {.pp = 2, .dp = 2, .tp = 2}, 4);
  check_equal(t5_of(96, 2), reversed(), {.pp = 3, .dp = 1, .tp = 2}, 3);
}

TEST_CASE("stages that send parts exchange the planned messages, and compute the gradients of one rank") {
  mesh const two{.pp = 2, .dp = 1, .tp = 2}, four{.pp = 4, .dp = 1, .tp = 2};
  for (mesh const& on : {two, four}) {
    std::int64_t const whole = verified_bytes(wide, continued(), on, 1),
                       parts = verified_bytes(wide, continued(), on, on.pp);
    CHECK(parts > whole / 2);  // the smallest micro-batch passes whole
    CHECK(parts < whole * 8 / 10);
  }
  // The first two stages share a machine.
  CHECK(verified_bytes(wide, continued(), four, 2) == verified_bytes(wide, continued(), four, 1));
  CHECK(verified_bytes(wide, continued(), two, 2, 2) < verified_bytes(wide, continued(), two, 1, 2) * 8 / 10);
  // Shards that have their own tokens have nothing to scatter.
  CHECK(verified_bytes(split_tokens, continued(), two, 2) == verified_bytes(split_tokens, continued(), two, 1));
  // Three shards do not divide all hidden states of 97 features.
  verified_bytes(t5_of(97, 3), reversed(), {.pp = 2, .dp = 1, .tp = 3}, 2);
}

TEST_CASE("the last stage sends one message to the others for each token that is decoded") {
  mesh const on{.pp = 3, .dp = 1, .tp = 2};
  auto const broadcasts = [&](auto const& model, auto const& pipeline) {
    return train(model, pipeline, on, 1).generated.broadcasts;
  };
  CHECK(broadcasts(wide, continued()) == 4);
  CHECK(broadcasts(wide, continued({.max_new_tokens = 4, .temperature = 0.7})) == 4);
  CHECK(broadcasts(t5_of(96, 2), reversed()) == 5);
}

namespace {

/// Micro-batches of a T5 with `rows` examples each, equal on all ranks.
class pair_work final : public redco::run::step_work {
 public:
  pair_work(redco::run::trained_network<redco::t5> const& net, redco::rank_context& me, std::int64_t rows)
      : net_(net), me_(me), rows_(rows) {}

  redco::terms loss(std::int32_t micro, redco::comm::replica_round const& round,
                    redco::nn::stage_link* stage) override {
    redco::pass& in =
        passes_.emplace_back(redco::nn::training_pass(me_, 5, 0).with_examples(micro * rows_, rows_).with_round(round));
    in.stage = stage;
    pair_batch const b = pairs_of(numbers(rows_));
    return {{{"loss", redco::cross_entropy(net_.in(in)(b.decoder, redco::encoder_input{b.source}), b.labels), 1}}};
  }
  void compute(redco::run::step_executor&, redco::comm::replica_round const&) override {}

 private:
  redco::run::trained_network<redco::t5> const& net_;
  redco::rank_context& me_;
  std::int64_t rows_;
  std::deque<redco::pass> passes_;
};

/// Sum of the planned or counted messages of one kind.
using call_bytes = std::pair<std::int64_t, std::int64_t>;

call_bytes planned(redco::cost::messages const& all, redco::shape::axis over, redco::shape::collective kind) {
  call_bytes sum;
  for (redco::cost::message_total const& one : all)
    if (one.over == redco::shape::axes(over) && one.collective == kind) {
      sum.first += one.calls;
      sum.second += one.payload_bytes;
    }
  return sum;
}

call_bytes counted(redco::comm::group const& in, redco::shape::collective kind) {
  return {in.counters()[kind].calls, in.counters()[kind].payload_bytes};
}

}  // namespace

TEST_CASE("a step of an encoder and decoder on stages sends the planned parts and gathers") {
  using redco::shape::axis, redco::shape::collective;
  redco::t5 const model = t5_of(96, 2);
  for (int const machines : {1, 2, 5, 10})
    for (std::int64_t const rows : {6, 24}) {
      pretended_machines const some(machines);
      redco::cost::setup s{.mesh = {.pp = 5, .dp = 1, .tp = 2}, .load = {rows, 4, 10}, .micro_batches = 3};
      s.compute = redco::dtype::f64;
      s.machines = machines;
      auto const plan = redco::cost::stage_costs(redco::shard::facts_of(model, s.load),
                                                 redco::optimizer::demands_of(redco::adamw{}), s);
      redco::comm::run_ranks(
          s.mesh, {.first_deadline = std::chrono::seconds(200), .threads = 1}, [&](redco::rank_context& me) {
            redco::run::trained_network<redco::t5> net(model, redco::plan_of(model, me.mesh), redco::adamw{}, s.compute,
                                                       3, me.rank, {});
            net.store.publish();
            redco::run::step_executor one(net, me, {.micro_batches = 3, .rounds = 3, .full_rounds = 3});
            pair_work work(net, me, rows);
            one.run(work, {0, 1});
            auto const& messages = plan[static_cast<std::size_t>(me.coordinate(axis::pp))].cost.messages;
            for (collective const kind : {collective::send, collective::recv})
              comm_test::must(planned(messages, axis::pp, kind) == counted(me.group(axis::pp), kind),
                              "messages between stages as planned");
            comm_test::must(
                planned(messages, axis::tp, collective::all_gather) == counted(me.tp, collective::all_gather),
                "gathers as planned");
          });
      // Nothing is gathered on one machine, nor if a replica of a stage has two machines.
      std::int64_t gathers = 0;
      for (auto const& stage : plan) gathers += planned(stage.cost.messages, axis::tp, collective::all_gather).first;
      CHECK((gathers > 0) == (rows == 24 && machines == 5));
    }
}

}  // namespace stage_edges_test
