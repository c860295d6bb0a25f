#pragma once

#include <redco/comm/detail/socket.hpp>
#include <redco/comm/detail/wire.hpp>

#include <redco/diag/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::comm::detail {

/// A TCP connection that carries messages between this process and one other. One thread uses it at
/// a time.
class connection {
 public:
  using clock = std::chrono::steady_clock;
  /// A flag that becomes true when a message has been sent or received completely.
  using flag = std::shared_ptr<std::atomic<bool>>;

  connection() = default;
  explicit connection(socket line) : line_(std::move(line)) { line_.make_prompt(); }

  bool open() const { return line_.open(); }
  int number() const { return line_.number(); }
  bool has_output() const { return !out_.empty(); }
  bool left() const { return left_; }
  /// Returns a text about the invalid bytes because of which this process closed the connection.
  /// The text is empty if this process did not close the connection.
  std::string const& fault() const { return fault_; }
  /// Returns the time at which the last bytes arrived.
  clock::time_point heard_at() const { return heard_at_; }

  /// Queues a message for sending and writes as many bytes as the socket takes now. The memory at
  /// `data` must live until `done` becomes true, unless `own` holds it.
  void send(std::int32_t tag, void const* data, std::size_t bytes, flag done, std::shared_ptr<std::string> own = {}) {
    out_.push_back({{static_cast<std::int64_t>(bytes), tag}, data, std::move(done), std::move(own)});
    if (out_.size() == 1) write();
  }

  /// Sends `words` as a control message, which is a message without tensor data.
  void tell(std::int32_t tag, std::string const& words) {
    auto const own = std::make_shared<std::string>(words);
    send(tag, own->data(), own->size(), std::make_shared<std::atomic<bool>>(), own);
  }

  void receive(std::int32_t tag, void* data, std::size_t bytes, flag done) {
    auto const early = early_.find(tag);
    if (early == early_.end()) {
      expected_[tag].push_back({static_cast<std::byte*>(data), bytes, std::move(done)});
      return;
    }
    give({static_cast<std::byte*>(data), bytes, std::move(done)}, early->second.front());
    early->second.pop_front();
    if (early->second.empty()) early_.erase(early);
  }

  /// Writes as many queued bytes as the socket takes without blocking.
  void write() {
    while (!out_.empty() && line_.open()) {
      outgoing& one = out_.front();
      std::size_t const all = sizeof one.head + static_cast<std::size_t>(one.head.bytes);
      bool const in_head = one.sent < sizeof one.head;
      auto const* const from = in_head ? reinterpret_cast<std::byte const*>(&one.head) + one.sent
                                       : static_cast<std::byte const*>(one.data) + (one.sent - sizeof one.head);
      if (one.sent < all) {
        std::int64_t const went = line_.write(from, (in_head ? sizeof one.head : all) - one.sent);
        // The function read() closes the socket after it has read the last messages.
        if (went < 0) out_.clear();
        if (went <= 0) return;
        one.sent += static_cast<std::size_t>(went);
      }
      if (one.sent < all) continue;
      one.done->store(true);
      out_.pop_front();
    }
  }

  /// Reads all bytes that have arrived, and calls `on_notice(notice)` for each notice (a message
  /// about a failure or an ended rank). `least_ended` is the smallest legal value of
  /// `notice::ended_rank`.
  template <class F>
  void read(int least_ended, F const& on_notice) {
    while (line_.open()) {
      bool const in_head = read_ < sizeof head_;
      std::size_t const at = in_head ? read_ : read_ - sizeof head_;
      std::size_t const all = in_head ? sizeof head_ : static_cast<std::size_t>(head_.bytes);
      if (at < all) {
        std::byte* const to = in_head ? reinterpret_cast<std::byte*>(&head_) + at : target(at);
        std::int64_t const came = line_.read(to, in_head ? all - at : room(at));
        if (came < 0) line_ = socket();
        if (came <= 0) return;
        heard_at_ = clock::now();
        read_ += static_cast<std::size_t>(came);
      }
      if (in_head && read_ == sizeof head_) {
        if (std::string const fault = wire::fault_of(head_); !fault.empty()) return shut_out(fault);
        find_target();
      }
      if (read_ >= sizeof head_ && read_ - sizeof head_ == static_cast<std::size_t>(head_.bytes))
        take(least_ended, on_notice);
    }
  }

