#include "catch.hpp"

#include <redco/cost/cost_of.hpp>
#include <redco/cost/machine.hpp>
#include <redco/cost/stage_costs.hpp>
#include <redco/cost/step_time.hpp>
#include <redco/shard/facts.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/optimizer/state_slots.hpp>
#include <redco/diag/error.hpp>
#include <redco/schedule/pipeline_table.hpp>
#include <redco/schedule/pipeline_time.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stage_costs_test {

using redco::cost::setup;
using redco::schedule::pipeline_kind;

redco::gpt2 const model{{.vocab = 64, .context = 16, .width = 24, .heads = 2, .layers = 8}};

std::vector<redco::cost::stage_cost> costs(setup const& s) {
  return redco::cost::stage_costs(redco::shard::facts_of(model, s.load), redco::optimizer::demands_of(redco::adamw{}),
                                  s);
}

TEST_CASE("micro-batches in flight equal those of the simulated schedule") {
  for (pipeline_kind const kind : {pipeline_kind::gpipe, pipeline_kind::one_f_one_b, pipeline_kind::zb_h1,
                                   pipeline_kind::interleaved, pipeline_kind::v_half})
    for (int const stages : {2, 3, 4, 8})
      for (int const micro_batches : {1, 2, 3, 7, 16, 40}) {
        int const chunks = kind == pipeline_kind::interleaved || kind == pipeline_kind::v_half ? 2 : 1;
        redco::schedule::pipeline_shape const shape{kind, stages, micro_batches, chunks};
        if (stages * chunks > 8 || !redco::schedule::refusal_of(shape).empty()) continue;
        setup s{.mesh = {.pp = stages}, .load = {1, 4}, .micro_batches = micro_batches};
        s.stages.schedule = kind;
        s.stages.chunks_per_stage = chunks;
        auto const all = costs(s);
        auto const table = redco::schedule::table_of(shape);
        auto const run = redco::schedule::simulate(table);
        setup whole = s;
        whole.table = &table;
        for (std::size_t i = 0; i < all.size(); ++i) {
          INFO(redco::schedule::pipeline_kind_texts.text_of(kind) << " " << stages << " " << micro_batches << " " << i);
          CHECK(all[i].in_flight == run.in_flight[i]);
          CHECK(all[i].cost.memory == costs(whole)[i].cost.memory);
        }
      }
}

TEST_CASE("the stage with most memory decides") {
  setup s{.mesh = {.pp = 4}, .load = {2, 8}};
  for (std::int64_t const end : {1, 2, 7, 8}) s.stages.cuts.push(end);
  auto const all = costs(s);
  CHECK(all[2].cost.memory.peak() > all[0].cost.memory.peak());
  CHECK(redco::cost::cost_of(model, redco::adamw{}, s).memory == all[2].cost.memory);
}

redco::cost::machine machine_of(double transfer_speed) {
  redco::cost::machine on;
  on.compute = {{.operations_per_second = 1e9, .activation_bytes_per_second = 1e30, .weight_bytes_per_second = 1e30}};
  on.groups = {{.seconds_per_call = 0, .bytes_per_second = transfer_speed}};
  on.update_bytes_per_second = 1e30;
  return on;
}

TEST_CASE("the time of a pipeline is the makespan of its schedule") {
  setup s{.mesh = {.pp = 4}, .load = {2, 8}, .micro_batches = 6};
  for (std::int64_t const end : {2, 4, 6, 8}) s.stages.cuts.push(end);
  auto const all = costs(s);
  auto const time = redco::cost::pipeline_time_of(all, s, machine_of(1e30));
  REQUIRE(time.stages.size() == 4);
  // The cores of one machine are shared by four ranks.
  double const of_stage = static_cast<double>(all[0].cost.operations.total()) * 4 / 1e9;
  CHECK(time.stages[0].products == Approx(of_stage));
  double const last = static_cast<double>(all[3].cost.operations.total()) * 4 / 1e9;
  // The last stage, with the head, is the slowest: the first stages add one micro-batch each.
  CHECK(time.pipeline == Approx(last + 3 * of_stage / 6).epsilon(1e-6));
  CHECK(time.end < 1e-12);
  CHECK(time.total() == Approx(time.pipeline + time.end));
  CHECK(time.idle > 0.2);
  CHECK(time.idle < 0.5);
}

