#pragma once

#include <redco/tensor/torch.hpp>

#include <optional>

namespace redco::tensors {

/// Returns the stream on which this thread's operators run on a device.
inline c10::Stream current_stream(at::Device device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

/// Records an event after the work that this thread's current stream on `device` has now. Returns
/// nothing for a device without streams (the CPU), whose work is already done.
inline std::optional<c10::Event> mark_on(at::Device device) {
  if (!at::accelerator::isAccelerator(device.type())) return std::nullopt;
  std::optional<c10::Event> mark(std::in_place, device.type());
  mark->record(current_stream(device));
  return mark;
}

/// Makes this thread's current streams wait for the event `mark`, if there is one. Both the stream
/// of `device` and the stream of the event's device wait, because a copy between devices uses both.
inline void follow_on(at::Device device, std::optional<c10::Event> const& mark) {
  if (!mark) return;
  mark->block(current_stream(device));
  if (mark->device() != device) mark->block(current_stream(mark->device()));
}

/// Blocks until `device` has finished all work on this thread's current stream.
inline void settle(at::Device device) {
  if (auto const mark = mark_on(device)) mark->synchronize();
}

}  // namespace redco::tensors
