#pragma once

#include <string_view>

namespace redco::comm {

/// Names what the collectives of this thread are for while it lives ("grads", "loss"), so that a message about a lost
/// peer can say it. Labels nest. The text must outlive the object; string literals do.
class collective_label {
 public:
  explicit collective_label(std::string_view text) noexcept : before_(current_) { current_ = text; }
  ~collective_label() { current_ = before_; }
  collective_label(collective_label const&) = delete;
  collective_label& operator=(collective_label const&) = delete;

  /// The innermost label of this thread, empty if there is none.
  static std::string_view current() noexcept { return current_; }

 private:
  inline static thread_local std::string_view current_{};
  std::string_view before_;
};

}  // namespace redco::comm
