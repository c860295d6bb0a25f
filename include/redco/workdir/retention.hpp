#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace redco::workdir {

/// Memory of rank 0 between two saves of a run: the checkpoints that the run has saved, so that a
/// save need not read their manifests. A thread of its own deletes removed checkpoints while the
/// run trains. Only one thread calls the members.
class retention {
 public:
  /// Creates a retention that deletes folders by `remove`, which may throw `error`.
  explicit retention(std::function<void(std::filesystem::path const&)> remove = remove_folder);
  retention(retention const&) = delete;
  retention& operator=(retention const&) = delete;
  /// Waits until all folders are deleted.
  ~retention();

  /// Returns true if the run has saved the checkpoint of step `step`. Calls `reads`, which returns
  /// this fact from the checkpoint's manifest, only if the step is not known yet.
  template <class Reads>
  bool has_saved(std::int64_t step, Reads const& reads) {
    auto const known = saved_.find(step);
    return known != saved_.end() ? known->second : saved_.emplace(step, reads()).first->second;
  }
  void add_saved(std::int64_t step) { saved_[step] = true; }

  /// Deletes the folder in the background.
  void remove_later(std::filesystem::path folder);

  /// Waits until all folders are deleted that remove_later() has received.
  void wait();

  /// Returns the message of the first failed deletion since the last call, or an empty text.
  std::string take_failure();

 private:
  static void remove_folder(std::filesystem::path const& folder);
  void work();

  std::function<void(std::filesystem::path const&)> remove_;
  std::map<std::int64_t, bool> saved_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::filesystem::path> folders_;  ///< folders to delete; the first is being deleted
  std::string failure_;
  bool over_ = false;
  std::thread thread_;  ///< started by the first deletion
};

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/retention.inl.hpp>
#endif
