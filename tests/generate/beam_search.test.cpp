#include "nn/sharded.hpp"

#include <redco/generate/beam_search.hpp>
#include <redco/generate/generate.hpp>
#include <redco/model/gpt2.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

// Compares beam search on a small model with an exhaustive search. The reference numbers are
// compared in parity/.

namespace {

using reader_net = redco::bound_network<redco::gpt2>;

constexpr std::int64_t words = 7;

void with_reader(std::function<void(reader_net const&)> const& f) {
  redco::comm::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
    redco::gpt2 const model{{.vocab = words, .context = 12, .width = 8, .heads = 2, .layers = 1}};
    redco::nn::parameter_store const store(redco::shard::placed_parameters(redco::plan_of(model, {.dp = 1})), 0,
                                           redco::dtype::f64, 1);
    sharded::fill(store, 0);
    redco::pass const in = redco::nn::evaluation_pass(rank);
    f(reader_net(std::make_shared<redco::nn::network<redco::gpt2> const>(model, store, 0, redco::mesh{}), in));
  });
}

at::Tensor beam_prompts() { return at::tensor({1, 5, 2, 6, 0, 3}, at::kLong).view({2, 3}); }

/// Returns the sum of the log-probabilities of `ids` after the first `prompt` tokens.
double score_of(reader_net const& net, at::Tensor const& ids, std::int64_t prompt) {
  at::NoGradGuard const no_grad;
  at::Tensor const log_p = net(ids.unsqueeze(0)).tensor().squeeze(0).log_softmax(-1);
  double sum = 0;
  for (std::int64_t t = prompt; t < ids.size(0); ++t) sum += log_p[t - 1][ids[t].item<std::int64_t>()].item<double>();
  return sum;
}

}  // namespace

TEST_CASE("one beam takes the most likely token of each step") {
  with_reader([](reader_net const& net) {
    auto const found = redco::beam_search(net, beam_prompts(), {.max_new_tokens = 5, .beams = 1});
    sharded::must(found.ids.equal(redco::generate(net, beam_prompts(), {.max_new_tokens = 5})), "greedy");
    for (std::int64_t row = 0; row < 2; ++row)
      sharded::must(std::abs(found.scores[row].item<double>() - score_of(net, found.ids[row], 3) / 5) < 1e-12,
                    "the mean log-probability");
  });
}

TEST_CASE("enough beams find the best of all continuations") {
  with_reader([](reader_net const& net) {
    auto const found =
        redco::beam_search(net, beam_prompts(), {.max_new_tokens = 3, .beams = words * words, .results = 2});
    for (std::int64_t row = 0; row < 2; ++row) {
      std::vector<double> all;
      for (std::int64_t code = 0; code < words * words * words; ++code) {
        at::Tensor const tail = at::tensor({code / (words * words), code / words % words, code % words}, at::kLong);
        all.push_back(score_of(net, at::cat({beam_prompts()[row], tail}), 3) / 3);
      }
      std::sort(all.rbegin(), all.rend());
      for (std::int64_t beam = 0; beam < 2; ++beam) {
        double const score = found.scores[2 * row + beam].item<double>();
        sharded::must(std::abs(score - all[static_cast<std::size_t>(beam)]) < 1e-12, "the best, then the second");
        sharded::must(std::abs(score - score_of(net, found.ids[2 * row + beam], 3) / 3) < 1e-12,
                      "the score of each hypothesis follows from its ids");
      }
    }
  });
}

