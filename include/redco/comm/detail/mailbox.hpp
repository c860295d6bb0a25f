#pragma once

#include <redco/comm/detail/meeting.hpp>
#include <redco/comm/detail/tensor_rows.hpp>
#include <redco/comm/lifeline.hpp>
#include <redco/tensor/describe.hpp>
#include <redco/tensor/device_streams.hpp>
#include <redco/tensor/torch.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace redco::comm::detail {

/// A queue of the tensors that ranks of a group have sent to each other and not yet received,
/// oldest first. Used by send and recv between threads.
class mailbox {
 public:
  void post(std::size_t from, std::size_t to, int tag, at::Tensor content) {
    std::lock_guard const lock(mutex_);
    messages_.push_back({from, to, tag, std::move(content)});
  }

  bool has(std::size_t from, std::size_t to, int tag) const {
    std::lock_guard const lock(mutex_);
    return find(from, to, tag) != messages_.end();
  }

  std::optional<at::Tensor> take(std::size_t from, std::size_t to, int tag) {
    std::lock_guard const lock(mutex_);
    auto const found = find(from, to, tag);
    if (found == messages_.end()) return std::nullopt;
    at::Tensor content = found->content;
    messages_.erase(found);
    return content;
  }

  void clear() {
    std::lock_guard const lock(mutex_);
    messages_.clear();
  }

 private:
  struct message {
    std::size_t from;
    std::size_t to;
    int tag;
    at::Tensor content;
  };

  std::deque<message>::const_iterator find(std::size_t from, std::size_t to, int tag) const {
    auto at = messages_.begin();
    while (at != messages_.end() && !(at->from == from && at->to == to && at->tag == tag)) ++at;
    return at;
  }

  mutable std::mutex mutex_;
  std::deque<message> messages_;
};

/// Returns the description of a receive call for messages, for example "recv of Float [3] with tag
/// 4".
inline std::string recv_text(at::Tensor const& x, int tag) {
  return "recv of " + tensors::describe(x) + " with tag " + std::to_string(tag);
}

/// An implementation of send and recv between threads of one process. The threads are members of
/// one group and share one `meeting` (synchronisation point) and one `mailbox` (queue of sent
/// tensors).
struct point_to_point {
  detail::meeting& meeting;
  detail::mailbox& mailbox;

  void send(std::size_t me, std::size_t peer, int tag, at::Tensor const& x) const {
    if (meeting.line().failed()) throw meeting.line().cause();
    at::Tensor const copy = x.clone();
    tensors::settle(copy.device());
    mailbox.post(me, peer, tag, copy);
    meeting.room().wake();
  }

  void receive(std::size_t me, std::size_t peer, int tag, at::Tensor const& x, std::chrono::milliseconds limit) const {
    lifeline& line = meeting.line();
    int const sender = meeting.member(peer);
    meeting.room().wait([&] { return line.failed() || line.ended(sender) || mailbox.has(peer, me, tag); }, limit);
    auto const message = mailbox.take(peer, me, tag);
    if (!message) {
      if (line.failed()) throw line.cause();
      meeting.lose(me, meeting.where(recv_text(x, tag), me), {sender}, limit);
    }
    deliver(*message, x, tag, meeting.name(), sender, meeting.member(me));
  }
};

}  // namespace redco::comm::detail
