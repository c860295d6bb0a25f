#include "catch.hpp"

#include <redco/options/deployer_options.hpp>
#include <redco/options/resolved.hpp>
#include <redco/meta/fields.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

struct program_options {
  redco::deployer_options deployer;
  double rate = 0.5;
  std::optional<int> depth = {};
  std::vector<std::string> names = {"a", "b c"};
  std::filesystem::path data = "/here";
  std::optional<std::filesystem::path> cache = {};

  static constexpr auto fields() {
    using o = program_options;
    return redco::fields(redco::field<"deployer">(&o::deployer, ""), redco::field<"rate">(&o::rate, ""),
                         redco::field<"depth">(&o::depth, ""), redco::field<"names">(&o::names, ""),
                         redco::field<"data">(&o::data, ""), redco::field<"cache">(&o::cache, ""));
  }
};

TEST_CASE("all options must agree except paths and settings of a host") {
  program_options o;
  o.deployer.seed = 7;
  o.deployer.overlap = false;
  o.depth = 3;
  std::map<std::string, std::string> const all = redco::options::agreed_options(o);
  CHECK(all.at("--rate") == "0.5");
  CHECK(all.at("--depth") == "3");
  CHECK(all.at("--names") == "a b c");
  CHECK(all.at("--seed") == "7");
  CHECK(all.at("--overlap") == "false");
  for (char const* const of_host : {"--data", "--cache", "--workdir", "--threads", "--quiet"}) {
    INFO(of_host);
    CHECK_FALSE(all.contains(of_host));
  }
  for (char const* const agreed : {"--ranks", "--n-model-shards", "--mesh", "--device", "--dtype", "--tf32",
                                   "--cuda-graph", "--recompute", "--resume", "--deadline", "--disk-deadline",
                                   "--save-patience", "--gradient-bucket", "--deterministic", "--check-saved"}) {
    INFO(agreed);
    CHECK(all.contains(agreed));
  }
}

}  // namespace
