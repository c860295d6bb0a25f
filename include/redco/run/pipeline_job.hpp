#pragma once

#include <redco/run/batch_tokens.hpp>
#include <redco/run/example_digest.hpp>
#include <redco/run/fit_job.hpp>
#include <redco/run/prediction.hpp>
#include <redco/nn/network.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/tensor_archive.hpp>
#include <redco/tensor/upload.hpp>
#include <redco/workdir/object_bytes.hpp>
#include <redco/data/batches.hpp>
#include <redco/data/examples.hpp>
#include <redco/data/prepared_batch.hpp>
#include <redco/data/sampler.hpp>
#include <redco/log/metrics_log.hpp>
#include <redco/pipeline/pipeline.hpp>
#include <redco/shape/axis.hpp>
#include <redco/diag/blame.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/type_name.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco::run {

/// The micro-batches that a pipeline makes of examples, on one rank. Objects that the constructor
/// takes by reference must outlive it.
template <class Example, model M, class Pipeline>
class pipeline_batches final : public computed_batches {
 public:
  using bound = bound_network<M>;
  using batch = pipelines::batch_of<Pipeline, Example>;
  using output = typename prediction<Pipeline, bound, Example>::type;
  using own_step_type = std::function<void(training_step&, bound const&, batch const&)>;

  /// Settings that differ between training, evaluation and prediction; null members are unused.
  /// `slots` receives the prediction of each example, by the example's index.
  struct uses {
    data::length_of<Example> const* length = nullptr;
    own_step_type const* own_step = nullptr;
    std::vector<std::optional<output>>* slots = nullptr;
  };

  pipeline_batches(Pipeline const& pipeline, std::shared_ptr<nn::network<M> const> net, examples<Example> data,
                   batch_order how, uses use)
      : pipeline_(pipeline),
        net_(std::move(net)),
        data_(std::move(data)),
        how_(std::move(how)),
        use_(use),
        source_(data::prepared_batches<Example, batch>(pipeline_, data_, how_.all, how_.order, how_.epoch, how_.collate,
                                                       use.length != nullptr ? *use.length : data::length_of<Example>(),
                                                       how_.ahead, placed_on(net_->store().device()))) {}

  std::int64_t steps() const override { return how_.all.steps(); }

  data::micro_batch const* next() override {
    try {
      auto made = source_.next();
      now_ = made ? std::make_shared<placed_batch>(std::move(*made)) : nullptr;
    } catch (...) {
      rethrow_with_examples(how_.all[made_]);
    }
    if (!now_) return nullptr;
    ++made_;
    now_->way.arrive();
    return &now_->source;
  }

  std::int64_t tokens() const override { return now_->tokens; }

  void keep() override { kept_.push_back(now_); }
  void select(std::size_t index) override { now_ = kept_.at(index); }
  void forget() override { kept_.clear(); }

  void each_tensor(tensors::function_ref<void(at::Tensor&)> f) override { tensors::for_each_tensor(now_->batch, f); }

  terms loss(pass const& in) override {
    // For an ill-formed loss, the compiler has reported the cause already.
    if constexpr (Pipeline::has_loss)
      if constexpr (!std::is_same_v<pipelines::loss_of<Pipeline, bound, batch>, diag::ill_formed>)
        return tensors::as_terms(pipeline_.loss(bound(net_, in), now_->batch), in.examples);
    return {};
  }

  bool own_step() const override { return use_.own_step != nullptr && *use_.own_step; }
  void take_step(training_step& step, pass const& in) override { (*use_.own_step)(step, bound(net_, in), now_->batch); }

