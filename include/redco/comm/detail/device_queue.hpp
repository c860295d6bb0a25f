#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <memory>

namespace redco::comm::detail {

/// Work of a device in its order, a transport's own beside what the threads' current streams have.
class device_queue {
 public:
  virtual ~device_queue() = default;

  /// As NCCL takes it.
  virtual void* handle() = 0;

  /// What is enqueued next begins when all is done that this thread's current stream has now.
  virtual void follow() = 0;

  /// Marks the end of what is enqueued now, and says whether the device has come there.
  virtual void mark() = 0;
  virtual bool reached() = 0;
};

/// The devices, as far as a transport needs to know them.
class device_access {
 public:
  virtual ~device_access() = default;

  /// Whether the transport is asked, and not the one in host memory.
  virtual bool holds(at::Tensor const& x) const = 0;

  /// Tells the devices of this process apart.
  virtual std::int64_t number_of(at::Device device) const = 0;

  virtual std::unique_ptr<device_queue> make_queue(at::Device device) const = 0;
};

}  // namespace redco::comm::detail
