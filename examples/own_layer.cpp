// Defines a layer type in this file and trains it under any mesh: a sine with a learned frequency
// for each feature. A small network of such layers learns z = sin(3 x) cos(2 y) from 1,000 points.
// Exit code 1 if the mean absolute error on new points exceeds 0.05 with the default options.
// --check-saved compares the tensors that the layer declares with those that autograd saves.
//
//   own_layer --mesh 1x2 --check-saved --workdir run ...     all options: --help

#include <redco/train.hpp>

#include <redco/metrics/scores.hpp>

#include <cmath>
#include <iostream>
#include <random>
#include <span>
#include <vector>

/// A layer that computes sin(frequency * x) for each feature, under every split of x. If each rank
/// holds a share of the features, the parameter is split in the same way. If each rank holds a
/// share of the tokens (sequence parallelism), the parameter's gradient is a sum over these ranks.
template <auto Width>
struct sine : redco::layers::featurewise_layer {
  static constexpr bool unnamed = true;  // its index in the sequence is its name

  template <class X, class Config>
  static constexpr void facts(Config const& config, redco::fact::recorder& w) {
    redco::fact::flow const input = w.activation;
    redco::fact::parameter_fact frequency;
    frequency.shape = {redco::layers::extent_of<Width>(config)};
    frequency.split(redco::shape::axis::tp, redco::shape::is_feature_split<X> ? 0 : -1, input.units);
    frequency.decay = false;
    frequency.start = {redco::fact::initial::kind::ones, 0};
    w.parameter("frequency", frequency);
    redco::fact::shared_parameter_facts<X>(w, frequency.shape);
    // The backward of the product needs the input, the backward of the sine needs the product.
    w.save("input");
    w.save("product", input.shape, input.split_dim, redco::fact::width_kind::compute, input.units);
    w.produce(input.shape, input.split_dim, input.units);
    w.backward(input);
  }
};

/// The computation of `sine` on the shard of one rank.
template <auto Width, class X>
struct redco::module<sine<Width>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b) : frequency(b.parameter("frequency")) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const& ctx) const {
    return x.like(at::sin(nn::shared_parameter<X>(ctx[frequency], ctx.tp()) * x.local()));
  }

  redco::parameter frequency;
};

struct point {
  float x, y, z;
};

std::vector<point> points(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> at(-1, 1);
  std::vector<point> all(count);
  for (point& p : all) p.x = at(random), p.y = at(random), p.z = std::sin(3 * p.x) * std::cos(2 * p.y);
  return all;
}

struct surface {
  using net = redco::sequential<redco::linear<2, 48>, sine<48>, redco::linear<48, 48>, sine<48>, redco::linear<48, 1>>;
  redco::no_config config;
  constexpr redco::extents input(redco::workload const& load) const { return {load.batch, 2}; }
};

struct my_options {
  redco::options::blockless_options deployer;
  int epochs = 60;

  static constexpr auto fields() {
    return redco::fields(redco::field<"deployer">(&my_options::deployer, "where to run"),
                         redco::field<"epochs">(&my_options::epochs, "passes over the points").at_least(0));
  }
};

int main(int argc, char** argv) {
  return redco::main_of<my_options>(argc, argv, "Trains a layer of one's own.", [](my_options const& o) {
    auto const job = redco::collate([](std::span<point const> all) {
                       std::vector<float> numbers;
                       for (point const& p : all) numbers.insert(numbers.end(), {p.x, p.y, p.z});
                       return at::tensor(numbers).view({-1, 3});
                     }) |
                     redco::loss([](auto const& net, at::Tensor const& b) {
                       return at::mse_loss(net(b.narrow(1, 0, 2)).to(at::kFloat), b.narrow(1, 2, 1));
                     }) |
                     redco::predict([](auto const& net, at::Tensor const& b) {
                       at::Tensor const z = net(b.narrow(1, 0, 2)).to(at::kFloat).contiguous();
                       return std::vector<float>(z.const_data_ptr<float>(), z.const_data_ptr<float>() + z.numel());
                     });

    redco::deployer deployer(o.deployer);
    redco::trainer trainer(deployer, surface{}, job, redco::adamw{.lr = 3e-3});
    std::cout << trainer.report({.batch = 50}) << '\n';
    trainer.fit(points(1000, 1), {.epochs = o.epochs, .global_batch = 50});

    auto const unseen = points(300, 2);
    std::vector<float> expected;
    for (point const& p : unseen) expected.push_back(p.z);
    double const off = redco::metrics::mean_absolute_error(redco::predictor(trainer).predict(unseen, 50), expected);
    deployer.conclude("mean absolute error on new points " + std::to_string(off) + " (bound 0.05)");
    return off <= 0.05 || o.epochs != my_options{}.epochs ? 0 : 1;
  });
}
