#include "torch_catch.hpp"

#include <redco/generate/detail/scores.hpp>
#include <redco/generate/generate.hpp>
#include <redco/pretrained/generate_options.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

// Compares the candidates of a draw with filters made of plain operators, and checks the numbers
// that draws use.

namespace {

using redco::generate_options;

constexpr double endless = std::numeric_limits<double>::infinity();

/// Returns the probabilities after temperature, top_k, top_p and min_p, in this order.
at::Tensor expected(std::vector<double> const& logits, generate_options const& o) {
  at::Tensor scores = at::tensor(logits, at::kDouble) / o.temperature;
  if (o.top_k > 0) {
    auto const k = std::min<std::int64_t>(o.top_k, scores.size(0));
    scores = scores.masked_fill(scores < std::get<0>(scores.topk(k))[k - 1], -endless);
  }
  if (o.top_p < 1) {
    auto const [sorted, index] = scores.sort(true, 0, true);
    at::Tensor const p = sorted.softmax(0), before = p.cumsum(0) - p;
    at::Tensor gone = before >= o.top_p;
    gone[0] = false;
    scores = scores.masked_fill(at::zeros_like(gone).scatter(0, index, gone), -endless);
  }
  at::Tensor const p = scores.softmax(0);
  return scores.masked_fill(p < o.min_p * p.max(), -endless).softmax(0);
}

/// Checks how often each id is drawn by numbers spread evenly over [0, 1): the count may differ
/// from the probability by one.
void check_counts(std::vector<double> const& logits, generate_options const& o, at::Tensor const& probabilities) {
  constexpr int draws = 5000;
  at::Tensor const count = at::zeros({std::ssize(logits)}, at::kDouble);
  for (int i = 0; i < draws; ++i) count[redco::generation::detail::draw(logits, o, (i + 0.5) / draws)] += 1;
  at::Tensor const wanted = probabilities * draws;
  INFO("temperature " << o.temperature << " top_k " << o.top_k << " top_p " << o.top_p << " min_p " << o.min_p);
  CHECK((count - wanted).abs().max().item<double>() < 1);
  CHECK(count.masked_select(wanted == 0).eq(0).all().item<bool>());
}

void check_widths(std::vector<double> const& logits, generate_options const& o) {
  check_counts(logits, o, expected(logits, o));
}

std::vector<double> const uneven{0.3, -1.2, 2.0, 0.31, -4.0, 1.1, 0.0, 1.9, -0.7, 1.1, -2.2};

}  // namespace

TEST_CASE("a draw follows the probability that the filters leave, one by one and together") {
  check_widths(uneven, {.temperature = 1});
  check_widths(uneven, {.temperature = 0.4});
  check_widths(uneven, {.temperature = 1.3, .top_k = 4});
  check_widths(uneven, {.temperature = 1.3, .top_p = 0.7});
  check_widths(uneven, {.temperature = 1.3, .min_p = 0.3});
  check_widths(uneven, {.temperature = 1.7, .top_k = 7, .top_p = 0.8});
  check_widths(uneven, {.temperature = 1.7, .top_k = 6, .top_p = 0.9, .min_p = 0.35});
}

TEST_CASE("penalty and filters leave the probabilities that Hugging Face's logits processors leave") {
  struct reference {
    double temperature;
    std::int64_t top_k;
    double top_p, min_p, penalty;
    std::vector<double> probabilities;
  };
  // Computed by transformers 4.57.6: RepetitionPenaltyLogitsProcessor with ids {2, 4, 2, 9},
  // TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper, MinPLogitsWarper, softmax.
  for (reference const& r : {
           reference{1.3, 4, 1, 0, 1, {0, 0, 0.341670, 0, 0, 0.170978, 0, 0.316373, 0, 0.170978, 0}},
           reference{1.3, 0, 0.7, 0, 1, {0, 0, 0.341670, 0, 0, 0.170978, 0, 0.316373, 0, 0.170978, 0}},
           reference{1.3, 0, 1, 0.3, 1, {0, 0, 0.341670, 0, 0, 0.170978, 0, 0.316373, 0, 0.170978, 0}},
           reference{1.7, 7, 0.8, 0, 1, {0, 0, 0.286465, 0.106006, 0, 0.168714, 0, 0.270100, 0, 0.168714, 0}},
           reference{1.7, 6, 0.9, 0.35, 1, {0, 0, 0.286465, 0.106006, 0, 0.168714, 0, 0.270100, 0, 0.168714, 0}},
           reference{0.8,
                     0,
                     0.95,
                     0.05,
                     1.4,
                     {0.053358, 0, 0.218709, 0.054029, 0, 0.145043, 0.036673, 0.394267, 0, 0.097922, 0}},
       }) {
    std::vector<double> logits = uneven;
    redco::generation::detail::penalise(logits, std::vector<std::int64_t>{2, 4, 2, 9}, r.penalty);
    INFO("temperature " << r.temperature << " penalty " << r.penalty);
    check_counts(logits, {.temperature = r.temperature, .top_k = r.top_k, .top_p = r.top_p, .min_p = r.min_p},
                 at::tensor(r.probabilities, at::kDouble));
  }
}

