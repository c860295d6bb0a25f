#pragma once

#include <redco/tensor/upload.hpp>

#include <redco/tensor/device.hpp>
#include <redco/tensor/device_streams.hpp>
#include <redco/config.hpp>

namespace redco::tensors {

/// Prepares the copies to `device` by selecting their stream. Each thread and device uses one
/// stream of libtorch's pool.
REDCO_INLINE void upload::begin(at::Device device) {
  if (!at::accelerator::isAccelerator(device.type())) return;
  thread_local std::optional<c10::Stream> own;
  if (!own || own->device() != device) own = c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
  stream_ = own;
}

REDCO_INLINE at::Tensor upload::copied(at::Tensor const& x, at::Device device) {
  if (x.device() == device) return x;
  c10::OptionalDeviceGuard const on(stream_ ? std::optional(device) : std::nullopt);
  c10::OptionalStreamGuard const in(stream_);
  bool const from_cpu = in_cpu_memory(x);
  at::Tensor const whole = x.is_non_overlapping_and_dense() ? x : x.contiguous();
  at::Tensor const here = stream_ && from_cpu ? whole.pin_memory() : whole;
  at::Tensor const there = here.to(device, here.scalar_type(), /*non_blocking=*/from_cpu);
  if (from_cpu) all_.push_back({there, here});
  return there;
}

REDCO_INLINE void upload::end(at::Device device) {
  if (!stream_) return;
  c10::OptionalStreamGuard const in(stream_);
  done_ = mark_on(device);
}

REDCO_INLINE void upload::arrive() {
  auto& known = cpu_copies::of_thread();
  known.clear();
  for (auto const& [there, here] : all_) {
    known.add(there, here);
    if (stream_) there.record_stream(current_stream(there.device()));
  }
  if (stream_) follow_on(stream_->device(), done_);
}

}  // namespace redco::tensors
