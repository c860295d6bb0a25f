#pragma once

#include <redco/run/example_digest.hpp>
#include <redco/run/fit_job.hpp>
#include <redco/run/pipeline_batches.hpp>
#include <redco/run/shown.hpp>
#include <redco/nn/network.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/data/examples.hpp>
#include <redco/log/unit_of.hpp>
#include <redco/pipeline/loss_of.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco::run {

/// The implementation of `fit_job` for one program's pipeline, network and examples, on one rank.
/// Objects that the constructor takes by reference must outlive it. All ranks of a process share
/// one table of predictions.
template <class Example, model M, class Pipeline, class Options>
class pipeline_job final : public fit_job {
 public:
  using batches_type = pipeline_batches<Example, M, Pipeline>;
  using batch = typename batches_type::batch;
  using slots = std::vector<std::optional<typename batches_type::output>>;

  pipeline_job(Pipeline const& pipeline, std::shared_ptr<nn::network<M> const> net, examples<Example> const& train,
               Options const& options, slots& predictions)
      : pipeline_(pipeline), net_(std::move(net)), options_(options), predictions_(predictions), of_epoch_(train) {}

  bool several_terms() const override {
    return std::is_same_v<pipelines::loss_of<Pipeline, bound_network<M>, batch>, terms>;
  }
  std::string unit() const override { return std::string(log::unit_of<batch>()); }

  std::int64_t begin_epoch(std::int64_t epoch) override {
    if (options_.train_of_epoch) of_epoch_ = options_.train_of_epoch(static_cast<int>(epoch));
    return of_epoch_.size();
  }

  std::string digest_of_epoch() const override {
    return options_.train_of_epoch ? digest_of_ends(of_epoch_) : std::string();
  }

  std::unique_ptr<computed_batches> training(batch_order const& how) override { return over(of_epoch_, how); }
  std::unique_ptr<computed_batches> evaluation(batch_order const& how) override { return over(options_.eval, how); }

  void begin_predictions(std::int64_t examples) override {
    predictions_.assign(static_cast<std::size_t>(examples), std::nullopt);
  }

  options::metric_map metrics() const override {
    if constexpr (Pipeline::has_predict)
      if (options_.metrics) return options_.metrics(judged().span(), predictions());
    return {};
  }

  shown outputs() const override { return shown_pairs_of(judged().span(), predictions()); }

 private:
  std::unique_ptr<computed_batches> over(examples<Example> const& data, batch_order const& how) {
    return std::make_unique<batches_type>(
        pipeline_, net_, data, how, typename batches_type::uses{&options_.length, &options_.train_step, &predictions_});
  }

  data::gathered<Example> judged() const { return options_.eval.first(std::ssize(predictions_)); }

  std::vector<typename batches_type::output> predictions() const {
    std::vector<typename batches_type::output> all;
    for (auto const& slot : predictions_) all.push_back(slot.value());
    return all;
  }

  Pipeline const& pipeline_;
  std::shared_ptr<nn::network<M> const> net_;
  Options const& options_;
  slots& predictions_;
  examples<Example> of_epoch_;
};

}  // namespace redco::run
