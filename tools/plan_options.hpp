#pragma once

#include <redco/report/report_format.hpp>
#include <redco/options/deployer_options.hpp>
#include <redco/options/parse.hpp>
#include <redco/optimizer/muon.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/optimizer/state_slots.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/meta/enum_texts.hpp>
#include <redco/meta/fields.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

// Options of redco-plan.

namespace planning {

enum class optimizer_kind { adamw, adam, sgd, lion, ademamix, schedule_free, muon, adafactor };

inline constexpr auto optimizer_texts = redco::meta::enum_texts<optimizer_kind>({
    {optimizer_kind::adamw, "adamw"},
    {optimizer_kind::adam, "adam"},
    {optimizer_kind::sgd, "sgd"},
    {optimizer_kind::lion, "lion"},
    {optimizer_kind::ademamix, "ademamix"},
    {optimizer_kind::schedule_free, "schedule_free"},
    {optimizer_kind::muon, "muon"},
    {optimizer_kind::adafactor, "adafactor"},
});
constexpr std::string_view name_of(optimizer_kind kind) { return optimizer_texts.text_of(kind); }

}  // namespace planning

template <>
inline constexpr std::array redco::options::choices<planning::optimizer_kind> = planning::optimizer_texts.values();

namespace planning {

struct plan_options {
  int n_model_shards = 1;
  std::optional<int> ranks;
  std::optional<redco::mesh> mesh;
  std::int64_t batch = 1;
  std::optional<std::int64_t> sequence;
  std::optional<std::int64_t> source;
  std::optional<std::int64_t> micro_batch;
  optimizer_kind optimizer = optimizer_kind::adamw;
  redco::dtype dtype = redco::dtype::f32;
  redco::recomputed_blocks recompute = {};
  bool sequence_parallel = false;
  std::optional<std::string> device_memory;
  redco::report::report_format format = redco::report::report_format::txt;
  std::optional<std::filesystem::path> output;
  bool facts = false;
  bool timeline = false;
  bool search = false;
  std::optional<std::string> schedule;
  int n_pipeline_stages = 1;
  std::optional<std::string> stages;
  std::optional<int> chunks_per_stage;
  int hosts = 1;
  std::optional<int> zero;
  redco::shape::zero_owner zero_owner = redco::shape::zero_owner::element;
  std::string zero_within = "run";
  std::int64_t zero_keep = 0;
  std::optional<bool> overlap;
  double gradient_bucket = redco::deployer_options().gradient_bucket;
  bool calibrate = false;
  std::filesystem::path machine = "redco_machine.json";

