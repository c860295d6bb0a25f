#include "catch.hpp"

#include <redco/workdir/changed_settings.hpp>
#include <redco/workdir/settings_of.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/options/fit_options.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

struct derived_config : redco::models::gpt2_config {
  int more = 0;
};
struct base_model : redco::gpt2 {
  derived_config config;
};
struct rich_config {
  std::vector<std::int64_t> widths{3, 5};
  std::optional<double> scale;
  std::string text = "a";
  struct inner_sizes {
    bool on = true;
  } inner;
  std::function<void()> hook;
};
struct rich_model : redco::gpt2 {
  rich_config config;
};

using plain_options = redco::fit_options<int, int, std::function<void()>>;
using settings = std::map<std::string, std::string>;

template <redco::layers::real Probability>
using with_dropout = redco::model_of<
    redco::sequential<redco::linear<17, 96>, redco::relu, redco::dropout<Probability>, redco::linear<96, 3>>>;

}  // namespace

TEST_CASE("settings are named as the program names them, with the fewest digits") {
  redco::gpt2 model;
  model.config.dropout = 0.1;
  plain_options o;
  o.frozen = {"wte.*"};
  settings all = redco::workdir::settings_of(model, redco::adamw{.lr = redco::cosine{.peak = 3e-4, .warmup = 7}},
                                             redco::dtype::bf16);
  redco::workdir::add_settings(all, redco::options::settings_of_fit(o, {}, 5, false));
  CHECK(all.at("model.dropout") == "0.1");
  CHECK(all.at("model.width") == "768");
  CHECK(all.at("optimizer") == "adamw");
  CHECK(all.at("optimizer.lr") == "cosine peak 3e-04 warmup 7");
  CHECK(all.at("optimizer.beta2") == "0.999");
  CHECK(all.at("optimizer.amsgrad") == "false");
  CHECK(all.at("global_batch") == "8");
  CHECK(all.at("frozen[0]") == "wte.*");
  CHECK(all.at("dtype") == "bf16");
}

TEST_CASE("a checkpoint records the options that decide the result, and processes agree on these and others") {
  redco::options::fit_settings const fit =
      redco::options::settings_of_fit(plain_options{.max_steps = 9, .frozen = {"a", "b"}, .warm_start = "/here"},
                                      {.epochs = 4, .max_steps = 5}, 7, true);
  settings recorded;
  redco::workdir::add_settings(recorded, fit);
  CHECK(recorded == settings{{"epochs", "4"},
                             {"max_steps", "9"},
                             {"global_batch", "8"},
                             {"micro_batch", "0"},
                             {"patience", "0"},
                             {"frozen[0]", "a"},
                             {"frozen[1]", "b"}});
  settings course;
  redco::workdir::add_course(course, fit);
  settings agreed{{"training examples", "7"}, {"evaluation examples", "0"},  {"train_of_epoch", "false"},
                  {"metrics", "false"},       {"length", "false"},           {"train_step", "false"},
                  {"eval_every_steps", "0"},  {"eval_predictions", "false"}, {"sanity_check", "true"},
                  {"restore_best", "false"},  {"save_every_steps", "0"},     {"save_every_epochs", "0"},
                  {"save_last", "true"},      {"save_argmin[0]", "loss"},    {"keep_last", "2"},
                  {"warm_start", "true"}};
  agreed.insert(recorded.begin(), recorded.end());
  CHECK(course == agreed);
}

