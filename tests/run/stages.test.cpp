#include "stages.hpp"

#include <redco/generate/beam_search.hpp>
#include <redco/model/bert.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/t5.hpp>
#include <redco/model/vit.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <span>
#include <string>
#include <vector>

// Compares training, evaluation and prediction on pipeline stages with one rank.

namespace stage_test {

namespace {

redco::llama const grouped{
    {.vocab = vocabulary, .context = 16, .width = 16, .ffn = 24, .heads = 4, .kv_heads = 2, .layers = 4}};
redco::t5 const translator{{.vocab = vocabulary,
                            .width = 12,
                            .ffn = 20,
                            .heads = 2,
                            .head_dim = 6,
                            .layers = 2,
                            .decoder_layers = 3,
                            .buckets = 8,
                            .farthest = 12,
                            .dropout = 0.1}};
redco::bert const classifier{{.vocab = vocabulary,
                              .context = 16,
                              .width = 12,
                              .ffn = 20,
                              .heads = 2,
                              .layers = 4,
                              .classes = 3,
                              .dropout = 0.1,
                              .attention_dropout = 0.1}};
redco::vit const viewer{{.channels = 1,
                         .image = 4,
                         .patch = 2,
                         .width = 12,
                         .ffn = 20,
                         .heads = 2,
                         .layers = 4,
                         .classes = 3,
                         .dropout = 0.1}};

/// Returns a job that reverses the first four tokens of a text. A prediction is the best of three
/// beams.
auto reversal() {
  return redco::collate([](std::span<std::int64_t const> examples) {
           pair_batch b = pairs_of(examples);
           b.labels.masked_fill_(b.labels.eq(5), -100);
           return b;
         }) |
         redco::loss([](auto const& net, pair_batch const& b) {
           return redco::cross_entropy(net(b.decoder, redco::encoder_input{b.source}, redco::encoder_mask{b.mask}),
                                       b.labels);
         }) |
         redco::predict([](auto const& net, pair_batch const& b) {
           return redco::beam_search(net.with(redco::encoder_input{b.source}, redco::encoder_mask{b.mask}),
                                     at::zeros({b.source.size(0), 1}, at::kLong),
                                     {.max_new_tokens = 5, .beams = 3, .stop_ids = {2}})
               .ids;
         });
}

/// Returns a job that classifies texts by the sum of their token ids.
auto text_classes() {
  return redco::collate([](std::span<std::int64_t const> examples) { return ids_of(examples); }) |
         redco::loss([](auto const& net, at::Tensor const& ids) {
           return redco::cross_entropy(net(ids, redco::key_mask{ids.ne(0)}), ids.sum(1).remainder(3));
         });
}

struct picture_batch {
  at::Tensor pixels, labels;
};

/// Returns a job that classifies pictures of 4 x 4 pixels.
auto picture_classes() {
  return redco::collate([](std::span<std::int64_t const> examples) {
           at::Tensor const ids = ids_of(examples).narrow(1, 0, 4), x = ids.to(at::kDouble);
           return picture_batch{at::einsum("bi,bj->bij", {x, x.cos()}).unsqueeze(1).sin(), ids.sum(1).remainder(3)};
         }) |
         redco::loss(
             [](auto const& net, picture_batch const& b) { return redco::cross_entropy(net(b.pixels), b.labels); });
}

/// Verifies the first two steps of a fit: five examples in micro-batches of two, then the remaining
/// three. Two replicas have different numbers of micro-batches.
template <class Model, class Pipeline>
void check_verified(Model const& model, Pipeline const& pipeline, redco::deployer_options const& where,
                    run_test::options_of<Model, Pipeline> options = {}) {
  INFO(name_of(*where.mesh) << " " << where.schedule << " " << where.stages);
  options.global_batch = options.global_batch.value_or(5);
  options.micro_batch = options.micro_batch.value_or(2);
  redco::run::verify_result result;
  {
    silence const quiet;
    redco::deployer deployer(where);
    redco::trainer trainer(deployer, model, pipeline, redco::adamw{.lr = 1e-2, .clip_norm = 0.05});
    result = trainer.verify(numbers(3 + *options.global_batch), options);
  }
  INFO(result.text(100) << result.verdict());
  CHECK(result.ok());
  bool const planned = where.mesh->dp == 1 && options.frozen.empty() &&
                       (where.mesh->pp == 1 || !redco::models::has_encoder<redco::models::net_of<Model>>);
  if (planned) CHECK(!result.messages.empty());
  for (auto const& one : result.messages) CHECK(one.equal());
  // A run in f32 is compared in f64, too.
  REQUIRE(result.steps.size() == (where.dtype == redco::dtype::f64 ? 2u : 4u));
  CHECK(result.steps[0].norm_here > 0.05);  // the gradient is clipped
}

/// Verifies a fit on meshes of 2 to `stages` stages, with 1 or 2 replicas and 1 or 2 shards.
template <class Model, class Pipeline>
void check_meshes(Model const& model, Pipeline const& pipeline, int stages) {
  temporary_folder const folder;
  for (int pp = 2; pp <= stages; ++pp)
    for (int dp = 1; dp <= 2; ++dp)
      for (int tp = 1; tp <= 2; ++tp) check_verified(model, pipeline, in(folder.path, {.pp = pp, .dp = dp, .tp = tp}));
}

}  // namespace

TEST_CASE("stages of GPT-2 with tied embeddings compute the gradients and updates of one rank") {
  check_meshes(tied, language(), 4);
}

TEST_CASE("the messages of a model with an encoder equal the planned ones for the lengths of both inputs") {
  temporary_folder const folder;
  redco::deployer_options where = in(folder.path, {.tp = 2});
  check_verified(translator, reversal(), where);
  where.recompute = true;
  check_verified(translator, reversal(), where);
}

TEST_CASE("stages of LLaMA with shared key-value heads compute the gradients and updates of one rank") {
  check_meshes(grouped, language(), 4);
}

TEST_CASE("stages of T5 compute the gradients and updates of one rank") { check_meshes(translator, reversal(), 4); }

TEST_CASE("stages of BERT compute the gradients and updates of one rank") {
  check_meshes(classifier, text_classes(), 4);
}

TEST_CASE("stages of ViT compute the gradients and updates of one rank") { check_meshes(viewer, picture_classes(), 4); }

TEST_CASE("every schedule and cut of stages computes the gradients and updates of one rank") {
  temporary_folder const folder;
  redco::gpt2 deep = tied;
  deep.config.layers = 8;
  run_test::options_of<redco::gpt2, decltype(language())> o;
  o.micro_batch = 1;
  auto const check = [&](int pp, std::int64_t micro_batches, char const* schedule, char const* stages = "",
                         int chunks = 1) {
    redco::deployer_options where = in(folder.path, {.pp = pp, .dp = 1});
    where.schedule = schedule;
    where.stages = stages;
    where.chunks_per_stage = chunks;
    o.global_batch = micro_batches;
    check_verified(deep, language(), where, o);
  };
  check(4, 8, "1f1b");
  check(8, 4, "1f1b");
  check(4, 8, "gpipe");
  check(4, 2, "gpipe", "1,2,1,4");
  check(3, 5, "1f1b", "5,1,2");
  check(2, 4, "interleaved", "", 2);
  check(2, 2, "interleaved", "", 4);
}

TEST_CASE("stages that recompute blocks, and stages in f32, agree with one rank") {
  temporary_folder const folder;
  redco::deployer_options where = in(folder.path, {.pp = 2, .dp = 1, .tp = 2});
  where.recompute = true;
  check_verified(tied, language(), where);
  check_verified(translator, reversal(), where);
  where.recompute = {};
  where.dtype = redco::dtype::f32;
  check_verified(tied, language(), where);
}

TEST_CASE("stages with frozen parameters agree with one rank") {
  temporary_folder const folder;
  run_test::options_of<redco::gpt2, decltype(language())> o;
  for (std::vector<std::string> const& frozen :
       {std::vector<std::string>{"wte.*", "wpe.*", "h.0.*", "h.1.*"}, {"h.2.*", "h.3.*", "ln_f.*"}, {"wte.*"}}) {
    o.frozen = frozen;
    check_verified(tied, language(), in(folder.path, {.pp = 2, .dp = 2}), o);
  }
}

namespace {

/// The results of twenty steps.
template <class Model, class Pipeline>
run_test::outcome trained(Model const& model, Pipeline const& pipeline, mesh const& on, redco::dtype type) {
  temporary_folder const folder;
  redco::deployer_options where = in(folder.path, on);
  where.dtype = type;
  run_test::options_of<Model, Pipeline> o;
  o.epochs = 7;
  o.max_steps = 20;
  o.global_batch = 5;
  o.micro_batch = 2;
  o.save_last = false;
  o.save_argmin = {};
  return run_test::fit(where, model, pipeline, numbers(13), o, {.lr = 2e-3, .clip_norm = 0.5});
}

/// Compares parameters and optimizer states after twenty steps on stages with those of one rank,
/// whose losses of step 1, 10 and 20 in f64 must be `losses`.
template <class Model, class Pipeline>
void check_trained(Model const& model, Pipeline const& pipeline, std::vector<double> const& losses) {
  run_test::outcome const one = trained(model, pipeline, {.dp = 1}, redco::dtype::f64);
  INFO(one.reason);
  REQUIRE(one.losses.size() == 20);
  std::vector<double> const seen{one.losses[0], one.losses[9], one.losses[19]};
  INFO(std::setprecision(17) << seen[0] << ", " << seen[1] << ", " << seen[2]);
  CHECK(run_test::difference(losses, seen) < 1e-12);
  for (mesh const& on : {mesh{.pp = 2, .dp = 2}, mesh{.pp = 3, .dp = 1, .tp = 2}}) {
    INFO(name_of(on));
    run_test::outcome const stages = trained(model, pipeline, on, redco::dtype::f64);
    INFO(stages.reason);
    CHECK(run_test::difference(one.losses, stages.losses) < 1e-10);
    CHECK(distance(one.state, stages.state) < 1e-10);
  }
}

}  // namespace

TEST_CASE("after twenty steps, parameters and optimizer states on stages are those of one rank") {
  check_trained(tied, language(), {3.1742687721982525, 3.0276492934543024, 2.897180897384295});
  check_trained(grouped, language(), {3.155710876590109, 2.9372467097863826, 2.7782967184193108});
  check_trained(translator, reversal(), {3.9395020140258832, 3.3214476477928763, 2.7945226615977874});
  check_trained(classifier, text_classes(), {1.0991583831222871, 1.0905154447415994, 1.0347432575470035});
  check_trained(viewer, picture_classes(), {1.0629998117980484, 1.0326267461211369, 0.98930467782669118});
  run_test::outcome const one = trained(tied, language(), {.dp = 1}, redco::dtype::f32),
                          stages = trained(tied, language(), {.pp = 4, .dp = 1}, redco::dtype::f32);
  CHECK(run_test::difference(one.losses, stages.losses) < 1e-5);
  CHECK(distance(one.state, stages.state) < 1e-5);
}

namespace {

struct evaluated {
  redco::options::metric_map metrics;
  std::vector<at::Tensor> predictions;
};

/// Trains one step, then evaluates a last batch that is smaller than the others.
template <class Model, class Pipeline>
evaluated evaluate(Model const& model, Pipeline const& pipeline, mesh const& on) {
  silence const quiet;
  temporary_folder const folder;
  redco::deployer deployer(in(folder.path, on));
  redco::trainer trainer(deployer, model, pipeline, redco::adamw{.lr = 1e-2});
  using options = run_test::options_of<Model, Pipeline>;
  options o;
  o.max_steps = 2;
  o.global_batch = 4;
  o.eval = numbers(7);
  o.eval_predictions = true;
  o.save_last = false;
  o.save_argmin = {};
  o.metrics = [](auto const& examples, auto const& predictions) {
    double sum = 0;
    for (std::size_t i = 0; i < predictions.size(); ++i)
      sum += static_cast<double>((examples[i] + 1) * predictions[i].sum().template item<std::int64_t>());
    return redco::options::metric_map{{"weighted", sum}, {"count", static_cast<double>(predictions.size())}};
  };
  evaluated result{trainer.fit(numbers(13), o).evaluation, {}};
  result.predictions = redco::predictor(trainer).predict(numbers(7), 3);
  return result;
}

template <class Model, class Pipeline>
void check_evaluated(Model const& model, Pipeline const& pipeline) {
  evaluated const one = evaluate(model, pipeline, {.dp = 1});
  REQUIRE(one.metrics.at("count") == 7);
  for (mesh const& on : {mesh{.pp = 2, .dp = 1}, {.pp = 3, .dp = 1}, {.pp = 2, .dp = 2}, {.pp = 2, .dp = 1, .tp = 2}}) {
    INFO(name_of(on));
    evaluated stages;
    REQUIRE_NOTHROW(stages = evaluate(model, pipeline, on));
    REQUIRE(stages.metrics.size() == one.metrics.size());
    CHECK(stages.metrics.at("weighted") == one.metrics.at("weighted"));
    CHECK(stages.metrics.at("count") == 7);
    CHECK(std::abs(stages.metrics.at("loss") / one.metrics.at("loss") - 1) < 1e-10);
    REQUIRE(stages.predictions.size() == one.predictions.size());
    for (std::size_t i = 0; i < one.predictions.size(); ++i) CHECK(stages.predictions[i].equal(one.predictions[i]));
  }
}

}  // namespace

TEST_CASE("metrics, generated tokens and beams on stages are those of one rank") {
  check_evaluated(tied, language());
  check_evaluated(grouped, language());
  check_evaluated(translator, reversal());
}

}  // namespace stage_test
