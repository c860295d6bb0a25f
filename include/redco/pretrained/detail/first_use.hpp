#pragma once

#include <memory>
#include <mutex>
#include <optional>

namespace redco::detail {

/// A value that is computed at its first use, once for all threads. Copies share the value.
template <class T>
class first_use {
 public:
  /// Returns the value, computed by `make()` at the first call. If `make` throws, the exception
  /// propagates and the next call computes again.
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

}  // namespace redco::detail
