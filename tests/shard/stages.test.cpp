#include "catch.hpp"

#include <redco/shard/plan.hpp>
#include <redco/shard/stages.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/t5.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/place.hpp>
#include <redco/shape/stage_cuts.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace stages_test {

using redco::shape::stage_cuts;

/// Returns the largest sum of work of a stage.
std::int64_t largest(std::vector<std::int64_t> const& work, std::vector<std::size_t> const& ends) {
  std::int64_t most = 0;
  std::size_t begin = 0;
  for (std::size_t const end : ends) {
    std::int64_t sum = 0;
    while (begin < end) sum += work[begin++];
    most = std::max(most, sum);
  }
  return most;
}

/// Returns the smallest possible largest sum, over all cuts into `stages` stages.
std::int64_t best(std::vector<std::int64_t> const& work, int stages) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::vector<std::size_t> ends;
  std::function<void(std::size_t)> const extend = [&](std::size_t begin) {
    if (static_cast<int>(ends.size()) + 1 == stages) {
      ends.push_back(work.size());
      least = std::min(least, largest(work, ends));
      ends.pop_back();
      return;
    }
    for (std::size_t end = begin + 1; end < work.size(); ++end) {
      ends.push_back(end);
      extend(end);
      ends.pop_back();
    }
  };
  extend(0);
  return least;
}

TEST_CASE("balanced stages have the smallest possible largest work") {
  std::mt19937 draw(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int64_t> work(1 + draw() % 8);
    for (std::int64_t& one : work) one = static_cast<std::int64_t>(draw() % 7);
    for (int stages = 1; stages <= static_cast<int>(work.size()); ++stages) {
      stage_cuts const cuts = redco::shard::balanced_stages(work, stages);
      REQUIRE(cuts.size() == stages);
      std::vector<std::size_t> ends;
      for (int i = 0; i < stages; ++i) {
        CHECK_FALSE(cuts.blocks(i).is_empty());
        CHECK(cuts.blocks(i).begin == (i == 0 ? 0 : cuts.blocks(i - 1).end));
        ends.push_back(static_cast<std::size_t>(cuts.blocks(i).end));
      }
      CHECK(ends.back() == work.size());
      CHECK(largest(work, ends) == best(work, stages));
    }
  }
}

TEST_CASE("a heavy last block does not leave the other stages unequal") {
  std::vector<std::int64_t> work(12, 10);
  work.back() = 90;
  CHECK(redco::shard::balanced_stages(work, 4).lengths() == std::vector<std::int64_t>{3, 4, 4, 1});
  work.back() = 10;
  CHECK(redco::shard::balanced_stages(work, 4).lengths() == std::vector<std::int64_t>{3, 3, 3, 3});
  CHECK(redco::shard::balanced_stages(work, 5).lengths() == std::vector<std::int64_t>{2, 2, 2, 3, 3});
}

/// Returns the message of the error with exit code 64 that `call` throws.
template <class Call>
std::string refusal(Call const& call) {
  try {
    call();
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::usage);
    return e.what();
  }
  return "accepted";
}

redco::gpt2 const five{{.vocab = 64, .context = 16, .width = 24, .heads = 2, .layers = 5}};

TEST_CASE("the plan states the blocks and the stages of every parameter") {
  auto const plan = redco::plan_of(five, {.pp = 3, .tp = 2}, {1, 3, 1});
  CHECK(plan.stages.blocks(1) == redco::shape::block_range{1, 4});
  for (auto const& p : redco::shard::placed_parameters(plan)) {
    int stage = p.name.rfind("h.", 0) != 0 ? (p.name.rfind("ln_f", 0) == 0 ? 2 : 0)
                                           : (p.name[2] == '0'   ? 0
                                              : p.name[2] == '4' ? 2
                                                                 : 1);
    auto const wanted =
        p.name == "wte.weight" ? redco::shape::stage_set::of({0, 2}) : redco::shape::stage_set::of({stage});
    INFO(p.name);
    CHECK(p.plan.stages == wanted);
  }
  CHECK(redco::plan_of(five, {.pp = 1}).stages == stage_cuts());
  CHECK(redco::plan_of(five, {.pp = 5}).stages.size() == 5);
}

