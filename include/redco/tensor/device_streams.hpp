#pragma once

#include <redco/tensor/torch.hpp>

#include <optional>

namespace redco {

/// The stream that this thread's operators on a device are given to.
inline c10::Stream current_stream(at::Device device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

/// Marks where this thread's current stream of the device is now; nothing where there are no streams, and all is done already.
inline std::optional<c10::Event> mark_on(at::Device device) {
  if (!at::accelerator::isAccelerator(device.type())) return std::nullopt;
  std::optional<c10::Event> mark(std::in_place, device.type());
  mark->record(current_stream(device));
  return mark;
}

/// Lets this thread's current streams, of the device and of that of the mark, wait for the mark: what reads there uses both.
inline void follow_on(at::Device device, std::optional<c10::Event> const& mark) {
  if (!mark) return;
  mark->block(current_stream(device));
  if (mark->device() != device) mark->block(current_stream(mark->device()));
}

/// Waits until the device has done all that this thread asked of it.
inline void settle(at::Device device) {
  if (auto const mark = mark_on(device)) mark->synchronize();
}

}  // namespace redco
