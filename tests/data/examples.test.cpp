#include "catch.hpp"

#include <redco/data/examples.hpp>

#include <cstdint>
#include <string>
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
