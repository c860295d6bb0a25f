#pragma once

#include "run/training.hpp"
#include "torch_catch.hpp"

#include "refused.hpp"
#include "temporary_folder.hpp"

#include <redco/run/worker.hpp>
#include <redco/nn/context_entries.hpp>
#include <redco/nn/nn.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/embeddings.hpp>
#include <redco/layer/experts.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/fact/recorder.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <cstdint>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

// A model, texts, and a loop of a worker whose results tests compare between meshes.

namespace rank_parts_test {

using namespace redco;
using layers::real;

/// A layer of a user: x * exp(-factor x) for each feature. `ByToken` says that the layer computes
/// each token by itself, which it does.
template <auto Width, bool ByToken>
struct damping {
  using layer_concept = layers::leaf_tag;
  static constexpr bool by_token = ByToken;
  template <class X>
  using out = X;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    fact::flow const input = w.activation;
    fact::parameter_fact factor;
    factor.shape = {layers::extent_of<Width>(config)};
    factor.start = {fact::initial::kind::normal, 0.1};
    w.parameter("factor", factor);
    fact::shared_parameter_facts<X>(w, factor.shape);
    w.save("x");
    w.save("decay", input.shape, input.split_dim, fact::width_kind::compute, input.units);
    w.produce(input.shape, input.split_dim, input.units);
    w.backward(input);
  }
};

}  // namespace rank_parts_test

template <auto Width, bool ByToken, class X>
struct redco::module<rank_parts_test::damping<Width, ByToken>, X> {
  template <class Config>
  explicit module(redco::nn::builder<Config>& b) : factor(b.parameter("factor")) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const& ctx) const {
    at::Tensor const factors = redco::nn::shared_parameter<X>(ctx[factor], ctx.tp());
    return x.like(x.local() * at::exp(-factors * x.local()));
  }

  redco::parameter factor;
};

