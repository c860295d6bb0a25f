#pragma once

#include <redco/run/deployer.hpp>
#include <redco/run/evaluation.hpp>
#include <redco/run/pipeline_batches.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/data/example_range.hpp>
#include <redco/data/examples.hpp>

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco {

/// Runs a trainer's predict over examples: one result per example, in their order, for any number of them and any mesh.
///
///   auto outputs = redco::predictor(trainer).predict(texts, 8);
template <class Trainer>
class predictor {
 public:
  explicit predictor(Trainer const& from) : trainer_(from) {}

  /// `global_batch` examples are computed at once over all ranks; `length` as in fit. Errors: what predict throws, and exit
  /// code 70 when the trainer has not fitted or predict does not return one result per example.
  template <class Range>
  auto predict(Range&& range, std::int64_t global_batch = 8,
               length_of<example_of<std::remove_cvref_t<Range>>> const& length = {}) const {
    using example = example_of<std::remove_cvref_t<Range>>;
    using output = typename Trainer::template output<example>;
    if constexpr (!Trainer::pipeline_type::has_predict) {
      return detail::lacks_function<typename Trainer::pipeline_type>();
    } else if constexpr (std::is_same_v<output, diag::ill_formed>) {
      return diag::ill_formed();
    } else {
      return predicted<example, output>(std::forward<Range>(range), global_batch, length);
    }
  }

 private:
  template <class Example, class Output, class Range>
  std::vector<Output> predicted(Range&& range, std::int64_t global_batch, length_of<Example> const& length) const {
    examples<Example> const data(std::forward<Range>(range));
    std::vector<std::optional<Output>> slots(static_cast<std::size_t>(data.size()));
    std::vector<Output> results;
    if (data.size() == 0) return results;
    deployer& where = trainer_.where();
    using all_batches = run::pipeline_batches<Example, typename Trainer::model_type, typename Trainer::pipeline_type>;
    run::evaluation_place const place{global_batch, 0, where.options().seed, 0};
    where.run([&](rank_context& rank) {
      auto const& state = trainer_.states()[static_cast<std::size_t>(rank.rank)];
      if (!state) throw error(exit_code::internal, "nothing is trained yet: call fit before predict");
      auto const& own = static_cast<trained_network<typename Trainer::model_type> const&>(*state);
      all_batches source(trainer_.pipeline(), own.net, data, run::evaluation_order(rank, data.size(), place),
                         {&length, nullptr, &slots});
      run::predict_all(rank, source, place);
    });
    results.reserve(slots.size());
    for (auto& slot : slots) results.push_back(std::move(slot).value());
    return results;
  }

  Trainer const& trainer_;
};

}  // namespace redco
