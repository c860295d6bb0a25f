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

}  // namespace redco::kernel::cpu
