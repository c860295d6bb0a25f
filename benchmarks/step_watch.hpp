#pragma once

#include "timing.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

/// A stopwatch for the steps of a run. If paced, each step waits for a line on its process's
/// standard input. After each step the process of rank 0 writes wall and processor seconds to
/// `out`. Programs can thus take turns step by step.
class step_watch {
 public:
  /// `answers`: true in the process of rank 0.
  step_watch(bool paced, std::ostream& out, bool answers = true) : paced_(paced), answers_(answers), out_(out) {}

  /// Call once before the first step.
  void begin() {
    if (answers_) release();
  }

  /// Waits until update `step` = 0, 1, ... may begin. Every rank must call it at the beginning of
  /// the update.
  void enter(std::uint64_t step) {
    if (!paced_) return;
    std::unique_lock lock(mutex_);
    if (answers_) return bell_.wait(lock, [&] { return released_ > step; });
    for (std::string line; released_ <= step; ++released_) std::getline(std::cin, line);
  }

  /// Records an update. Rank 0 must call it after each update.
  void done(double loss) {
    seconds.push_back(std::chrono::duration<double>(clock::now() - began_).count());
    cpu.push_back(processor_seconds() - cpu_began_);
    losses.push_back(loss);
    if (seconds.size() == 1) first = process_age();
    if (paced_) out_ << seconds.back() << ' ' << cpu.back() << std::endl;
    release();
  }

  /// Returns the median of the times after the first three steps.
  static double typical(std::vector<double> times) {
    if (times.size() > 3) times.erase(times.begin(), times.begin() + 3);
    return median(times);
  }

  static double peak_rss_gib() {
    rusage use{};
    ::getrusage(RUSAGE_SELF, &use);
    return static_cast<double>(use.ru_maxrss) / (1 << 20);
  }

  double first = 0;  ///< seconds from the start of the process to the end of the first step
  std::vector<double> seconds, cpu, losses;

 private:
  using clock = std::chrono::steady_clock;

  void release() {
    std::string line;
    if (paced_) std::getline(std::cin, line);
    began_ = clock::now();
    cpu_began_ = processor_seconds();
    {
      std::lock_guard const lock(mutex_);
      ++released_;
    }
    bell_.notify_all();
  }

  static double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

  /// Returns the seconds since this process started, in steps of 0.01: field 22 of /proc/self/stat,
  /// in clock ticks since boot.
  static double process_age() {
    std::ifstream stat("/proc/self/stat"), uptime("/proc/uptime");
    std::string text, word;
    std::getline(stat, text);
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    for (int i = 0; i < 20; ++i) fields >> word;
    double now = 0;
    uptime >> now;
    return now - std::stod(word) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }

  bool paced_, answers_;
  std::ostream& out_;
  std::mutex mutex_;
  std::condition_variable bell_;
  std::uint64_t released_ = 0;
  clock::time_point began_ = clock::now();
  double cpu_began_ = 0;
};
