#pragma once

#include <redco/comm/detail/operand.hpp>
#include <redco/comm/detail/process_session.hpp>
#include <redco/comm/detail/waiting_room.hpp>
#include <redco/comm/lifeline.hpp>

#include <redco/tensor/torch.hpp>
#include <redco/shape/axis.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace redco::comm::detail {

/// A channel for messages between the processes of one group. A process of the group is called a
/// party and runs one or more neighbouring ranks (members) of the group. Functions take the index
/// of a party among the group's processes. One thread uses the channel at a time.
class process_exchange {
 public:
  /// Largest size in bytes of a member's tensor that open() sends together with the operands.
  static constexpr std::size_t few_bytes = 4096;

  /// A collective call, with the properties that are sent in its messages between processes.
  struct call {
    operand const& operands;  ///< operation, shape and dtype of this rank's call
    std::uint64_t number;     ///< number of the collective call in its group
    std::chrono::milliseconds deadline;
    /// Description of the call in error messages; if empty, operands.text() describes the call.
    std::string words = {};
  };

  /// Creates the channel of the group with the ranks `members`. `number` identifies the group's set
  /// of mesh axes, and `line` is the group's index among the groups over these axes.
  process_exchange(std::string name, int number, int line, std::vector<int> members, process_session& session,
                   message_tags const& tags, std::shared_ptr<lifeline> life)
      : name_(std::move(name)),
        number_(number),
        line_(line),
        members_(std::move(members)),
        session_(session),
        tags_(tags),
        life_(std::move(life)) {
    std::size_t most = 0;
    for (std::size_t at = 0; at < members_.size(); ++at) {
      int const process = tags_.process_of(members_[at]);
      if (processes_.empty() || processes_.back() != process) {
        if (process == session_.rank()) me_ = processes_.size();
        processes_.push_back(process);
        begins_.push_back(at);
      }
      most = std::max(most, at + 1 - begins_.back());
    }
    begins_.push_back(members_.size());
    shown_bytes_ = sizeof(operand) + most * few_bytes;
    shown_.resize(parties() * shown_bytes_);
  }

  int member(std::size_t index) const { return members_[index]; }
  std::size_t parties() const noexcept { return processes_.size(); }
  std::size_t me() const noexcept { return me_; }

