#include "catch.hpp"

#include <redco/report/report_text.hpp>
#include <redco/report/run_request.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/cost/search.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <cstdint>
#include <string>

namespace checks_test {

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

redco::gpt2 const model{{.vocab = 32, .context = 16, .width = 8, .heads = 2, .layers = 2}};

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::usage);
    return e.what();
  }
  return "accepted";
}

bool names(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

TEST_CASE("costs and reports of an impossible run are refused with the wrong number") {
  using redco::cost::setup;
  struct {
    setup run;
    char const* message;
  } const cases[] = {{{.load = {0, 16}}, "(batch) is 0"},
                     {{.load = {-5, 16}}, "(batch) is -5"},
                     {{.load = {2, 0}}, "(sequence) is 0"},
                     {{.load = {2, -16}}, "(sequence) is -16"},
                     {{.load = {2, 16, -1}}, "(source) is -1"},
                     {{.mesh = {.dp = 0}, .load = {2, 16}}, "mesh axis is 0"},
                     {{.mesh = {.tp = -2}, .load = {2, 16}}, "mesh axis is -2"},
                     {{.load = {2, 16}, .micro_batches = 0}, "micro-batches is 0"},
                     {{.load = {2, 16}, .prefetch = -1}, "(prefetch) is -1"},
                     {{.load = {2, 16}, .zero = {.bucket = -8}}, "bucket is -8"}};
  for (auto const& one : cases) {
    INFO(one.message);
    CHECK(names(refusal([&] { redco::cost::cost_of(model, redco::adamw{}, one.run); }), one.message));
    CHECK(
        names(refusal([&] { redco::cost::cost_of_program(redco::shard::facts_of(model), 2, one.run); }), one.message));
    if (one.run.mesh.ranks() == 1)
      CHECK(names(refusal([&] { redco::report_of(model, redco::adamw{}, one.run); }), one.message));
  }
}

TEST_CASE("an impossible global batch is refused before it is divided") {
  auto const of = [](redco::mesh const& on, std::int64_t batch, std::int64_t sequence, std::int64_t micro_batch) {
    return refusal([&] { redco::report::setup_of(on, {batch, sequence}, micro_batch, redco::dtype::f32, {}); });
  };
  CHECK(names(of({.dp = 2}, 0, 16, 0), "(batch) is 0"));
  CHECK(names(of({.dp = 2}, -5, 16, 0), "(batch) is -5"));
  CHECK(names(of({.dp = 0}, 4, 16, 0), "mesh axis is 0"));
  CHECK(names(of({.dp = 2}, 4, 0, 0), "(sequence) is 0"));
  CHECK(names(of({.dp = 2}, 4, 16, -1), "(micro_batch) is -1"));
  CHECK(of({.dp = 2}, 3, 16, 5) == "accepted");
}

}  // namespace checks_test
