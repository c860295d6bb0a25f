#pragma once

#include <memory>
#include <mutex>
#include <optional>

namespace redco::pretrained::detail {

/// A value that is computed when it is first used, once for all threads. Copies of the object share
/// the value.
template <class T>
class first_use {
 public:
  /// Returns the shared value. The first call computes it by `make()`. If `make` throws, the
  /// exception propagates, and the next call computes the value again.
  template <class Make>
  T const& get(Make const& make) const {
    std::lock_guard const lock(held_->mutex);
    if (!held_->value) held_->value.emplace(make());
    return *held_->value;
  }

 private:
  struct held {
    std::mutex mutex;
    std::optional<T> value;
  };
  std::shared_ptr<held> held_ = std::make_shared<held>();
};

}  // namespace redco::pretrained::detail
