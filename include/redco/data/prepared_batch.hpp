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

/// A queue that calls produce(0), ..., produce(count - 1) on `threads` threads of its own, and
/// returns the results in order. The threads work at most max(depth, threads) results ahead of the
/// consumer. With depth 0 there is no thread, and next() computes each result. If produce(i)
/// throws, next() rethrows the exception in place of result i. The destructor waits for calls of
/// `produce` in progress.
template <class T>
class prefetch {
 public:
  /// Starts the threads. `on_thread_start` runs first on each, for example to set memory counters.
  /// With depth 0, `on_thread_start` is not called, because the consumer's thread does the work.
  prefetch(std::int64_t count, int depth, std::function<T(std::int64_t)> produce,
           std::function<void()> on_thread_start = {}, int threads = 1)
      : count_(count), depth_(depth > 0 ? std::max(depth, threads) : 0), end_(count), produce_(std::move(produce)) {
    for (int i = 0; depth > 0 && i < threads; ++i)
      threads_.emplace_back([this, on_thread_start](std::stop_token const& stop) { run(stop, on_thread_start); });
  }

  prefetch(prefetch const&) = delete;
  prefetch& operator=(prefetch const&) = delete;
  ~prefetch() {
    for (std::jthread& thread : threads_) thread.request_stop();
  }

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
    changed_.wait(lock, [&] { return taken_ >= end_ || (!ahead_.empty() && ahead_.front()); });
    if (taken_ >= end_) std::rethrow_exception(failure_);
    std::optional<T> result(std::move(ahead_.front()));
    ahead_.pop_front();
    ++taken_;
    lock.unlock();
    changed_.notify_all();
    return result;
  }

 private:
  void run(std::stop_token const& stop, std::function<void()> const& start) {
    std::int64_t index = 0;
    try {
      if (start) start();
      while (begin_next(stop, index)) {
        std::optional<T> result(produce_(index));
        std::lock_guard const lock(mutex_);
        ahead_[static_cast<std::size_t>(index - taken_)] = std::move(result);
        changed_.notify_all();
      }
    } catch (...) {
      std::lock_guard const lock(mutex_);
      // Among several failures, next() throws the one that a single thread would meet first.
      if (index < end_) failure_ = std::current_exception();
      end_ = std::min(end_, index);
      changed_.notify_all();
    }
  }

  /// Sets `index` to the next result to make, as soon as it is near enough to the consumer. Returns
  /// false if there is none left, or after a failure.
  bool begin_next(std::stop_token const& stop, std::int64_t& index) {
    std::unique_lock lock(mutex_);
    auto const open = [&] { return begun_ >= end_ || begun_ < taken_ + depth_; };
    if (!changed_.wait(lock, stop, open) || stop.stop_requested() || begun_ >= end_) return false;
    index = begun_++;
    ahead_.emplace_back();
    return true;
  }

  std::int64_t count_;
  std::int64_t depth_;
  std::int64_t end_;  ///< index of the first result that failed; without a failure, `count_`
  std::function<T(std::int64_t)> produce_;
  std::int64_t taken_ = 0;  ///< number of results that the consumer has
  std::int64_t begun_ = 0;  ///< number of results that threads have begun to make
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::optional<T>> ahead_;  ///< results from index `taken_` on; empty while being made
  std::exception_ptr failure_;
  // The last member: the threads end before the members that they use are destroyed.
  std::vector<std::jthread> threads_;
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

/// The threads of a queue of micro-batches.
struct collate_threads {
  int depth = 2;  ///< Number of micro-batches made ahead; 0: the consumer makes them
  int threads = 1;
  std::function<void()> on_thread_start = {};  ///< Called first by each thread
};

/// Returns a queue of one rank's micro-batches, collated on threads of the queue and returned in
/// order. The threads pass each one to `finish(prepared_batch<Batch>)`, for example to copy it to a
/// device, and the queue returns the results of `finish`.
template <class Example, class Batch, class Pipeline, class Finish>
prefetch<std::invoke_result_t<Finish const&, prepared_batch<Batch>>> prepared_batches(
    Pipeline const& pipeline, examples<Example> const& data, batches const& from, sampler const& order,
    std::int64_t epoch, collate_settings settings, length_of<Example> const& length, collate_threads const& how,
    Finish const& finish) {
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
  auto const produce = [&pipeline, &data, &from, epoch, settings, longest, finish,
                        ahead = how.depth > 0](std::int64_t i) {
    reading_epoch const reading(epoch);
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
  return {from.size(), how.depth, produce, how.on_thread_start, how.threads};
}

}  // namespace redco::data
