#pragma once

#include <redco/run/loss_totals.hpp>
#include <redco/run/user_call.hpp>
#include <redco/nn/network.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/options/fit_options.hpp>
#include <redco/data/batches.hpp>
#include <redco/data/prepared_batch.hpp>
#include <redco/data/sampler.hpp>
#include <redco/pipeline/batch_of.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace redco::run {

/// How much is evaluated at once, and at which place of the run (for keyed draws).
struct evaluation_place {
  std::int64_t global_batch = 8;
  std::int64_t micro_batch = 0;
  std::uint64_t seed = 0;
  std::int64_t step = 0;
};

namespace detail {

/// Calls f(net, prepared) for each of this rank's micro-batches of `data`, in order, in evaluation mode.
template <class Example, model M, class Pipeline, class F>
void for_each_evaluated(rank_context& rank, std::shared_ptr<network<M> const> const& net, Pipeline const& pipeline,
                        examples<Example> const& data, evaluation_place const& place, length_of<Example> const& length,
                        F&& f) {
  using batch = batch_of<Pipeline, Example>;
  sampler const order(data.size(), 0, false);
  int const replicas = rank.mesh.size(example_axes);
  std::int64_t const at_once = std::max<std::int64_t>(place.global_batch, replicas);
  batches const all(order, {at_once, place.micro_batch, replicas, rank.coordinate(example_axes)});
  auto source = prepared_batches<Example, batch>(pipeline, data, all, order, 0, {place.seed, 0}, length, 0, {});
  at::NoGradGuard const no_grad;
  while (auto prepared = user_call("collate", place.step, [&] { return source.next(); })) {
    pass in;
    in.tp = &rank.tp;
    in.rank = &rank;
    in.seed = place.seed;
    in.step = static_cast<std::uint64_t>(place.step);
    in.first_example = prepared->place.examples.front();
    in.examples = static_cast<std::int64_t>(prepared->place.examples.size());
    f(bound_network<M>(net, in), *prepared);
  }
}

/// One element per example of what predict returned.
template <class Result>
auto element_of(Result const& result, std::size_t i) {
  if constexpr (std::is_same_v<Result, at::Tensor>) {
    return result[static_cast<std::int64_t>(i)];
  } else {
    auto at = std::begin(result);
    std::advance(at, static_cast<std::ptrdiff_t>(i));
    return std::remove_cvref_t<decltype(*at)>(*at);
  }
}

template <class Result>
std::size_t elements_of(Result const& result) {
  if constexpr (std::is_same_v<Result, at::Tensor>) {
    return static_cast<std::size_t>(result.size(0));
  } else {
    return std::size(result);
  }
}

}  // namespace detail

/// What predict gives for one example: std::monostate where the pipeline has no predict.
template <class Pipeline, class Net, class Example>
struct prediction {
  using type = std::monostate;
};
template <class Pipeline, class Net, class Example>
requires Pipeline::has_predict struct prediction<Pipeline, Net, Example> {
  using batch = batch_of<Pipeline, Example>;
  using result = std::remove_cvref_t<decltype(std::declval<Pipeline const&>().predict(std::declval<Net const&>(),
                                                                                      std::declval<batch const&>()))>;
  using type = decltype(detail::element_of(std::declval<result const&>(), 0));
};

/// The mean loss over `data`, dropout off: the same on every rank and mesh. Terms of it are given on rank 0. Errors: exit
/// code 79 where it is not finite.
template <class Example, model M, class Pipeline>
metric_map evaluated_loss(rank_context& rank, std::shared_ptr<network<M> const> const& net, Pipeline const& pipeline,
                          examples<Example> const& data, evaluation_place const& place,
                          length_of<Example> const& length = {}) {
  loss_totals totals;
  detail::for_each_evaluated(rank, net, pipeline, data, place, length, [&](auto const& bound, auto const& prepared) {
    totals.add(user_call("loss", place.step, [&] {
      return as_terms(pipeline.loss(bound, prepared.batch), std::ssize(prepared.place.examples));
    }));
  });
  totals.reduce(rank);
  if (!std::isfinite(totals.loss()))
    throw error(exit_code::not_finite, "after step " + std::to_string(place.step) + ": the loss of the evaluation is " +
                                           (std::isnan(totals.loss()) ? "NaN" : "infinite") +
                                           "; this step is not saved. Lower the learning rate, clip gradients "
                                           "(clip_norm) or look at the examples of the evaluation");
  metric_map metrics;
  for (auto const& [name, value] : totals.by_name()) metrics[name] = value;
  metrics["loss"] = totals.loss();
  return metrics;
}

/// Writes one result per example of `data` into `results`, which the ranks share: slot i is example i's. Ends in a
/// barrier.
template <class Example, class Output, model M, class Pipeline>
void predict_into(std::vector<std::optional<Output>>& results, rank_context& rank,
                  std::shared_ptr<network<M> const> const& net, Pipeline const& pipeline, examples<Example> const& data,
                  evaluation_place const& place, length_of<Example> const& length = {}) {
  detail::for_each_evaluated(rank, net, pipeline, data, place, length, [&](auto const& bound, auto const& prepared) {
    auto const result = user_call("predict", place.step, [&] { return pipeline.predict(bound, prepared.batch); });
    auto const& indices = prepared.place.examples;
    if (detail::elements_of(result) != indices.size())
      throw error(exit_code::internal, "predict returned " + std::to_string(detail::elements_of(result)) +
                                           " results for " + std::to_string(indices.size()) +
                                           " examples; return one per example, in order");
    if (rank.tp_index() != 0) return;
    for (std::size_t i = 0; i < indices.size(); ++i)
      results[static_cast<std::size_t>(indices[i])] = detail::element_of(result, i);
  });
  rank.world.barrier();
}

}  // namespace redco::run
