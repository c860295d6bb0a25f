#include "nn/sharded.hpp"

#include <redco/generate/beam_search.hpp>
#include <redco/generate/generate.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

// Tests of a decoder's options. walls/ tests that caches and meshes change nothing.

namespace {

using speaker_net = redco::bound_network<redco::gpt2>;

/// Calls f with a small GPT-2 on one rank.
void with_speaker(std::function<void(speaker_net const&)> const& f) {
  redco::comm::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
    redco::gpt2 const model{{.vocab = 13, .context = 12, .width = 8, .heads = 2, .layers = 1}};
    redco::nn::parameter_store const store(redco::shard::placed_parameters(redco::plan_of(model, {.dp = 1})), 0,
                                           redco::dtype::f64, 1);
    sharded::fill(store, 0);
    redco::pass const in = redco::nn::evaluation_pass(rank, 9);
    f(speaker_net(std::make_shared<redco::nn::network<redco::gpt2> const>(model, store, 0, redco::mesh{}), in));
  });
}

at::Tensor prompts() { return at::tensor({1, 5, 2, 12, 0, 7, 3, 3, 9}, at::kLong).view({3, 3}); }

}  // namespace

TEST_CASE("a continuation begins with its prompt and has the requested length") {
  with_speaker([](speaker_net const& net) {
    at::Tensor const ids = redco::generate(net, prompts(), {.max_new_tokens = 5});
    sharded::must(ids.sizes() == at::IntArrayRef{3, 8}, "three rows of eight");
    sharded::must(ids.slice(1, 0, 3).equal(prompts()), "prompts first");
    sharded::must(redco::generate(net, prompts(), {.max_new_tokens = 0}).equal(prompts()),
                  "without new tokens, the result is the prompt");
    sharded::must(ids.ge(0).logical_and(ids.lt(13)).all().item<bool>(), "entries of the vocabulary");
  });
}

TEST_CASE("a draw from the most likely token only is the most likely token") {
  with_speaker([](speaker_net const& net) {
    at::Tensor const likely = redco::generate(net, prompts(), {.max_new_tokens = 9});
    sharded::must(redco::generate(net, prompts(), {.max_new_tokens = 9, .temperature = 2, .top_k = 1}).equal(likely),
                  "top 1");
    at::Tensor const hot = redco::generate(net, prompts(), {.max_new_tokens = 9, .temperature = 5});
    sharded::must(!hot.equal(likely), "heat changes something");
    sharded::must(hot.equal(redco::generate(net, prompts(), {.max_new_tokens = 9, .temperature = 5})),
                  "draws are keyed");
  });
}

TEST_CASE("draws follow the softmax of the logits") {
  at::Tensor const logits = at::tensor({0.0, 1.0, -1.0, 0.5}, at::kDouble).repeat({4000, 1});
  redco::pass const in = redco::pass().with_examples(0, 4000);
  redco::generate_options const options{.temperature = 0.7, .top_k = 3};
  at::Tensor const drawn =
      redco::generation::detail::drawn_tokens(logits, at::zeros({4000, 1}, at::kLong), options, in, 3);
  at::Tensor const expected = at::tensor({0.0, 1.0, -1e300, 0.5}, at::kDouble).div(0.7).softmax(0);
  at::Tensor const found = at::bincount(drawn, {}, 4).to(at::kDouble) / 4000;
  CHECK((found - expected).abs().max().item<double>() < 0.03);
  CHECK(found[2].item<double>() == 0);
}

TEST_CASE("a stopped row continues with padding, and decoding ends when all rows have stopped") {
  with_speaker([](speaker_net const& net) {
    at::Tensor const free = redco::generate(net, prompts(), {.max_new_tokens = 6});
    std::int64_t const stop = free[0][4].item<std::int64_t>();
    at::Tensor const ids = redco::generate(net, prompts(), {.max_new_tokens = 6, .stop_ids = {stop}, .pad = 100});
    for (std::int64_t row = 0; row < 3; ++row) {
      bool stopped = false;
      for (std::int64_t at = 3; at < ids.size(1); ++at) {
        std::int64_t const wanted = stopped ? 100 : free[row][at].item<std::int64_t>();
        sharded::must(ids[row][at].item<std::int64_t>() == wanted, "free until it stops, then padding");
        stopped = stopped || wanted == stop;
      }
    }
    at::Tensor const first = prompts().slice(0, 0, 1);
    sharded::must(redco::generate(net, first, {.max_new_tokens = 6, .stop_ids = {stop}}).size(1) <= 5, "ends early");
  });
}

