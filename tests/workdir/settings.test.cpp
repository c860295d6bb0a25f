#include "catch.hpp"

#include <redco/workdir/changed_settings.hpp>
#include <redco/workdir/settings_of.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/options/fit_options.hpp>
#include <redco/optimizer/adamw.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

struct derived_config : redco::gpt2_config {
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

}  // namespace

TEST_CASE("settings are named as the program names them, with the fewest digits") {
  redco::gpt2 model;
  model.config.dropout = 0.1;
  plain_options o;
  o.frozen = {"wte.*"};
  settings const all = redco::workdir::settings_of(model, redco::adamw{.lr = redco::cosine{.peak = 3e-4, .warmup = 7}},
                                                   o, redco::dtype::bf16);
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

TEST_CASE("configurations of any kind are taken: what has no text is left out") {
  settings const rich = redco::workdir::settings_of(rich_model{}, redco::adamw{}, plain_options{}, redco::dtype::f32);
  CHECK(rich.at("model.widths[1]") == "5");
  CHECK(rich.at("model.scale") == "none");
  CHECK(rich.at("model.text") == "a");
  CHECK(rich.at("model.inner.on") == "true");
  CHECK_FALSE(rich.contains("model.hook"));
  settings const derived =
      redco::workdir::settings_of(base_model{}, redco::adamw{}, plain_options{}, redco::dtype::f32);
  CHECK_FALSE(derived.contains("model.width"));
  CHECK(derived.contains("global_batch"));
  redco::scheduled<redco::adamw> const free({.lr = 0.5}, [](std::int64_t, std::int64_t) { return 0.25; });
  CHECK(redco::workdir::settings_of(rich_model{}, free, plain_options{}, redco::dtype::f32).at("optimizer.lr") ==
        "function");
}

TEST_CASE("settings that differ are told with both values") {
  settings const before{{"a", "1"}, {"b", "2"}, {"only before", "3"}, {"same", "4"}, {"#a", "why"}};
  settings const now{{"a", "5"}, {"b", "6"}, {"only now", "7"}, {"same", "4"}, {"#a", "why not"}};
  CHECK(redco::workdir::changed_settings(before, now) == "a is 5, was 1; b is 6, was 2");
  CHECK(redco::workdir::changed_settings(before, before).empty());
}
