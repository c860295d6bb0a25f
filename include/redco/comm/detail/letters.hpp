#pragma once

#include <redco/comm/detail/mailbox.hpp>
#include <redco/comm/detail/meeting.hpp>
#include <redco/comm/detail/tensor_rows.hpp>
#include <redco/comm/lifeline.hpp>

#include <redco/tensor/describe.hpp>
#include <redco/tensor/device_streams.hpp>
#include <redco/tensor/torch.hpp>

#include <chrono>
#include <cstddef>
#include <string>

namespace redco::comm::detail {

/// Returns the description of a receive call for messages, for example "recv of Float [3] with tag
/// 4".
inline std::string recv_text(at::Tensor const& x, int tag) {
  return "recv of " + tensors::describe(x) + " with tag " + std::to_string(tag);
}

/// An implementation of send and recv between threads of one process. The threads are members of
/// one group and share one `meeting` (synchronisation point) and one `mailbox` (queue of sent
/// tensors).
struct letters {
  meeting& meeting;
  mailbox& mailbox;

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
    auto const letter = mailbox.take(peer, me, tag);
    if (!letter) {
      if (line.failed()) throw line.cause();
      meeting.lose(me, meeting.where(recv_text(x, tag), me), {sender}, limit);
    }
    deliver(*letter, x, tag, meeting.name(), sender, meeting.member(me));
  }
};

}  // namespace redco::comm::detail
