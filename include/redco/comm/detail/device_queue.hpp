#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <memory>

namespace redco::comm::detail {

/// A queue of device work that a transport (such as NCCL) uses. It is separate from the threads'
/// current streams.
class device_queue {
 public:
  virtual ~device_queue() = default;

  /// Returns the native stream handle that NCCL functions take.
  virtual void* handle() = 0;

  /// Makes work that is added to this queue later wait for the work already on the calling thread's
  /// current stream.
  virtual void follow() = 0;

  /// Records a mark (an event) at the end of the queue. Afterwards, reached() returns true once the
  /// device has passed the mark.
  virtual void mark() = 0;
  virtual bool reached() = 0;
};

/// An interface through which a transport such as NCCL gets queues and properties of devices.
class device_access {
 public:
  virtual ~device_access() = default;

  /// Returns true if collectives of `x` belong to the device transport (NCCL), and false if they
  /// belong to the transport for host memory.
  virtual bool holds(at::Tensor const& x) const = 0;

  /// Returns a number that identifies `device` among the devices of this process.
  virtual std::int64_t number_of(at::Device device) const = 0;

  virtual std::unique_ptr<device_queue> make_queue(at::Device device) const = 0;
};

}  // namespace redco::comm::detail
