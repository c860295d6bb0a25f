#include "torch_catch.hpp"

#include <redco/update/gradient_norm.hpp>
#include <redco/update/segment.hpp>
#include <redco/update/update.hpp>

#include <redco/optimizer/optimizer_description.hpp>
#include <redco/optimizer/optimizers.hpp>

#include "safetensors_file.hpp"
#include "skip.hpp"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace {

using any_optimizer = std::variant<redco::adamw, redco::adam, redco::sgd>;

any_optimizer optimizer_of(redco::json::json_value const& options, std::int64_t warmup) {
  double const peak = options["lr"];
  std::string const schedule = options["schedule"];
  redco::optimizer::learning_rate const lr =
      schedule == "linear"   ? redco::optimizer::learning_rate(redco::linear_decay{peak, warmup})
      : schedule == "cosine" ? redco::optimizer::learning_rate(redco::cosine{peak, warmup})
                             : redco::optimizer::learning_rate(peak);
  double const clip = options["max_norm"].is_null() ? 0.0 : options["max_norm"].get<double>();
  if (options["optimizer"] == "SGD")
    return redco::sgd{.lr = lr,
                      .momentum = options.value("momentum", 0.0),
                      .dampening = options.value("dampening", 0.0),
                      .nesterov = options.value("nesterov", false),
                      .weight_decay = options.value("weight_decay", 0.0),
                      .decay_all = true,
                      .clip_norm = clip};
  auto const filled = [&](auto rule) {
    rule.lr = lr;
    rule.beta1 = options["betas"][0];
    rule.beta2 = options["betas"][1];
    rule.eps = options["eps"];
    rule.weight_decay = options.value("weight_decay", rule.weight_decay);
    rule.amsgrad = options.value("amsgrad", false);
    rule.decay_all = true;
    rule.clip_norm = clip;
    return rule;
  };
  if (options["optimizer"] == "Adam") return filled(redco::adam{});
  return filled(redco::adamw{});
}

double largest_difference(at::Tensor const& a, at::Tensor const& b) { return (a - b).abs().max().item<double>(); }

// Trains the reference problem with its parameters w and b in one flat buffer, split into segments
// at `cuts`, and compares every step. The gradient is passed multiplied by `count`, so that the
// update divides it.
template <class Rule>
void check_trajectory(Rule const& rule, std::map<std::string, at::Tensor> const& data,
                      redco::json::json_value const& tolerances, at::ScalarType type,
                      std::vector<std::int64_t> const& cuts, double count) {
  at::Tensor const a = data.at("A").to(type), y = data.at("y").to(type), c = data.at("c").to(type);
  at::Tensor const param = at::cat({data.at("w0"), data.at("b0")}).to(type), grad = at::zeros_like(param);
  at::Tensor const w = param.slice(0, 0, 8), b = param.slice(0, 8, 11);
  std::vector<redco::update::segment> segments;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
    segments.push_back(redco::update::make_segment(rule, param.slice(0, cuts[i], cuts[i + 1]),
                                                   grad.slice(0, cuts[i], cuts[i + 1]), i % 2 == 0));
  std::int64_t const steps = data.at("lr").size(0);
  for (std::int64_t step = 0; step < steps; ++step) {
    CAPTURE(step, cuts.size(), type);
    at::Tensor const error = a.mv(w) - y;
    double const loss = ((error * error).mean() * 0.5 + (b - c).square().sum() * 0.5).item<double>();
    REQUIRE(loss == Approx(data.at("loss")[step].item<double>()).epsilon(tolerances["loss_rtol"].get<double>()));
    grad.copy_(at::cat({a.t().mv(error) / 6, b - c}) * count);

    redco::update::norm_range const whole{0, grad.numel()};
    double const norm = std::sqrt(redco::update::squared_norm(grad, {&whole, 1})) / count;
    REQUIRE(norm == Approx(data.at("grad_norm")[step].item<double>()).epsilon(1e-5));
    double const lr = redco::optimizer::learning_rate_at(rule, step, steps);
    REQUIRE(lr == Approx(data.at("lr")[step].item<double>()).epsilon(tolerances["lr_rtol"].get<double>()));

    double const scale = redco::update::clip_factor(norm, redco::optimizer::clip_norm(rule)) / count;
    REQUIRE(largest_difference(grad.slice(0, 0, 8) * scale, data.at("grad_w")[step]) < 1e-4);
    for (redco::update::segment& segment : segments) redco::update::update(rule, segment, lr, step + 1, scale);
    REQUIRE(largest_difference(w, data.at("w")[step]) <= tolerances["w_atol"].get<double>());
    REQUIRE(largest_difference(b, data.at("b")[step]) <= tolerances["b_atol"].get<double>());
  }
}

}  // namespace

TEST_CASE("every optimizer follows torch's trajectory for any division of its buffer", "[parity]") {
  auto const folder = shared_folder() / "parity" / "optim";
  if (!std::filesystem::exists(folder / "meta.json")) return skip("no reference trajectories in " + folder.string());
  auto const meta = redco::json::parse_json(file_bytes(folder / "meta.json"), "meta.json");
  REQUIRE(meta["cases"].size() == 11);
  for (auto const& [name, options] : meta["cases"].items()) {
    CAPTURE(name);
    auto const data = read_reference(folder / (name + ".safetensors"));
    auto const rule = optimizer_of(options, meta["warmup"].get<std::int64_t>());
    for (auto const type : {at::kFloat, at::kDouble})
      for (auto const& cuts : std::vector<std::vector<std::int64_t>>{{0, 11}, {0, 1, 8, 11}, {0, 3, 10, 11}})
        for (double const count : {1.0, 384.0})
          std::visit([&](auto const& r) { check_trajectory(r, data, meta["tolerances"], type, cuts, count); }, rule);
  }
}
