#include "nn/sharded.hpp"

#include <redco/generate/beam_search.hpp>
#include <redco/generate/generate.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/diag/error.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

// Tests sampling, penalties and the callback on every mesh: ids do not depend on the split of rows
// and vocabulary.

namespace {

using narrator_net = redco::bound_network<redco::gpt2>;

at::Tensor openings() { return at::tensor({1, 5, 2, 12, 0, 7, 3, 3, 9, 8, 6, 4}, at::kLong).view({4, 3}); }

/// Calls f(net, rank, prompts of this replica) on each rank of a mesh, with a small GPT-2 whose
/// vocabulary no width divides.
void on_mesh(redco::mesh const& shape,
             std::function<void(narrator_net const&, redco::rank_context&, at::Tensor const&)> const& f) {
  redco::comm::run_ranks(shape, {}, [&](redco::rank_context& rank) {
    redco::gpt2 const model{{.vocab = 13, .context = 12, .width = 8, .heads = 2, .layers = 2}};
    redco::nn::parameter_store const store(redco::shard::placed_parameters(redco::plan_of(model, shape)), rank.rank,
                                           redco::dtype::f64, 1);
    sharded::fill(store, rank.tp_index());
    std::int64_t const rows = 4 / shape.dp;
    redco::pass const in = redco::nn::evaluation_pass(rank, 9).with_examples(rank.dp_index() * rows, rows);
    narrator_net const net(std::make_shared<redco::nn::network<redco::gpt2> const>(model, store, rank.rank, shape), in);
    f(net, rank, openings().narrow(0, rank.dp_index() * rows, rows));
  });
}

/// Returns the ids that all replicas of a mesh generate, after a check that the ranks of a replica
/// agree.
at::Tensor generated(redco::mesh const& shape, redco::generate_options const& options) {
  std::vector<at::Tensor> parts(static_cast<std::size_t>(shape.dp));
  std::mutex mutex;
  on_mesh(shape, [&](narrator_net const& net, redco::rank_context& rank, at::Tensor const& prompts) {
    at::Tensor const ids = redco::generate(net, prompts, options);
    std::lock_guard const lock(mutex);
    at::Tensor& part = parts[static_cast<std::size_t>(rank.dp_index())];
    if (part.defined()) sharded::must(part.equal(ids), "ranks agree");
    part = ids;
  });
  return at::cat(parts);
}

std::vector<redco::mesh> const meshes{{.dp = 1}, {.dp = 2}, {.tp = 2}, {.dp = 2, .tp = 2}};

std::string refusal(redco::generate_options const& options) {
  std::string text;
  on_mesh({.dp = 1}, [&](narrator_net const& net, redco::rank_context&, at::Tensor const& prompts) {
    try {
      redco::generate(net, prompts, options);
    } catch (redco::error const& e) {
      sharded::must(e.code() == redco::exit_code::usage, "exit code 64");
      text = e.what();
    }
  });
  return text;
}

}  // namespace

TEST_CASE("every filter draws the same ids on every mesh") {
  using options = redco::generate_options;
  for (options const& o :
       {options{.max_new_tokens = 9, .temperature = 2},
        {.max_new_tokens = 9, .temperature = 2, .top_k = 5},
        {.max_new_tokens = 9, .temperature = 2, .top_p = 0.8},
        {.max_new_tokens = 9, .temperature = 2, .min_p = 0.2},
        {.max_new_tokens = 9, .temperature = 2, .top_k = 9, .top_p = 0.9, .min_p = 0.1, .repetition_penalty = 1.5},
        {.max_new_tokens = 9, .repetition_penalty = 3}}) {
    at::Tensor const one = generated({.dp = 1}, o);
    for (redco::mesh const& shape : meshes) CHECK(generated(shape, o).equal(one));
    CHECK(one.size(1) == 12);
    CHECK(one.slice(1, 0, 3).equal(openings()));
  }
}

