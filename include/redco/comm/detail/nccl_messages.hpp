#pragma once

#include <redco/comm/detail/device_queue.hpp>
#include <redco/comm/detail/message_mover.hpp>
#include <redco/comm/detail/nccl_link.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/lifeline.hpp>
#include <redco/comm/ticket.hpp>

#include <redco/tensor/torch.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redco::comm::detail {

/// Resources and settings that the NCCL groups of all ranks of this process share.
struct nccl_means {
  std::shared_ptr<device_access> devices;
  std::function<std::shared_ptr<nccl_library const>()> library;
  std::shared_ptr<lifeline> line;
  int process = 0;          ///< number of this process
  bool one_process = true;  ///< true if all ranks are in this process
  bool by_rank = false;     ///< true if sums are made in rank order
};

/// Device messages of one rank to one peer, which NCCL sends in the order of add(). The messages
/// have a communicator of two ranks and a device queue of their own. A message whose receiver is
/// late therefore delays no collective and no message in the other direction.
///
/// One thread uses it at a time. No call waits for the peer.
class nccl_outbox {
 public:
  /// Begins to create the communicator with the peer, which joins it under the same `id`.
  nccl_outbox(std::shared_ptr<nccl_library const> library, std::unique_ptr<device_queue> queue, at::Device device,
              nccl::unique_id const& id, nccl_link::patience const& until);

  nccl::unique_id const& id() const noexcept { return id_; }
  at::Device device() const noexcept { return device_; }

  /// Adds the message `x`, whose elements the calling thread's current stream computes. Returns its
  /// number: 1, 2, ...
  std::uint64_t add(at::Tensor const& x, nccl_link::patience const& until);

  /// Moves messages without waiting. Returns true if all are sent. Throws `error` if the run fails.
  bool advance();
  bool has_sent(std::uint64_t number) const noexcept { return number <= sent_; }

  /// Releases the tensors of sent messages. Called by the rank's thread, whose memory counter
  /// counted them.
  void release_sent();

  /// Waits like nccl_link::wait() until the message `number` is sent.
  void wait_for(std::uint64_t number, nccl_link::patience const& until);

  /// Aborts the messages in flight. Later calls find all messages sent.
  void close() noexcept;

 private:
  struct message {
    at::Tensor x;
    nccl_link::patience until;
  };

  at::Device device_;
  nccl::unique_id id_;
  nccl_link link_;
  std::deque<message> messages_;  ///< those that are not released
  std::uint64_t added_ = 0, sent_ = 0, released_ = 0;
  bool has_joined_ = false, has_begun_ = false;
};

/// Device messages of one rank of a group to and from its peers in other processes, through NCCL.
///
/// NCCL has no tags and matches the messages of a communicator in the order of its calls. The
/// sender therefore describes each message in a head (tag, dtype, shape), which goes through the
/// CPU group. A receiver takes heads and messages in the order in which they were sent. It keeps
/// messages on its device that have another tag than the one it waits for. A thread starts messages
/// and observes their end while the rank computes.
class nccl_messages {
 public:
  /// `cpu_group`: this rank's handle on the group for CPU memory. `members`: the group's ranks, as
  /// numbers in the run.
  nccl_messages(group& cpu_group, std::vector<int> members, nccl_means const& by);
  nccl_messages(nccl_messages const&) = delete;
  nccl_messages& operator=(nccl_messages const&) = delete;
  ~nccl_messages() { close(); }

  std::unique_ptr<ticket::message> send_later(at::Tensor const& x, int peer, int tag);
  void receive(at::Tensor const& x, int peer, int tag);

  /// Drops messages that were not received, and releases all communicators.
  void close() noexcept;

 private:
  class sent_message;
  struct head;
  struct kept_message {
    int tag;
    at::Tensor content;
  };
  struct inbox {
    std::optional<nccl_link> link;
    std::deque<kept_message> kept;
  };

  int me() const { return members_[static_cast<std::size_t>(cpu_group_.rank())]; }
  int member(int peer) const { return members_[static_cast<std::size_t>(peer)]; }
  nccl_link::patience patience_for(std::string const& words, int awaited = -1) const;
  nccl_outbox& outbox_to(int peer, at::Tensor const& x, nccl_link::patience const& until);
  void join(inbox& to, head const& first, int peer, at::Tensor const& x);
  void wait(nccl_outbox& in, std::uint64_t number, nccl_link::patience const& until);

  group& cpu_group_;
  std::vector<int> members_;
  nccl_means by_;
  std::map<int, std::shared_ptr<nccl_outbox>> outboxes_;
  std::map<int, inbox> inboxes_;
  /// Tensors that an aborted call may still use; kept until the group is destroyed.
  std::vector<at::Tensor> abandoned_;
  message_mover<nccl_outbox> mover_{[](nccl_outbox& some) { return some.advance(); }};
};

}  // namespace redco::comm::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/comm/detail/nccl_messages.inl.hpp>
#endif
