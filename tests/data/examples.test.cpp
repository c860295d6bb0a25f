#include "catch.hpp"

#include <redco/data/examples.hpp>

#include <range/v3/view/iota.hpp>
#include <range/v3/view/transform.hpp>

#include <concepts>
#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <utility>
#include <vector>

TEST_CASE("examples refer to a named range, own a temporary one, and share contiguous elements without a copy") {
  std::vector<std::string> const texts{"zero", "one", "two", "three"};
  std::vector<std::int64_t> const neighbours{1, 2}, scattered{3, 0};
  redco::examples<std::string> const referring(texts);
  CHECK(referring.size() == 4);
  CHECK(referring[neighbours].span().data() == &texts[1]);
  CHECK(referring[scattered].span()[0] == "three");

  auto const made = [&] { return redco::examples<std::string>(std::vector<std::string>(texts)); };
  redco::examples<std::string> const keeping = made();
  auto const chosen = keeping[neighbours];
  CHECK(chosen.span().data() != &texts[1]);
  CHECK(chosen.span()[1] == "two");
  CHECK(keeping[neighbours].span().data() == chosen.span().data());

  std::vector<char const*> const words{"zero", "one"};
  std::vector<std::int64_t> const last{1};
  CHECK(redco::examples<std::string>(words)[last].span()[0] == "one");
  CHECK(redco::examples<std::string>().size() == 0);
}

TEST_CASE("gathered examples come in the order of their indices, and scattered ones are copies") {
  std::vector<std::string> const texts{"zero", "one", "two", "three"};
  std::vector<std::int64_t> const wanted{3, 1};
  redco::data::gathered first(texts, wanted);
  redco::data::gathered const moved(std::move(first));
  REQUIRE(moved.span().size() == 2);
  REQUIRE(moved.span()[0] == "three");
  REQUIRE(moved.span()[1] == "one");
  REQUIRE(moved.span()[0].data() != texts[3].data());
}

TEST_CASE("adjacent elements are not copied") {
  std::vector<std::string> const texts{"zero", "one", "two", "three"};
  std::vector<std::int64_t> const wanted{1, 2, 3};
  redco::data::gathered const window(std::span<std::string const>(texts), wanted);
  REQUIRE(window.span().data() == &texts[1]);
  REQUIRE(window.span().size() == 3);
}

TEST_CASE("elements that only convert to examples are copied, contiguous or not") {
  std::vector<char const*> const words{"zero", "one", "two"};
  std::vector<std::int64_t> const wanted{1, 2};
  redco::data::gathered<std::string> const converted(words, wanted);
  REQUIRE(converted.span()[0] == "one");
  REQUIRE(converted.span()[1] == "two");
  STATIC_REQUIRE(!std::constructible_from<redco::data::gathered<std::string>, std::vector<int> const&,
                                          std::span<std::int64_t const>>);
}

TEST_CASE("a view that computes its elements is a range of examples") {
  auto const squares = ranges::views::iota(std::int64_t{0}, std::int64_t{10}) |
                       ranges::views::transform([](std::int64_t i) { return i * i; });
  std::vector<std::int64_t> const wanted{4, 5};
  REQUIRE(redco::data::gathered(squares, wanted).span()[1] == 25);
  REQUIRE(redco::data::gathered(squares, {}).span().empty());
  STATIC_REQUIRE(!redco::data::example_range<std::list<int>>);
  STATIC_REQUIRE(!redco::data::example_range<std::vector<bool>>);
  STATIC_REQUIRE(redco::data::example_range<std::span<int const>>);
}
