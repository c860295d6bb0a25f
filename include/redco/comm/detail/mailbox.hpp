#pragma once

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace redco::comm::detail {

/// A queue of the tensors that ranks of a group have sent to each other and not yet received,
/// oldest first. Used by send and recv between threads.
class mailbox {
 public:
  void post(std::size_t from, std::size_t to, int tag, at::Tensor content) {
    std::lock_guard const lock(mutex_);
    letters_.push_back({from, to, tag, std::move(content)});
  }

  bool has(std::size_t from, std::size_t to, int tag) const {
    std::lock_guard const lock(mutex_);
    return find(from, to, tag) != letters_.end();
  }

  std::optional<at::Tensor> take(std::size_t from, std::size_t to, int tag) {
    std::lock_guard const lock(mutex_);
    auto const found = find(from, to, tag);
    if (found == letters_.end()) return std::nullopt;
    at::Tensor content = found->content;
    letters_.erase(found);
    return content;
  }

  void clear() {
    std::lock_guard const lock(mutex_);
    letters_.clear();
  }

 private:
  struct letter {
    std::size_t from;
    std::size_t to;
    int tag;
    at::Tensor content;
  };

  std::deque<letter>::const_iterator find(std::size_t from, std::size_t to, int tag) const {
    auto at = letters_.begin();
    while (at != letters_.end() && !(at->from == from && at->to == to && at->tag == tag)) ++at;
    return at;
  }

  mutable std::mutex mutex_;
  std::deque<letter> letters_;
};

}  // namespace redco::comm::detail
