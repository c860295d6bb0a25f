#include "nn/sharded.hpp"

#include <redco/generate/generate.hpp>
#include <redco/model/gpt2.hpp>

#include <cstdint>
#include <functional>
#include <memory>

// What the options of a decoder do. That caches and meshes change nothing is tested in walls/.

namespace {

using speaker_net = redco::bound_network<redco::gpt2>;

/// Calls f with a small GPT-2 on one rank.
void with_speaker(std::function<void(speaker_net const&)> const& f) {
  redco::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
    redco::gpt2 const model{{.vocab = 13, .context = 12, .width = 8, .heads = 2, .layers = 1}};
    redco::parameter_store const store(redco::shard::placed_parameters(redco::plan_of(model, {.dp = 1})), 0,
                                       redco::dtype::f64, 1);
    sharded::fill(store, 0);
    redco::pass in;
    in.tp = &rank.tp;
    in.seed = 9;
    f(speaker_net(std::make_shared<redco::network<redco::gpt2> const>(model, store, 0, redco::mesh{}), in));
  });
}

at::Tensor prompts() { return at::tensor({1, 5, 2, 12, 0, 7, 3, 3, 9}, at::kLong).view({3, 3}); }

}  // namespace

TEST_CASE("a continuation begins with its prompt and has the length asked for") {
  with_speaker([](speaker_net const& net) {
    at::Tensor const ids = redco::generate(net, prompts(), {.max_new_tokens = 5});
    sharded::must(ids.sizes() == at::IntArrayRef{3, 8}, "three rows of eight");
    sharded::must(ids.slice(1, 0, 3).equal(prompts()), "prompts first");
    sharded::must(redco::generate(net, prompts(), {.max_new_tokens = 0}).equal(prompts()), "nothing new");
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
  redco::pass in;
  in.examples = 4000;
  redco::generate_options const options{.temperature = 0.7, .top_k = 3};
  at::Tensor const drawn = redco::detail::drawn_tokens(logits, at::zeros({4000, 1}, at::kLong), options, in, 3);
  at::Tensor const expected = at::tensor({0.0, 1.0, -1e300, 0.5}, at::kDouble).div(0.7).softmax(0);
  at::Tensor const found = at::bincount(drawn, {}, 4).to(at::kDouble) / 4000;
  CHECK((found - expected).abs().max().item<double>() < 0.03);
  CHECK(found[2].item<double>() == 0);
}

TEST_CASE("a row that has stopped goes on with padding, and all stopped rows end the decoding") {
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