TEST_CASE("top_p counts the probability that top_k kept, not the probability that it removed") {
  std::vector<double> const logits{std::log(0.4), std::log(0.3), std::log(0.2), std::log(0.1)};
  // The first of the two remaining tokens has 4/7: more than half of their probability, less than
  // half of the whole.
  for (double const u : {0.0, 0.5, 0.999})
    CHECK(redco::generation::detail::draw(logits, {.temperature = 1, .top_k = 2, .top_p = 0.5}, u) == 0);
  CHECK(redco::generation::detail::draw(logits, {.temperature = 1, .top_p = 0.5}, 0.999) == 1);
}

TEST_CASE("top_k keeps all equal logits, and top_p keeps the lower ids among them") {
  std::vector<double> const flat(8, -3.5);
  for (int i = 0; i < 8; ++i) {
    double const u = (i + 0.5) / 8;
    CHECK(redco::generation::detail::draw(flat, {.temperature = 2}, u) == i);
    CHECK(redco::generation::detail::draw(flat, {.temperature = 2, .top_k = 3}, u) == i);
    CHECK(redco::generation::detail::draw(flat, {.temperature = 2, .min_p = 1}, u) == i);
    CHECK(redco::generation::detail::draw(flat, {.temperature = 2, .top_p = 0.25}, u) == i / 4);
  }
  check_widths({1, 0, 1, 0, 1, -1}, {.temperature = 1, .top_k = 2});
  check_widths({0, 1, -1, 1, 0, 1}, {.temperature = 1, .top_p = 0.6});
}

TEST_CASE("options work at their limits: k of the vocabulary and above, p of 1 and almost 0, cold and hot") {
  check_widths(uneven, {.temperature = 1, .top_k = 11});
  check_widths(uneven, {.temperature = 1, .top_k = 5000});
  check_widths(uneven, {.temperature = 1, .top_p = 1});
  for (double const u : {0.0, 0.3, 1 - 0x1p-53}) {
    CHECK(redco::generation::detail::draw(uneven, {.temperature = 1, .top_p = 1e-300}, u) == 2);
    CHECK(redco::generation::detail::draw(uneven, {.temperature = 1, .min_p = 1}, u) == 2);
    CHECK(redco::generation::detail::draw(uneven, {.temperature = 1, .top_k = 1}, u) == 2);
    CHECK(redco::generation::detail::draw(uneven, {.temperature = 1e-308}, u) == 2);
  }
  check_widths(uneven, {.temperature = 1e9});
}

TEST_CASE("an id with logit -inf is never drawn, and a row with only such ids is refused") {
  std::vector<double> const some{-endless, 0.5, -endless, 1.5, -endless};
  for (double const u : {0.0, 0.2, 0.9, 1 - 0x1p-53})
    for (generate_options const& o : {generate_options{.temperature = 1},
                                      {.temperature = 1, .top_k = 4},
                                      {.temperature = 1, .top_p = 0.999},
                                      {.temperature = 1e6, .min_p = 0.01}})
      CHECK(redco::generation::detail::draw(some, o, u) == (u < 0.25 ? 1 : 3));
  check_widths(some, {.temperature = 1, .top_k = 4});
  for (double const bad : {-endless, endless, std::nan("")}) {
    try {
      redco::generation::detail::draw(std::vector<double>{bad, -endless, -endless}, {.temperature = 1}, 0.5);
      FAIL("refused");
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::not_finite);
    }
  }
  CHECK_THROWS_AS(redco::generation::detail::draw(std::vector<double>{1, std::nan(""), 2}, {.temperature = 1}, 0.5),
                  redco::error);
}

TEST_CASE("top_p over many tokens keeps as many as it needs") {
  std::vector<double> many;
  for (int i = 0; i < 700; ++i) many.push_back(std::sin(0.37 * i));
  for (double const p : {0.1, 0.5, 0.95}) {
    generate_options const o{.temperature = 1, .top_p = p};
    at::Tensor const kept = expected(many, o).gt(0);
    std::int64_t drawn = 0;
    std::vector<bool> seen(many.size());
    for (int i = 0; i < 6000; ++i) {
      auto const id = redco::generation::detail::draw(many, o, (i + 0.5) / 6000);
      if (!seen[static_cast<std::size_t>(id)]) ++drawn, seen[static_cast<std::size_t>(id)] = true;
      if (!kept[id].item<bool>()) FAIL("outside");
    }
    CHECK(drawn == kept.sum().item<std::int64_t>());
  }
}

