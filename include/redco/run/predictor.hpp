#pragma once

#include <redco/run/deployer.hpp>
#include <redco/run/evaluation.hpp>
#include <redco/run/evaluation_values.hpp>
#include <redco/run/example_digest.hpp>
#include <redco/run/load_weights.hpp>
#include <redco/run/pipeline_job.hpp>
#include <redco/run/planned.hpp>
#include <redco/run/prediction.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/comm/agreement.hpp>
#include <redco/shard/plan.hpp>
#include <redco/workdir/open_weights.hpp>
#include <redco/workdir/settings_of.hpp>
#include <redco/model/model.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/data/examples.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/pipeline/pipeline.hpp>
#include <redco/diag/blame.hpp>
#include <redco/meta/type_name.hpp>
#include <redco/adapt/adapting.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco {

/// A model with trained weights on the deployer's mesh, for `predictor`, without gradients.
///
///   redco::inference loaded(deployer, model, collate | predict, "run/ckpts/max_accuracy");
///   auto outputs = redco::predictor(loaded).predict(prompts);
///
/// The weights come from a checkpoint, files of `trainer::save_model`, or a `pretrained_folder`.
/// Throws `error` with exit code 64 if the mesh cannot hold the model, 65 for unsuitable weights.
template <model M, class Pipeline>
class inference {
 public:
  using model_type = M;
  using pipeline_type = Pipeline;
  template <class Example>
  using output = typename run::prediction<Pipeline, bound_network<M>, Example>::type;

  /// Draws the weights at random, as a trainer of this model on this deployer does at its start.
  inference(deployer& where, M m, Pipeline pipeline) : inference(where, std::move(pipeline)) {
    make_networks(m, nullptr, nullptr);
  }

  inference(deployer& where, M m, Pipeline pipeline, std::filesystem::path const& files)
      : inference(where, std::move(m), std::move(pipeline), workdir::open_weights(files)) {}

  inference(deployer& where, M m, Pipeline pipeline, safetensors::weights_source const& weights,
            safetensors::weights_source const* adapters = nullptr)
      : inference(where, std::move(pipeline)) {
    make_networks(m, &weights, adapters);
  }

  /// Loads the weights of a `pretrained_folder` (Hugging Face format). Logs the keys, tensors and
  /// files of the folder that are not used. Warns about each layer in the option `fresh`.
  template <run::weighted Folder>
  inference(deployer& where, M m, Pipeline pipeline, Folder const& folder)
      : inference(where, std::move(m), std::move(pipeline), folder.weights()) {
    run::log_notices(where.log(), folder);
  }

  /// Loads the weights of the `pretrained_folder` `folder` (Hugging Face format) and the LoRA
  /// adapters of the `adapter_folder` `adapter`. `M` must be a `with_lora` model.
  template <run::weighted Folder, adapt::adapting Adapter>
  inference(deployer& where, M m, Pipeline pipeline, Folder const& folder, Adapter const& adapter)
      : inference(where, std::move(m), std::move(pipeline), folder.weights(), &adapter.weights()) {}

  /// Returns the network of each rank, by rank; null for ranks of other processes.
  std::vector<std::unique_ptr<run::network_state>> const& states() const { return states_; }
  deployer& where() const { return where_; }
  Pipeline const& pipeline() const { return pipeline_; }

 private:
  inference(deployer& where, Pipeline pipeline)
      : where_(where), pipeline_(std::move(pipeline)), states_(static_cast<std::size_t>(where.mesh().ranks())) {}

  /// Creates each rank's network. `weights` and `adapters` replace its random values unless null.
  void make_networks(M const& m, safetensors::weights_source const* weights,
                     safetensors::weights_source const* adapters) {
    where_.agree([&](comm::agreement& all) {
      all.add("model", std::string(meta::type_name<M>()));
      all.add(workdir::settings_of(m, sgd{}, where_.compute()));
      all.add("adapters", adapters != nullptr ? "true" : "false");
    });
    shard::dynamic_plan const plan = run::planned(m, where_.mesh(), where_);
    workdir::disk_limits const limits = where_.disk_limits();
    where_.run_ranks([&](rank_context& rank) {
      auto state =
          std::make_unique<run::trained_network<M>>(m, plan, sgd{}, where_.compute(), where_.options().seed, rank.rank,
                                                    std::vector<std::string>{"*"}, where_.device(rank.rank));
      if (weights != nullptr) run::load_weights(*state, *weights, models::stored_table_of(m), rank, limits);
      if (adapters != nullptr) run::load_adapters(*state, *adapters, models::stored_names_of(m), rank, limits);
      state->store.publish();
      states_[static_cast<std::size_t>(rank.rank)] = std::move(state);
    });
  }

