#pragma once

#include <cstdint>
#include <fstream>
#include <string>

/// The largest memory of this process since `reset`, in bytes; 0 if the system does not report it.
struct peak_memory {
  static std::int64_t reset() {
    std::ofstream("/proc/self/clear_refs") << "5";
    return now();
  }
  static std::int64_t now() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
    }
    return 0;
  }
};
