#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::kernel::cpu {

/// Returns scratch memory of this thread for at least `n` elements of type T. Each `Slot` is a
/// separate buffer. The buffer is kept for later calls, because the layers of a model need equal
/// sizes.
template <class T, int Slot>
T* scratch(std::int64_t n) {
  thread_local std::vector<T> memory;
  if (memory.size() < static_cast<std::size_t>(n)) memory.resize(static_cast<std::size_t>(n));
  return memory.data();
}

/// Like scratch(), aligned to 64 bytes for vector loads.
template <class T, int Slot>
T* aligned_scratch(std::int64_t n) {
  constexpr std::int64_t more = 64 / sizeof(T) - 1;
  auto const address = reinterpret_cast<std::uintptr_t>(scratch<T, Slot>(n + more));
  return reinterpret_cast<T*>((address + 63) / 64 * 64);
}

}  // namespace redco::kernel::cpu
