#pragma once

#include <redco/run/deployer.hpp>
#include <redco/run/evaluation.hpp>
#include <redco/run/rank_state.hpp>
#include <redco/ckpt/load_model.hpp>
#include <redco/shard/plan.hpp>
#include <redco/workdir/open_weights.hpp>
#include <redco/model/model.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/optimizer/sgd.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

namespace redco {

/// A model with its trained weights on the deployer's mesh, for predictors: neither gradients nor the state of an optimizer.
///
///   redco::inference loaded(deployer, model, collate | predict, "run/ckpts/max_accuracy");
///   auto outputs = redco::predictor(loaded).predict(prompts);
///
/// The weights are those of a `pretrained` folder, or of a path that `open_weights` takes: a checkpoint, or files of
/// `trainer::save_model` (names as for `trainer::start_from`). No workdir is touched. Errors: exit code 64 with the legal
/// widths when the mesh cannot hold the model, 65 with the first 20 differences when the weights are not the model's.
template <model M, class Pipeline>
class inference {
 public:
  using pipeline_type = Pipeline;
  template <class Example>
  using output = typename run::prediction<Pipeline, bound_network<M>, Example>::type;

  inference(deployer& where, M m, Pipeline pipeline, std::filesystem::path const& files)
      : inference(where, std::move(m), std::move(pipeline), workdir::open_weights(files)) {}

  inference(deployer& where, M m, Pipeline pipeline, safetensors::weights_source const& weights)
      : where_(where), pipeline_(std::move(pipeline)), states_(static_cast<std::size_t>(where.mesh().ranks())) {
    dynamic_plan const plan = plan_of(m, where.mesh());
    where.run([&](rank_context& rank) {
      auto state = std::make_unique<run::rank_state<M, sgd>>(m, plan, sgd{}, where.compute(), where.options().seed,
                                                             rank.rank, std::vector<std::string>{"*"}, where.device());
      load_model(weights, stored_names<M>::names, stored_names<M>::unread, state->master_parts(), rank);
      state->store.publish();
      states_[static_cast<std::size_t>(rank.rank)] = std::move(state);
    });
  }

  /// What each rank holds.
  std::vector<std::unique_ptr<run::rank_state<M, sgd>>> const& states() const { return states_; }
  deployer& where() const { return where_; }
  Pipeline const& pipeline() const { return pipeline_; }

 private:
  deployer& where_;
  Pipeline pipeline_;
  std::vector<std::unique_ptr<run::rank_state<M, sgd>>> states_;
};

}  // namespace redco
