#pragma once

#include <redco/comm/detail/handshake.hpp>
#include <redco/comm/detail/secrets.hpp>
#include <redco/comm/detail/socket.hpp>
#include <redco/comm/detail/wire.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <poll.h>

namespace redco::comm::detail {

/// Passes the bytes that have arrived on the socket `line` to the handshake `talk`, and sends the
/// handshake's output. Returns false if the connection is unusable.
inline bool move_on(handshake& talk, socket const& line) {
  while (std::size_t const wanted = talk.wanted()) {
    std::string bytes(wanted, '\0');
    std::int64_t const came = line.read(bytes.data(), bytes.size());
    if (came < 0) return false;
    if (came == 0) break;
    talk.take(std::string_view(bytes).substr(0, static_cast<std::size_t>(came)));
    // The output is small: the send buffer of a new connection has room.
    std::string const output = talk.take_output();
    if (line.write(output.data(), output.size()) < static_cast<std::int64_t>(output.size()) && !output.empty())
      return false;
    if (!talk.fault().empty()) return false;
  }
  return true;
}

/// A set of listening sockets that admit only processes of this run. Strangers (other programs) may
/// connect and send anything. A stranger is disconnected at its first wrong byte or after ten
/// seconds. If 256 connections wait, the oldest connection that has sent no greeting is closed
/// earlier.
class door {
 public:
  struct caller {
    socket line;
    handshake talk;
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
  };

  /// Creates a door at the listening sockets `at`. `own` is the greeting that this process sends to
  /// each caller. The door admits processes whose number is at least `least`.
  door(std::vector<socket> at, wire::greeting const& own, std::string key, int least)
      : at_(std::move(at)), own_(own), key_(std::move(key)), least_(least) {}

  /// Returns the next connection whose process has proved that it belongs to this run. The caller
  /// of next() must answer that process. Returns nothing if no such process connects within
  /// `limit`.
  std::optional<caller> next(std::chrono::milliseconds limit) {
    auto const end = std::chrono::steady_clock::now() + limit;
    do {
      wait(end);
      accept();
      for (auto one = waiting_.begin(); one != waiting_.end();) {
        bool const useful = move_on(one->talk, one->line) && std::chrono::steady_clock::now() < one->since + patience;
        if (useful && !one->talk.asked()) {
          ++one;
          continue;
        }
        if (one->talk.has_wrong_secret()) note_wrong_secret(*one);
        std::optional<caller> proven;
        if (useful) proven = std::move(*one);
        one = waiting_.erase(one);
        if (proven) return proven;
      }
    } while (std::chrono::steady_clock::now() < end);
    return {};
  }

  /// Returns the processes that called with another secret, with the address of their last call.
  /// Has at most 64 entries.
  std::map<int, std::string> const& wrong_secrets() const { return wrong_secrets_; }

 private:
  static constexpr std::size_t most_waiting = 256, most_noted = 64;
  // A process of this run sends all its bytes at once.
  static constexpr auto patience = std::chrono::seconds(10);

  void wait(std::chrono::steady_clock::time_point end) const {
    std::vector<pollfd> all;
    for (socket const& one : at_) all.push_back({one.number(), POLLIN, 0});
    for (caller const& one : waiting_) all.push_back({one.line.number(), POLLIN, 0});
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    ::poll(all.data(), all.size(), static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000)));
  }

  /// Accepts at most 64 connections per listening socket. The limit ensures that the connections
  /// already accepted are read in between.
  void accept() {
    for (socket const& one : at_)
      for (int turn = 0; turn < 64; ++turn) {
        socket line = one.accepted();
        if (!line.open()) {
          if (errno == EMFILE || errno == ENFILE) drop_oldest();
          break;
        }
        if (waiting_.size() >= most_waiting) drop_oldest();
        wire::greeting own = own_;
        randomize(own.nonce.data(), own.nonce.size());
        waiting_.push_back({std::move(line), handshake::answering(own, key_, least_)});
      }
  }

  void note_wrong_secret(caller const& one) {
    if (wrong_secrets_.size() < most_noted) wrong_secrets_[one.talk.process()] = one.line.peer_address();
  }

  /// Closes the oldest connection that has not sent a greeting. If every connection has sent one,
  /// closes the oldest connection.
  void drop_oldest() {
    auto const silent =
        std::find_if(waiting_.begin(), waiting_.end(), [](caller const& one) { return !one.talk.greeted(); });
    if (!waiting_.empty()) waiting_.erase(silent == waiting_.end() ? waiting_.begin() : silent);
  }

  std::vector<socket> at_;
  wire::greeting own_;
  std::string key_;
  int least_;
  std::list<caller> waiting_;
  std::map<int, std::string> wrong_secrets_;
};

}  // namespace redco::comm::detail
