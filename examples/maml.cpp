// Second-order MAML (Finn, Abbeel and Levine 2017): learns initial weights from which one gradient
// step learns a new task. Exit code 1 unless the bound of the chosen tasks holds. Sinusoids, 10
// points each: the error after that step is at most 0.3 of the error after ordinary pretraining.
// Glyphs that the program draws, 5 new ones with one example each: 90 of 100 are classified
// correctly.
//
//   maml --mesh 2x1 --workdir run ...     maml --tasks glyphs ...     all options: --help

#include <redco/train.hpp>

#include <array>
#include <iostream>
#include <random>

using namespace redco;

/// A task: the support set to learn from, and the query set to be scored on. Inputs are `[n,
/// features]`, targets `[n, 1]` values or `[n]` classes.
struct task {
  at::Tensor support_inputs, support_targets, query_inputs, query_targets;
};

struct sinusoids {
  using net = sequential<linear<1, 40>, relu, linear<40, 40>, relu, linear<40, 1>>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, 1}; }

  /// Draws amplitude * sin(x + phase) at ten points to learn from and ten points to predict.
  static task draw(std::int64_t number) {
    std::mt19937 random(static_cast<unsigned>(number));
    std::uniform_real_distribution<double> at(-5, 5), amplitude(0.1, 5), phase(0, 3.14159);
    double const high = amplitude(random), shift = phase(random);
    at::Tensor const x = at::empty({20, 1});
    for (int i = 0; i < 20; ++i) x.data_ptr<float>()[i] = static_cast<float>(at(random));
    at::Tensor const y = x.add(shift).sin_().mul_(high);
    return {x.narrow(0, 0, 10), y.narrow(0, 0, 10), x.narrow(0, 10, 10), y.narrow(0, 10, 10)};
  }
  static at::Tensor error(at::Tensor const& found, at::Tensor const& y) {
    return at::mse_loss(found, y.to(found.dtype()));
  }
  static double score(at::Tensor const& found, at::Tensor const& y) { return error(found, y).item<double>(); }
};

struct glyphs {
  static constexpr int side = 12, ways = 5, questions = 3;
  using net = sequential<linear<side * side, 128>, relu, linear<128, 64>, relu, linear<64, ways>>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, side * side}; }

  /// Draws five glyphs of three random strokes each: one image of each to learn from, three to
  /// classify. Each image is moved by at most one pixel in each direction and has noise.
  static task draw(std::int64_t number) {
    std::mt19937 random(static_cast<unsigned>(number));
    std::normal_distribution<float> noise(0, 0.1F);
    auto const between = [&](int first, int last) {
      return first + static_cast<int>(random() % unsigned(last - first + 1));
    };
    at::Tensor const x = at::empty({ways * (1 + questions), side * side}), y = at::empty({x.size(0)}, at::kLong);
    for (int glyph = 0; glyph < ways; ++glyph) {
      std::array<int, 12> ends{};
      for (int& end : ends) end = between(1, side - 2);
      for (int copy = 0; copy <= questions; ++copy) {
        int const row = copy == 0 ? glyph : ways + (copy - 1) * ways + glyph;
        float* const pixels = x[row].data_ptr<float>();
        for (int i = 0; i < side * side; ++i) pixels[i] = noise(random);
        int const down = between(-1, 1), right = between(-1, 1);
        for (std::size_t s = 0; s < ends.size(); s += 4)
          for (int step = 0; step <= side; ++step) {
            int const r = down + (ends[s] * (side - step) + ends[s + 2] * step) / side;
            int const c = right + (ends[s + 1] * (side - step) + ends[s + 3] * step) / side;
            pixels[r * side + c] = 1;
          }
        y[row] = glyph;
      }
    }
    return {x.narrow(0, 0, ways), y.narrow(0, 0, ways), x.slice(0, ways), y.slice(0, ways)};
  }
  static at::Tensor error(at::Tensor const& found, at::Tensor const& y) { return at::cross_entropy_loss(found, y); }
  static double score(at::Tensor const& found, at::Tensor const& y) {
    return found.argmax(1).eq(y).to(at::kDouble).mean().item<double>();
  }
};

