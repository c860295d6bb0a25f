#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/diag/error.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace redco::tensors {

/// CPU work that belongs to a recorded device graph (--cuda-graph). A replay of the graph repeats
/// device work only. The recording therefore stores functions that read the batch on the CPU, and
/// repeats them before each replay. A thread uses at most one recording at a time.
///
///   graph_recording kept;
///   { graph_recording::scope const here(&kept);  graph.record(f); }   // f calls look_on_cpu, ...
///   kept.look_again();  graph.replay();                               // for each later batch
class graph_recording {
 public:
  /// A scope that makes `to` the recording of this thread. With a null pointer, it suspends the
  /// current recording, so that CPU code may read tensors.
  class scope {
   public:
    explicit scope(graph_recording* to) : before(std::exchange(of_thread_, to)) {}
    ~scope() { of_thread_ = before; }
    scope(scope const&) = delete;
    scope& operator=(scope const&) = delete;

    graph_recording* const before;
  };

  /// Returns this thread's recording of a device graph, or null if the thread records none.
  static graph_recording* of_thread() { return of_thread_; }

  /// Throws `error` with exit code 64 if this thread records a device graph. Called before the CPU
  /// reads a tensor, because a replay would not repeat the read.
  static void refuse_cpu_read() {
    refuse(
        "the loss reads values of its batch on the CPU, where a recorded graph would see the first batch's for "
        "ever: compute with tensors alone, or train without --cuda-graph");
  }

  /// Throws `error` with exit code 64 if this thread records a device graph. Called before random
  /// numbers are drawn, because each replay would use the same numbers.
  static void refuse_random_numbers() {
    refuse(
        "--cuda-graph would repeat the random numbers of the step that it records, so that dropout drops the same "
        "in all: train without dropout, or leave it out");
  }

  /// Adds a function that is called again for each later batch, before the graph is replayed. The
  /// function must not refer to objects that are destroyed before this recording.
  void repeat(std::function<void()> work) { again_.push_back(std::move(work)); }

  /// Records that the user's loss function has received a number that the CPU read from the batch.
  /// A replay cannot change such a number.
  void hand_out() { handed_out_ = true; }
  bool handed_out() const { return handed_out_; }

  /// Adds a loss count (number of labels, tokens or pixels). `now` is the count of the recorded
  /// batch; `read` computes the count of each later batch. Returns a placeholder number. If a loss
  /// uses the placeholder as its count, each replay weighs the loss by the count of its own batch.
  double add_count(double now, std::function<double()> read) {
    std::size_t const index = counts_.size();
    counts_.push_back(now);
    repeat([this, index, again = std::move(read)] { counts_[index] = again(); });
    hand_out();
    return placeholder(index);
  }

  /// Returns the index of the loss's count that `number` represents. While a graph is recorded, a
  /// special number (placeholder) represents each count. Returns -1 if `number` is no placeholder.
  std::int64_t count_of(double number) const {
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (number == placeholder(i)) return static_cast<std::int64_t>(i);
    return -1;
  }

  /// Returns the loss count that `number` represents. For a placeholder from add_count(), this is
  /// the count that the last look_again() read. Any other number represents itself.
  double latest(double number) const {
    std::int64_t const index = count_of(number);
    return index < 0 ? number : counts_[static_cast<std::size_t>(index)];
  }

  /// Calls all recorded CPU functions again, for the batch that is now in the graph's input
  /// tensors. Throws what these functions throw.
  void look_again() {
    for (auto const& work : again_) work();
  }

  graph_recording() = default;
  graph_recording(graph_recording const&) = delete;
  graph_recording& operator=(graph_recording const&) = delete;

 private:
  /// Returns the placeholder for the loss count with this index, a number in [2^-1000, 2^-999).
  /// Numbers that user code computes from a placeholder p, such as 2 * p or max(p, 1), are
  /// therefore no placeholders. A tensor divided by a placeholder is not finite, which ends the
  /// step with an error.
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

/// Device work that is recorded once and replayed as a whole, so that the CPU launches one graph
/// instead of thousands of kernels. A replay reads and writes the memory addresses of the
/// recording. Memory allocated while recording stays reserved for the graph.
class device_graph {
 public:
  device_graph() = default;
  device_graph(device_graph const&) = delete;
  device_graph& operator=(device_graph const&) = delete;
  virtual ~device_graph() = default;

  /// Calls `f` once and records its device work instead of running it. Throws what `f` throws.
  /// Throws libtorch's error if an operator cannot be recorded, such as one that waits for the
  /// device.
  virtual void record(std::function<void()> f) = 0;

  /// Launches the recorded work on this thread's current stream.
  virtual void replay() = 0;

  /// A factory of device graphs. Its member `serves` returns true if it can make graphs for a
  /// device.
  class maker {
   public:
    virtual ~maker() = default;
    virtual bool serves(at::Device device) const = 0;
    virtual std::unique_ptr<device_graph> make(at::Device device) const = 0;
  };

  /// Returns the factory of device graphs that this process uses. It makes CUDA graphs, unless a
  /// `device_graph::forced` object selects another factory.
  static maker const& maker_in_use();

  /// A scope that selects another factory of device graphs for all threads, for tests. The
  /// destructor restores the previous one.
  class forced {
   public:
    explicit forced(maker const& other);
    ~forced();
    forced(forced const&) = delete;
    forced& operator=(forced const&) = delete;

   private:
    maker const* before_;
  };
};

}  // namespace redco::tensors

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/tensor/device_graph.inl.hpp>
#endif
