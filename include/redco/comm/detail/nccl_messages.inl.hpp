#pragma once

#include <redco/comm/detail/nccl_messages.hpp>

#include <redco/comm/detail/mailbox.hpp>
#include <redco/comm/detail/operand.hpp>
#include <redco/comm/detail/tensor_rows.hpp>

#include <redco/tensor/device.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <string_view>
#include <utility>

namespace redco::comm::detail {

/// The description of a message, which its sender sends through the CPU group.
struct nccl_messages::head {
  /// Tag of heads in the CPU group, which no message of a user has
  static constexpr int tag = -1;

  operand tensor;
  nccl::unique_id id;  ///< communicator of the direction
  std::int64_t process, device;

  static at::Tensor room() { return at::empty({static_cast<std::int64_t>(sizeof(head))}, at::kByte); }
};

/// A tensor that a rank sends through NCCL. Like the outbox, it may outlive the group.
class nccl_messages::sent_message final : public ticket::message {
 public:
  sent_message(nccl_messages& from, std::shared_ptr<nccl_outbox> in, std::uint64_t number, int peer, std::string words)
      : from_(from), in_(std::move(in)), number_(number), peer_(peer), words_(std::move(words)) {}

  void wait(std::chrono::milliseconds limit) override {
    collective_label const purpose(label_);
    nccl_link::patience until = from_.patience_for(words_, from_.member(peer_));
    until.limit = limit;
    from_.wait(*in_, number_, until);
  }

