#include "torch_catch.hpp"

#include "test_files.hpp"

#include <redco/generate/beam_search.hpp>
#include <redco/generate/generate.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

// Compares decoding of a model that is a table of logits with the ids and scores of transformers
// (make_beams.py).

namespace {

using rows = std::vector<std::vector<std::int64_t>>;

at::Tensor reference_prompts() { return at::tensor({1, 5, 2, 6, 0, 3, 2, 2, 6}, at::kLong).view({3, 3}); }

/// A model given by a formula: after t tokens, the last of which is a, token b has the logit 3
/// sin(1.3 a + 0.7 b b + 0.61 t + phase).
struct table {
  std::int64_t words;
  double phase;

  /// Returns the logits [B, 1] after these tokens: hidden states are the logits, and the head is
  /// the identity.
  redco::logits logits_after(at::Tensor const& tokens, std::int64_t t, redco::comm::group& ranks) const {
    at::Tensor const b = at::arange(words, at::kDouble), a = tokens.flatten().to(at::kDouble).unsqueeze(1);
    at::Tensor const hidden = 3 * at::sin(1.3 * a + 0.7 * b * b + (0.61 * static_cast<double>(t) + phase));
    return {
        redco::tensor<redco::shape::entered>(hidden.unsqueeze(1)), at::eye(words, at::kDouble), {}, words, 0, &ranks};
  }
};

/// Returns true if rows [n, T] are the expected ones, regardless of the padding of either side.
bool alike(at::Tensor const& found, rows const& expected, std::int64_t pad) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (std::int64_t t = 0; t < std::max<std::int64_t>(found.size(1), std::ssize(expected[i])); ++t) {
      std::int64_t const theirs = t < std::ssize(expected[i]) ? expected[i][static_cast<std::size_t>(t)] : pad;
      std::int64_t const ours = t < found.size(1) ? found[static_cast<std::int64_t>(i)][t].item<std::int64_t>() : pad;
      if (ours != theirs) return false;
    }
  return found.size(0) == std::ssize(expected);
}

redco::pretrained::beam_stop stop_of(redco::json::json_value const& value) {
  if (value == true) return redco::pretrained::beam_stop::when_full;
  return value == false ? redco::pretrained::beam_stop::when_unlikely : redco::pretrained::beam_stop::when_impossible;
}

}  // namespace

TEST_CASE("beam search gives the hypotheses and scores that transformers gives") {
  int searched = 0;
  redco::comm::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
    for (redco::json::json_value const& c : redco::json::read_json(test_files() / "beams.json")) {
      if (c["num_beams"] == 1) continue;
      redco::beam_options const options{.max_new_tokens = c["max_new_tokens"],
                                        .beams = c["num_beams"],
                                        .results = c["num_return_sequences"],
                                        .length_penalty = c["length_penalty"],
                                        .repetition_penalty = c["repetition_penalty"],
                                        .no_repeat_ngram = c["no_repeat_ngram_size"],
                                        .min_new_tokens = c["min_new_tokens"],
                                        .stop = stop_of(c["early_stopping"]),
                                        .stop_ids = c["eos_token_id"],
                                        .pad = 6};
      table const model{c["words"], c["phase"]};
      std::int64_t length = 3;
      redco::generation::detail::beams hypotheses(reference_prompts(), options);
      hypotheses.extend(model.logits_after(reference_prompts().select(1, 2), length, rank.tp));
      while (hypotheses.unfinished())
        hypotheses.extend(model.logits_after(hypotheses.last_tokens(), ++length, rank.tp));
      INFO(c.dump());
      CHECK(alike(hypotheses.ids(), c["ids"].get<rows>(), 6));
      at::Tensor const scores = at::tensor(c["scores"].get<std::vector<double>>(), at::kDouble);
      CHECK(at::allclose(hypotheses.scores(), scores, 1e-6, 1e-6));
      ++searched;
    }
  });
  CHECK(searched > 50);
}

TEST_CASE("greedy decoding under every rule gives the ids that transformers gives") {
  int decoded = 0;
  redco::comm::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
    redco::pass const in = redco::nn::evaluation_pass(rank);
    for (redco::json::json_value const& c : redco::json::read_json(test_files() / "beams.json")) {
      if (c["num_beams"] != 1) continue;
      redco::generate_options const options{.max_new_tokens = c["max_new_tokens"],
                                            .repetition_penalty = c["repetition_penalty"],
                                            .no_repeat_ngram = c["no_repeat_ngram_size"],
                                            .min_new_tokens = c["min_new_tokens"],
                                            .stop_ids = c["eos_token_id"]};
      table const model{c["words"], c["phase"]};
      auto const expected = c["ids"].get<rows>();
      for (std::int64_t row = 0; row < 3; ++row) {
        at::Tensor ids = reference_prompts().narrow(0, row, 1);
        for (std::int64_t step = 0; step < options.max_new_tokens; ++step) {
          redco::logits const logits = model.logits_after(ids.select(1, 2 + step), 3 + step, rank.tp);
          at::Tensor const next = redco::generation::detail::next_tokens(logits, ids, options, in, step);
          ids = at::cat({ids, next.unsqueeze(1)}, 1);
          if (std::ranges::count(options.stop_ids, next.item<std::int64_t>()) > 0) break;
        }
        INFO(c.dump() << " row " << row);
        CHECK(alike(ids, {expected[static_cast<std::size_t>(row)]}, 6));
      }
      ++decoded;
    }
  });
  CHECK(decoded > 10);
}