 private:
  struct outgoing {
    wire::message_head head;
    void const* data;
    flag done;
    std::shared_ptr<std::string> own = {};
    std::size_t sent = 0;  ///< number of bytes of header and data sent so far
  };
  struct expected_message {
    std::byte* data;
    std::size_t bytes;
    flag done;
  };
  using early_message = std::vector<std::byte>;

  void shut_out(std::string const& fault) {
    fault_ = fault;
    line_ = socket();
  }

  /// Returns the memory for the next bytes of the message that is being received, from byte `at`
  /// on. A message that no code expects yet gets memory as its bytes arrive. A wrong length in a
  /// header therefore allocates little.
  std::byte* target(std::size_t at) {
    if (into_.done) return into_.data + at;
    if (at == stored_.size())
      stored_.resize(std::min(static_cast<std::size_t>(head_.bytes), std::max(2 * at, std::size_t{1} << 20)));
    return stored_.data() + at;
  }
  std::size_t room(std::size_t at) const {
    return (into_.done ? static_cast<std::size_t>(head_.bytes) : stored_.size()) - at;
  }

  void find_target() {
    auto const found = expected_.find(head_.tag);
    if (found == expected_.end()) return;
    if (static_cast<std::size_t>(head_.bytes) > found->second.front().bytes)
      too_long(found->second.front().bytes, static_cast<std::size_t>(head_.bytes));
    into_ = expect(found);
  }

  expected_message expect(std::map<int, std::deque<expected_message>>::iterator found) {
    expected_message one = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) expected_.erase(found);
    return one;
  }

  /// Handles a completely received message. An expected message is delivered, a message that no
  /// code expects yet is stored, and a notice is passed to `on_notice`.
  template <class F>
  void take(int least_ended, F const& on_notice) {
    read_ = 0;
    early_message stored = std::exchange(stored_, {});
    if (into_.done) {
      std::exchange(into_, {}).done->store(true);
    } else if (head_.tag == wire::leave_tag) {
      left_ = true;
    } else if (head_.tag == wire::notice_tag) {
      auto const one = wire::read_notice({reinterpret_cast<char const*>(stored.data()), stored.size()}, least_ended);
      if (!one) return shut_out("a notice that says nothing");
      on_notice(*one);
    } else if (head_.tag >= 0) {
      if (auto const found = expected_.find(head_.tag); found != expected_.end()) give(expect(found), stored);
      else early_[head_.tag].push_back(std::move(stored));
    }
  }

  static void give(expected_message const& to, early_message const& content) {
    if (content.size() > to.bytes) too_long(to.bytes, content.size());
    if (!content.empty()) std::memcpy(to.data, content.data(), content.size());
    to.done->store(true);
  }

  [[noreturn]] static void too_long(std::size_t room, std::size_t bytes) {
    throw error(exit_code::internal, "a message of " + std::to_string(bytes) + " bytes came where " +
                                         std::to_string(room) + " were expected; all ranks must make the same calls");
  }

  socket line_ = {};
  bool left_ = false;  ///< true if the other process has announced its end
  std::string fault_ = {};
  clock::time_point heard_at_ = clock::now();
  std::deque<outgoing> out_ = {};
  std::map<int, std::deque<expected_message>> expected_ = {};
  /// Received messages for which receive() has not been called yet, by tag.
  std::map<int, std::deque<early_message>> early_ = {};
  wire::message_head head_ = {};
  std::size_t read_ = 0;  ///< number of bytes of the current message's header and data read so far
  expected_message into_ = {};
  early_message stored_ = {};
};

}  // namespace redco::comm::detail
