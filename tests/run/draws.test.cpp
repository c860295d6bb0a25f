#include "training.hpp"

#include <redco/generate/generate.hpp>
#include <redco/text/batches.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/pipeline/functions.hpp>

#include <cstdint>
#include <set>
#include <span>
#include <vector>

// Tests which steps, evaluations and examples draw equal random numbers.
namespace draws {

namespace {

using run_test::in;
using run_test::outcome;

redco::gpt2 network_of(double dropout) {
  return {{.vocab = 11, .context = 16, .width = 12, .heads = 6, .layers = 2, .dropout = dropout}};
}

/// A job in which all examples are equal, so that they differ only in their draws. A prediction is
/// a sampled continuation as one number.
auto sampling() {
  return redco::collate([](std::span<std::int64_t const> ids) {
           at::Tensor const tokens = (at::arange(10, at::kLong) * 3 + 1).remainder(11);
           at::Tensor const all = tokens.repeat({static_cast<std::int64_t>(ids.size()), 1});
           return redco::token_batch{all.slice(1, 0, 9).contiguous(), all.slice(1, 1).contiguous()};
         }) |
         redco::loss([](auto const& net, redco::token_batch const& b) {
           return redco::cross_entropy(net(b.input_ids), b.labels);
         }) |
         redco::predict([](auto const& net, redco::token_batch const& b) {
           at::Tensor const whole =
               redco::generate(net, b.input_ids.slice(1, 0, 2), {.max_new_tokens = 6, .temperature = 1});
           std::vector<std::int64_t> numbers;
           for (std::int64_t row = 0; row < whole.size(0); ++row) {
             std::int64_t number = 0;
             for (std::int64_t at = 2; at < 8; ++at) number = 11 * number + whole[row][at].item<std::int64_t>();
             numbers.push_back(number);
           }
           return numbers;
         });
}

using options = run_test::options_of<redco::gpt2, decltype(sampling())>;
using predictions = std::vector<std::vector<std::int64_t>>;

/// Returns the predictions of each evaluation of a network that does not learn.
predictions sampled(redco::mesh const& mesh, std::int64_t micro_batch) {
  temporary_folder const folder;
  predictions all;
  options o;
  o.epochs = 3;
  o.global_batch = 3;
  o.micro_batch = micro_batch;
  o.sanity_check = false;
  o.eval = run_test::numbers(7);
  o.metrics = [&](auto, std::span<std::int64_t const> outputs) {
    all.emplace_back(outputs.begin(), outputs.end());
    return redco::options::metric_map{};
  };
  outcome const run =
      run_test::fit(in(folder.path, mesh), network_of(0), sampling(), run_test::numbers(6), o, {.lr = 0});
  CHECK(run.code == 0);
  return all;
}

}  // namespace

TEST_CASE("sampled predictions differ between evaluations and examples, and are the same on every mesh") {
  predictions const first = sampled({}, 0);
  REQUIRE(first.size() == 3);
  std::set<std::int64_t> different;
  for (auto const& evaluation : first) {
    REQUIRE(evaluation.size() == 7);
    different.insert(evaluation.begin(), evaluation.end());
  }
  CHECK(different.size() == 21);  // of 11^6 possible continuations
  for (redco::mesh const& mesh : {redco::mesh{}, {.dp = 2}, {.tp = 2}})
    for (std::int64_t const micro_batch : {1, 2}) {
      INFO(mesh.dp << "x" << mesh.tp << ", micro-batch " << micro_batch);
      CHECK(sampled(mesh, micro_batch) == first);
    }
}

TEST_CASE("dropout draws anew in every step") {
  auto const losses = [](double dropout, std::int64_t examples) {
    temporary_folder const folder;
    options o;
    o.epochs = 3;
    o.global_batch = 1;
    o.micro_batch = 1;
    return run_test::fit(in(folder.path), network_of(dropout), sampling(), run_test::numbers(examples), o, {.lr = 0})
        .losses;
  };
  std::vector<double> const still = losses(0, 1), drawn = losses(0.3, 1);
  REQUIRE(still.size() == 3);
  CHECK(std::set<double>(still.begin(), still.end()).size() == 1);
  CHECK(std::set<double>(drawn.begin(), drawn.end()).size() == 3);
}

}  // namespace draws
