#pragma once

#include <redco/data/batches.hpp>
#include <redco/data/examples.hpp>
#include <redco/data/prefetch.hpp>
#include <redco/data/sampler.hpp>
#include <redco/pipeline/collate_info.hpp>
#include <redco/diag/run_place.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco::data {

/// A micro-batch after collating: the batch, and the indices of its examples.
template <class Batch>
struct prepared_batch {
  micro_batch place;
  Batch batch;
};

/// Settings of the run that collate functions receive in `collate_info`.
struct collate_settings {
  std::uint64_t seed = 0;
  /// Index in the run of the step that has index 0 in the `batches` object.
  std::int64_t first_step = 0;
};

/// Returns a queue of one rank's micro-batches, collated in order on a thread of the queue, at most
/// `depth` ahead. The thread passes each one to `finish(prepared_batch<Batch>)`, for example to
/// copy it to a device, and the queue returns the results of `finish`.
template <class Example, class Batch, class Pipeline, class Finish>
prefetch<std::invoke_result_t<Finish const&, prepared_batch<Batch>>> prepared_batches(
    Pipeline const& pipeline, examples<Example> const& data, batches const& from, sampler const& order,
    std::int64_t epoch, collate_settings settings, length_of<Example> const& length, int depth,
    std::function<void()> on_thread_start, Finish const& finish) {
  auto const longest = [&data, &from, order, epoch, length](std::int64_t step) {
    if (!length) return std::int64_t{0};
    auto const global = from.step(step).global;
    std::vector<std::int64_t> indices;
    for (std::int64_t at = global.begin; at < global.end; ++at) indices.push_back(order.at(epoch, at));
    auto const chosen = data[indices];
    std::int64_t result = 0;
    for (Example const& example : chosen.span()) result = std::max(result, length(example));
    return result;
  };
  auto const produce = [&pipeline, &data, &from, settings, longest, finish, ahead = depth > 0](std::int64_t i) {
    micro_batch place = from[i];
    pipelines::collate_info info;
    info.longest = longest(place.step);
    info.first_example = place.first_example;
    info.seed = settings.seed;
    info.step = static_cast<std::uint64_t>(settings.first_step + place.step);
    if (ahead) diag::run_place::here().step = settings.first_step + place.step;
    auto const chosen = data[place.examples];
    return finish(prepared_batch<Batch>{std::move(place), pipeline.collate(chosen.span(), info)});
  };
  return {from.size(), depth, produce, std::move(on_thread_start)};
}

}  // namespace redco::data
