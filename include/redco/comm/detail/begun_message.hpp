#pragma once

#include <redco/comm/detail/mailbox.hpp>
#include <redco/comm/detail/operand.hpp>
#include <redco/comm/detail/process_session.hpp>
#include <redco/comm/detail/process_state.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/ticket.hpp>

#include <redco/tensor/torch.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace redco::comm::detail {

/// A tensor that a rank sends to a rank of another process. The transport reads the tensor itself.
class begun_message final : public ticket::message {
 public:
  /// Starts to send `x` from member `from` of the group to member `to`. `number`: number of
  /// collectives that the sender has begun, for error messages.
  begun_message(std::shared_ptr<process_state> group, std::size_t from, std::size_t to, std::uint64_t number, int tag,
                at::Tensor const& x)
      : group_(std::move(group)),
        from_(from),
        to_(to),
        number_(number),
        head_(operand::of(shape::collective::send, x, tag)),
        words_(message_text(shape::collective::send, x, tag)),
        sent_(group_->others.send_message(head_, from_, to_, x)) {}

  ~begun_message() override { group_->others.leave(std::move(sent_)); }

  /// Moves the bytes of the message on another thread until wait() or the destructor is called.
  void move_meanwhile() { group_->others.move_meanwhile(sent_); }

  void wait(std::chrono::milliseconds limit) override {
    collective_label const purpose(label_);
    group_->others.finish_message(sent_, {head_, number_, limit, words_}, from_, to_);
    sent_ = {};
  }

 private:
  std::shared_ptr<process_state> group_;
  std::size_t from_, to_;
  std::uint64_t number_;
  operand head_;
  std::string words_;
  std::string_view label_ = collective_label::current();
  messages sent_;
};

}  // namespace redco::comm::detail
