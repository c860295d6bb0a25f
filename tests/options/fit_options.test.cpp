#include "catch.hpp"

#include <redco/options/deployer_options.hpp>
#include <redco/options/fit_options.hpp>
#include <redco/options/parse.hpp>

#include <redco/diag/error.hpp>
#include <redco/meta/fields.hpp>

#include <string>

namespace fit_options_test {

struct program_options {
  redco::deployer_options deployer;
  redco::training_flags training;
  static constexpr auto fields() {
    using o = program_options;
    return redco::fields(redco::field<"deployer">(&o::deployer), redco::field<"training">(&o::training));
  }
};

int code_of(char const* flag, char const* value) {
  char const* const words[] = {"program", flag, value};
  try {
    redco::options::parse<program_options>(3, words);
    return 0;
  } catch (redco::error const& e) {
    CHECK(std::string(e.what()).starts_with(flag));
    return static_cast<int>(e.code());
  }
}

TEST_CASE("impossible counts and rates are refused when options are read") {
  for (char const* const flag : {"--global-batch", "--ranks", "--n-model-shards"})
    for (char const* const value : {"0", "-5"}) {
      INFO(flag << " " << value);
      CHECK(code_of(flag, value) == 64);
    }
  for (char const* const flag :
       {"--micro-batch", "--epochs", "--max-steps", "--warmup", "--threads", "--lr", "--weight-decay", "--clip-norm"}) {
    INFO(flag);
    CHECK(code_of(flag, "-1") == 64);
    CHECK(code_of(flag, "0") == 0);
  }
}

}  // namespace fit_options_test