  /// Returns the index in the group of the first rank of process `party`. The ranks of `party` have
  /// the indices begin(party) to begin(party + 1) - 1.
  std::size_t begin(std::size_t party) const { return begins_[party]; }
  std::size_t count(std::size_t party) const { return begins_[party + 1] - begins_[party]; }
  std::size_t party_of(std::size_t member) const {
    return static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), member) - begins_.begin()) - 1;
  }

  template <class F>
  void for_each_other(F const& f) const {
    for (std::size_t next = 1; next < parties(); ++next) f((me_ + next) % parties());
  }

  /// Exchanges operands (operation, shape, dtype) with all processes of the group and waits for
  /// them. Throws `error` if operands differ. Also sends `few`, the small tensors of the members in
  /// this process; each has `bytes` bytes, at most few_bytes.
  void open(call const& of, std::vector<void const*> const& few = {}, std::size_t bytes = 0) {
    std::byte* const own = shown_.data() + me_ * shown_bytes_;
    std::memcpy(own, &of.operands, sizeof of.operands);
    for (std::size_t i = 0; i < few.size() && bytes != 0; ++i)
      std::memcpy(own + sizeof of.operands + i * bytes, few[i], bytes);
    messages some;
    some.bytes.swap(shown_);  // `some` owns the memory until the messages are complete
    std::byte* const all = some.bytes.data();
    int const tag = tags_.of_collective(number_, line_, message_tags::opening);
    for_each_other([&](std::size_t other) {
      session_.receive(some, all + other * shown_bytes_, shown_bytes_, processes_[other], tag);
    });
    for_each_other([&](std::size_t other) {
      session_.send(some, all + me_ * shown_bytes_, sizeof of.operands + few.size() * bytes, processes_[other], tag);
      sent_ += static_cast<std::int64_t>(few.size() * bytes);
    });
    finish(some, of);
    shown_.swap(some.bytes);
    operand const first = shown_by(0);
    for (std::size_t other = 1; other < parties(); ++other)
      if (operand const its = shown_by(other); its.digest() != first.digest())
        throw disagreement(of.number, name_, members_[begins_[0]], first, members_[begins_[other]], its);
  }

  /// Returns the number of tensor bytes sent in collectives since the previous call of take_sent().
  /// Does not count operands and point-to-point messages.
  std::int64_t take_sent() noexcept { return std::exchange(sent_, 0); }

  /// Returns the small tensors that the members of process `party` sent with the last open(), one
  /// after the other in memory.
  std::byte const* elements_of(std::size_t party) const {
    return shown_.data() + party * shown_bytes_ + sizeof(operand);
  }

  /// Starts to send tensor bytes of the current call to process `party`, and adds the message to
  /// `some`. The caller must call finish(some) afterwards.
  void send(messages& some, void const* data, std::size_t bytes, std::size_t party) {
    sent_ += static_cast<std::int64_t>(bytes);
    session_.send(some, data, bytes, processes_[party], tags_.of_collective(number_, line_, message_tags::payload));
  }
  void receive(messages& some, void* data, std::size_t bytes, std::size_t party) const {
    session_.receive(some, data, bytes, processes_[party], tags_.of_collective(number_, line_, message_tags::payload));
  }

  /// Starts to send a tensor from member `from` to member `to` of another process. Sends `head`,
  /// the description of the tensor (shape, dtype, tag), then the elements. The result holds the
  /// memory of both; pass it to finish_message() or leave().
  messages send_message(operand const& head, std::size_t from, std::size_t to, at::Tensor const& x) const {
    messages some;
    some.tensors = {x};
    some.bytes.resize(sizeof head);
    std::memcpy(some.bytes.data(), &head, sizeof head);
    int const tag = tags_.of_point_to_point(number_, members_[from], members_[to]);
    session_.send(some, some.bytes.data(), sizeof head, process_of(to), tag);
    session_.send(some, x.data_ptr(), x.nbytes(), process_of(to), tag);
    return some;
  }

  /// Moves the bytes of the message `some` on another thread until finish_message() or leave().
  void move_meanwhile(messages& some) const {
    if (!session_.finished(some)) session_.mover().add(some);
  }

  /// Waits until the message `some` from member `from` to member `to` is sent. Throws `error` if
  /// the run fails, the receiver has ended, or the deadline of the call passes.
  void finish_message(messages& some, call const& of, std::size_t from, std::size_t to) const {
    if (std::exception_ptr const failure = session_.mover().remove(some)) std::rethrow_exception(failure);
    finish(some, of, members_[from], {members_[to]});
  }

  /// Leaves messages to the session, which keeps their memory until they are complete.
  void leave(messages&& some) const {
    (void)session_.mover().remove(some);
    if (!some.peers.empty()) session_.abandon(std::move(some));
  }

  /// Receives the next point-to-point message from member `from` to member `to`. Returns the user's
  /// tag and the tensor. The tensor is `x` itself if the message fits the receive call: its
  /// tag, shape and dtype are equal to those of `of` and `x`.
  std::pair<int, at::Tensor> receive_message(call const& of, std::size_t from, std::size_t to,
                                             at::Tensor const& x) const {
    int const tag = tags_.of_point_to_point(number_, members_[from], members_[to]);
    messages opening;
    opening.bytes.resize(sizeof(operand));
    session_.receive(opening, opening.bytes.data(), sizeof(operand), process_of(from), tag);
    finish(opening, of, members_[to], {members_[from]});
    operand head;
    std::memcpy(&head, opening.bytes.data(), sizeof head);
    at::IntArrayRef const extents(head.extents.data(), static_cast<std::size_t>(head.dims));
    bool const fits = head.argument == of.operands.argument && head.type == x.scalar_type() && extents == x.sizes();
    at::Tensor const content = fits ? x : at::empty(extents, head.type);
    messages some;
    some.tensors = {content};
    session_.receive(some, content.data_ptr(), content.nbytes(), process_of(from), tag);
    finish(some, of, members_[to], {members_[from]});
    return {static_cast<int>(head.argument), content};
  }

  /// Waits until all messages in `some` are complete. Throws `error` if the run fails, a peer has
  /// ended, or the deadline of the call passes.
  void finish(messages& some, call const& of) const { finish(some, of, members_[begins_[me_]], members_); }

 private:
  /// Waits for `some` on behalf of rank `me`. The messages are from or to the ranks `with`.
  void finish(messages& some, call const& of, int me, std::vector<int> const& with) const {
    using clock = std::chrono::steady_clock;
    // Messages that a peer sent before it ended arrive within this time.
    constexpr auto under_way = std::chrono::milliseconds(200);
    // A lane (from this number on) must leave the core to its rank, which computes.
    bool const crowded = number_ >= shape::axis_sets || life_->crowded();
    int const spins = crowded ? 0 : 2000, offers = crowded ? 50 : 4000;
    constexpr auto moment = std::chrono::milliseconds(20);
    auto const begin = clock::now(), end = begin + of.deadline;
    auto last = clock::time_point::max();
    std::optional<lifeline::long_wait> waiting;
    auto const where = [&] { return where_text(of.words.empty() ? of.operands.text() : of.words, of.number, name_); };
    for (int turn = 0; !session_.finished(some); ++turn) {
      if (life_->failed()) {
        session_.abandon(std::move(some));
        throw life_->cause();
      }
      if (turn < spins) {
        pause_core();
        continue;
      }
      auto const now = clock::now();
      if (last == clock::time_point::max() && life_->troubled()) {
        std::vector<int> const late = late_of(with, some);
        if (std::any_of(late.begin(), late.end(), [&](int rank) { return life_->ended(rank); })) last = now + under_way;
      }
      if (now > end || now > last) {
        std::vector<int> const late = late_of(with, some);
        if (late.empty()) return;
        session_.abandon(std::move(some));
        lose_peers(*life_, me, where(), late, of.deadline);
      }
      if (!waiting && (turn >= offers || now > begin + moment)) waiting.emplace(*life_, me, where());
      if (turn < offers) {
        std::this_thread::yield();
        continue;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  int process_of(std::size_t member) const { return tags_.process_of(members_[member]); }

  /// Returns the ranks among `ranks` whose processes have not completed their message in `some`.
  std::vector<int> late_of(std::vector<int> const& ranks, messages& some) const {
    std::vector<int> const processes = session_.missing(some);
    std::vector<int> late;
    for (int const rank : ranks)
      if (std::find(processes.begin(), processes.end(), tags_.process_of(rank)) != processes.end())
        late.push_back(rank);
    return late;
  }

  operand shown_by(std::size_t party) const {
    operand its;
    std::memcpy(&its, shown_.data() + party * shown_bytes_, sizeof its);
    return its;
  }

  std::string name_;
  int number_, line_;
  std::vector<int> members_;
  process_session& session_;
  message_tags const& tags_;
  std::shared_ptr<lifeline> life_;
  std::size_t me_ = 0;
  std::vector<int> processes_;
  std::vector<std::size_t> begins_;
  std::size_t shown_bytes_ = 0;
  std::int64_t sent_ = 0;
  /// Operands and small tensors that all processes sent in the last open().
  std::vector<std::byte> shown_;
};

}  // namespace redco::comm::detail
