#include <redco/pipeline/functions.hpp>
#include <redco/pipeline/pipeline.hpp>
#include <redco/pipeline/results.hpp>

#include "catch.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pipeline_test {

struct total {
  long sum = 0;
  long count = 0;
};
struct words {
  std::vector<std::string> texts;
  std::int64_t width = 0;
};
struct scale {
  long factor;
};

}  // namespace pipeline_test

template <>
inline constexpr bool redco::pipelines::enable_loss<pipeline_test::total> = true;

namespace {

using pipeline_test::scale;
using pipeline_test::total;
using pipeline_test::words;

auto word_pipeline(std::string const& mark) {
  return redco::collate([mark](std::span<std::string const> examples, redco::pipelines::collate_info const& info) {
           words w{{}, info.longest};
           for (auto const& e : examples) w.texts.push_back(e + mark);
           return w;
         }) |
         redco::loss([](auto const& net, words const& w) {
           total t;
           for (auto const& text : w.texts) t.sum += net.factor * static_cast<long>(text.size());
           t.count = static_cast<long>(w.texts.size());
           return t;
         }) |
         redco::predict([](auto const& net, words const& w) {
           std::vector<long> sizes;
           for (auto const& text : w.texts) sizes.push_back(net.factor + static_cast<long>(text.size()));
           return sizes;
         });
}

}  // namespace

TEST_CASE("a pipeline calls its functions with examples, net and batch") {
  auto const p = word_pipeline("!");
  std::vector<std::string> const examples = {"a", "bcd", ""};
  auto const batch = p.collate(examples, {.longest = 9});
  CHECK(batch.texts == std::vector<std::string>{"a!", "bcd!", "!"});
  CHECK(batch.width == 9);
  auto const loss = p.loss(scale{10}, batch);
  CHECK(loss.sum == 70);
  CHECK(loss.count == 3);
  CHECK(p.predict(scale{100}, batch) == std::vector<long>{102, 104, 101});
}

TEST_CASE("collate takes a vector, a span or an array of examples, with or without info") {
  auto const p = word_pipeline("");
  std::array<std::string, 2> const array = {"x", "yz"};
  CHECK(p.collate(array).texts.size() == 2);
  CHECK(p.collate(std::span<std::string const>(array).subspan(1)).texts == std::vector<std::string>{"yz"});
  CHECK(p.collate(array).width == 0);
}

TEST_CASE("the order of the functions does not matter, and the pipeline owns their captured values") {
  auto kept = std::make_unique<int>(5);
  auto const p = redco::predict([kept = std::move(kept)](auto const&, words const& w) {
                   return std::vector<int>(w.texts.size(), *kept);
                 }) |
                 redco::collate([](std::span<int const> examples) {
                   return words{std::vector<std::string>(examples.size(), "t"), 0};
                 });
  std::vector<int> const examples = {1, 2, 3, 4};
  CHECK(p.predict(scale{1}, p.collate(examples)) == std::vector<int>(4, 5));
}

TEST_CASE("random numbers of an example depend on seed, step and its index, not on its batch") {
  redco::pipelines::collate_info const all{.first_example = 0, .seed = 3, .step = 8};
  redco::pipelines::collate_info const rest{.first_example = 5, .seed = 3, .step = 8};
  CHECK(all.random(6) == rest.random(1));
  CHECK(all.random(5) != all.random(6));
  CHECK(all.random(0) != redco::pipelines::collate_info{.seed = 3, .step = 9}.random(0));
  CHECK(all.random(0) != redco::pipelines::collate_info{.seed = 4, .step = 8}.random(0));
}
