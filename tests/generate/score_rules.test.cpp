#include "torch_catch.hpp"

#include <redco/generate/detail/scores.hpp>
#include <redco/pretrained/generate_options.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

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