TEST_CASE("rows of one prompt diverge, and each filter changes something") {
  redco::generate_options const hot{.max_new_tokens = 9, .temperature = 3};
  at::Tensor const free = generated({.dp = 1}, hot);
  for (auto const change :
       {+[](redco::generate_options& o) { o.top_k = 2; }, +[](redco::generate_options& o) { o.top_p = 0.3; },
        +[](redco::generate_options& o) { o.min_p = 0.8; },
        +[](redco::generate_options& o) { o.repetition_penalty = 9; }}) {
    redco::generate_options other = hot;
    change(other);
    CHECK(!generated({.dp = 1}, other).equal(free));
  }
  on_mesh({.dp = 1}, [&](narrator_net const& net, redco::rank_context&, at::Tensor const& prompts) {
    at::Tensor const same = prompts.slice(0, 0, 1).expand({4, 3}).contiguous();
    at::Tensor const ids = redco::generate(net, same, hot);
    sharded::must(!ids[0].equal(ids[1]) && !ids[1].equal(ids[2]), "rows have numbers of their own");
  });
}

TEST_CASE("a draw does not depend on the amount of padding of the prompts") {
  on_mesh({.dp = 1}, [&](narrator_net const& net, redco::rank_context&, at::Tensor const& prompts) {
    redco::generate_options const o{.max_new_tokens = 6, .temperature = 2, .top_p = 0.9};
    at::Tensor const padded = at::cat({at::zeros({4, 2}, at::kLong), prompts}, 1);
    at::Tensor const shown = at::cat({at::zeros({4, 2}, at::kBool), at::ones({4, 3}, at::kBool)}, 1);
    at::Tensor const ids = redco::generate(net.with(redco::key_mask{shown}), padded, o);
    sharded::must(ids.slice(1, 2).equal(redco::generate(net, prompts, o)), "padding does not change the ids");
  });
}

TEST_CASE("the penalty divides positive and multiplies negative logits of every id of the row, hidden ones too") {
  on_mesh({.tp = 2}, [&](narrator_net const& net, redco::rank_context&, at::Tensor const& prompts) {
    at::Tensor const shown = at::ones({4, 3}, at::kBool);
    shown.select(0, 2).select(0, 0).fill_(false);
    auto const masked = net.with(redco::key_mask{shown});
    at::Tensor ids = prompts;
    for (int step = 0; step < 9; ++step) {
      at::Tensor const seen = at::cat({shown, at::ones({4, step}, at::kBool)}, 1);
      at::Tensor const indices = (seen.to(at::kLong).cumsum(1) - 1).clamp_min(0);
      at::Tensor scores =
          net(ids, redco::key_mask{seen}, redco::nn::token_positions{indices}).last().tensor().squeeze(1);
      at::Tensor const had = scores.gather(1, ids);
      scores = scores.scatter(1, ids, at::where(had < 0, had * 1.6, had / 1.6));
      ids = at::cat({ids, scores.argmax(1).unsqueeze(1)}, 1);
    }
    sharded::must(redco::generate(masked, prompts, {.max_new_tokens = 9, .repetition_penalty = 1.6}).equal(ids), "ids");
    sharded::must(!redco::generate(masked, prompts, {.max_new_tokens = 9}).equal(ids), "the penalty changes the ids");
  });
}

TEST_CASE("in beam search the penalty multiplies log-probabilities") {
  for (redco::mesh const& shape : {redco::mesh{.dp = 1}, redco::mesh{.tp = 2}})
    on_mesh(shape, [&](narrator_net const& net, redco::rank_context&, at::Tensor const& prompts) {
      redco::beam_options const o{.max_new_tokens = 5, .beams = 3, .results = 3, .repetition_penalty = 1.7};
      auto const found = redco::beam_search(net, prompts, o);
      sharded::must(
          !found.ids.equal(redco::beam_search(net, prompts, {.max_new_tokens = 5, .beams = 3, .results = 3}).ids),
          "the penalty changes the ids");
      at::Tensor const log_p = net(found.ids).tensor().log_softmax(-1);
      for (std::int64_t row = 0; row < found.ids.size(0); ++row) {
        double sum = 0;
        for (std::int64_t t = 3; t < 8; ++t) {
          std::int64_t const id = found.ids[row][t].item<std::int64_t>();
          bool const seen = found.ids[row].slice(0, 0, t).eq(id).any().item<bool>();
          sum += log_p[row][t - 1][id].item<double>() * (seen ? 1.7 : 1);
        }
        sharded::must(std::abs(found.scores[row].item<double>() - sum / 5) < 1e-12, "the penalised mean");
      }
    });
}