struct my_options {
  stepping_options deployer{{.dtype = dtype::f32}};
  std::string tasks = "sinusoids";
  std::int64_t steps = 0, batch = 25;
  double lr = 2e-3, inner_lr = 0;

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(
        field<"deployer">(&o::deployer, "where to run"), field<"tasks">(&o::tasks, "sinusoids, or glyphs"),
        field<"steps">(&o::steps, "meta-steps; 0: 4000, of glyphs 4500").at_least(0),
        field<"batch">(&o::batch, "tasks of a meta-step").at_least(1),
        field<"lr">(&o::lr, "peak of the learning rate of the start").at_least(0),
        field<"inner_lr">(&o::inner_lr, "learning rate of the step that learns a task; 0: 0.01, for glyphs 0.4")
            .at_least(0));
  }
};

/// Returns the network after one gradient step on the examples of the task. The result is
/// differentiable in the initial parameters.
template <class Net>
Net adapted(Net const& net, task const& t, double rate, auto const& error) {
  at::AutoGradMode const on(true);
  return net.stepped(error(net(t.support_inputs), t.support_targets), rate);
}

/// Trains initial weights by MAML or by ordinary pretraining on all tasks. Returns the mean score
/// on new tasks after one gradient step from these weights.
template <class Model>
double learnt(my_options const& o, std::string const& how, std::int64_t steps, double rate) {
  bool const by_maml = how == "maml";
  auto const job =
      collate([](std::span<std::int64_t const> numbers) {
        std::vector<task> tasks;
        for (std::int64_t const number : numbers) tasks.push_back(Model::draw(number));
        return tasks;
      }) |
      loss([=](auto const& net, std::vector<task> const& tasks) {
        at::Tensor sum = at::zeros({});
        for (task const& t : tasks)
          sum = sum + Model::error(by_maml ? adapted(net, t, rate, Model::error)(t.query_inputs) : net(t.query_inputs),
                                   t.query_targets);
        return mean{sum, static_cast<double>(tasks.size())};
      }) |
      predict([=](auto const& net, std::vector<task> const& tasks) {
        std::vector<double> scores;
        for (task const& t : tasks)
          scores.push_back(Model::score(adapted(net, t, rate, Model::error)(t.query_inputs), t.query_targets));
        return scores;
      });
  std::vector<std::int64_t> train(static_cast<std::size_t>(steps * o.batch)), unseen(400);
  std::iota(train.begin(), train.end(), 0);
  std::iota(unseen.begin(), unseen.end(), std::int64_t{1} << 30);
  deployer_options deployment = o.deployer;
  deployment.workdir /= how;
  deployer where(deployment);
  trainer meta(where, Model{}, job, adamw{.lr = linear_decay{.peak = o.lr}, .weight_decay = 0, .clip_norm = 10});
  meta.fit(train, {.global_batch = o.batch, .unit = "tasks", .save_argmin = {}});
  auto const scores = predictor(meta).predict(unseen, 50);
  return std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
}

int main(int argc, char** argv) {
  return main_of<my_options>(argc, argv, "Learns to learn.", [](my_options const& o) {
    bool const shapes = o.tasks == "glyphs";
    if (!shapes && o.tasks != "sinusoids")
      throw error(exit_code::usage, "--tasks " + o.tasks + ": give sinusoids or glyphs");
    std::int64_t const steps = o.steps > 0 ? o.steps : shapes ? 4500 : 4000;
    double const rate = o.inner_lr > 0 ? o.inner_lr : shapes ? 0.4 : 0.01;
    if (shapes) {
      double const right = learnt<glyphs>(o, "maml", steps, rate);
      std::cout << right * 100 << " of 100 new glyphs are named rightly after one step (bound 90)\n";
      return o.steps > 0 || right >= 0.9 ? 0 : 1;
    }
    double const meta = learnt<sinusoids>(o, "maml", steps, rate);
    double const usual = learnt<sinusoids>(o, "pretrained", steps, rate);
    std::cout << "query error after one step " << meta << ", of ordinary pretraining " << usual
              << " (bound 0.3 of it)\n";
    return o.steps > 0 || meta <= 0.3 * usual ? 0 : 1;
  });
}