TEST_CASE("tensors between stages take time in flight, and recomputation makes backward longer") {
  setup s{.mesh = {.pp = 4}, .load = {2, 8}, .micro_batches = 6};
  double const fast = redco::cost::pipeline_time_of(costs(s), s, machine_of(1e30)).pipeline;
  double const bytes = 2 * 8 * 24 * 4;
  double const slow = redco::cost::pipeline_time_of(costs(s), s, machine_of(bytes / 1e-3)).pipeline;
  // Three cuts, there and back; later micro-batches may wait, too.
  CHECK(slow >= fast + 6 * 1e-3 * 0.99);
  s.recompute = true;
  CHECK(redco::cost::pipeline_time_of(costs(s), s, machine_of(1e30)).pipeline > 1.2 * fast);
}

TEST_CASE("parts of tensors between machines are gathered within the pipeline, once for each micro-batch") {
  setup s{.mesh = {.pp = 2, .tp = 2}, .load = {64, 16}, .micro_batches = 6};
  s.hosts = 2;
  setup whole = s;
  whole.machines = 1;
  redco::cost::machine on = machine_of(1e6);
  on.links = {{.bytes_per_second = 1e30}};
  auto const parts_time = redco::cost::pipeline_time_of(costs(s), s, on),
             whole_time = redco::cost::pipeline_time_of(costs(whole), whole, on);
  CHECK(parts_time.end == Approx(whole_time.end));
  // A rank sends half of the tensor to the other shard of its stage.
  double const gather = 64 * 16 * 24 * 4 / 2 / 1e6;
  CHECK(parts_time.pipeline >= whole_time.pipeline + 6 * gather * 0.99);
  on.links[0].bytes_per_second = 1e6;
  on.groups[0].bytes_per_second = 1e30;
  CHECK(redco::cost::pipeline_time_of(costs(s), s, on).pipeline <
        0.8 * redco::cost::pipeline_time_of(costs(whole), whole, on).pipeline);
}

TEST_CASE("gradient sums and the exchange of tied gradients come after the pipeline") {
  setup s{.mesh = {.pp = 2, .dp = 2}, .load = {2, 8}, .micro_batches = 2};
  auto const all = costs(s);
  redco::cost::machine const on = machine_of(1e6);
  auto const time = redco::cost::pipeline_time_of(all, s, on);
  double gradients = 0;
  for (redco::cost::message_total const& one : all[0].cost.messages)
    if (one.purpose == redco::cost::messages::name_of_gradients || one.purpose == redco::cost::name_of_tied_gradients)
      gradients += static_cast<double>(one.inside_bytes) / 1e6;
  CHECK(time.end >= gradients);
  CHECK(time.end < 1.1 * gradients);
}

/// Returns the message of the error with exit code 64 that planning the run throws.
std::string refusal(setup const& s) {
  try {
    costs(s);
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::usage);
    return e.what();
  }
  return "accepted";
}

TEST_CASE("stages and schedules that a run cannot have are refused") {
  setup s{.mesh = {.pp = 9}, .load = {1, 4}};
  CHECK(refusal(s).find("the model has 8 blocks for 9 stages; give 1 to 8 stages") != std::string::npos);
  s.mesh.pp = 2;
  s.stages.cuts.push(3);
  s.stages.cuts.push(7);
  CHECK(refusal(s).find("stages 3,4: the model has 8 blocks") == 0);
  s.stages.cuts = {};
  s.stages.schedule = pipeline_kind::v_half;
  CHECK(refusal(s).find("the schedule v-half needs two chunks per stage, but there are 2 stages") == 0);
  auto const table = redco::schedule::table_of({pipeline_kind::gpipe, 3, 2});
  s.table = &table;
  CHECK(refusal(s).find("the schedule has 3 stages, 3 chunks of blocks and 2 micro-batches, the run 2, 2 and 2") == 0);
  s = {.mesh = {.pp = 3}, .load = {1, 4}};
  s.stages.schedule = pipeline_kind::interleaved;
  s.stages.chunks_per_stage = 3;
  CHECK(refusal(s).find("a pipeline stage runs at least one block in each of 3 chunks") != std::string::npos);
}

}  // namespace stage_costs_test
