#include "catch.hpp"

#include <redco/options/parse.hpp>
#include <redco/options/value_text.hpp>
#include <redco/shape/bytes.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/fields.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace value_text_test {

std::string refusal(std::string const& text) {
  try {
    redco::options::parse_bytes(text);
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::usage);
    return e.what();
  }
  return "accepted";
}

TEST_CASE("bytes are a number and a unit") {
  CHECK(redco::options::parse_bytes("40GiB") == redco::GiB(40));
  CHECK(redco::options::parse_bytes("1.5KiB") == 1536);
  CHECK(redco::options::parse_bytes("0.125MiB") == redco::shape::KiB(128));
  CHECK(redco::options::parse_bytes("3TiB") == redco::GiB(3072));
  CHECK(redco::options::parse_bytes("80GB") == 80'000'000'000);
  CHECK(redco::options::parse_bytes("1.5KB") == 1500);
  CHECK(redco::options::parse_bytes("0.125MB") == 125'000);
  CHECK(redco::options::parse_bytes("2TB") == 2'000'000'000'000);
}

TEST_CASE("text that is not a number of bytes is refused with the expected format") {
  CHECK(refusal("10") == "'10' has no unit; write 10GiB, or KiB, MiB or TiB");
  CHECK(refusal("40Gb") == "'40Gb' has the unknown unit 'Gb'; use KiB, MiB, GiB or TiB, or KB, MB, GB or TB");
  CHECK(refusal("").find("is no number of bytes") != std::string::npos);
  CHECK(refusal("-4GiB").find("is no number of bytes") != std::string::npos);
  CHECK(refusal("99999999999999999999GiB").find("is no number of bytes") != std::string::npos);
  CHECK(refusal("9999999999TiB").find("more than 63 bits") != std::string::npos);
  CHECK(refusal("0GiB").find("is nothing") != std::string::npos);
  CHECK(refusal("4 GiB").find("unknown unit ' GiB'") != std::string::npos);
}

using redco::mesh;
using redco::options::parse_mesh, redco::options::to_text;

TEST_CASE("a mesh is written as replicas times shards, or by the names of its axes") {
  CHECK(parse_mesh("2x3") == mesh{.dp = 2, .tp = 3});
  CHECK(parse_mesh("pp=2,dp=2,tp=3") == mesh{.pp = 2, .dp = 2, .tp = 3});
  CHECK(parse_mesh("tp=3,dp=2") == mesh{.dp = 2, .tp = 3});
  CHECK(parse_mesh("ep=4") == mesh{.ep = 4});
  CHECK(to_text({.dp = 2, .tp = 3}) == "2x3");
  CHECK(to_text({.pp = 2, .dp = 2, .tp = 3}) == "pp=2,dp=2,tp=3");
  // Replicas in groups count as replicas, because --mesh does not take the axis of groups.
  CHECK(to_text({.dp = 2, .ds = 4, .tp = 3}) == "8x3");
  CHECK(to_text({.dp = 2, .ds = 2, .ep = 2}) == "dp=4,ep=2");
  for (int pp = 1; pp < 3; ++pp)
    for (int dp = 1; dp < 3; ++dp)
      for (int ep = 1; ep < 3; ++ep)
        for (int tp = 1; tp < 3; ++tp) {
          mesh const m{.pp = pp, .dp = dp, .ep = ep, .tp = tp};
          CHECK(parse_mesh(to_text(m)) == m);
        }
}

TEST_CASE("text that is not a mesh is refused with both formats") {
  for (char const* text : {"", "2", "0x2", "2x2x2", "dp=0", "dp=-1", "dp=+1", "dp=", "dp", "mp=2", "dp=2,", ",dp=2",
                           "dp=2,dp=2", "dp=2,ds=2", "dp=2x2", "dp=2 ,tp=2", "dp=2;tp=2", "dp=99999999999"}) {
    INFO(text);
    try {
      parse_mesh(text);
      FAIL("accepted");
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::usage);
      CHECK(std::string(e.what()) ==
            "'" + std::string(text) +
                "' is not a mesh; write DPxTP, replicas times shards, each at least 1: 1x2 is one model cut into two "
                "shards; or name axes: dp=2,ep=2,tp=2");
    }
  }
}

using redco::recomputed_blocks;
using redco::options::parse_recomputed_blocks;

struct options {
  recomputed_blocks recompute;
  int epochs = 3;
  static constexpr auto fields() {
    return redco::fields(redco::field<"recompute">(&options::recompute, "blocks"),
                         redco::field<"epochs">(&options::epochs));
  }
};

redco::options::resolved<options> resolved_from(std::vector<char const*> words) {
  words.insert(words.begin(), "program");
  return redco::options::resolve<options>(static_cast<int>(words.size()), words.data(), "");
}

recomputed_blocks chosen(std::vector<char const*> words) { return resolved_from(std::move(words)).values.recompute; }

TEST_CASE("the number of chosen blocks equals a count of the chosen blocks") {
  for (recomputed_blocks const one :
       {recomputed_blocks(), recomputed_blocks(true), recomputed_blocks::every_kth(2), recomputed_blocks::every_kth(3),
        recomputed_blocks::first_n(1), recomputed_blocks::first_n(4), recomputed_blocks::in_range({2, 5}),
        recomputed_blocks::in_range({6, 7}), recomputed_blocks::in_range({3})}) {
    INFO(to_text(one));
    std::int64_t found = 0;
    for (std::int64_t blocks = 0; blocks < 8; ++blocks) {
      CHECK(one.count(blocks) == found);
      found += one.has(blocks);
    }
    CHECK(one.any() == (found > 0));
    CHECK(parse_recomputed_blocks(to_text(one)) == one);
  }
  CHECK(recomputed_blocks::every_kth(1) == recomputed_blocks(true));
  CHECK_FALSE(recomputed_blocks::every_kth(2).has(0));
  CHECK(recomputed_blocks::every_kth(2).has(1));
}

TEST_CASE("a range of blocks begins with its first block and ends before its end") {
  auto const two = recomputed_blocks::in_range({4, 6});
  CHECK((!two.has(3) && two.has(4) && two.has(5) && !two.has(6)));
  CHECK(to_text(two) == "range:4:6");
  CHECK(to_text(recomputed_blocks::in_range({4})) == "range:4:");
  CHECK(parse_recomputed_blocks("range:4:6") == two);
  CHECK(parse_recomputed_blocks("range:0:3") == recomputed_blocks::first_n(3));
  CHECK(to_text(parse_recomputed_blocks("range:0:3")) == "first:3");
  CHECK(parse_recomputed_blocks("range:0:") == recomputed_blocks(true));
  for (redco::shape::block_range const& wrong : {redco::shape::block_range{4, 4}, {5, 4}, {-1, 2}}) {
    try {
      recomputed_blocks::in_range(wrong);
      FAIL("accepted");
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::usage);
      CHECK(std::string(e.what()) ==
            "[" + std::to_string(wrong.begin) + ", " + std::to_string(wrong.end) +
                ") is no range of blocks to recompute: give a begin from 0 on and a larger end");
    }
  }
}

