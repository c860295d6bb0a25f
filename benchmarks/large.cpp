// Trains large models of RedCoast's table 1 for three steps on two model shards of this machine's
// CPU: f32, AdamW, one example per step. Prints one JSON line: measured and planned peak of each
// rank, peak of the process, losses. The program table1 reads this line.
// - `large --model gpt2_large`: 774 million parameters, 512 tokens
// - `large --model bart_large`: 406 million parameters, 1024 tokens on each side
#include "temporary_folder.hpp"

#include <redco/run/main_of.hpp>
#include <redco/run/trainer.hpp>
#include <redco/text/batches.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/model/bart.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/options/choices.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/pipeline/functions.hpp>
#include <redco/json/value.hpp>
#include <redco/meta/enum_texts.hpp>
#include <redco/meta/fields.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>

namespace {

enum class large_model { gpt2_large, bart_large };
inline constexpr auto large_model_texts = redco::meta::enum_texts<large_model>(
    {{large_model::gpt2_large, "gpt2_large"}, {large_model::bart_large, "bart_large"}});
constexpr std::string_view name_of(large_model m) { return large_model_texts.text_of(m); }

}  // namespace

template <>
inline constexpr std::array redco::options::choices<large_model> = large_model_texts.values();

namespace {

struct large_options {
  large_model model = large_model::gpt2_large;

  static constexpr auto fields() {
    return redco::fields(redco::required_field<"model">(&large_options::model, "model to train"));
  }
};

redco::token_batch batch_of(std::span<int const> rows, std::int64_t length, std::int64_t vocabulary) {
  auto const ids = (at::arange(std::ssize(rows) * (length + 1), at::kLong) * 7919 + rows[0])
                       .remainder(vocabulary)
                       .view({std::ssize(rows), length + 1});
  return {ids.narrow(1, 0, length).contiguous(), ids.narrow(1, 1, length).contiguous()};
}

/// Trains the model for three steps and prints the JSON line. `call(net, ids)` returns logits.
template <class Model, class Call>
int train(std::string const& name, Model const& model, std::int64_t length, Call const& call, std::ostream& out) {
  auto const pipeline =
      redco::collate([&](std::span<int const> rows) { return batch_of(rows, length, model.config.vocab); }) |
      redco::loss([&](auto const& net, redco::token_batch const& b) {
        return redco::cross_entropy(call(net, b.input_ids), b.labels);
      });
  temporary_folder const folder;
  redco::deployer_options where;
  where.mesh = {.tp = 2};
  where.dtype = redco::dtype::f32;
  where.workdir = folder.path;
  where.resume = "none";
  where.quiet = true;
  where.deadline = 600;
  redco::deployer deployer(where);
  redco::adamw const optimizer{.lr = 1e-4};
  redco::trainer trainer(deployer, model, pipeline, optimizer);
  std::vector<int> const examples{1, 2, 3, 4, 5, 6};
  redco::json::json_value losses = redco::json::json_value::array();
  auto const begin = std::chrono::steady_clock::now();
  redco::fit_result const result =
      trainer.fit(examples, {.max_steps = 3,
                             .global_batch = 1,
                             .save_last = false,
                             .save_argmin = {},
                             .on_step = [&](redco::fit_event const& e) { losses.push_back(e.loss); }});
  redco::json::json_value line;
  line["benchmark"] = name;
  line["mesh"] = "1x2";
  line["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  line["planned_peak_bytes"] =
      redco::cost::cost_of(model, optimizer, {.mesh = {.tp = 2}, .load = {1, length}}).memory.peak();
  line["measured_peak_bytes"] = redco::json::json_value::array();
  for (redco::run::step_measure const& rank : result.measures) line["measured_peak_bytes"].push_back(rank.peak_bytes);
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  line["peak_rss_bytes"] = std::int64_t{used.ru_maxrss} * 1024;
  line["losses"] = losses;
  out << line.dump() << std::endl;
  return 0;
}

int run(large_options const& o) {
  std::string const name(name_of(o.model));
  std::ostream out(std::cout.rdbuf(std::cerr.rdbuf()));  // messages of the library go to stderr
  int code = 0;
  if (o.model == large_model::gpt2_large) {
    code = train(
        name, redco::gpt2{{.width = 1280, .heads = 20, .layers = 36}}, 512,
        [](auto const& net, at::Tensor const& ids) { return net(ids); }, out);
  } else {
    auto const call = [](auto const& net, at::Tensor const& ids) {
      return net(ids, redco::encoder_input{ids.flip(1)});
    };
    code = train(name, redco::bart{}, 1024, call, out);
  }
  std::cout.rdbuf(out.rdbuf());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  return redco::main_of<large_options>(argc, argv, "Trains a large model for three steps on two model shards.", run);
}