TEST_CASE("configurations of any type are accepted, and members without text are left out") {
  settings const rich = redco::workdir::settings_of(rich_model{}, redco::adamw{}, redco::dtype::f32);
  CHECK(rich.at("model.widths[1]") == "5");
  CHECK(rich.at("model.scale") == "none");
  CHECK(rich.at("model.text") == "a");
  CHECK(rich.at("model.inner.on") == "true");
  CHECK_FALSE(rich.contains("model.hook"));
  settings const derived = redco::workdir::settings_of(base_model{}, redco::adamw{}, redco::dtype::f32);
  CHECK_FALSE(derived.contains("model.width"));
  CHECK(derived.contains("dtype"));
  redco::optimizer::scheduled<redco::adamw> const free({.lr = 0.5}, [](std::int64_t, std::int64_t) { return 0.25; });
  CHECK(redco::workdir::settings_of(rich_model{}, free, redco::dtype::f32).at("optimizer.lr") == "function");
}

TEST_CASE("differing settings are listed with both values") {
  settings const before{{"a", "1"}, {"b", "2"}, {"only before", "3"}, {"same", "4"}, {"#a", "why"}};
  settings const now{{"a", "5"}, {"b", "6"}, {"only now", "7"}, {"same", "4"}, {"#a", "why not"}};
  CHECK(redco::workdir::changed_settings(before, now) == "a is 5, was 1; b is 6, was 2");
  CHECK(redco::workdir::changed_settings(before, before).empty());
}

TEST_CASE("a network whose type has another literal is reported with the differing part") {
  settings const before =
      redco::workdir::settings_of(with_dropout<redco::layers::real{0.25}>{}, redco::adamw{}, redco::dtype::f32);
  settings const now =
      redco::workdir::settings_of(with_dropout<redco::layers::real{0.5}>{}, redco::adamw{}, redco::dtype::f32);
  CHECK(redco::workdir::changed_settings(before, before).empty());
  std::string const changes = redco::workdir::changed_settings(before, now);
  INFO(changes);
  CHECK(changes.starts_with("network by "));
  CHECK(changes.find("dropout<") != std::string::npos);
  CHECK(changes.find("dropout<") != changes.rfind("dropout<"));
  CHECK(changes.find("linear") == std::string::npos);
}

TEST_CASE("only the differing words of long settings are reported") {
  std::string const long_text(70, 'x');
  auto const changes = [](std::string const& was, std::string const& is) {
    return redco::workdir::changed_settings({{"a", was}}, {{"a", is}});
  };
  CHECK(changes(long_text + ", one two, " + long_text, long_text + ", one three, " + long_text) ==
        "a is ...three..., was ...two...");
  CHECK(changes(long_text + ", one", long_text + ", other") == "a is ...other, was ...one");
  CHECK(changes("one, " + long_text, "other, " + long_text) == "a is other..., was one...");
  CHECK(changes(long_text, long_text + " more") == "a is " + long_text + " more, was " + long_text);
}

TEST_CASE("a schedule's function is described by its rates, other schedules by their settings") {
  settings all;
  redco::workdir::add_rates(all, redco::adamw{.lr = redco::cosine{.peak = 3e-4}}, 20);
  CHECK(all.empty());
  auto const rates = [](std::int64_t step, std::int64_t run_steps) {
    return static_cast<double>(run_steps - step) / 8;
  };
  redco::adamw const falling{.lr = rates};
  redco::workdir::add_rates(all, falling, 13);
  CHECK(all == settings{{"optimizer.lr at step 0", "1.625"},
                        {"optimizer.lr at step 1", "1.5"},
                        {"optimizer.lr at step 10", "0.375"},
                        {"optimizer.lr halfway", "0.875"},
                        {"optimizer.lr at the end", "0.125"}});
  settings of_one;
  double const captured = 0.75;
  redco::optimizer::scheduled<redco::adamw> const constant({},
                                                           [captured](std::int64_t, std::int64_t) { return captured; });
  redco::workdir::add_rates(of_one, constant, 1);
  CHECK(of_one == settings{{"optimizer.lr at step 0", "0.75"},
                           {"optimizer.lr halfway", "0.75"},
                           {"optimizer.lr at the end", "0.75"}});
  settings none;
  redco::workdir::add_rates(none, constant, 0);
  CHECK(none.empty());
}
