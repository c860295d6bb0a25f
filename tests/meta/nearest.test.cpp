#include <redco/meta/nearest.hpp>

#include "catch.hpp"

#include <string>
#include <vector>

TEST_CASE("edit distance counts insertions, deletions, replacements and swaps of neighbours") {
  CHECK(redco::meta::edit_distance("", "") == 0);
  CHECK(redco::meta::edit_distance("", "abc") == 3);
  CHECK(redco::meta::edit_distance("abcd", "") == 4);
  CHECK(redco::meta::edit_distance("kitten", "sitting") == 3);
  CHECK(redco::meta::edit_distance("--epcohs", "--epochs") == 1);
  CHECK(redco::meta::edit_distance("ca", "abc") == 3);  // no substring is edited twice
}

TEST_CASE("nearest finds the intended name, and nothing if no name is near") {
  std::vector<std::string> const names = {"--epochs", "--ranks", "--n-model-shards", "--seed"};
  CHECK(redco::meta::nearest("--epoch", names) == "--epochs");
  CHECK(redco::meta::nearest("--n-modelshard", names) == "--n-model-shards");
  CHECK(redco::meta::nearest("--rank", names) == "--ranks");
  CHECK(redco::meta::nearest("--completely-different", names).empty());
  // Every letter would be replaced
  CHECK(redco::meta::nearest("x", std::vector<std::string>{"y"}).empty());
  CHECK(redco::meta::nearest("a", std::vector<std::string>{}).empty());
  // The first of equal candidates
  CHECK(redco::meta::nearest("aac", std::vector<std::string>{"aab", "aad"}) == "aab");
}
