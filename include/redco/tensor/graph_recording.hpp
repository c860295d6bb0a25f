#pragma once

#include <redco/diag/error.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace redco {

/// Host work of a device graph (--cuda-graph): a replay repeats the device's work alone, so the
/// recording keeps the host's reads of the batch and does them again before each replay. A thread
/// records into at most one recording at a time.
///
///   graph_recording kept;
///   { graph_recording::scope const here(&kept);  graph.record(f); }   // f calls look_on_host, count_on_host, ...
///   kept.look_again();  graph.replay();                               // for each later batch
class graph_recording {
 public:
  /// Makes a recording the thread's own while the scope lives; null: reads by the host are allowed
  /// again.
  class scope {
   public:
    explicit scope(graph_recording* to) : before(std::exchange(of_thread_, to)) {}
    ~scope() { of_thread_ = before; }
    scope(scope const&) = delete;
    scope& operator=(scope const&) = delete;

    graph_recording* const before;
  };

  /// Returns the thread's recording; null if the thread records nothing.
  static graph_recording* of_thread() { return of_thread_; }

  /// Throws `error` with exit code 64 if the thread records: a replay would not read the batch
  /// again.
  static void refuse_host_read() {
    refuse(
        "the loss reads values of its batch on the host, where a recorded graph would see the first batch's for "
        "ever: compute with tensors alone, or train without --cuda-graph");
  }

  /// Throws `error` with exit code 64 if the thread records: a replay would draw the same numbers
  /// again.
  static void refuse_random_numbers() {
    refuse(
        "--cuda-graph would repeat the random numbers of the step that it records, so that dropout drops the same "
        "in all: train without dropout, or leave it out");
  }

  /// Adds work of the host that is repeated for each later batch. It refers to nothing that the
  /// recording outlives.
  void repeat(std::function<void()> work) { again_.push_back(std::move(work)); }

  /// Notes that the loss was given a number which the host read from the batch.
  void hand_out() { handed_out_ = true; }
  bool handed_out() const { return handed_out_; }

  /// Adds a count that the host reads from each batch, `now` for the batch that is recorded.
  /// Returns a placeholder for the count: a loss with the placeholder as its count is weighed by
  /// the count of each batch; see `latest`.
  double add_count(double now, std::function<double()> read) {
    std::size_t const index = counts_.size();
    counts_.push_back(now);
    repeat([this, index, again = std::move(read)] { counts_[index] = again(); });
    hand_out();
    return placeholder(index);
  }

  /// Returns the index of the count that a placeholder stands for; -1 for any other number.
  std::int64_t count_of(double number) const {
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (number == placeholder(i)) return static_cast<std::int64_t>(i);
    return -1;
  }

  /// Returns the number itself, or for a placeholder the count of the batch that look_again saw
  /// last.
  double latest(double number) const {
    std::int64_t const index = count_of(number);
    return index < 0 ? number : counts_[static_cast<std::size_t>(index)];
  }

  /// Repeats the host's work for the batch that lies in the graph's tensors now. Throws what the
  /// work throws.
  void look_again() {
    for (auto const& work : again_) work();
  }

  graph_recording() = default;
  graph_recording(graph_recording const&) = delete;
  graph_recording& operator=(graph_recording const&) = delete;

 private:
  /// A number in [2^-1000, 2^-999): twice a placeholder, a sum of two, or the larger of a
  /// placeholder and 1 is none. A tensor divided by one is not finite, which ends the step.
  static double placeholder(std::size_t index) {
    double const part = static_cast<double>(index + 1) * 0.6180339887498949;
    return std::ldexp(1 + (part - std::floor(part)), -1000);
  }

  static void refuse(char const* why) {
    if (of_thread_ != nullptr) throw error(exit_code::usage, why);
  }

  static inline thread_local graph_recording* of_thread_ = nullptr;

  std::vector<std::function<void()>> again_;
  std::vector<double> counts_;
  bool handed_out_ = false;
};

}  // namespace redco