TEST_CASE("hypotheses end at a stop id and are padded after it, and the penalty weighs their length") {
  with_reader([](reader_net const& net) {
    redco::beam_options options{.max_new_tokens = 6, .beams = 4, .results = 4};
    std::int64_t const stop = redco::beam_search(net, beam_prompts(), options).ids[0][4].item<std::int64_t>();
    options.stop_ids = {stop}, options.pad = 99;
    auto const found = redco::beam_search(net, beam_prompts(), options);
    int ended = 0;
    for (std::int64_t row = 0; row < 8; ++row) {
      at::Tensor const ids = found.ids[row];
      std::int64_t size = 3;
      while (size < ids.size(0) && ids[size].item<std::int64_t>() != 99) ++size;
      for (std::int64_t t = size; t < ids.size(0); ++t)
        sharded::must(ids[t].item<std::int64_t>() == 99, "padding to the end");
      for (std::int64_t t = 3; t + 1 < size; ++t)
        sharded::must(ids[t].item<std::int64_t>() != stop, "no tokens after a stop");
      ended += size < 9;
      double const expected = score_of(net, ids.slice(0, 0, size), 3) / static_cast<double>(size - 3);
      sharded::must(std::abs(found.scores[row].item<double>() - expected) < 1e-12, "sum over length");
      if (row % 4 > 0)
        sharded::must(found.scores[row].item<double>() <= found.scores[row - 1].item<double>(), "best first");
    }
    sharded::must(ended > 0, "some end early");
    options.length_penalty = -8;  // long results score much worse
    auto const brief = redco::beam_search(net, beam_prompts(), options);
    sharded::must(brief.ids.size(1) <= found.ids.size(1), "short ones win");
  });
}

TEST_CASE("a penalty that favours length keeps a search going after enough hypotheses have ended") {
  with_reader([](reader_net const& net) {
    redco::beam_options options{.max_new_tokens = 6,
                                .beams = 2,
                                .length_penalty = 4,
                                .stop = redco::pretrained::beam_stop::when_impossible,
                                .stop_ids = {0, 2, 4},
                                .pad = 99};
    auto const found = redco::beam_search(net, beam_prompts(), options);
    sharded::must(found.ids.size(1) == 9, "sum over length to the fourth: the longest wins");
    for (std::int64_t row = 0; row < 2; ++row)
      sharded::must(std::abs(found.scores[row].item<double>() - score_of(net, found.ids[row], 3) / 1296) < 1e-12,
                    "six tokens, none of them after a stop");
    options.stop = redco::pretrained::beam_stop::when_full;
    sharded::must(redco::beam_search(net, beam_prompts(), options).ids.size(1) < 9, "unless two that ended are enough");
  });
}

TEST_CASE("the last token is the forced one and costs nothing") {
  with_reader([](reader_net const& net) {
    auto const found =
        redco::beam_search(net, beam_prompts(), {.max_new_tokens = 3, .beams = 2, .stop_ids = {4}, .forced_end = 4});
    at::Tensor const ids = found.ids[0];
    sharded::must(ids[ids.size(0) - 1].item<std::int64_t>() == 4, "forced");
    at::Tensor const greedy = redco::generate(net, beam_prompts(), {.max_new_tokens = 3, .forced_end = 4});
    sharded::must(greedy.select(1, 5).eq(4).all().item<bool>(), "forced there too");
  });
}

TEST_CASE("prompts with hidden padding on the left continue as they do without padding") {
  with_reader([](reader_net const& net) {
    at::Tensor const alone = at::tensor({5, 2}, at::kLong).view({1, 2});
    at::Tensor const both = at::tensor({0, 5, 2, 6, 0, 3}, at::kLong).view({2, 3});
    at::Tensor const shown = at::tensor({0, 1, 1, 1, 1, 1}, at::kLong).view({2, 3}).to(at::kBool);
    auto const masked = net.with(redco::key_mask{shown});
    at::Tensor const wanted = redco::generate(net, alone, {.max_new_tokens = 5});
    sharded::must(redco::generate(masked, both, {.max_new_tokens = 5})[0].slice(0, 1).equal(wanted[0]), "greedy");
    redco::beam_options const options{.max_new_tokens = 5, .beams = 3, .results = 3};
    auto const beams = redco::beam_search(masked, both, options), beams_alone = redco::beam_search(net, alone, options);
    sharded::must(beams.ids.slice(0, 0, 3).slice(1, 1).equal(beams_alone.ids), "beams");
    sharded::must(at::allclose(beams.scores.slice(0, 0, 3), beams_alone.scores), "their scores");
  });
}

TEST_CASE("options that make no sense are refused") {
  with_reader([](reader_net const& net) {
    for (redco::beam_options const& options :
         {redco::beam_options{.beams = 0}, redco::beam_options{.beams = 2, .results = 3}}) {
      try {
        redco::beam_search(net, beam_prompts(), options);
        sharded::must(false, "refused");
      } catch (redco::error const& e) {
        sharded::must(e.code() == redco::exit_code::usage, "exit code 64");
      }
    }
  });
}
