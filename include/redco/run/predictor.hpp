#pragma once

#include <redco/run/deployer.hpp>
#include <redco/run/evaluation.hpp>
#include <redco/run/example_digest.hpp>
#include <redco/run/pipeline_batches.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/comm/agreement.hpp>
#include <redco/data/example_range.hpp>
#include <redco/data/examples.hpp>
#include <redco/pipeline/batch_of.hpp>
#include <redco/diag/blame.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco {

/// Applies the predict function of a trainer or an `inference` to examples. Returns one result per
/// example, in their order, for any number of examples and any mesh.
///
///   auto outputs = redco::predictor(trainer).predict(texts, 8);
template <class Trainer>
class predictor {
 public:
  explicit predictor(Trainer const& from) : trainer_(&from) {}
  /// Takes ownership of a temporary `inference`. Passing a temporary trainer is the compile error
  /// redco[R001].
  explicit predictor(Trainer&& from) : own_(owned(from)), trainer_(own_.get()) {}

  /// Returns one prediction per example. `global_batch`: number of examples computed at once over
  /// all ranks. `length`: returns an example's length, to which collate can pad. Throws the errors
  /// of the predict function. Throws `error` with exit code 64 if `global_batch` is below 1. Throws
  /// it with 70 if the trainer has not fitted, or predict does not return one result per example.
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
    run::evaluation_place const place{global_batch, 0, where.options().seed, 0};
    where.run_ranks([&](rank_context& rank) {
      auto const& state = trainer_->states()[static_cast<std::size_t>(rank.rank)];
      if (!state) throw error(exit_code::internal, "nothing is trained yet: call fit before predict");
      auto const& own = static_cast<run::trained_network<typename Trainer::model_type> const&>(*state);
      all_batches source(trainer_->pipeline(), own.net, data, run::evaluation_order(rank, data.size(), place),
                         {&length, nullptr, &slots});
      run::predict_all(rank, source, place);
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