  deployer& where_;
  Pipeline pipeline_;
  std::vector<std::unique_ptr<run::network_state>> states_;
};

/// Applies the predict function of a trainer or an `inference` to examples. Returns one result per
/// example, in their order, for any number of examples and any mesh.
///
///   auto outputs = redco::predictor(trainer).predict(texts, 8);
template <class Trainer>
class predictor {
 public:
  /// Creates a predictor with the networks of `from`, a trainer or an `inference`.
  explicit predictor(Trainer const& from) : trainer_(&from) {}
  /// Takes ownership of `from`, a temporary `inference`. Passing a temporary trainer is the compile
  /// error redco[R001].
  explicit predictor(Trainer&& from) : own_(owned(from)), trainer_(own_.get()) {}

  /// Returns one prediction per example of `range`. `global_batch`: number of examples computed at
  /// once over all ranks. `length`: returns an example's length, to which collate can pad. Throws
  /// the errors of the predict function. Throws `error` with exit code 64 if `global_batch` is
  /// below 1. Throws it with 70 if the trainer has not fitted, or predict does not return one
  /// result per example.
  template <class Range>
  auto predict(Range&& range, std::int64_t global_batch = 8,
               data::length_of<data::example_of<std::remove_cvref_t<Range>>> const& length = {}) const {
    using example = data::example_of<std::remove_cvref_t<Range>>;
    using output = typename Trainer::template output<example>;
    if constexpr (!Trainer::pipeline_type::has_predict) {
      return pipelines::detail::lacks_function<typename Trainer::pipeline_type>();
    } else if constexpr (std::is_same_v<output, diag::ill_formed>) {
      return diag::ill_formed();
    } else if constexpr (std::is_same_v<pipelines::batch_of<typename Trainer::pipeline_type, example>,
                                        diag::ill_formed>) {
      return diag::unmade<std::vector<output>>();
    } else {
      return predicted<example, output>(std::forward<Range>(range), global_batch, length);
    }
  }

 private:
  static std::shared_ptr<Trainer const> owned(Trainer& from) {
    if constexpr (std::is_move_constructible_v<Trainer>) {
      return std::make_shared<Trainer const>(std::move(from));
    } else {
      static_assert(diag::never<Trainer>,
                    "redco[R001]: a temporary is passed to an object that keeps a reference to it; "
                    "write redco::trainer trainer(...) first, fit it, and give it to the predictor");
      return nullptr;
    }
  }

  template <class Example, class Output, class Range>
  std::vector<Output> predicted(Range&& range, std::int64_t global_batch,
                                data::length_of<Example> const& length) const {
    if (global_batch < 1)
      throw error(exit_code::usage, "predict takes " + std::to_string(global_batch) +
                                        " examples at once: give a global batch of 1 or more");
    examples<Example> const data(std::forward<Range>(range));
    deployer& where = trainer_->where();
    where.agree([&](comm::agreement& all) {
      all.add("examples to predict", std::to_string(data.size()));
      all.add("global_batch", std::to_string(global_batch));
      all.add("length", length ? "true" : "false");
      all.add("the digest of the first and last example", run::digest_of_ends(data));
    });
    std::vector<std::optional<Output>> slots(static_cast<std::size_t>(data.size()));
    std::vector<Output> results;
    if (data.size() == 0) return results;
    using all_batches = run::pipeline_batches<Example, typename Trainer::model_type, typename Trainer::pipeline_type>;
    run::evaluation_settings const settings{global_batch, 0, where.options().seed, 0};
    where.run_ranks([&](rank_context& rank) {
      auto const& state = trainer_->states()[static_cast<std::size_t>(rank.rank)];
      if (!state) throw error(exit_code::internal, "nothing is trained yet: call fit before predict");
      auto const& own = static_cast<run::trained_network<typename Trainer::model_type> const&>(*state);
      run::evaluation_values const values(*state, rank);
      all_batches source(trainer_->pipeline(), own.net, data, run::evaluation_order(rank, data.size(), settings),
                         {&length, nullptr, &slots});
      run::predict_all(rank, state->network(), source, settings);
    });
    results.reserve(slots.size());
    for (auto& slot : slots) results.push_back(std::move(slot).value());
    return results;
  }

  /// Trainer that this predictor owns; null if the caller owns it.
  std::shared_ptr<Trainer const> own_;
  Trainer const* trainer_;
};

}  // namespace redco