  static constexpr auto fields() {
    using o = plan_options;
    using redco::field, redco::meta::field_like;
    return redco::fields(
        field_like<redco::deployer_options, "n_model_shards">(&o::n_model_shards),
        field<"ranks">(&o::ranks, "number of ranks; default: one copy of the model").at_least(1).in_group("mesh"),
        field<"mesh">(&o::mesh,
                      "data-parallel x tensor-parallel ranks, or axes by name (dp=2,tp=2), instead of the two above")
            .in_group("mesh"),
        field<"hosts">(&o::hosts, "hosts, each with an equal number of consecutive ranks").at_least(1).in_group("mesh"),
        field<"zero">(
            &o::zero,
            "1: each replica keeps a share of the optimizer's state and of f32 copies of the parameters; 2: and "
            "gradients; 3: and parameters; default: 0, and all levels for --search")
            .at_least(0)
            .in_group("mesh"),
        field_like<redco::deployer_options, "zero_within">(&o::zero_within),
        field_like<redco::deployer_options, "zero_keep">(&o::zero_keep),
        field_like<redco::deployer_options, "zero_owner">(&o::zero_owner),
        field<"batch">(&o::batch, "examples of one update, over all ranks").at_least(1).in_group("training"),
        field<"micro_batch">(&o::micro_batch,
                             "examples that a data-parallel shard computes at once; default: all of its share")
            .at_least(1)
            .in_group("training"),
        field<"sequence">(&o::sequence, "tokens of an example, at most the model's context; default: the context")
            .at_least(1)
            .in_group("training"),
        field<"source">(&o::source,
                        "tokens of an encoder's input, at most the model's context; default: those of --sequence")
            .at_least(1)
            .in_group("training"),
        field<"optimizer">(&o::optimizer, "optimizer, which determines the state that a rank holds")
            .in_group("training"),
        field<"dtype">(&o::dtype, "type that the model computes in").in_group("computation"),
        field_like<redco::deployer_options, "recompute">(&o::recompute),
        field<"sequence_parallel">(&o::sequence_parallel,
                                   "splits the activations between blocks by tokens over the model shards")
            .in_group("computation"),
        field<"overlap">(
            &o::overlap,
            "sends gradients during backward, and activations of shards during matrix products; default: between hosts")
            .in_group("communication"),
        field_like<redco::deployer_options, "gradient_bucket">(&o::gradient_bucket),
        field<"device_memory">(&o::device_memory,
                               "bytes that a rank may hold, with their unit, such as 40GiB or 80GB: the report says if "
                               "the run fits; default: no limit")
            .in_group("report"),
        field<"format">(&o::format, "format of the report").in_group("report"),
        field<"output">(&o::output, "file to write the report to; default: standard output").in_group("report"),
        field<"facts">(&o::facts,
                       "prints the facts of the layers for one micro-batch, event by event, instead of the plan")
            .in_group("report"),
        field<"timeline">(&o::timeline,
                          "prints the bytes that a rank holds, layer by layer over a step, instead of the plan; with "
                          "pipeline stages, their computations, waits and messages")
            .in_group("report"),
        field<"search">(
            &o::search,
            "prints the fastest combinations of mesh, schedule, --zero, micro-batch, dtype, recomputation and split of "
            "tokens that fit on --ranks")
            .in_group("report"),
        field<"schedule">(&o::schedule,
                          "order of computations of pipeline stages; default: 1f1b. Without a model, prints them, or "
                          "draws them if --output ends in .svg: gpipe, 1f1b, interleaved, zb-h1, v-half, or a file in "
                          "PyTorch's notation")
            .in_group("schedule"),
        field<"n_pipeline_stages">(&o::n_pipeline_stages,
                                   "pipeline stages, each with some of the blocks; on the cores of one machine, stages "
                                   "are slower than data-parallel or tensor-parallel ranks")
            .at_least(1)
            .in_group("schedule"),
        field<"stages">(&o::stages, "blocks of each pipeline stage, such as 3,3,2; default: about equal work")
            .in_group("schedule"),
        field<"chunks_per_stage">(&o::chunks_per_stage,
                                  "parts of the model that each stage of --schedule computes; default: 2 for "
                                  "interleaved and v-half, else 1")
            .at_least(1)
            .in_group("schedule"),
        field<"calibrate">(&o::calibrate,
                           "measures the speed of this machine for --search; under a launcher with one process on each "
                           "host, measures the links between the hosts. Takes no model")
            .in_group("measurement"),
        field<"machine">(
            &o::machine,
            "file of the measured speeds: --calibrate writes it, --search, --timeline of pipeline stages and "
            "predictions of the step time read it")
            .in_group("measurement"));
  }
};

/// The facts of an optimizer that a plan needs. One type for all optimizers, so that each model
/// family is compiled once.
struct kept_state {
  std::string_view name;
  redco::optimizer::slot_list kept, kept_of_matrices;
  bool updates_matrices, factors_matrices;

  constexpr redco::optimizer::slot_list slots() const { return kept; }
  constexpr redco::optimizer::slot_list matrix_slots() const { return kept_of_matrices; }
};

inline kept_state state_of(optimizer_kind kind) {
  auto const state = []<class Rule>(Rule const& rule) {
    return kept_state{Rule::name, redco::optimizer::state_slots(rule), redco::optimizer::matrix_slots(rule),
                      redco::optimizer::updates_matrices(rule), redco::optimizer::factors_matrices(rule)};
  };
  switch (kind) {
    case optimizer_kind::adam: return state(redco::adam{});
    case optimizer_kind::sgd: return state(redco::sgd{});
    case optimizer_kind::lion: return state(redco::optimizer::lion{});
    case optimizer_kind::ademamix: return state(redco::optimizer::ademamix{});
    case optimizer_kind::schedule_free: return state(redco::optimizer::schedule_free{});
    case optimizer_kind::muon: return state(redco::optimizer::muon{});
    case optimizer_kind::adafactor: return state(redco::optimizer::adafactor{});
    case optimizer_kind::adamw: break;
  }
  return state(redco::adamw{});
}

}  // namespace planning
