#pragma once

#include <redco/tensor/torch.hpp>

#include <functional>
#include <memory>

namespace redco::tensors {

/// Device work that is recorded once and replayed as a whole, so that the host launches one graph
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