 private:
  nccl_messages& from_;
  std::shared_ptr<nccl_outbox> in_;
  std::uint64_t number_;
  int peer_;
  std::string words_;
  std::string_view label_ = collective_label::current();
};

REDCO_INLINE nccl_outbox::nccl_outbox(std::shared_ptr<nccl_library const> library, std::unique_ptr<device_queue> queue,
                                      at::Device device, nccl::unique_id const& id, nccl_link::patience const& until)
    : device_(device), id_(id), link_(std::move(library), std::move(queue)) {
  link_.begin_join(id_, 2, 0, until);
}

REDCO_INLINE std::uint64_t nccl_outbox::add(at::Tensor const& x, nccl_link::patience const& until) {
  link_.follow();
  messages_.push_back({x, until});
  return ++added_;
}

REDCO_INLINE bool nccl_outbox::advance() {
  for (; sent_ < added_; ++sent_) {
    message const& next = messages_[sent_ - released_];
    at::Tensor const& x = next.x;
    nccl_link::patience const& until = next.until;
    if (until.line.failed()) {
      link_.abort();
      throw until.line.cause();
    }
    if (!has_joined_ && !(has_joined_ = link_.has_joined(until))) return false;
    c10::DeviceGuard const on(device_);
    if (!std::exchange(has_begun_, true))
      link_.begin(
          [&](nccl_link::round& in) { in.made(in.use.send(x.data_ptr(), x.nbytes(), nccl::uint8, 1, in.in, in.on)); },
          until);
    if (!link_.has_ended(until)) return false;
    has_begun_ = false;
  }
  return true;
}

REDCO_INLINE void nccl_outbox::release_sent() {
  for (; released_ < sent_; ++released_) messages_.pop_front();
}

REDCO_INLINE void nccl_outbox::wait_for(std::uint64_t number, nccl_link::patience const& until) {
  link_.wait([&] { return has_sent(number) || (advance(), has_sent(number)); }, until);
}

REDCO_INLINE void nccl_outbox::close() noexcept {
  link_.abort();
  sent_ = added_;
}

REDCO_INLINE nccl_messages::nccl_messages(group& cpu_group, std::vector<int> members, nccl_means const& by)
    : cpu_group_(cpu_group), members_(std::move(members)), by_(by) {}

REDCO_INLINE nccl_link::patience nccl_messages::patience_for(std::string const& words, int awaited) const {
  return {*by_.line, me(), cpu_group_.deadline(), "in " + words + label_text() + " in group " + cpu_group_.name(),
          awaited};
}

/// Returns the outbox for `peer`. The first call creates it for the device of `x`.
REDCO_INLINE nccl_outbox& nccl_messages::outbox_to(int peer, at::Tensor const& x, nccl_link::patience const& until) {
  std::shared_ptr<nccl_outbox>& to = outboxes_[peer];
  if (to) {
    if (std::exception_ptr const failure = mover_.remove(*to)) std::rethrow_exception(failure);
    if (x.device() == to->device()) return *to;
    throw error(exit_code::internal, "group " + cpu_group_.name() + " sends from " + to->device().str() +
                                         ", and got a tensor on " + x.device().str() + "; a rank has one device");
  }
  auto const library = by_.library();
  nccl::unique_id id{};
  nccl::result const made = library->get_unique_id(&id);
  if (made != nccl::success)
    throw error(exit_code::internal, "NCCL names no group: " + library->words_of(made, nullptr));
  c10::DeviceGuard const on(x.device());
  to = std::make_shared<nccl_outbox>(library, by_.devices->make_queue(x.device()), x.device(), id, until);
  return *to;
}

REDCO_INLINE std::unique_ptr<ticket::message> nccl_messages::send_later(at::Tensor const& x, int peer, int tag) {
  if (by_.line->failed()) throw by_.line->cause();
  std::string const words = message_text(shape::collective::send, x, tag);
  nccl_link::patience const until = patience_for(words, member(peer));
  nccl_outbox& to = outbox_to(peer, x, until);
  head const described{operand::of(shape::collective::send, x, tag), to.id(), by_.process,
                       by_.devices->number_of(x.device())};
  at::Tensor const sent = head::room();
  std::memcpy(sent.data_ptr(), &described, sizeof described);
  (void)cpu_group_.send_later(sent, peer, head::tag);
  to.release_sent();
  // NCCL sends no empty message.
  std::uint64_t const number = x.nbytes() == 0 ? 0 : to.add(x, until);
  if (!to.advance()) mover_.add(to);
  return std::make_unique<sent_message>(*this, outboxes_[peer], number, peer, words);
}

REDCO_INLINE void nccl_messages::wait(nccl_outbox& in, std::uint64_t number, nccl_link::patience const& until) {
  if (std::exception_ptr const failure = mover_.remove(in)) std::rethrow_exception(failure);
  in.wait_for(number, until);
  in.release_sent();
  if (!in.advance()) mover_.add(in);
}

REDCO_INLINE void nccl_messages::join(inbox& to, head const& first, int peer, at::Tensor const& x) {
  if (first.process == by_.process && first.device == by_.devices->number_of(x.device()))
    throw error(exit_code::usage, "ranks " + std::to_string(member(peer)) + " and " + std::to_string(me()) +
                                      " of group " + cpu_group_.name() +
                                      " are on one device, and others are in other processes: use one rank per device");
  c10::DeviceGuard const on(x.device());
  to.link.emplace(by_.library(), by_.devices->make_queue(x.device()));
  to.link->join(first.id, 2, 1, patience_for("recv from rank " + std::to_string(member(peer))));
}

REDCO_INLINE void nccl_messages::receive(at::Tensor const& x, int peer, int tag) {
  inbox& from = inboxes_[peer];
  auto const is_it = [&](kept_message const& one) { return one.tag == tag; };
  auto found = std::find_if(from.kept.begin(), from.kept.end(), is_it);
  while (found == from.kept.end()) {
    at::Tensor const arrived = head::room();
    cpu_group_.recv(arrived, peer, head::tag);
    head next;
    std::memcpy(&next, arrived.const_data_ptr(), sizeof next);
    if (!from.link) join(from, next, peer, x);
    at::IntArrayRef const extents(next.tensor.extents.data(), static_cast<std::size_t>(next.tensor.dims));
    bool const fits = next.tensor.argument == tag && next.tensor.type == x.scalar_type() && extents == x.sizes();
    at::Tensor const content = fits ? x : at::empty(extents, x.options().dtype(next.tensor.type));
    if (content.nbytes() != 0) {
      c10::DeviceGuard const on(x.device());
      try {
        from.link->run(
            [&](nccl_link::round& in) {
              in.made(in.use.recv(content.data_ptr(), content.nbytes(), nccl::uint8, 0, in.in, in.on));
            },
            patience_for(message_text(shape::collective::recv, content, static_cast<int>(next.tensor.argument))));
      } catch (...) {
        abandoned_.push_back(content);
        throw;
      }
    }
    if (fits) return;
    from.kept.push_back({static_cast<int>(next.tensor.argument), content});
    found = is_it(from.kept.back()) ? std::prev(from.kept.end()) : from.kept.end();
  }
  at::Tensor const content = found->content;
  from.kept.erase(found);
  deliver(content, x, tag, cpu_group_.name(), member(peer), me());
}

REDCO_INLINE void nccl_messages::close() noexcept {
  for (auto const& [peer, some] : outboxes_) {
    (void)mover_.remove(*some);
    some->close();
  }
  outboxes_.clear();
  inboxes_.clear();
}

}  // namespace redco::comm::detail
