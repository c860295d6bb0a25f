#pragma once

#include <redco/tensor/for_each_tensor.hpp>
#include <redco/tensor/torch.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace redco {

/// The tensors of a batch on their way to a device: copied from pinned memory on a stream of the copying thread's own, while the
/// device computes what it was given before.
class upload {
 public:
  upload() = default;

  /// Begins to copy what `batch` has of tensors, which become those on the device (see for_each_tensor). Nothing for the host's own.
  template <class Batch>
  upload(Batch& batch, at::Device device) {
    begin(device);
    for_each_tensor(batch, [&](at::Tensor& x) { x = copied(x, device); });
    end(device);
  }

  upload(upload&&) = default;
  upload& operator=(upload&&) = default;
  ~upload() = default;

  /// For the thread that computes with them: its stream waits for them, and host_copies knows them until the next arrival.
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
