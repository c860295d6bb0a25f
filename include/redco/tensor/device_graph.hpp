#pragma once

#include <redco/tensor/torch.hpp>

#include <functional>
#include <memory>

namespace redco {

/// Work of a device that is recorded once and repeated as a whole, so that the host starts one thing instead of thousands. It reads
/// and writes the memory that it was recorded with; what it allocated meanwhile stays its own.
class device_graph {
 public:
  device_graph() = default;
  device_graph(device_graph const&) = delete;
  device_graph& operator=(device_graph const&) = delete;
  virtual ~device_graph() = default;

  /// Calls f once; its operators on the device are recorded and not run. Errors: those of f, and libtorch's for an operator that
  /// cannot be recorded, such as one for which the host waits.
  virtual void record(std::function<void()> f) = 0;

  /// Gives the device all of it to do, in this thread's current stream.
  virtual void replay() = 0;

  /// Who makes them, and whether they can be made for a device.
  class maker {
   public:
    virtual ~maker() = default;
    virtual bool serves(at::Device device) const = 0;
    virtual std::unique_ptr<device_graph> make(at::Device device) const = 0;
  };

  /// That of CUDA's graphs, unless another is forced.
  static maker const& maker_in_use();

  /// Another one while it lives, for all threads.
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

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/tensor/device_graph.inl.hpp>
#endif