  void predict(pass const& in) override {
    if constexpr (Pipeline::has_predict) {
      auto const result = pipeline_.predict(bound(net_, in), now_->batch);
      auto const& indices = now_->source.examples;
      if (elements_of(result) != indices.size())
        throw error(exit_code::internal, "predict returned " + std::to_string(elements_of(result)) + " results for " +
                                             std::to_string(indices.size()) +
                                             " examples; return one per example, in order");
      // All ranks of a replica have equal predictions. The ranks of a process share the slots, so
      // only the first rank of the replica stores them.
      if (in.rank->coordinate(shape::replica_axes) != 0) return;
      for (std::size_t i = 0; i < indices.size(); ++i)
        (*use_.slots)[static_cast<std::size_t>(indices[i])] = element_of(result, i);
      predicted_.insert(predicted_.end(), indices.begin(), indices.end());
    }
  }

  std::string predicted() const override {
    if constexpr (workdir::storable<output>) {
      std::vector<std::pair<std::int64_t, output>> own;
      for (std::int64_t const i : predicted_) own.emplace_back(i, (*use_.slots)[static_cast<std::size_t>(i)].value());
      return workdir::object_bytes(own);
    } else {
      throw error(exit_code::internal,
                  "predict gives values of a type that cannot pass from process to process: give it "
                  "serialize(archive), as cereal asks, or take ranks of one process");
    }
  }

  void take_predicted(std::string const& bytes) override {
    if constexpr (workdir::storable<output>) {
      std::vector<std::pair<std::int64_t, output>> predictions;
      workdir::read_object(bytes, predictions, "predictions of another process");
      for (auto& [i, one] : predictions) (*use_.slots)[static_cast<std::size_t>(i)] = std::move(one);
    }
  }

 private:
  /// A micro-batch whose tensors are on the network's device or are being copied to the device.
  struct placed_batch : data::prepared_batch<batch> {
    tensors::upload way;
    std::int64_t tokens = 0;  ///< number of token ids that are not padding
  };

  static auto placed_on(at::Device device) {
    return [device](data::prepared_batch<batch> made) {
      placed_batch placed{std::move(made), {}};
      placed.tokens = tokens_of(placed.batch);
      if (device != tensors::cpu_device()) placed.way = tensors::upload(placed.batch, device);
      return placed;
    };
  }

  Pipeline const& pipeline_;
  std::shared_ptr<nn::network<M> const> net_;
  examples<Example> data_;
  batch_order how_;
  uses use_;
  data::prefetch<placed_batch> source_;
  std::shared_ptr<placed_batch> now_;
  std::vector<std::shared_ptr<placed_batch>> kept_;
  std::int64_t made_ = 0;                ///< number of micro-batches that next() has returned
  std::vector<std::int64_t> predicted_;  ///< indices of the examples that this rank predicted
};

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
    if (options_.train_of_epoch) {
      of_epoch_ = options_.train_of_epoch(static_cast<int>(epoch));
      digest_of_train_.reset();
    }
    return of_epoch_.size();
  }

  std::string digest_of_epoch() const override {
    return options_.train_of_epoch ? digest_of_ends(of_epoch_) : std::string();
  }

  std::map<std::string, std::string> digests(std::vector<std::string>& notes) override {
    std::map<std::string, std::string> all;
    auto const add = [&](std::string const& name, examples<Example> const& data, std::optional<data_digest>& known) {
      if (data.size() == 0) return;
      if (!known) known = digest_of_data(data);
      if (!known->complete) notes.push_back(note_of_digest(name));
      if (!known->text.empty()) all[name] = known->text;
      else notes.push_back("the " + name + " change from reading to reading: a resumed run does not compare them");
    };
    add("training examples", of_epoch_, digest_of_train_);
    add("evaluation examples", options_.eval, digest_of_eval_);
    return all;
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
  static std::string note_of_digest(std::string const& name) {
    return "a resumed run compares the " + name +
           " without the parts that are not numbers, texts, tensors or ranges: give " +
           std::string(meta::type_name<Example>()) + " a function serialize(archive)";
  }

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
  std::optional<data_digest> digest_of_train_, digest_of_eval_;
};

}  // namespace redco::run
