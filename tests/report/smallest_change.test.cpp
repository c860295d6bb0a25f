#include "catch.hpp"

#include <redco/report/budget_text.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/optimizer/adamw.hpp>
#include <redco/shape/bytes.hpp>

#include <string>

namespace change_test {

redco::gpt2 const model{{.vocab = 256, .context = 256, .width = 384, .heads = 6, .layers = 6}};

std::optional<redco::report::fitting_change> change(redco::setup const& run, std::int64_t budget) {
  return redco::report::smallest_change(model, redco::adamw{}, run, budget);
}

TEST_CASE("the least intrusive change that is enough is proposed, and its peak is that of the changed run") {
  redco::setup const run{.mesh = {.dp = 1}, .load = {16, 256}};
  struct row {
    std::int64_t mib;
    std::string what;
  };
  for (row const& r : {row{600, "2 model shards"},
                       {350, "6 model shards"},
                       {240, "16 micro-batches of 1"},
                       {200, "6 model shards and bf16"},
                       {70, "6 model shards and 8 micro-batches of 2"}}) {
    auto const found = change(run, redco::MiB(r.mib));
    REQUIRE(found);
    CHECK(found->what == r.what);
    CHECK(found->peak == redco::cost_of(model, redco::adamw{}, found->run).memory.peak());
    CHECK(found->peak <= redco::MiB(r.mib));
  }
}

TEST_CASE("a step keeps its examples when micro-batches grow more") {
  redco::setup const run{
      .mesh = {.tp = 6}, .load = {5, 256}, .compute = redco::dtype::bf16, .recompute = true, .micro_batches = 3};
  auto const found = change(run, redco::MiB(60));
  REQUIRE(found);
  CHECK(found->run.load.batch < 5);
  CHECK(found->run.load.batch * found->run.micro_batches >= 15);
}

TEST_CASE("where nothing helps the sentence says what was tried") {
  redco::setup const run{.mesh = {.tp = 6}, .load = {2, 256}};
  CHECK_FALSE(change(run, redco::MiB(1)));
  auto const report = redco::report_of(model, redco::adamw{}, run, redco::MiB(1));
  std::string const text = redco::report::budget_text(report, {});
  CHECK(text.find("more than the budget of 1.00 MiB\n  largest: ") != std::string::npos);
  CHECK(text.find("smallest change that fits: none; up to 64 model shards with bf16") != std::string::npos);
  auto const roomy = redco::report_of(model, redco::adamw{}, run, redco::GiB(1));
  CHECK(redco::report::budget_text(roomy, {}).find("mesh 1x6: fits, ") == 0);
}

}  // namespace change_test
