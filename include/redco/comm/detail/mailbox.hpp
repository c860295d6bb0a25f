#pragma once

#include <redco/comm/detail/meeting.hpp>
#include <redco/comm/detail/tensor_rows.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/lifeline.hpp>
#include <redco/comm/ticket.hpp>
#include <redco/tensor/describe.hpp>
#include <redco/tensor/device_streams.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace redco::comm::detail {

/// A sent tensor that has not been received. If the sender waits for the tensor's memory, `is_free`
/// is set, and becomes true when the receiver neither accesses the tensor nor holds a reference to
/// it. The memory is thus freed by the sender's thread, whose memory counter counted it.
struct parcel {
  explicit parcel(at::Tensor sent, std::shared_ptr<std::atomic<bool>> flag = {})
      : content(std::move(sent)), is_free(std::move(flag)) {}
  parcel(parcel const&) = delete;
  parcel& operator=(parcel const&) = delete;
  ~parcel() {
    content.reset();
    if (is_free) is_free->store(true);
  }

  at::Tensor content;
  std::shared_ptr<std::atomic<bool>> is_free;
};

/// A queue of the tensors that ranks of a group have sent to each other and not yet received,
/// oldest first. Used by send and recv between threads.
class mailbox {
 public:
  void post(std::size_t from, std::size_t to, int tag, std::unique_ptr<parcel> sent) {
    std::lock_guard const lock(mutex_);
    messages_.push_back({from, to, tag, std::move(sent)});
  }

  bool has(std::size_t from, std::size_t to, int tag) const {
    std::lock_guard const lock(mutex_);
    return std::any_of(messages_.begin(), messages_.end(), [&](message const& one) { return one.is(from, to, tag); });
  }

  /// Removes the oldest message with this tag and returns it. Returns null if there is none.
  std::unique_ptr<parcel> take(std::size_t from, std::size_t to, int tag) {
    std::lock_guard const lock(mutex_);
    auto const found =
        std::find_if(messages_.begin(), messages_.end(), [&](message const& one) { return one.is(from, to, tag); });
    if (found == messages_.end()) return nullptr;
    std::unique_ptr<parcel> sent = std::move(found->sent);
    messages_.erase(found);
    return sent;
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
    std::unique_ptr<parcel> sent;

    bool is(std::size_t sender, std::size_t receiver, int its_tag) const {
      return from == sender && to == receiver && tag == its_tag;
    }
  };

  mutable std::mutex mutex_;
  std::deque<message> messages_;
};

/// Returns the description of a send or receive call for messages, for example "recv of Float [3]
/// with tag 4".
inline std::string message_text(shape::collective kind, at::Tensor const& x, int tag) {
  return std::string(name_of(kind)) + " of " + tensors::describe(x) + " with tag " + std::to_string(tag);
}

/// An implementation of send and recv between threads of one process. The threads are members of
/// one group and share one `meeting` (synchronisation point) and one `mailbox` (queue of sent
/// tensors).
struct point_to_point {
  detail::meeting& meeting;
  detail::mailbox& mailbox;

  void send(std::size_t me, std::size_t peer, int tag, at::Tensor const& x) const {
    post(me, peer, tag, std::make_unique<parcel>(x.clone()));
  }

  /// Sends `x` without a copy. `owner` keeps `meeting` alive.
  std::unique_ptr<ticket::message> send_later(std::shared_ptr<void const> owner, std::size_t me, std::size_t peer,
                                              int tag, at::Tensor const& x) const;

  void receive(std::size_t me, std::size_t peer, int tag, at::Tensor const& x, std::chrono::milliseconds limit) const {
    lifeline& line = meeting.line();
    int const sender = meeting.member(peer);
    meeting.room().wait([&] { return line.failed() || line.ended(sender) || mailbox.has(peer, me, tag); }, limit);
    std::unique_ptr<parcel> message = mailbox.take(peer, me, tag);
    if (!message) {
      if (line.failed()) throw line.cause();
      meeting.lose(me, meeting.where(message_text(shape::collective::recv, x, tag), me), {sender}, limit);
    }
    deliver(message->content, x, tag, meeting.name(), sender, meeting.member(me));
    message.reset();
    meeting.room().wake();
  }

 private:
  class shown_tensor;

  void post(std::size_t me, std::size_t peer, int tag, std::unique_ptr<parcel> sent) const {
    if (meeting.line().failed()) throw meeting.line().cause();
    tensors::settle(sent->content.device());
    mailbox.post(me, peer, tag, std::move(sent));
    meeting.room().wake();
  }
};

/// A tensor that a rank sends to another thread without a copy.
class point_to_point::shown_tensor final : public ticket::message {
 public:
  shown_tensor(std::shared_ptr<void const> owner, detail::meeting& meeting, std::size_t me, std::size_t peer, int tag,
               at::Tensor const& x, std::shared_ptr<std::atomic<bool>> is_free)
      : owner_(std::move(owner)),
        meeting_(meeting),
        me_(me),
        receiver_(meeting.member(peer)),
        tag_(tag),
        x_(x),
        is_free_(std::move(is_free)) {}

  void wait(std::chrono::milliseconds limit) override {
    lifeline& line = meeting_.line();
    meeting_.room().wait([&] { return is_free_->load() || line.failed() || line.ended(receiver_); }, limit);
    if (is_free_->load()) return;
    if (line.failed()) throw line.cause();
    collective_label const purpose(label_);
    meeting_.lose(me_, meeting_.where(message_text(shape::collective::send, x_, tag_), me_), {receiver_}, limit);
  }

 private:
  std::shared_ptr<void const> owner_;
  detail::meeting& meeting_;
  std::size_t me_;
  int receiver_, tag_;
  at::Tensor x_;
  std::shared_ptr<std::atomic<bool>> is_free_;
  std::string_view label_ = collective_label::current();
};

inline std::unique_ptr<ticket::message> point_to_point::send_later(std::shared_ptr<void const> owner, std::size_t me,
                                                                   std::size_t peer, int tag,
                                                                   at::Tensor const& x) const {
  auto const is_free = std::make_shared<std::atomic<bool>>(false);
  post(me, peer, tag, std::make_unique<parcel>(x, is_free));
  return std::make_unique<shown_tensor>(std::move(owner), meeting, me, peer, tag, x, is_free);
}

}  // namespace redco::comm::detail
