#include "run/training.hpp"

#include <redco/run/inference.hpp>
#include <redco/run/predictor.hpp>
#include <redco/run/trainer.hpp>
#include <redco/text/token_batch.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/pretrained/stored_names/gpt2.hpp>
#include <redco/pretrained/token_ids.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/pipeline/collate.hpp>
#include <redco/pipeline/loss.hpp>
#include <redco/pipeline/pipe.hpp>
#include <redco/pipeline/predict.hpp>

#include <fstream>
#include <span>

namespace pretrained_test {

redco::gpt2 const model{{.vocab = 11, .context = 8, .width = 12, .heads = 2, .layers = 2}};
std::vector<int> const examples{3, 1, 4, 1, 5, 9, 2};

auto const lm = redco::collate([](std::span<int const> seeds) {
                  auto const rows = static_cast<std::int64_t>(seeds.size());
                  at::Tensor const ids = at::empty({rows, 6}, at::kLong);
                  for (std::int64_t i = 0; i < rows; ++i)
                    for (std::int64_t t = 0; t < 6; ++t) ids[i][t] = (seeds[static_cast<std::size_t>(i)] + t * t) % 11;
                  return redco::token_batch{ids.narrow(1, 0, 5).contiguous(), ids.narrow(1, 1, 5).contiguous()};
                }) |
                redco::loss([](auto const& net, redco::token_batch const& b) {
                  return redco::cross_entropy(net(b.input_ids), b.labels);
                }) |
                redco::predict([](auto const& net, redco::token_batch const& b) { return net(b.input_ids).tensor(); });

redco::deployer_options place(std::filesystem::path const& workdir, redco::mesh on) {
  redco::deployer_options o;
  o.mesh = on;
  o.workdir = workdir;
  o.dtype = redco::dtype::f32;
  o.resume = "none";
  o.quiet = true;
  return o;
}

bool close(std::vector<at::Tensor> const& a, std::vector<at::Tensor> const& b) {
  return a.size() == b.size() && !a.empty() && at::allclose(at::stack(a), at::stack(b), 1e-5, 1e-5);
}

TEST_CASE("a saved model is loaded on any mesh, for predicting and for training on") {
  run_test::silence const quiet;
  temporary_folder const folder;
  std::filesystem::path const saved = folder.path / "model";
  std::vector<at::Tensor> predicted;
  {
    redco::deployer deployer(place(folder.path / "a", {.tp = 2}));
    redco::trainer trainer(deployer, model, lm, redco::adamw{.lr = 0.01});
    CHECK_THROWS_AS(trainer.save_model(saved), redco::error);
    REQUIRE(trainer.fit(examples, {.epochs = 2, .global_batch = 4, .save_last = false}) == 0);
    predicted = redco::predictor(trainer).predict(examples, 3);
    trainer.save_model(saved);
  }
  for (redco::mesh const on : {redco::mesh{.dp = 1}, {.dp = 2}, {.tp = 2}}) {
    INFO(on.dp << "x" << on.tp);
    redco::deployer deployer(place(folder.path / "b", on));
    redco::inference const loaded(deployer, model, lm, saved);
    CHECK(close(redco::predictor(loaded).predict(examples, 3), predicted));
    for (auto const& state : loaded.states()) {
      CHECK(state->store.trainable() == 0);
      CHECK(state->store.gradients().numel() == 0);
    }
  }
  redco::deployer deployer(place(folder.path / "c", {.dp = 2}));
  redco::trainer trainer(deployer, model, lm, redco::adamw{.lr = 0});
  trainer.start_from(saved);
  REQUIRE(trainer.fit(examples, {.global_batch = 4, .save_last = false}) == 0);
  trainer.save_model(folder.path / "again");
  CHECK(content_of(folder.path / "again" / "model.safetensors") == content_of(saved / "model.safetensors"));
}

TEST_CASE("weights of another model are refused with what differs") {
  run_test::silence const quiet;
  temporary_folder const folder;
  {
    redco::deployer deployer(place(folder.path / "a", {.dp = 1}));
    redco::trainer trainer(deployer, model, lm, redco::adamw{.lr = 0.01});
    REQUIRE(trainer.fit(examples, {.max_steps = 1, .global_batch = 4, .save_last = false}) == 0);
    trainer.save_model(folder.path / "model");
  }
  redco::gpt2 wider = model;
  wider.config.inner = 60;
  redco::deployer deployer(place(folder.path / "b", {.tp = 2}));
  try {
    redco::inference const loaded(deployer, wider, lm, folder.path / "model");
    FAIL("loaded");
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
    CHECK(std::string(e.what()).find("transformer.h.0.mlp.c_fc.weight") != std::string::npos);
  }
  redco::trainer trainer(deployer, wider, lm, redco::adamw{.lr = 0.01});
  trainer.start_from(folder.path / "model");
  CHECK(trainer.fit(examples, {.global_batch = 4}) == 65);
  CHECK_THROWS_AS(trainer.start_from(folder.path / "nothing"), redco::error);
}

TEST_CASE("a folder says how texts begin and end") {
  temporary_folder const folder;
  CHECK_THROWS_AS(redco::read_token_ids(folder.path), redco::error);
  std::ofstream(folder.path / "config.json")
      << R"({"eos_token_id": 7, "pad_token_id": null, "forced_eos_token_id": 7})";
  redco::token_ids ids = redco::read_token_ids(folder.path);
  CHECK((ids.stop == std::vector<std::int64_t>{7} && ids.padding == 7 && !ids.start && ids.forced_end == 7));
  std::ofstream(folder.path / "generation_config.json")
      << R"({"eos_token_id": [5, 6], "pad_token_id": 1, "decoder_start_token_id": 2})";
  ids = redco::read_token_ids(folder.path);
  CHECK((ids.stop == std::vector<std::int64_t>{5, 6} && ids.padding == 1 && ids.start == 2 && ids.forced_end == -1));
  std::ofstream(folder.path / "generation_config.json") << R"({"eos_token_id": "</s>"})";
  CHECK_THROWS_AS(redco::read_token_ids(folder.path), redco::error);
}

}  // namespace pretrained_test
