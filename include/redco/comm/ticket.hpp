#pragma once

#include <chrono>
#include <memory>
#include <utility>

namespace redco::comm {

/// A message that group::send_later() has begun to send. It holds the sent tensor until
/// group::wait() returns or the ticket is destroyed.
///
/// The destructor does not block. It leaves an unfinished message to the transport, which keeps the
/// memory of the message until the message is sent or the run is over. The receiver still gets such
/// a message, unless the rank leaves the run before the message is sent.
class ticket {
 public:
  /// A message in flight. Each transport has its own kind. Only the thread of the sending rank uses
  /// it.
  class message {
   public:
    message() = default;
    message(message const&) = delete;
    message& operator=(message const&) = delete;
    virtual ~message() = default;

    /// Blocks until the transport no longer reads the sent tensor. Throws `error` if the peer is
    /// lost, the run fails or `limit` passes.
    virtual void wait(std::chrono::milliseconds limit) = 0;
  };

  /// Creates a ticket without a message.
  ticket() = default;
  explicit ticket(std::unique_ptr<message> sent) noexcept : sent_(std::move(sent)) {}

  /// Returns true if the ticket has a message, for which no call of group::wait() has returned.
  bool pending() const noexcept { return sent_ != nullptr; }

 private:
  friend class group;

  std::unique_ptr<message> sent_;
};

}  // namespace redco::comm
