#include "torch_catch.hpp"

#include <redco/nn/nn.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/bart.hpp>
#include <redco/model/bert.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/gpt_neo.hpp>
#include <redco/model/gpt_neox.hpp>
#include <redco/model/gptj.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/model.hpp>
#include <redco/model/olmo2.hpp>
#include <redco/model/opt.hpp>
#include <redco/model/t5.hpp>
#include <redco/model/vit.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/convolutions.hpp>
#include <redco/layer/embeddings.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/recurrent.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/adapt/plan/low_rank_adapted.hpp>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// Checks the initial values of every layer type and family. A layer's deviation is that of torch's
// layer of the same kind. torch draws uniformly from -r to r; redco draws normally with deviation r
// / sqrt(3). A family's deviation is that of `_init_weights` of its class in transformers.

namespace initial_test {

using namespace redco;

enum class shape_of_draw { normal, uniform };

template <class M>
std::map<std::string, at::Tensor> first_values(M const& m) {
  redco::nn::parameter_store const store(shard::placed_parameters(plan_of(m, {.dp = 1})), 0, dtype::f64, 20);
  std::map<std::string, at::Tensor> all;
  for (auto const& p : store.parameters()) all[p.name] = p.value.clone();
  return all;
}

/// Checks the distribution of n draws. Mean and deviation are within five standard errors, the
/// kurtosis is within six. Normal draws must exceed sqrt(3) deviations; uniform draws must stay
/// below but come close.
void check_draws(at::Tensor const& values, double deviation, shape_of_draw drawn = shape_of_draw::normal) {
  bool const normal = drawn == shape_of_draw::normal;
  auto const n = static_cast<double>(values.numel());
  REQUIRE(n > 1000);
  double const kurtosis = normal ? 3 : 1.8, reach = std::sqrt(3.0) * deviation;
  CHECK(std::abs(values.mean().item<double>()) < 5 * deviation / std::sqrt(n));
  double const found = std::sqrt(values.square().mean().item<double>());
  CHECK(std::abs(found / deviation - 1) < 5 * std::sqrt((kurtosis - 1) / (4 * n)));
  double const fourth = values.pow(4).mean().item<double>() / std::pow(deviation, 4);
  CHECK(std::abs(fourth - kurtosis) < 6 * std::sqrt((normal ? 96 : 3.6) / n));
  double const largest = values.abs().max().item<double>();
  if (normal) CHECK(largest > 1.5 * reach);
  else CHECK((largest <= reach && largest > 0.99 * reach));
}

template <class Layer, class Input = void>
std::map<std::string, at::Tensor> layer_values() {
  return first_values(model_of<named<"a", Layer>, Input>{});
}
void check_constant(at::Tensor const& values, double value) { CHECK(values.eq(value).all().item<bool>()); }

TEST_CASE("linear layers and gated units start with torch's deviation 1 / sqrt(3 inputs), biases with 0") {
  auto const linears = layer_values<linear<48, 64>>();
  check_draws(linears.at("a.weight"), 1 / std::sqrt(3.0 * 48));
  check_constant(linears.at("a.bias"), 0);
  auto const units = layer_values<gated<48, 64, silu, true>>();
  for (std::string const half : {"a.gate", "a.up"}) {
    check_draws(units.at(half + ".weight"), 1 / std::sqrt(3.0 * 48));
    check_constant(units.at(half + ".bias"), 0);
  }
}

TEST_CASE("tables start normal with deviation 1") {
  check_draws(layer_values<embedding<97, 64>>().at("a.weight"), 1);
  check_draws(layer_values<positions<97, 64>>().at("a.weight"), 1);
  check_draws(layer_values<redco::layers::token_types<97, 64>>().at("a.weight"), 1);
  check_draws(layer_values<class_token<2000>, input<3, 2000>>().at("a.weight"), 1);
}

TEST_CASE("convolutions start with torch's deviation, 1 / sqrt(3 numbers of a kernel)") {
  auto const forward = layer_values<conv2d<5, 64, 3>, input<5, 9, 9>>();
  check_draws(forward.at("a.weight"), 1 / std::sqrt(3.0 * 5 * 9));
  check_constant(forward.at("a.bias"), 0);
  // For a transposed convolution, torch takes the second dimension of its weight [in, out, k, k] as
  // the number of inputs.
  auto const transposed = layer_values<conv_transpose2d<64, 5, 3>, input<64, 9, 9>>();
  check_draws(transposed.at("a.weight"), 1 / std::sqrt(3.0 * 5 * 9));
  check_constant(transposed.at("a.bias"), 0);
  auto const patches = layer_values<patch_embedding<3, 4, 64>, input<3, 8, 12>>();
  check_draws(patches.at("a.weight"), 1 / std::sqrt(3.0 * 3 * 16));
  check_constant(patches.at("a.bias"), 0);
}

TEST_CASE(
    "recurrent layers start with the deviation of torch's uniform numbers up to 1 / sqrt(hidden), biases with 0") {
  auto const check = [](std::map<std::string, at::Tensor> const& values) {
    // Hidden 64, for any number of inputs
    check_draws(values.at("a.weight_ih"), 0.125 / std::sqrt(3.0));
    check_draws(values.at("a.weight_hh"), 0.125 / std::sqrt(3.0));
    check_constant(values.at("a.bias_ih"), 0);
    check_constant(values.at("a.bias_hh"), 0);
  };
  check(layer_values<lstm<48, 64>, input<3, 48>>());
  check(layer_values<gru<48, 64>, input<3, 48>>());
}

TEST_CASE("norms start with factors 1 and biases 0, batch norm with mean 0 and variance 1") {
  for (auto const& values : {layer_values<layer_norm<7>>(), layer_values<group_norm<2, 6>, input<6, 3, 3>>(),
                             layer_values<batch_norm<6>, input<6, 3, 3>>()}) {
    check_constant(values.at("a.weight"), 1);
    check_constant(values.at("a.bias"), 0);
  }
  check_constant(layer_values<rms_norm<7>>().at("a.weight"), 1);
  auto const statistics = layer_values<batch_norm<6>, input<6, 3, 3>>();
  check_constant(statistics.at("a.running_mean"), 0);
  check_constant(statistics.at("a.running_variance"), 1);
}

TEST_CASE("attention starts like linear layers of its inputs, o of all heads' features") {
  auto const values = layer_values<full_attention<48, 6, key_value_heads<3>, redco::layers::head_dim<12>>>();
  for (std::string const name : {"a.q", "a.k", "a.v"}) {
    check_draws(values.at(name + ".weight"), 1 / std::sqrt(3.0 * 48));
    check_constant(values.at(name + ".bias"), 0);
  }
  check_draws(values.at("a.o.weight"), 1 / std::sqrt(3.0 * 72));
  check_draws(
      layer_values<full_attention<48, 6, redco::layers::output_deviation<redco::layers::real{0.3}>>>().at("a.o.weight"),
      0.3);
  auto const unscaled_values =
      layer_values<full_attention<48, 6, redco::layers::head_dim<16>, redco::layers::unscaled>>();
  // The initial values include the scale of scores
  check_draws(unscaled_values.at("a.q.weight"), 1 / std::sqrt(3.0 * 48) / 4);
  check_draws(unscaled_values.at("a.k.weight"), 1 / std::sqrt(3.0 * 48));
}

TEST_CASE("adapters start as PEFT's: A uniform up to 1 / sqrt(inputs), B with 0") {
  static constexpr lora_options adapters{.rank = 40, .alpha = 3, .targets = "a"};
  auto const values = layer_values<redco::adapt::low_rank_adapted<adapters, linear<48, 64>>>();
  check_draws(values.at("a.lora_A.weight"), 1 / std::sqrt(3.0 * 48), shape_of_draw::uniform);
  check_constant(values.at("a.lora_B.weight"), 0);
}

/// Checks the initial values of every parameter of a family. Parameters that are not drawn start as
/// zeros, weights of norms as ones.
template <class M>
void check_family(M const& m, std::function<double(std::string_view)> const& deviation_of) {
  for (auto const& entry : plan_of(m, {.dp = 1}).entries) {
    fact::initial const& start = entry.fact.start;
    std::string const name(entry.fact.name.view());
    INFO(name);
    if (start.draw == fact::initial::kind::normal) {
      CHECK(start.deviation == Approx(deviation_of(name)).epsilon(1e-12));
    } else if (start.draw == fact::initial::kind::ones) {
      CHECK(name.ends_with("weight"));
      CHECK(entry.fact.why == fact::reason::norm);
    } else {
      CHECK(start.draw == fact::initial::kind::zeros);
      CHECK(name.ends_with("bias"));
    }
  }
}

TEST_CASE("families start with the deviations of their classes in transformers") {
  auto const all = [](double deviation) { return [deviation](std::string_view) { return deviation; }; };
  // GPT2PreTrainedModel: 0.02, and 0.02 / sqrt(2 layers) for the last layer of a residual branch.
  gpt2 const text{{.vocab = 11, .context = 8, .width = 12, .heads = 3, .layers = 5}};
  check_family(text, [](std::string_view name) {
    bool const ends = name.ends_with(".o.weight") || name.ends_with(".down.weight");
    return ends ? 0.02 / std::sqrt(10.0) : 0.02;
  });
  check_family(gpt_neo{}, all(0.02));
  check_family(gptj{}, all(0.02));
  check_family(opt{}, all(0.02));
  check_family(llama{}, all(0.02));
  check_family(models::olmo2{}, all(0.02));
  check_family(models::gpt_neox{}, all(0.02));
  check_family(bart{}, all(0.02));
  check_family(bert{}, all(0.02));
  check_family(roberta{}, all(0.02));
  check_family(vit{}, all(0.02));
}

/// Checks T5PreTrainedModel with factor 1. Deviations: table and untied head 1; queries 1 /
/// sqrt(width * features of a head); keys, values, wi and bias by distance 1 / sqrt(width); o 1 /
/// sqrt(features of all heads); wo 1 / sqrt(ffn).
template <class M>
void check_t5(M m) {
  m.config.width = 20, m.config.heads = 3, m.config.head_dim = 8, m.config.ffn = 28;
  check_family(m, [](std::string_view name) {
    if (name.find("embed_tokens") != name.npos || name.find("lm_head") != name.npos) return 1.0;
    if (name.ends_with(".q.weight")) return 1 / std::sqrt(20.0 * 8);
    if (name.ends_with(".o.weight")) return 1 / std::sqrt(24.0);
    if (name.ends_with(".wo.weight")) return 1 / std::sqrt(28.0);
    return 1 / std::sqrt(20.0);
  });
}

TEST_CASE("T5 starts with the deviations of its class in transformers") {
  check_t5(t5{});
  check_t5(redco::models::t5_gated{});
}

}  // namespace initial_test
