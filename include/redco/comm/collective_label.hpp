#pragma once

#include <string_view>

namespace redco::comm {

/// A scope that names the purpose of the calling thread's collectives, such as "grads" or "loss".
/// Messages about a lost peer contain the name. Scopes nest. The text must outlive the object, as
/// string literals do.
class collective_label {
 public:
  explicit collective_label(std::string_view text) noexcept : before_(current_) { current_ = text; }
  ~collective_label() { current_ = before_; }
  collective_label(collective_label const&) = delete;
  collective_label& operator=(collective_label const&) = delete;

  /// Returns the innermost label of the calling thread, or an empty text if the thread has none.
  static std::string_view current() noexcept { return current_; }

 private:
  inline static thread_local std::string_view current_{};
  std::string_view before_;
};

}  // namespace redco::comm
