// Trains BERT with differential privacy (Abadi et al. 2016) to tell who does it: Ben in "Ben visits
// Anna" and in "Anna is visited by Ben at night". The gradient of each sentence is clipped by ghost
// norms (Li et al. 2021). With and without any one sentence, each result is equally probable up to
// a factor of e^epsilon, except with probability delta. Epsilon is 8 and delta is 1e-5 by default.
// Exit code 1 unless 90 of 100 sentences about events that were not learned are classified
// correctly.
//
// Seeds 42, 1, 2: accuracy 1, 1, 1. The order of words decides: a linear model of word counts
// reaches at most 0.41.
//
//   dp_sgd --mesh 2x1 --workdir run ...     all options: --help

#include <redco/train.hpp>

#include <redco/nn/example_norms.hpp>
#include <redco/optimizer/privacy.hpp>
#include <redco/metrics/scores.hpp>
#include <redco/random/uniform.hpp>

#include "common/bag_of_words.hpp"
#include "common/labelled_data.hpp"
#include "common/small_bert.hpp"

#include <iostream>

using labelled_data::example;

struct my_options {
  redco::stepping_options deployer{{.dtype = redco::dtype::f32}};
  std::int64_t examples = 50000, steps = 300, batch = 500, micro_batch = 250, warmup = 10;
  double epsilon = 8, delta = 1e-5, clip = 1, lr = 5e-3;

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(
        redco::field<"deployer">(&o::deployer, "where to run"),
        redco::field<"examples">(&o::examples, "number of sentences to learn from").at_least(2),
        redco::field<"steps">(&o::steps, "number of updates").at_least(1),
        redco::field<"batch">(&o::batch, "expected number of sentences of an update").at_least(1),
        redco::field<"micro_batch">(&o::micro_batch, "sentences that a rank computes at a time").at_least(1),
        redco::field<"warmup">(&o::warmup, "updates until the learning rate reaches its peak").at_least(0),
        redco::field<"epsilon">(&o::epsilon,
                                "privacy: logarithm of the factor by which a sentence changes a probability"),
        redco::field<"delta">(&o::delta, "privacy: probability of a larger change"),
        redco::field<"clip">(&o::clip, "largest norm of a sentence's gradient"),
        redco::field<"lr">(&o::lr, "peak of the learning rate").at_least(0));
  }
};

std::vector<std::int64_t> labels_of(std::span<example const> some) {
  std::vector<std::int64_t> labels;
  for (example const& e : some) labels.push_back(static_cast<std::int64_t>(e.label));
  return labels;
}

/// Returns the logits [examples, names].
template <class Net>
at::Tensor logits_of(Net const& net, std::span<example const> some) {
  std::vector<std::vector<std::int64_t>> ids;
  for (example const& e : some) ids.push_back(e.ids);
  auto const padded = redco::text::right_padded(ids, 0);
  return net(padded.ids, redco::key_mask{padded.mask});
}

/// Returns the loss of each example.
at::Tensor losses_of(at::Tensor const& logits, std::span<example const> some) {
  at::Tensor const labels = at::tensor(labels_of(some), at::kLong).to(logits.device());
  return at::cross_entropy_loss(logits, labels, {}, at::Reduction::None);
}

int learn(my_options const& o, std::string const& config) {
  namespace privacy = redco::optimizer;
  double const sampling = static_cast<double>(o.batch) / static_cast<double>(o.examples);
  double const noise = privacy::noise_for(o.epsilon, o.delta, sampling, o.steps);
  redco::deployer where(o.deployer);
  std::uint64_t const seed = o.deployer.seed;
  auto const texts = sentence_pairs::draw_agents(static_cast<std::size_t>(o.examples), seed, false);
  auto const names = labels::names_of(texts);
  auto small = small_bert::made(texts, names, 16);
  small.model.config.width = 32, small.model.config.ffn = 64, small.model.config.heads = 2;
  small.model.config.deviation = 0.25;
  auto const train = labelled_data::encoded(texts, small.tokenizer, 16, names, false);
  auto const unseen =
      labelled_data::encoded(sentence_pairs::draw_agents(1000, seed, true), small.tokenizer, 16, names, false);
  double accuracy = 0, loss = 0;
  where.run([&](redco::rank_context& rank) {
    redco::worker worker(where, rank, {.steps = o.steps, .save_every = 100, .config = config});
    redco::linear_decay const rate{.peak = o.lr, .warmup = o.warmup};
    auto& net = worker.add("classifier", small.model, redco::adamw{.lr = rate, .weight_decay = 0});
    worker.resume();
    net.noise = {noise * o.clip, worker.seed()};
    for (; !worker.finished(); worker.end_step()) {
      auto const key = redco::random::make_stream(worker.seed(), redco::random::site_of("sentences"),
                                                  static_cast<std::uint64_t>(worker.step()), 0);
      std::vector<example> drawn;
      for (std::int64_t const i : redco::random::poisson_sample(key, o.examples, sampling))
        drawn.push_back(train[static_cast<std::size_t>(i)]);
      // Each rank adds its share of the expected batch, also if it has no example.
      auto parts = worker.micro_batches(std::ssize(drawn), o.micro_batch);
      if (parts.empty()) parts.emplace_back();
      double const share = static_cast<double>(o.batch) / rank.group(redco::shape::batch_axes).size() /
                           static_cast<double>(parts.size());
      worker.update(net, parts, [&](redco::pass const& in) {
        if (in.examples == 0) return redco::mean{0 * net.network().parameters().front().sum(), share};
        auto const own =
            std::span(std::as_const(drawn))
                .subspan(static_cast<std::size_t>(in.first_example), static_cast<std::size_t>(in.examples));
        redco::nn::example_norms norms(net.network(), in);
        return redco::mean{norms.clipped(losses_of(logits_of(net.in(norms.watched()), own), own), o.clip), share};
      });
      worker.log("epsilon", privacy::epsilon_of({sampling, noise, worker.step() + 1}, o.delta));
    }
    at::NoGradGuard const plain;
    redco::pass const in = worker.pass(0, std::ssize(unseen), false);
    at::Tensor const logits = logits_of(net.in(in), unseen), best = logits.argmax(1).cpu();
    auto const* const first = best.const_data_ptr<std::int64_t>();
    if (!rank.first_of_process) return;
    accuracy = redco::metrics::accuracy(std::vector(first, first + best.numel()), labels_of(unseen));
    loss = losses_of(logits, unseen).mean().item<double>();
  });
  auto const counted = bag_of_words::predicted(train, unseen, small.model.config.vocab, names.size());
  std::ostringstream line;
  line << "accuracy " << accuracy << ", held-out loss " << loss << " with epsilon "
       << privacy::epsilon_of({sampling, noise, o.steps}, o.delta) << ", delta " << o.delta << " (noise " << noise
       << ", sampling " << sampling << ", " << o.steps << " steps), accuracy of a linear model of word counts "
       << redco::metrics::accuracy(std::vector<std::int64_t>(counted.begin(), counted.end()), labels_of(unseen));
  where.conclude(line.str());
  my_options const full;
  bool const reduced = o.steps < full.steps || o.examples < full.examples || o.batch < full.batch;
  return accuracy >= 0.9 || reduced ? 0 : 1;
}

int main(int argc, char** argv) {
  return redco::main_of<my_options>(argc, argv, "Learns privately.",
                                    [](my_options const& o, auto const& given) { return learn(o, given.json()); });
}
