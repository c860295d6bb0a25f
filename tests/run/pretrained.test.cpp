#include "run/training.hpp"

#include <redco/run/predictor.hpp>
#include <redco/run/trainer.hpp>
#include <redco/text/batches.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/pretrained/pretrained.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/llama.hpp>
#include <redco/pipeline/functions.hpp>
#include <redco/safetensors/box.hpp>
#include <redco/safetensors/safetensors_reader.hpp>

#include "test_files.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <vector>

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

redco::deployer_options options_in(std::filesystem::path const& workdir, redco::mesh on) {
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

TEST_CASE("a saved model is loaded on any mesh, for prediction and for further training") {
  run_test::silence const quiet;
  temporary_folder const folder;
  std::filesystem::path const saved = folder.path / "model";
  std::vector<at::Tensor> predicted;
  {
    redco::deployer deployer(options_in(folder.path / "a", {.tp = 2}));
    redco::trainer trainer(deployer, model, lm, redco::adamw{.lr = 0.01});
    CHECK_THROWS_AS(trainer.save_model(saved), redco::error);
    trainer.fit(examples, {.epochs = 2, .global_batch = 4, .save_last = false});
    predicted = redco::predictor(trainer).predict(examples, 3);
    trainer.save_model(saved);
  }
  for (redco::mesh const on : {redco::mesh{.dp = 1}, {.dp = 2}, {.tp = 2}, {.pp = 2, .dp = 1}}) {
    INFO(on.pp << "x" << on.dp << "x" << on.tp);
    redco::deployer deployer(options_in(folder.path / "b", on));
    redco::inference const loaded(deployer, model, lm, saved);
    CHECK(close(redco::predictor(loaded).predict(examples, 3), predicted));
    for (auto const& state : loaded.states()) {
      CHECK(state->store.regions().trained() == 0);
      CHECK(state->store.gradients().numel() == 0);
    }
  }
  redco::deployer deployer(options_in(folder.path / "c", {.dp = 2}));
  redco::trainer trainer(deployer, model, lm, redco::adamw{.lr = 0});
  trainer.start_from(saved);
  trainer.fit(examples, {.global_batch = 4, .save_last = false});
  trainer.save_model(folder.path / "again");
  CHECK(content_of(folder.path / "again" / "model.safetensors") == content_of(saved / "model.safetensors"));
}

TEST_CASE("weights of another model are refused with the differences") {
  run_test::silence const quiet;
  temporary_folder const folder;
  {
    redco::deployer deployer(options_in(folder.path / "a", {.dp = 1}));
    redco::trainer trainer(deployer, model, lm, redco::adamw{.lr = 0.01});
    trainer.fit(examples, {.max_steps = 1, .global_batch = 4, .save_last = false});
    trainer.save_model(folder.path / "model");
  }
  redco::gpt2 wider = model;
  wider.config.inner = 60;
  redco::deployer deployer(options_in(folder.path / "b", {.tp = 2}));
  try {
    redco::inference const loaded(deployer, wider, lm, folder.path / "model");
    FAIL("loaded");
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
    CHECK(std::string(e.what()).find("transformer.h.0.mlp.c_fc.weight") != std::string::npos);
  }
  redco::trainer trainer(deployer, wider, lm, redco::adamw{.lr = 0.01});
  trainer.start_from(folder.path / "model");
  CHECK(run_test::code_of([&] { trainer.fit(examples, {.global_batch = 4}); }) == 65);
  CHECK_THROWS_AS(trainer.start_from(folder.path / "nothing"), redco::error);
}

/// A folder of a Mistral with the tokenizer of a LLaMA, whose vocabulary is larger. The tests use
/// small ids only.
struct mistral_folder : temporary_folder {
  mistral_folder() {
    for (std::string const name : {"config.json", "generation_config.json", "model.safetensors"})
      std::filesystem::copy_file(test_files() / "parity/mistral-window" / name, path / name);
    for (std::string const name : {"tokenizer.json", "tokenizer_config.json"})
      std::filesystem::copy_file(test_files() / "saved/5.23/llama" / name, path / name);
  }
};

/// Fits the folder's model for one epoch and saves it.
void tune(redco::pretrained_folder const& from, std::filesystem::path const& workdir, redco::mesh on, double lr,
          std::filesystem::path const& to, redco::save_model_options const& options) {
  redco::deployer deployer(options_in(workdir, on));
  redco::trainer trainer(deployer, from.model<redco::llama>(), lm, redco::adamw{.lr = lr});
  trainer.start_from(from.weights());
  trainer.fit(examples, {.global_batch = 4, .save_last = false});
  trainer.save_model(to, options);
}

TEST_CASE("a fresh head starts from the same bits on every mesh, and the log warns of it") {
  run_test::silence const quiet;
  mistral_folder const there;
  temporary_folder const folder;
  auto const saved = [&](redco::mesh on, std::vector<std::string> const& fresh) {
    redco::pretrained_folder const from(there.path, {.fresh = fresh});
    std::filesystem::path const work = folder.path / (std::to_string(on.pp) + "x" + std::to_string(on.dp) + "x" +
                                                      std::to_string(on.tp) + "of" + std::to_string(fresh.size()));
    redco::deployer deployer(options_in(work, on));
    redco::trainer trainer(deployer, from.model<redco::llama>(), lm, redco::adamw{.lr = 0});
    std::int64_t const before = deployer.log().warnings();
    trainer.start_from(from);
    CHECK(deployer.log().warnings() - before == static_cast<std::int64_t>(fresh.size()));
    trainer.fit(examples, {.global_batch = 4, .save_last = false});
    trainer.save_model(work / "model");
    return content_of(work / "model" / "model.safetensors");
  };
  std::string const one_rank = saved({.dp = 1}, {"lm_head"});
  CHECK(saved({.dp = 2}, {"lm_head"}) == one_rank);
  CHECK(saved({.tp = 2}, {"lm_head"}) == one_rank);
  CHECK(saved({.pp = 2, .dp = 1}, {"lm_head"}) == one_rank);
  CHECK(saved({.dp = 1}, {}) != one_rank);
}

std::set<std::string> names_in(std::filesystem::path const& folder) {
  std::set<std::string> names;
  for (auto const& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

/// Returns the number of tensors of `b` that differ from those of `a` in name, type, shape or
/// bytes; -1 if the sets of names differ.
int other_tensors(std::filesystem::path const& a, std::filesystem::path const& b) {
  redco::safetensors::safetensors_reader const one(a / "model.safetensors"), two(b / "model.safetensors");
  if (one.entries().size() != two.entries().size()) return -1;
  auto const bytes_of = [](redco::safetensors::safetensors_reader const& file,
                           redco::safetensors::safetensors_entry const& entry) {
    std::vector<std::byte> bytes(entry.end - entry.begin);
    file.read(entry.name, redco::safetensors::whole(entry.shape), bytes, entry.shape,
              std::vector<std::int64_t>(entry.shape.size(), 0));
    return bytes;
  };
  int others = 0;
  for (redco::safetensors::safetensors_entry const& entry : one.entries()) {
    auto const* const same = two.find(entry.name);
    if (same == nullptr) return -1;
    others += same->type != entry.type || same->shape != entry.shape || bytes_of(one, entry) != bytes_of(two, *same);
  }
  return others;
}

TEST_CASE("a Hugging Face folder is saved again unchanged, and further training keeps its format") {
  run_test::silence const quiet;
  mistral_folder const there;
  temporary_folder const work;
  redco::pretrained_folder const folder(there.path);

  tune(folder, work / "a", {.dp = 1, .tp = 2}, 0, work / "same", folder.save_options());
  CHECK(names_in(work / "same") == names_in(there.path));
  CHECK(other_tensors(there.path, work / "same") == 0);
  tune(folder, work / "s", {.pp = 2, .dp = 1}, 0, work / "staged", folder.save_options());
  CHECK(names_in(work / "staged") == names_in(there.path));
  CHECK(other_tensors(there.path, work / "staged") == 0);
  for (std::string const name : {"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"})
    CHECK(content_of(work / "same" / name) == content_of(there / name));
  redco::pretrained_folder const same(work / "same");
  std::string const text = "they're counting: 3.14 and 007!";
  CHECK(same.tokenizer().encode(text) == folder.tokenizer().encode(text));
  CHECK(same.ids().stop == folder.ids().stop);

  tune(folder, work / "b", {.dp = 2, .tp = 1}, 0.01, work / "tuned", folder.save_options());
  redco::pretrained_folder const tuned(work / "tuned");
  CHECK(other_tensors(there.path, work / "tuned") > 10);
  for (redco::mesh const on : {redco::mesh{.dp = 1}, {.pp = 2, .dp = 1}}) {
    std::filesystem::path const again = work / ("again on " + std::to_string(on.pp));
    tune(tuned, work / "c", on, 0, again, tuned.save_options());
    CHECK(other_tensors(work / "tuned", again) == 0);
  }
}

TEST_CASE("weights keep the types that they have in their folder, or take the requested type") {
  run_test::silence const quiet;
  mistral_folder const there;
  temporary_folder const work;
  redco::pretrained_folder const folder(there.path);
  redco::save_model_options options = folder.save_options();
  options.type = redco::dtype::bf16;
  tune(folder, work / "a", {.dp = 1, .tp = 1}, 0, work / "bf16", options);
  options = folder.save_options();
  options.types.at("model.norm.weight") = redco::safetensors::file_dtype::bf16;
  tune(folder, work / "b", {.dp = 1, .tp = 2}, 0, work / "mixed", options);
  for (std::string const name : {"bf16", "mixed"}) {
    redco::pretrained_folder const saved(work / name);
    int halves = 0;
    for (auto const& [tensor, stored] : saved.weights().tensors)
      halves += stored.type == redco::safetensors::file_dtype::bf16;
    CHECK(halves == (name == "mixed" ? 1 : std::ssize(saved.weights().tensors)));
    tune(saved, work / "c", {.dp = 2, .tp = 1}, 0, work / (name + " again"), saved.save_options());
    CHECK(other_tensors(work / name, work / (name + " again")) == 0);
  }
}

TEST_CASE("saving into the folder of another model keeps none of that model's files") {
  run_test::silence const quiet;
  mistral_folder const there;
  temporary_folder const work;
  redco::pretrained_folder const folder(there.path);
  std::filesystem::create_directory(work / "m");
  for (std::string const name : {"spiece.model", "model-00001-of-00002.safetensors", "model.safetensors.index.json",
                                 ".tmp-tokenizer.json", "config.json", "notes.txt"})
    std::ofstream(work / "m" / name) << "of another model";
  tune(folder, work / "a", {.dp = 2, .tp = 1}, 0, work / "m", folder.save_options());
  std::set<std::string> expected = names_in(there.path);
  expected.insert("notes.txt");
  CHECK(names_in(work / "m") == expected);
  CHECK(content_of(work / "m/config.json") == content_of(there / "config.json"));

  // Saving into the folder itself does not write files that do not change.
  auto const written = std::filesystem::last_write_time(there / "tokenizer.json");
  tune(folder, work / "b", {.dp = 1, .tp = 1}, 0.01, there.path, folder.save_options());
  CHECK(std::filesystem::last_write_time(there / "tokenizer.json") == written);
  CHECK(other_tensors(there.path, work / "m") > 10);

  std::filesystem::remove(there / "tokenizer.json");
  redco::save_model_options options = folder.save_options();
  options.files["tokenizer.json"] = there / "tokenizer.json";
  try {
    tune(folder, work / "c", {.dp = 1, .tp = 2}, 0, work / "never", options);
    FAIL("saved without a file");
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
    CHECK(std::string(e.what()).find("tokenizer.json") != std::string::npos);
    CHECK(names_in(work / "never").empty());
  }
}

}  // namespace pretrained_test
