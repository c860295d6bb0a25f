#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::kernel::cpu {

/// Returns memory of this thread for at least `n` elements. The memory is kept for later calls,
/// because the layers of a model need blocks of equal size.
template <class T, int Slot>
T* scratch(std::int64_t n) {
  thread_local std::vector<T> memory;
  if (memory.size() < static_cast<std::size_t>(n)) memory.resize(static_cast<std::size_t>(n));
  return memory.data();
}

}  // namespace redco::kernel::cpu
