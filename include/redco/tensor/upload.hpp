#pragma once

#include <redco/tensor/for_each_tensor.hpp>
#include <redco/tensor/torch.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace redco::tensors {

/// Copies of a batch's tensors from host to device memory, in flight while the device computes
/// earlier work. They read pinned memory and use a stream that belongs to the copying thread.
class upload {
 public:
  upload() = default;

  /// Starts to copy each tensor in `batch` to `device`, and replaces it in `batch` by the device
  /// tensor. Tensors that are already on `device` stay as they are. See for_each_tensor for the
  /// tensors found.
  template <class Batch>
  upload(Batch& batch, at::Device device) {
    begin(device);
    for_each_tensor(batch, [&](at::Tensor& x) { x = copied(x, device); });
    end(device);
  }

  upload(upload&&) = default;
  upload& operator=(upload&&) = default;
  ~upload() = default;

  /// Makes the calling thread's stream wait for the copies. Registers the host tensors in the
  /// thread's host_copies table until its next `arrive`. The thread that computes with the batch
  /// must call it.
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

}  // namespace redco::tensors

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/tensor/upload.inl.hpp>
#endif
