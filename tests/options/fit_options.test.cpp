#include "catch.hpp"

#include <redco/options/deployer_options.hpp>
#include <redco/options/fit_options.hpp>
#include <redco/options/parse.hpp>

#include <redco/diag/error.hpp>
#include <redco/meta/fields.hpp>

#include <string>
#include <utility>
#include <variant>
#include <vector>

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

redco::optimizer::chosen_rule chosen(std::vector<char const*> words) {
  words.insert(words.begin(), "program");
  return redco::options::parse<program_options>(static_cast<int>(words.size()), words.data()).training.optimizer();
}

std::string refusal(std::vector<char const*> words) {
  try {
    chosen(std::move(words));
  } catch (redco::error const& e) {
    return std::to_string(static_cast<int>(e.code())) + " " + e.what();
  }
  return "";
}

TEST_CASE("each value of --optimizer chooses its rule with the rates, decay and clipping of the flags") {
  using redco::optimizer::chosen_rule;
  std::vector<std::string> names;
  for (redco::optimizer::rule_kind const kind : redco::optimizer::rule_texts.values()) {
    std::string const name(name_of(kind));
    INFO(name);
    chosen_rule const rule = chosen({"--optimizer", name.c_str(), "--lr", "0.5", "--warmup", "7", "--weight-decay",
                                     "0.25", "--clip-norm", "3", "--clip-kind", "inf"});
    std::visit(
        [&](auto const& one) {
          names.emplace_back(one.name);
          CHECK(one.lr.peak == 0.5);
          CHECK(one.lr.warmup == 7);
          CHECK(one.weight_decay == 0.25);
          CHECK(one.clip_norm == 3);
          CHECK(one.clip_kind == redco::optimizer::norm_kind::inf);
          if constexpr (requires { one.relative_step; }) CHECK((!one.relative_step && !one.scale_parameter));
        },
        rule.rule);
    CHECK(names.back() == name);
  }
  CHECK(names.size() == 7);
  CHECK(std::get<redco::adamw>(chosen({}).rule).clip_kind == redco::optimizer::norm_kind::l2);
  CHECK(refusal({"--clip-kind", "l1"}).starts_with("64 --clip-kind"));
}

TEST_CASE("momentum and averages of the flags are values of their rules, and refused by others") {
  using std::get;
  CHECK(get<redco::sgd>(chosen({"--optimizer", "sgd", "--momentum", "0.5"}).rule).momentum == 0.5);
  auto const muon =
      get<redco::optimizer::muon>(chosen({"--optimizer", "muon", "--momentum", "0.5", "--beta1", "0.6"}).rule);
  CHECK((muon.momentum == 0.5 && muon.beta1 == 0.6 && muon.beta2 == redco::optimizer::muon().beta2));
  auto const adamw = get<redco::adamw>(chosen({"--beta1", "0.5", "--beta2", "0.75"}).rule);
  CHECK((adamw.beta1 == 0.5 && adamw.beta2 == 0.75));
  CHECK(get<redco::optimizer::adafactor>(chosen({"--optimizer", "adafactor", "--beta1", "0.5"}).rule).beta1 == 0.5);
  CHECK(get<redco::optimizer::lion>(chosen({"--optimizer", "lion", "--beta2", "0.5"}).rule).beta2 == 0.5);
  CHECK(refusal({"--momentum", "0.5"}) ==
        "64 --momentum: the optimizer adamw has no such value; leave the option out, or choose another --optimizer");
  CHECK(refusal({"--optimizer", "sgd", "--beta1", "0.5"}).starts_with("64 --beta1: the optimizer sgd has"));
  CHECK(refusal({"--optimizer", "adafactor", "--beta2", "0.5"}).starts_with("64 --beta2: the optimizer adafactor"));
  CHECK(refusal({"--beta1", "1.5"}).starts_with("64 --beta1"));
  std::string const unknown = refusal({"--optimizer", "adam"});
  CHECK(unknown.starts_with("64 --optimizer"));
  CHECK(unknown.find("adamw|sgd|lion|muon|ademamix|schedule_free|adafactor") != std::string::npos);
}

}  // namespace fit_options_test
