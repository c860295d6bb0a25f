#pragma once

#include <redco/run/deployer.hpp>
#include <redco/run/load_weights.hpp>
#include <redco/run/planned.hpp>
#include <redco/run/prediction.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/run/weighted.hpp>
#include <redco/comm/agreement.hpp>
#include <redco/shard/plan.hpp>
#include <redco/workdir/open_weights.hpp>
#include <redco/workdir/settings_of.hpp>
#include <redco/model/model.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/optimizer/sgd.hpp>
#include <redco/meta/type_name.hpp>
#include <redco/adapt/adapting.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace redco {

/// A model with trained weights on the deployer's mesh, for `predictor`. Holds no gradients and no
/// optimizer state.
///
///   redco::inference loaded(deployer, model, collate | predict, "run/ckpts/max_accuracy");
///   auto outputs = redco::predictor(loaded).predict(prompts);
///
/// The weights come from a checkpoint, files of `trainer::save_model`, or a `pretrained_folder` folder.
/// Throws `error` with exit code 64 if the mesh cannot hold the model, 65 for unsuitable weights.
template <model M, class Pipeline>
class inference {
 public:
  using model_type = M;
  using pipeline_type = Pipeline;
  template <class Example>
  using output = typename run::prediction<Pipeline, bound_network<M>, Example>::type;

  inference(deployer& where, M m, Pipeline pipeline, std::filesystem::path const& files)
      : inference(where, std::move(m), std::move(pipeline), workdir::open_weights(files)) {}

  inference(deployer& where, M m, Pipeline pipeline, safetensors::weights_source const& weights,
            safetensors::weights_source const* adapters = nullptr)
      : where_(where), pipeline_(std::move(pipeline)), states_(static_cast<std::size_t>(where.mesh().ranks())) {
    where.agree([&](comm::agreement& all) {
      all.add("model", std::string(meta::type_name<M>()));
      all.add(workdir::settings_of(m, sgd{}, where.compute()));
      all.add("adapters", adapters != nullptr ? "true" : "false");
    });
    shard::dynamic_plan const plan = run::planned(m, where.mesh(), where);
    where.run_ranks([&](rank_context& rank) {
      auto state =
          std::make_unique<run::trained_network<M>>(m, plan, sgd{}, where.compute(), where.options().seed, rank.rank,
                                                    std::vector<std::string>{"*"}, where.device(rank.rank));
      run::load_weights(*state, weights, models::stored_table_of<M>(), rank);
      if (adapters != nullptr) run::load_adapters(*state, *adapters, models::stored_names<M>::names, rank);
      state->store.publish();
      states_[static_cast<std::size_t>(rank.rank)] = std::move(state);
    });
  }

  /// Loads the weights of a `pretrained_folder` folder (Hugging Face format). Logs unused parts of the
  /// folder, and layers that the folder lacks and that start with random values.
  template <run::weighted Folder>
  inference(deployer& where, M m, Pipeline pipeline, Folder const& folder)
      : inference(where, std::move(m), std::move(pipeline), folder.weights()) {
    run::tell_notices(where.log(), folder);
  }

  /// Loads the weights of a `pretrained_folder` folder (Hugging Face format) and the LoRA adapters of an
  /// `adapter_folder`. `M` must be a `with_lora` model.
  template <run::weighted Folder, adapt::adapting Adapter>
  inference(deployer& where, M m, Pipeline pipeline, Folder const& folder, Adapter const& adapter)
      : inference(where, std::move(m), std::move(pipeline), folder.weights(), &adapter.weights()) {}

  /// Returns the network of each rank, by rank; null for ranks of other processes.
  std::vector<std::unique_ptr<run::network_state>> const& states() const { return states_; }
  deployer& where() const { return where_; }
  Pipeline const& pipeline() const { return pipeline_; }

 private:
  deployer& where_;
  Pipeline pipeline_;
  std::vector<std::unique_ptr<run::network_state>> states_;
};

}  // namespace redco