TEST_CASE("stages that do not fit the model are refused with the legal numbers") {
  CHECK(refusal([] { redco::plan_of(five, {.pp = 6}); }) ==
        "mesh pp=6: a pipeline stage runs at least one block, and the model has 5 blocks for 6 stages; give 1 "
        "to 5 stages with --n-pipeline-stages");
  CHECK(refusal([] { redco::plan_of(five, {.pp = 65}); }) ==
        "mesh pp=65: give at least 1 rank along each axis, and at most 64 pipeline stages");
  for (redco::shape::axis const a : redco::shape::all_axes)
    for (int const ranks : {0, -1}) {
      redco::mesh on;
      on[a] = ranks;
      CHECK(refusal([&] {
              redco::plan_of(five, on);
            }).ends_with(": give at least 1 rank along each axis, and at most 64 pipeline stages"));
    }
  std::string const numbers =
      ": the model has 5 blocks and the run 3 pipeline stages; give 3 numbers from 1 on whose sum is 5";
  CHECK(refusal([] { redco::plan_of(five, {.pp = 3}, {1, 3}); }) == "stages 1,3" + numbers);
  CHECK(refusal([] { redco::plan_of(five, {.pp = 3}, {1, 3, 2}); }) == "stages 1,3,2" + numbers);
  CHECK(refusal([] { redco::plan_of(five, {.pp = 3}, {0, 3, 2}); }) == "stages 0,3,2" + numbers);
  CHECK(refusal([] { redco::plan_of(five, {.pp = 3}, {2, -1, 4}); }) == "stages 2,-1,4" + numbers);
  CHECK(refusal([] { redco::plan_of(five, {.pp = 3}, {2, 2, 1}); }) == "accepted");
  CHECK(refusal([] {
          redco::plan_of(five, {.pp = 1}, {2, 3});
        }) ==
        "stages 2,3: the model has 5 blocks and the run 1 pipeline stages; give 1 numbers from 1 on whose sum is 5");
  redco::gpt2 const deep{{.vocab = 64, .context = 16, .width = 24, .heads = 2, .layers = 70}};
  CHECK(refusal([&] { redco::plan_of(deep, {.pp = 64}); }) == "accepted");
}

using block = redco::residual<redco::linear<8, 8>>;
using stack = redco::named<"h", redco::repeat<3, block>>;

TEST_CASE("blocks inside a branch are refused on several stages only") {
  using net = redco::sequential<redco::named<"in", redco::linear<4, 8>>, redco::residual<stack>>;
  CHECK(refusal([] { redco::plan_of(redco::model_of<net>{}, {.pp = 2}); }) ==
        "mesh pp=2: the blocks 'h' are inside a branch, such as redco::residual, which pipeline stages cannot "
        "share; give 1 stage with --n-pipeline-stages, or put the branch into the block");
  CHECK(refusal([] { redco::plan_of(redco::model_of<net>{}, {.tp = 2}); }) == "accepted");
  using plain = redco::sequential<redco::named<"in", redco::linear<4, 8>>>;
  CHECK(refusal([] { redco::plan_of(redco::model_of<plain>{}, {.pp = 2}); })
            .find("the model has 0 blocks for 2 stages; "
                  "give 1 stage with") != std::string::npos);
}

/// Puts `To` in the place of the repeated blocks `From`.
template <class From, class To>
struct instead {
  template <class L, redco::fact::path Here>
  struct at : std::type_identity<std::conditional_t<std::is_same_v<L, From>, To, L>> {};
};

TEST_CASE("blocks that are rewritten by number keep their stages") {
  using other = redco::residual<redco::sequential<redco::named<"t", redco::linear<8, 8>>>>;
  using plain = redco::sequential<redco::named<"h", redco::repeat<6, block>>>;
  using net = redco::layers::transform_blocks<plain, "h", redco::shape::block_range{2, 4}, instead<block, other>>;
  auto const plan = redco::plan_of(redco::model_of<net>{}, {.pp = 3}, {1, 2, 3});
  int const stages[] = {0, 1, 1, 2, 2, 2};
  for (auto const& p : redco::shard::placed_parameters(plan)) {
    INFO(p.name);
    CHECK(p.plan.stages == redco::shape::stage_set::of({stages[p.name[2] - '0']}));
  }
}

}  // namespace stages_test
