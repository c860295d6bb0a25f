#include "catch.hpp"

#include <redco/cost/cost_of.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/optimizer/optimizers.hpp>

namespace magnitude_test {

TEST_CASE("counts beyond 64-bit integers are refused instead of wrapping around") {
  std::int64_t const large = std::int64_t{1} << 28;
  redco::gpt2 const small{};
  for (redco::cost::setup const& run :
       {redco::cost::setup{.load = {large, large}}, redco::cost::setup{.load = {large, 1}, .micro_batches = large}})
    CHECK_THROWS_AS(redco::cost::cost_of(small, redco::adamw{}, run), redco::error);
  redco::gpt2 const wide{{.vocab = large, .context = large, .width = large, .heads = 1, .layers = large}};
  CHECK_THROWS_AS(redco::cost::cost_of(wide, redco::adamw{}, {}), redco::error);
}

TEST_CASE("a model of a quadrillion parameters is counted") {
  redco::gpt2 const model{{.vocab = 1 << 20, .context = 1 << 20, .width = 1 << 20, .heads = 1 << 10, .layers = 64}};
  std::int64_t const d = 1 << 20;
  auto const cost =
      redco::cost::cost_of(model, redco::adamw{}, {.mesh = {.dp = 1 << 10}, .load = {1, 1024}, .micro_batches = 64});
  CHECK(cost.memory.parameters == 4 * (64 * (12 * d * d + 13 * d) + 2 * d * d + 2 * d));
  CHECK(cost.memory.peak() > 4 * cost.memory.parameters);
  CHECK(cost.messages[redco::cost::messages::gradients].wire_bytes > cost.memory.gradients);
}

}  // namespace magnitude_test