TEST_CASE("the recompute option is given alone, with a value, or with the prefix no-") {
  CHECK(chosen({}) == recomputed_blocks());
  CHECK(chosen({"--recompute"}) == recomputed_blocks(true));
  CHECK(chosen({"--recompute", "--epochs", "5"}) == recomputed_blocks(true));
  CHECK(chosen({"--recompute", "every:2", "--epochs", "5"}) == recomputed_blocks::every_kth(2));
  CHECK(chosen({"--recompute=first:3"}) == recomputed_blocks::first_n(3));
  CHECK(chosen({"--recompute", "range:4:8", "--epochs", "5"}) == recomputed_blocks::in_range({4, 8}));
  CHECK(chosen({"--recompute", "all"}) == recomputed_blocks(true));
  CHECK(chosen({"--recompute", "none"}) == recomputed_blocks());
  CHECK(chosen({"--recompute", "every:2", "--no-recompute"}) == recomputed_blocks());
  CHECK(chosen({"--no-recompute", "--recompute", "every:2"}) == recomputed_blocks::every_kth(2));
}

TEST_CASE("the prefix no- takes no value") {
  for (std::vector<char const*> const& words :
       {std::vector<char const*>{"--no-recompute", "every:2"}, {"--epochs", "5", "--no-recompute=every:2"}}) {
    try {
      resolved_from(words);
      FAIL("accepted");
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::usage);
      CHECK(std::string(e.what()) ==
            "--no-recompute takes no value, but has 'every:2'; give it to --recompute, or leave it out");
    }
  }
  CHECK(chosen({"--no-recompute", "--epochs", "5"}) == recomputed_blocks());
}

TEST_CASE("a config file stores recomputed blocks as true, false or text") {
  CHECK(resolved_from({}).json().find("\"recompute\":false") != std::string::npos);
  CHECK(resolved_from({"--recompute"}).json().find("\"recompute\":true") != std::string::npos);
  CHECK(resolved_from({"--recompute", "first:3"}).json().find("\"recompute\":\"first:3\"") != std::string::npos);
  CHECK(resolved_from({"--recompute", "range:4:8"}).json().find("\"recompute\":\"range:4:8\"") != std::string::npos);
}

TEST_CASE("text that names no blocks is refused with the allowed forms") {
  for (char const* text : {"",
                           "every",
                           "every:",
                           "every:0",
                           "every:-1",
                           "every:+1",
                           "every: 2",
                           "every:2,",
                           "second:2",
                           "first:0",
                           "first:2x",
                           "2",
                           "every:99999999999999999999",
                           "range",
                           "range:",
                           "range:4",
                           "range::8",
                           "range:4:4",
                           "range:8:4",
                           "range:-1:4",
                           "range:+4:8",
                           "range:4:8:12",
                           "range:4:8x"}) {
    INFO(text);
    try {
      parse_recomputed_blocks(text);
      FAIL("accepted");
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::usage);
      CHECK(std::string(e.what()) == "'" + std::string(text) +
                                         "' names no blocks; write all, none, every:2 for every second block, first:3 "
                                         "for the first three, or range:4:8 for blocks 4 to 7, counted from 0");
    }
  }
  try {
    resolved_from({"--recompute", "twice"});
    FAIL("accepted");
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::usage);
    CHECK(std::string(e.what()).starts_with("--recompute: 'twice' names no blocks; "));
  }
}

}  // namespace value_text_test
