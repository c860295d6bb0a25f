#pragma once

#include <memory>
#include <mutex>
#include <optional>

namespace redco::detail {

/// A value that is made when it is first asked for, once for all threads; copies share it.
template <class T>
class first_use {
 public:
  /// The value, made by `make()` unless it is there. What `make` throws is thrown, and the next call tries again.
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
