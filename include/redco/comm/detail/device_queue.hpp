#pragma once

#include <redco/tensor/device.hpp>
#include <redco/tensor/device_streams.hpp>
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
  /// belong to the transport for CPU memory.
  virtual bool holds(at::Tensor const& x) const = 0;

  /// Returns a number that identifies `device` among the devices of this process.
  virtual std::int64_t number_of(at::Device device) const = 0;

  virtual std::unique_ptr<device_queue> make_queue(at::Device device) const = 0;
};

/// A device_queue on a libtorch stream, implemented by the interface that all device types of
/// libtorch share. The libtorch code for a device type is loaded at run time.
class stream_queue final : public device_queue {
 public:
  explicit stream_queue(at::Device device)
      : device_(device),
        device_type_(device.type()),
        stream_(device_type_.getStreamFromGlobalPool(device)),
        ready_(device.type()),
        mark_(device.type()) {}

  void* handle() override { return device_type_.getStreamNativeHandle(stream_); }
  void follow() override {
    ready_.record(tensors::current_stream(device_));
    ready_.block(stream_);
  }
  void mark() override { mark_.record(stream_); }
  bool reached() override { return mark_.query(); }

 private:
  at::Device device_;
  c10::impl::VirtualGuardImpl device_type_;
  c10::Stream stream_;
  c10::Event ready_, mark_;
};

/// A device_access for the devices that libtorch supports.
class torch_devices final : public device_access {
 public:
  bool holds(at::Tensor const& x) const override { return !tensors::in_cpu_memory(x); }
  std::int64_t number_of(at::Device device) const override { return device.index(); }
  std::unique_ptr<device_queue> make_queue(at::Device device) const override {
    return std::make_unique<stream_queue>(device);
  }
};

}  // namespace redco::comm::detail
