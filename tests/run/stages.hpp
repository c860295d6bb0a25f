#pragma once

#include "training.hpp"

#include <redco/run/predictor.hpp>
#include <redco/generate/generate.hpp>
#include <redco/text/batches.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/pipeline/functions.hpp>
#include <redco/adapt/save_adapter.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

// Jobs for tests of pipeline stages. The length of an example and the number of its labels that
// count depend on the example's index, so that micro-batches differ in both.

namespace stage_test {

using run_test::in;
using run_test::numbers;
using run_test::silence;

using redco::mesh;

/// Number of token ids of all models
inline constexpr std::int64_t vocabulary = 23;

/// A GPT-2 with tied embeddings and dropout of hidden states and attention. Its vocabulary does not
/// divide by 2.
inline redco::gpt2 const tied{
    {.vocab = vocabulary, .context = 16, .width = 12, .heads = 2, .layers = 4, .dropout = 0.1}};

/// Returns the token ids (1 to 22) of examples as [B, T], padded with 0 after the end of a text. A
/// text has 4 to 10 tokens.
inline at::Tensor ids_of(std::span<std::int64_t const> examples) {
  std::int64_t longest = 0;
  for (std::int64_t const i : examples) longest = std::max(longest, 4 + i * 5 % 7);
  at::Tensor const ids = at::zeros({static_cast<std::int64_t>(examples.size()), longest}, at::kLong);
  auto all = ids.accessor<std::int64_t, 2>();
  for (std::size_t row = 0; row < examples.size(); ++row) {
    std::int64_t const i = examples[row];
    for (std::int64_t k = 0; k < 4 + i * 5 % 7; ++k)
      all[static_cast<std::int64_t>(row)][k] = 1 + (i * 7 + k * 3 + k * k) % 22;
  }
  return ids;
}

/// Texts with their first four tokens reversed as labels, for an encoder-decoder.
struct pair_batch {
  at::Tensor source, mask, decoder, labels;
};

inline pair_batch pairs_of(std::span<std::int64_t const> examples) {
  at::Tensor const source = ids_of(examples), labels = source.narrow(1, 0, 4).flip(1).contiguous();
  return {source, source.ne(0), at::cat({at::zeros({labels.size(0), 1}, at::kLong), labels.narrow(1, 0, 3)}, 1),
          labels};
}

/// Returns a batch whose labels are the next tokens. Padding does not count, nor do tokens with id
/// 5.
inline redco::token_batch texts_of(std::span<std::int64_t const> examples) {
  at::Tensor const ids = ids_of(examples), labels = at::full_like(ids, -100);
  at::Tensor const next = ids.slice(1, 1);
  labels.slice(1, 0, -1).copy_(next.masked_fill(next.eq(0).logical_or(next.eq(5)), -100));
  return {ids, labels};
}

/// Returns a job of a language model. A prediction is a greedy continuation of two tokens.
inline auto language() {
  return redco::collate([](std::span<std::int64_t const> examples) { return texts_of(examples); }) |
         redco::loss([](auto const& net, redco::token_batch const& b) {
           return redco::cross_entropy(net(b.input_ids), b.labels);
         }) |
         redco::predict([](auto const& net, redco::token_batch const& b) {
           return redco::generate(net, b.input_ids.narrow(1, 0, 2), {.max_new_tokens = 4});
         });
}

/// Returns a short text for a mesh, such as "pp 2, dp 1, tp 2".
inline std::string name_of(mesh const& on) {
  return "pp " + std::to_string(on.pp) + ", dp " + std::to_string(on.dp) + ", tp " + std::to_string(on.tp);
}

/// Returns the largest difference of two sets of tensors, relative to the largest element of each
/// tensor. Leaves out biases of keys: the softmax does not depend on them, so that their gradients
/// are rounding errors.
inline double distance(run_test::tensors const& a, run_test::tensors const& b) {
  if (a.size() != b.size() || a.empty()) return HUGE_VAL;
  double worst = 0;
  for (auto const& [name, one] : a) {
    if (name.find(".k.bias") != std::string::npos || name.find(".key.bias") != std::string::npos) continue;
    if (!b.contains(name) || !one.sizes().equals(b.at(name).sizes())) return HUGE_VAL;
    if (one.numel() == 0) continue;
    at::Tensor const x = one.to(at::kDouble), y = b.at(name).to(at::kDouble);
    double const scale = std::max(x.abs().max().item<double>(), 1e-30);
    worst = std::max(worst, (x - y).abs().max().item<double>() / scale);
  }
  return worst;
}

/// Verifies two updates of `model` with `global_batch` of `examples` examples, one per micro-batch,
/// and checks that all updates agree and that messages are those of the plan.
template <class Model, class Optimizer>
void check_verified(Model const& model, redco::deployer_options const& where, Optimizer const& optimizer,
                    std::int64_t global_batch, std::int64_t examples = 13) {
  silence const quiet;
  redco::deployer deployer(where);
  redco::trainer trainer(deployer, model, language(), optimizer);
  run_test::options_of<Model, decltype(language())> o;
  o.global_batch = global_batch;
  o.micro_batch = 1;
  auto const result = trainer.verify(numbers(examples), o);
  INFO(result.text(100) << result.verdict() << result.messages_remark);
  CHECK(result.ok());
  // A run in f32 or bf16 is compared in f64, too.
  REQUIRE(result.steps.size() == (deployer.compute() == redco::dtype::f64 ? 2u : 4u));
  CHECK(result.messages_remark.empty());
  CHECK_FALSE(result.messages.empty());
  for (auto const& one : result.messages) CHECK(one.equal());
}

/// Trains `model` for three steps, and saves it to `to` / "model". Saves LoRA adapters, if any, to
/// `to` / "adapter". Starts from the weights or adapters `start`, if any.
template <class Model, class Optimizer, class... Start>
void train_and_save(Model const& model, redco::deployer_options where, Optimizer const& optimizer,
                    std::filesystem::path const& to, Start const&... start) {
  silence const quiet;
  temporary_folder const folder;
  where.workdir = folder.path;
  std::filesystem::create_directories(to);
  redco::deployer deployer(where);
  redco::trainer trainer(deployer, model, language(), optimizer);
  (trainer.start_from(start), ...);
  run_test::options_of<Model, decltype(language())> o;
  o.max_steps = 3;
  o.global_batch = 4;
  o.micro_batch = 2;
  o.save_last = false;
  o.save_argmin = {};
  trainer.fit(numbers(13), o);
  trainer.save_model(to / "model");
  if constexpr (requires { model.config.lora; }) trainer.save_adapter(to / "adapter");
}

/// Returns true if two folders have files of the same names and bytes.
inline bool equal_files(std::filesystem::path const& a, std::filesystem::path const& b) {
  auto const names_in = [](std::filesystem::path const& folder) {
    std::set<std::string> names;
    for (auto const& one : std::filesystem::directory_iterator(folder)) names.insert(one.path().filename().string());
    return names;
  };
  std::set<std::string> const names = names_in(a);
  if (names.empty() || names != names_in(b)) return false;
  for (std::string const& name : names)
    if (content_of(a / name) != content_of(b / name)) return false;
  return true;
}

}  // namespace stage_test
