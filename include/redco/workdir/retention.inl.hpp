#pragma once

#include <redco/workdir/retention.hpp>

#include <redco/safetensors/file_ops.hpp>
#include <redco/config.hpp>

#include <exception>
#include <system_error>
#include <utility>

namespace redco::workdir {

REDCO_INLINE retention::retention(std::function<void(std::filesystem::path const&)> remove)
    : remove_(std::move(remove)) {}

REDCO_INLINE retention::~retention() {
  if (!thread_.joinable()) return;
  {
    std::scoped_lock const lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

REDCO_INLINE void retention::remove_later(std::filesystem::path folder) {
  {
    std::scoped_lock const lock(mutex_);
    folders_.push_back(std::move(folder));
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  changed_.notify_all();
}

REDCO_INLINE void retention::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return folders_.empty(); });
}

REDCO_INLINE std::string retention::take_failure() {
  std::scoped_lock const lock(mutex_);
  return std::exchange(failure_, {});
}

REDCO_INLINE void retention::remove_folder(std::filesystem::path const& folder) {
  std::error_code failed;
  std::filesystem::remove_all(folder, failed);
  // A folder that somebody else has moved or removed meanwhile is no failure.
  if (failed && std::filesystem::exists(folder)) safetensors::throw_io("remove", folder, failed.value());
}

REDCO_INLINE void retention::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return over_ || !folders_.empty(); });
    if (folders_.empty()) return;
    std::filesystem::path const folder = folders_.front();
    lock.unlock();
    std::string failure;
    try {
      remove_(folder);
    } catch (std::exception const& e) {
      failure = e.what();
    }
    lock.lock();
    if (failure_.empty()) failure_ = failure;
    folders_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace redco::workdir