TEST_CASE("more tokens than the context holds are refused before any work") {
  with_speaker([](speaker_net const& net) {
    try {
      redco::generate(net, prompts(), {.max_new_tokens = 10});
      sharded::must(false, "refused");
    } catch (redco::error const& e) {
      sharded::must(e.code() == redco::exit_code::usage, "exit code 64");
    }
  });
}

namespace {

/// Returns the error with which `decode` ends on a GPT-2 of 10,000 words in `type` on two shards,
/// where the embedding of `word` holds `bad`; "accepted" without an error.
std::string not_finite(redco::dtype type, std::int64_t word, double bad,
                       std::function<void(speaker_net const&)> const& decode) {
  std::string text = "accepted";
  redco::mesh const shape{.tp = 2};
  redco::comm::run_ranks(shape, {}, [&](redco::rank_context& rank) {
    redco::gpt2 const model{{.vocab = 10000, .context = 12, .width = 8, .heads = 2, .layers = 1}};
    redco::nn::parameter_store const store(redco::shard::placed_parameters(redco::plan_of(model, shape)), rank.rank,
                                           type, 1);
    sharded::fill(store, rank.tp_index());
    at::NoGradGuard const no_grad;
    for (auto const& p : store.parameters()) {
      if (p.plan.fact.shape.size[0] != 10000) continue;
      at::Tensor const whole = sharded::values_of(p.name, p.plan.fact.shape);
      whole.select(0, word).fill_(bad);
      sharded::local_part const at{p.plan, rank.tp_index()};
      at.own(p.value).copy_(at.part_of(whole));
    }
    redco::pass const in = redco::nn::evaluation_pass(rank).with_examples(6, 3);
    try {
      decode(speaker_net(std::make_shared<redco::nn::network<redco::gpt2> const>(model, store, rank.rank, shape), in));
    } catch (redco::error const& e) {
      sharded::must(e.code() == redco::exit_code::not_finite, "exit code 79");
      if (rank.rank == 0) text = e.what();
    }
  });
  return text;
}

}  // namespace

TEST_CASE("NaN or infinite logits in any chunk of the vocabulary end every way of decoding with their position") {
  using options = redco::generate_options;
  using searches = redco::beam_options;
  std::vector<std::function<void(speaker_net const&)>> const ways{
      [](speaker_net const& net) { redco::generate(net, prompts(), options{.max_new_tokens = 4}); },
      [](speaker_net const& net) { redco::generate(net, prompts(), options{.max_new_tokens = 4, .temperature = 0.8}); },
      [](speaker_net const& net) {
        redco::generate(net, prompts(), options{.max_new_tokens = 4, .repetition_penalty = 2});
      },
      [](speaker_net const& net) {
        redco::generate(net, prompts(), options{.max_new_tokens = 4, .no_repeat_ngram = 1});
      },
      [](speaker_net const& net) {
        redco::generate(net, prompts(), options{.max_new_tokens = 4, .min_new_tokens = 2, .stop_ids = {9998}});
      },
      [](speaker_net const& net) { redco::beam_search(net, prompts(), searches{.max_new_tokens = 4, .beams = 3}); },
      [](speaker_net const& net) {
        redco::beam_search(net, prompts(), searches{.max_new_tokens = 4, .beams = 3, .repetition_penalty = 2});
      }};
  std::string const where = "new token 1 of prompt 7 (position 3): the logits are NaN, +inf or all -inf";
  for (redco::dtype const type : {redco::dtype::f32, redco::dtype::f64, redco::dtype::bf16})
    // Logits exist for 4,096 words of a shard at a time
    for (std::int64_t const word : {0, 4097, 9998})
      for (std::size_t way = 0; way < ways.size(); ++way) {
        INFO(word << " " << way);
        CHECK(not_finite(type, word, std::numeric_limits<double>::quiet_NaN(), ways[way]).starts_with(where));
        if (type == redco::dtype::f32)
          CHECK(not_finite(type, word, std::numeric_limits<double>::infinity(), ways[way]).starts_with(where));
      }
}