TEST_CASE("a repetition penalty makes each id that was seen less likely, once") {
  std::vector<double> scores{2, -2, 0, 5, -endless};
  redco::generation::detail::penalise(scores, std::vector<std::int64_t>{0, 1, 0, 0, 4, 2, 100, -1}, 4);
  CHECK(scores == std::vector<double>{0.5, -8, 0, 5, -endless});
}

TEST_CASE("keyed draws follow the truncated softmax") {
  constexpr std::int64_t rows = 20000;
  generate_options const o{.temperature = 0.9, .top_k = 9, .top_p = 0.95, .min_p = 0.05};
  at::Tensor const logits = at::tensor(uneven, at::kDouble).repeat({rows, 1});
  redco::pass const in = redco::pass{.seed = 4}.with_examples(0, rows);
  at::Tensor const wanted = expected(uneven, o) * static_cast<double>(rows);
  for (std::int64_t const step : {0, 1, 77}) {
    at::Tensor const found = at::bincount(
        redco::generation::detail::drawn_tokens(logits, at::empty({rows, 0}, at::kLong), o, in, step), {}, 11);
    CHECK(found.gt(0).equal(wanted.gt(0)));
    at::Tensor const off = (found - wanted).square() / wanted.clamp_min(1e-9);
    double const chi_square = off.masked_select(wanted.gt(0)).sum().item<double>();
    CHECK(chi_square < 22.5);  // 7 tokens remain: one seed in 1,000 exceeds the bound
    CHECK(chi_square > 0.05);
  }
  CHECK(wanted.gt(0).sum().item<std::int64_t>() == 7);
}

TEST_CASE("draws are the same however rows are divided into batches") {
  at::Tensor const logits = at::sin(at::arange(7 * 31, at::kDouble) * 1.7).view({7, 31});
  generate_options const o{.temperature = 2, .repetition_penalty = 1.2};
  at::Tensor const seen = at::arange(21, at::kLong).view({7, 3});
  auto const drawn = [&](std::int64_t begin, std::int64_t end) {
    redco::pass const in = redco::pass{.seed = 11, .step = 2}.with_examples(begin, end - begin);
    return redco::generation::detail::drawn_tokens(logits.slice(0, begin, end), seen.slice(0, begin, end), o, in, 5);
  };
  CHECK(at::cat({drawn(0, 3), drawn(3, 4), drawn(4, 7)}).equal(drawn(0, 7)));
}

namespace {

std::vector<std::int64_t> banned_after(std::vector<std::int64_t> const& seen, std::int64_t size) {
  std::vector<double> scores(6, 1.0);
  redco::generation::detail::ban_repeated(scores, seen, size);
  std::vector<std::int64_t> banned;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (std::isinf(scores[i])) banned.push_back(static_cast<std::int64_t>(i));
  return banned;
}

}  // namespace

TEST_CASE("ids that would complete a repeated n-gram are banned") {
  using ids = std::vector<std::int64_t>;
  CHECK(banned_after({1, 2, 3, 1, 2}, 3) == ids{3});
  CHECK(banned_after({1, 2, 3, 1, 2, 4, 1, 2}, 3) == ids{3, 4});
  CHECK(banned_after({1, 2, 3, 1, 2}, 4).empty());
  CHECK(banned_after({1, 2, 3}, 3).empty());  // 1 2 3 occurs once and nothing follows
  CHECK(banned_after({5, 5}, 2) == ids{5});
  CHECK(banned_after({4, 2, 4}, 1) == ids{2, 4});
  CHECK(banned_after({1, 2}, 3).empty());
  CHECK(banned_after({}, 1).empty());
  CHECK(banned_after({9, 1, 9}, 1) == ids{1});  // an id outside the vocabulary cannot be banned
}

TEST_CASE("a stop id is banned before the minimum length, and forced ids come at their positions") {
  redco::beam_options o{.max_new_tokens = 5, .min_new_tokens = 2, .stop_ids = {3}, .forced_begin = 1, .forced_end = 2};
  for (std::int64_t const step : {0, 1, 2}) {
    std::vector<double> scores(4, 1.0);
    redco::generation::detail::apply_rules(scores, {}, o, step);
    CHECK(std::isinf(scores[3]) == (step < 2));
    CHECK(redco::generation::detail::has_rules(o, step) == (step < 2));
  }
  CHECK(redco::generation::detail::forced_id(o, 1, 0) == 1);
  CHECK_FALSE(redco::generation::detail::forced_id(o, 2, 0));
  CHECK_FALSE(redco::generation::detail::forced_id(o, 1, 3));
  CHECK(redco::generation::detail::forced_id(o, 7, 4) == 2);
}
