#include "torch_catch.hpp"

#include "recorded_updates.hpp"

#include <redco/update/any_optimizer.hpp>
#include <redco/update/parameter_settings.hpp>

#include <redco/shard/plan.hpp>
#include <redco/model/bart.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/optimizer/groups.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/diag/error.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace {

using redco::optimizer::group;
using redco::optimizer::grouped;
using redco::update::parameter_settings;

redco::gpt2 const three_blocks{{.vocab = 11, .context = 8, .width = 4, .heads = 2, .layers = 3}};

template <class Model>
std::map<std::string, parameter_settings> settings_by_name(Model const& model, grouped<redco::adamw> const& rule) {
  auto const placed = redco::shard::placed_parameters(redco::plan_of(model, {}));
  auto const settings = redco::update::settings_of(rule, placed);
  std::map<std::string, parameter_settings> all;
  for (std::size_t i = 0; i < placed.size(); ++i) all[placed[i].name] = settings[i];
  return all;
}

std::string refusal(grouped<redco::adamw> const& rule) {
  try {
    settings_by_name(three_blocks, rule);
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::usage);
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the last matching group that has a setting decides it") {
  auto const all =
      settings_by_name(three_blocks, grouped(redco::adamw{}, {{.pattern = "*", .rate = 0.5},
                                                              {.pattern = "h.1.*", .weight_decay = 0.3},
                                                              {.pattern = "h.?.attn.*", .rate = 2.0},
                                                              {.pattern = "*.bias", .weight_decay = 0.0}}));
  CHECK(all.at("wte.weight") == parameter_settings{0.5, {}});
  CHECK(all.at("h.0.attn.q.weight") == parameter_settings{2, {}});
  CHECK(all.at("h.1.attn.q.weight") == parameter_settings{2, 0.3});
  CHECK(all.at("h.1.attn.q.bias") == parameter_settings{2, 0.0});
  CHECK(all.at("h.1.ln_1.weight") == parameter_settings{0.5, 0.3});
}

TEST_CASE("a layer decay lowers the rates from the head to the embeddings") {
  auto const all =
      settings_by_name(three_blocks, grouped(redco::adamw{}, {{.pattern = "h.1.*.bias", .rate = 10.0}}, 0.5));
  CHECK(all.at("wte.weight").rate == 0.0625);
  CHECK(all.at("wpe.weight").rate == 0.0625);
  CHECK(all.at("h.0.ln_1.weight").rate == 0.125);
  CHECK(all.at("h.1.attn.q.weight").rate == 0.25);
  CHECK(all.at("h.1.attn.q.bias").rate == 2.5);
  CHECK(all.at("h.2.mlp.up.weight").rate == 0.5);
  CHECK(all.at("ln_f.weight").rate == 1);
}

TEST_CASE("a group without parameters and impossible numbers are refused") {
  CHECK(refusal(grouped(redco::adamw{}, {{.pattern = "*.bias", .rate = 1.0}, {.pattern = "layers.*", .rate = 2.0}}))
            .find("'layers.*' matches no parameter") != std::string::npos);
  CHECK(refusal(grouped(redco::adamw{}, {{.pattern = "*", .rate = -1.0}})).find("has the rate -1") !=
        std::string::npos);
  CHECK(refusal(grouped(redco::adamw{}, {{.pattern = "*", .weight_decay = -1.0}})).find("weight decay -1") !=
        std::string::npos);
  CHECK(refusal(grouped(redco::adamw{}, {}, -0.5)).find("layer decay -0.5") != std::string::npos);
}

TEST_CASE("segments with a rate and a weight decay follow torch's groups of parameters") {
  auto const expected = recorded::updates_of("adamw_groups");
  redco::adamw const rule{.weight_decay = 0.1};
  at::Tensor const param = recorded::first_values(12), grad = at::zeros_like(param);
  std::vector<redco::update::segment> segments;
  for (std::int64_t i = 0; i < 3; ++i)
    segments.push_back(redco::update::make_segment(rule, param.narrow(0, 4 * i, 4), grad.narrow(0, 4 * i, 4), true));
  segments[0].rate = 0.1;
  segments[1].weight_decay = 0.5;
  for (std::int64_t step = 1; step <= 5; ++step) {
    grad.copy_(recorded::gradient_at(param, step));
    for (redco::update::segment& s : segments) redco::update::update(rule, s, 0.03, step);
    REQUIRE(recorded::largest_difference(
                param, recorded::tensor_of(expected["values"][static_cast<std::size_t>(step - 1)])) < 1e-14);
  }
}