namespace {

/// Returns the continuation of a prompt, computed token by token from the logits of the whole row,
/// with each rule written out.
std::vector<std::int64_t> one_by_one(speaker_net const& net, std::vector<std::int64_t> row,
                                     redco::generate_options const& o) {
  at::NoGradGuard const no_grad;
  auto const prompt = std::ssize(row);
  for (std::int64_t step = 0; step < o.max_new_tokens; ++step) {
    at::Tensor const scores = net(at::tensor(row, at::kLong).unsqueeze(0)).last().tensor().flatten().clone();
    auto* const s = scores.data_ptr<double>();
    for (std::int64_t id = 0; id < 13; ++id) {
      bool const seen = std::find(row.begin(), row.end(), id) != row.end();
      if (seen) s[id] = s[id] > 0 ? s[id] / o.repetition_penalty : s[id] * o.repetition_penalty;
      auto then = row;
      then.push_back(id);
      for (std::int64_t begin = 0; o.no_repeat_ngram > 0 && begin + o.no_repeat_ngram < std::ssize(then); ++begin)
        if (std::equal(then.end() - o.no_repeat_ngram, then.end(), then.begin() + begin)) s[id] = -1e30;
      if (step < o.min_new_tokens && std::find(o.stop_ids.begin(), o.stop_ids.end(), id) != o.stop_ids.end())
        s[id] = -1e30;
    }
    row.push_back(scores.argmax().item<std::int64_t>());
    if (std::find(o.stop_ids.begin(), o.stop_ids.end(), row.back()) != o.stop_ids.end()) break;
  }
  return {row.begin() + prompt, row.end()};
}

}  // namespace

TEST_CASE("rows that end at different steps equal their results alone and are padded to the longest") {
  std::set<std::vector<std::size_t>> lengths;
  with_speaker([&](speaker_net const& net) {
    for (redco::generate_options o :
         {redco::generate_options{.max_new_tokens = 9},
          {.max_new_tokens = 9, .repetition_penalty = 1.7},
          {.max_new_tokens = 9, .repetition_penalty = 0.6},
          {.max_new_tokens = 9, .no_repeat_ngram = 1},
          {.max_new_tokens = 9, .no_repeat_ngram = 2},
          {.max_new_tokens = 9, .no_repeat_ngram = 3},
          {.max_new_tokens = 9, .repetition_penalty = 1.3, .no_repeat_ngram = 2, .min_new_tokens = 4},
          {.max_new_tokens = 4, .min_new_tokens = 9},
          {.max_new_tokens = 9, .min_new_tokens = 3}})
      for (std::vector<std::int64_t> const& stop :
           std::vector<std::vector<std::int64_t>>{{}, {3}, {8, 1}, {0, 5, 11}}) {
        o.stop_ids = stop, o.pad = 99;
        at::Tensor const ids = redco::generate(net, prompts(), o);
        std::vector<std::size_t> size;
        for (std::int64_t row = 0; row < 3; ++row) {
          at::Tensor const prompt = prompts()[row].contiguous();
          auto const* const begin = prompt.data_ptr<std::int64_t>();
          auto const expected = one_by_one(net, {begin, begin + 3}, o);
          size.push_back(expected.size());
          for (std::int64_t t = 3; t < ids.size(1); ++t)
            sharded::must(ids[row][t].item<std::int64_t>() ==
                              (t - 3 < std::ssize(expected) ? expected[static_cast<std::size_t>(t - 3)] : 99),
                          "row " + std::to_string(row) + " at " + std::to_string(t));
        }
        sharded::must(ids.size(1) == 3 + static_cast<std::int64_t>(*std::max_element(size.begin(), size.end())),
                      "no column is padding alone");
        lengths.insert(size);
      }
  });
  CHECK(lengths.size() > 4);  // rows did end at different steps
}
