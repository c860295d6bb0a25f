#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::kernel::cpu {

/// Memory of this thread for n elements that outlives the call: blocks are the same size in every layer.
template <class T, int Slot>
T* scratch(std::int64_t n) {
  thread_local std::vector<T> memory;
  if (memory.size() < static_cast<std::size_t>(n)) memory.resize(static_cast<std::size_t>(n));
  return memory.data();
}

}  // namespace redco::kernel::cpu
