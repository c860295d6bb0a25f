#pragma once

#include <unistd.h>

#include <cstdint>
#include <fstream>

/// Returns the resident memory of this process in bytes.
inline std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

/// True if a sanitizer keeps freed memory resident for a while, so that no test can bound it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool keeps_freed_memory = true;
#else
inline constexpr bool keeps_freed_memory = false;
#endif
