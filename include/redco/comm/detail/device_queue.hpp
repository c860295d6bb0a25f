#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <memory>

namespace redco::comm::detail {

/// A queue of device work that belongs to a transport and is separate from the threads' current
/// streams.
class device_queue {
 public:
  virtual ~device_queue() = default;

  /// Returns the native stream handle that NCCL functions take.
  virtual void* handle() = 0;

  /// Makes later work of this queue wait for the work that the calling thread's current stream has
  /// now.
  virtual void follow() = 0;

  /// Records a mark at the end of the queue. Afterwards, reached() returns true once the device has
  /// passed the mark.
  virtual void mark() = 0;
  virtual bool reached() = 0;
};

/// An interface for the properties of devices that a transport needs.
class device_access {
 public:
  virtual ~device_access() = default;

  /// Returns true if the device transport handles `x`, and false if the transport in host memory
  /// does.
  virtual bool holds(at::Tensor const& x) const = 0;

  /// Returns a number that identifies `device` among the devices of this process.
  virtual std::int64_t number_of(at::Device device) const = 0;

  virtual std::unique_ptr<device_queue> make_queue(at::Device device) const = 0;
};

}  // namespace redco::comm::detail
