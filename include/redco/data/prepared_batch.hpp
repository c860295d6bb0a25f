#pragma once

#include <redco/data/batches.hpp>
#include <redco/data/examples.hpp>
#include <redco/data/sampler.hpp>
#include <redco/pipeline/collate_info.hpp>
#include <redco/diag/run_position.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco::data {

/// A queue that calls produce(0), ..., produce(count - 1) on its own thread, and returns the
/// results in order. The thread works at most `depth` results ahead of the consumer. With depth 0
/// there is no thread, and next() computes each result. If `produce` throws, next() rethrows the
/// exception. The destructor waits for a call of `produce` in progress.
template <class T>
class prefetch {
 public:
  /// Starts the thread. `on_thread_start` runs first on it, for example to set memory counters.
  /// With depth 0, `on_thread_start` is not called, because the consumer's thread does the work.
  prefetch(std::int64_t count, int depth, std::function<T(std::int64_t)> produce,
           std::function<void()> on_thread_start = {})
      : count_(count), depth_(static_cast<std::size_t>(depth > 0 ? depth : 0)), produce_(std::move(produce)) {
    if (depth_ > 0)
      thread_ =
          std::jthread([this, start = std::move(on_thread_start)](std::stop_token const& stop) { run(stop, start); });
  }

  prefetch(prefetch const&) = delete;
  prefetch& operator=(prefetch const&) = delete;
  ~prefetch() = default;

  /// Returns the next result, or nothing after the last one. Rethrows an exception of `produce` or
  /// `on_thread_start`; later calls rethrow it again.
  std::optional<T> next() {
    if (taken_ == count_) return std::nullopt;
    if (depth_ == 0) {
      std::optional<T> result(produce_(taken_));
      ++taken_;
      return result;
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty() || failure_; });
    if (ready_.empty()) std::rethrow_exception(failure_);
    std::optional<T> result(std::move(ready_.front()));
    ready_.pop_front();
    ++taken_;
    lock.unlock();
    changed_.notify_one();
    return result;
  }

 private:
  void run(std::stop_token const& stop, std::function<void()> const& start) try {
    if (start) start();
    for (std::int64_t i = 0; i < count_; ++i) {
      {
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [&] { return ready_.size() < depth_; })) return;
      }
      if (stop.stop_requested()) return;
      T result = produce_(i);
      std::lock_guard const lock(mutex_);
      ready_.push_back(std::move(result));
      changed_.notify_one();
    }
  } catch (...) {
    std::lock_guard const lock(mutex_);
    failure_ = std::current_exception();
    changed_.notify_one();
  }

  std::int64_t count_;
  std::size_t depth_;
  std::function<T(std::int64_t)> produce_;
  std::int64_t taken_ = 0;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<T> ready_;
  std::exception_ptr failure_;
  // The last member: it is stopped and joined before the members that it uses are destroyed.
  std::jthread thread_;
};

/// A micro-batch after collating: the batch, and the indices of its examples.
template <class Batch>
struct prepared_batch {
  micro_batch source;
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
    micro_batch source = from[i];
    pipelines::collate_info info;
    info.longest = longest(source.step);
    info.first_example = source.first_example;
    info.seed = settings.seed;
    info.step = static_cast<std::uint64_t>(settings.first_step + source.step);
    if (ahead) diag::run_position::here().step = settings.first_step + source.step;
    auto const chosen = data[source.examples];
    return finish(prepared_batch<Batch>{std::move(source), pipeline.collate(chosen.span(), info)});
  };
  return {from.size(), depth, produce, std::move(on_thread_start)};
}

}  // namespace redco::data
