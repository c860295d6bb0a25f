#pragma once

#include <chrono>

namespace redco::workdir {

/// Times of ranks that read or write files together.
struct disk_limits {
  /// Longest time that ranks wait for a rank that reads and writes nothing (option
  /// --disk-deadline).
  std::chrono::milliseconds deadline{1'800'000};
  /// Time after which a rank reports to all ranks how much it has read or written.
  std::chrono::milliseconds between{10'000};
};

}  // namespace redco::workdir