namespace rank_parts_test {

template <auto Probability = real{0.1}>
struct mixture {
  static constexpr std::int64_t width = 12;
  using attention = causal_attention<width, 2, layers::rotary<>>;
  using experts =
      layers::moe<layers::experts<4, width, 8>, layers::top<2>, layers::dispatch::cdac,
                  layers::routing::auxiliary_loss<real{0.5}>, layers::routing::balanced_by_bias<real{0.01}>>;
  using block = sequential<residual<sequential<named<"norm_1", rms_norm<width>>, named<"attn", attention>>>,
                           dropout<Probability>, named<"damp", damping<width, true>>,
                           residual<sequential<named<"norm_2", rms_norm<width>>, named<"mlp", experts>>>>;
  using net = sequential<named<"wte", embedding<23, width>>, named<"h", repeat<2, block>>,
                         named<"norm", rms_norm<width>>, named<"head", layers::language_head<23, width>>>;
  no_config config;
};

/// Some of eleven texts of unequal lengths: token ids, labels and positions of rows that are padded
/// to the longest.
struct texts {
  at::Tensor ids, labels, positions;
};
inline at::Tensor lengths() { return (at::arange(11) * 2 + 1).remainder(7) + 1; }
inline texts texts_at(at::Tensor const& which) {
  at::Tensor const all = (at::arange(88, at::kLong) * 7 + 2).remainder(23).view({11, 8});
  at::Tensor const real = at::arange(8).lt(lengths().unsqueeze(1));
  std::int64_t const longest = lengths().index_select(0, which).max().item<std::int64_t>();
  auto const rows = [&](at::Tensor const& x) { return x.index_select(0, which).slice(1, 0, longest); };
  return {rows(all), rows((all * 5 + 1).remainder(23).masked_fill(real.logical_not(), -100)),
          rows(at::where(real, at::arange(8), at::Scalar(-1)))};
}
inline texts texts_of(std::int64_t first, std::int64_t count) { return texts_at(at::arange(first, first + count)); }

auto called(auto const& net, texts const& b) { return net(b.ids, nn::documents{b.positions}); }

/// The six texts, several in a row.
inline texts packed_texts() {
  texts const alone = texts_of(0, 6);
  std::vector<texts> rows;
  for (auto const& row : {std::vector<std::int64_t>{0, 2}, {1, 4}, {5, 3}}) {
    std::vector<at::Tensor> ids, labels, positions;
    std::int64_t room = 8;
    for (std::int64_t const i : row) {
      std::int64_t const length = alone.positions[i].ge(0).sum().item<std::int64_t>();
      ids.push_back(alone.ids[i].narrow(0, 0, length));
      labels.push_back(alone.labels[i].narrow(0, 0, length));
      positions.push_back(alone.positions[i].narrow(0, 0, length));
      room -= length;
    }
    ids.push_back(at::zeros({room}, at::kLong));
    labels.push_back(at::full({room}, -100, at::kLong));
    positions.push_back(at::full({room}, -1, at::kLong));
    rows.push_back({at::cat(ids), at::cat(labels), at::cat(positions)});
  }
  auto const all = [&](at::Tensor texts::*member) {
    return at::stack({rows[0].*member, rows[1].*member, rows[2].*member});
  };
  return {all(&texts::ids), all(&texts::labels), all(&texts::positions)};
}

/// The results of a loop on a mesh: numbers that all ranks have, values in the rows of
/// metrics.jsonl, and the state of both networks.
struct results {
  std::vector<double> numbers, logged;
  run_test::tensors state;
  std::string refusal;
};

/// Returns the values of `name` in rows of metrics.jsonl.
inline std::vector<double> values_in_rows(std::string const& file, std::string const& name) {
  std::vector<double> values;
  std::istringstream rows(file);
  for (std::string row; std::getline(rows, row);)
    if (auto const all = json::parse_json(row, "metrics.jsonl"); all.contains(name))
      values.push_back(all[name].get<double>());
  return values;
}

/// Runs two steps on `on`, in micro-batches of `micro` examples. `loss(actor, pass, batch)` returns
/// the loss of a micro-batch. A second network follows the first, and ranks log the lengths of
/// their own texts of the first five.
template <class Model = mixture<>, class Loss>
results loop(mesh const& on, std::int64_t micro, double noise, Loss const& loss) {
  temporary_folder const folder;
  run_test::silence const quiet;
  results found;
  std::mutex mutex;
  found.refusal = refused([&] {
    deployer where(run_test::in(folder.path, on));
    where.run([&](rank_context& rank) {
      worker loop(where, rank, {.steps = 2});
      auto& actor = loop.add("actor", Model{}, sgd{.lr = 0.1, .momentum = 0});
      actor.noise = {noise, 77};
      auto& target = loop.add_copy("target", actor);
      std::vector<double> numbers;
      auto const parts = loop.micro_batches(6, micro);
      auto const of_pass = [&](pass const& in) { return loss(actor, in, texts_of(in.first_example, in.examples)); };
      for (; !loop.finished(); loop.end_step()) {
        run::step_result const done = loop.update(actor, parts, of_pass);
        worker::follow(actor, target, 0.25);
        numbers.push_back(done.loss);
        numbers.push_back(done.grad_norm);
        numbers.push_back(loop.evaluated(loop.mean_loss(parts, of_pass)).at("loss"));
        for (data::interval const& own : parts)
          for (std::int64_t i = own.begin; i < own.end && i < 5; ++i) loop.log("length", lengths()[i].item<double>());
      }
      std::scoped_lock const lock(mutex);
      if (rank.rank == 0) found.numbers = numbers;
      run_test::add_state(found.state, actor.parts());
      run_test::add_state(found.state, target.parts());
    });
  });
  if (found.refusal.empty()) found.logged = values_in_rows(content_of(folder.path / "metrics.jsonl"), "length");
  return found;
}

}  // namespace rank_parts_test
