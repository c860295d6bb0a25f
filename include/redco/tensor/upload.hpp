#pragma once

#include <redco/tensor/for_each_tensor.hpp>
#include <redco/tensor/torch.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace redco {

/// A copy of a batch's tensors to a device, in flight while the device computes earlier work. The
/// copies start from pinned memory, on a stream owned by the copying thread.
class upload {
 public:
  upload() = default;

  /// Starts copying each tensor of `batch` (see for_each_tensor) to `device` and replaces it by the
  /// device tensor. Tensors that are already on `device` stay as they are.
  template <class Batch>
  upload(Batch& batch, at::Device device) {
    begin(device);
    for_each_tensor(batch, [&](at::Tensor& x) { x = copied(x, device); });
    end(device);
  }

  upload(upload&&) = default;
  upload& operator=(upload&&) = default;
  ~upload() = default;

  /// Makes the calling thread's stream wait for the copies, and registers them in the thread's
  /// host_copies until its next `arrive`. Call it on the thread that computes with the batch.
  void arrive();

 private:
  struct pair {
    at::Tensor there, here;
  };

  void begin(at::Device device);
  void end(at::Device device);
  at::Tensor copied(at::Tensor const& x, at::Device device);

  std::vector<pair> all_;
  std::optional<c10::Stream> stream_;
  std::optional<c10::Event> done_;
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/tensor/upload.inl.hpp>
#endif