TEST_CASE("the callback sees each step's ids once, on the first rank of each group, and may end the decoding") {
  for (redco::mesh const& shape : meshes) {
    redco::generate_options o{.max_new_tokens = 8, .temperature = 1.5, .pad = 50};
    at::Tensor const all = generated(shape, o);
    o.stop_ids = {all[0][5].item<std::int64_t>()};
    at::Tensor const stopped =
        generated(shape, {.max_new_tokens = 4, .temperature = 1.5, .stop_ids = o.stop_ids, .pad = 50});
    on_mesh(shape, [&](narrator_net const& net, redco::rank_context& rank, at::Tensor const& prompts) {
      std::vector<std::vector<std::int64_t>> steps;
      auto mine = o;
      mine.on_tokens = [&](std::span<std::int64_t const> ids) {
        steps.emplace_back(ids.begin(), ids.end());
        return steps.size() < 4;
      };
      at::Tensor const ids = redco::generate(net, prompts, mine);
      std::int64_t const rows = prompts.size(0), first = rank.dp_index() * rows;
      sharded::must(ids.size(1) <= 7, "generation ends at the step of the callback");
      sharded::must(ids.equal(stopped.narrow(0, first, rows).slice(1, 0, ids.size(1))), "with the same ids");
      if (rank.tp_index() > 0) {
        sharded::must(steps.empty(), "the first rank only");
        return;
      }
      sharded::must(std::ssize(steps) == ids.size(1) - 3, "once a step");
      for (std::int64_t s = 0; s < std::ssize(steps); ++s)
        sharded::must(at::tensor(steps[static_cast<std::size_t>(s)]).equal(ids.select(1, 3 + s)),
                      "the new ids, padding too");
    });
  }
}

TEST_CASE("an exception of the callback ends all ranks with its own message") {
  try {
    generated({.tp = 2}, {.max_new_tokens = 4, .on_tokens = [](std::span<std::int64_t const>) -> bool {
                            throw std::runtime_error("the reader has gone");
                          }});
    FAIL("no exception");
  } catch (redco::error const& e) {
    CHECK(std::string(e.what()).find("the reader has gone") != std::string::npos);
  }
}

TEST_CASE("an option outside of its range is refused with its name and the range") {
  double const nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  using options = redco::generate_options;
  struct wrong {
    options asked;
    char const *name, *range;
  };
  for (wrong const& w : {wrong{{.max_new_tokens = -1}, "max_new_tokens = -1", "0 or more"},
                         {{.temperature = -0.5}, "temperature = -0.5", "at least 0"},
                         {{.temperature = nan}, "temperature = nan", "finite"},
                         {{.temperature = inf}, "temperature = inf", "finite"},
                         {{.top_k = -3}, "top_k = -3", "0 or more"},
                         {{.top_p = 0}, "top_p = 0", "above 0 and at most 1"},
                         {{.top_p = 1.5}, "top_p = 1.5", "above 0 and at most 1"},
                         {{.top_p = nan}, "top_p = nan", "above 0 and at most 1"},
                         {{.min_p = -0.1}, "min_p = -0.1", "from 0 to 1"},
                         {{.min_p = 1.01}, "min_p = 1.01", "from 0 to 1"},
                         {{.repetition_penalty = 0}, "repetition_penalty = 0", "above 0"},
                         {{.repetition_penalty = inf}, "repetition_penalty = inf", "finite"},
                         {{.forced_end = -2}, "forced_end = -2", "-1"}}) {
    std::string const text = refusal(w.asked);
    INFO(text);
    CHECK(text.find(w.name) != std::string::npos);
    CHECK(text.find(w.range) != std::string::npos);
  }
  CHECK(refusal({.max_new_tokens = 2, .temperature = 1, .top_k = 1000, .top_p = 1, .min_p = 1}).empty());
}
