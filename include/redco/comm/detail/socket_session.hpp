#pragma once

#include <redco/comm/detail/answers.hpp>
#include <redco/comm/detail/process_session.hpp>
#include <redco/comm/detail/rendezvous.hpp>
#include <redco/comm/detail/socket.hpp>
#include <redco/comm/rank_places.hpp>
#include <redco/options/launch.hpp>

#include <redco/diag/error.hpp>
#include <redco/diag/exit_code.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>

namespace redco::comm::detail {

/// Processes that TCP connections join, one between each two. Whoever asks whether messages are through moves those of all.
class socket_session final : public process_session {
 public:
  /// Joins the others within `limit`. Errors: exit code 76.
  socket_session(options::launch const& how, std::chrono::milliseconds limit) : meeting_(how, limit) {
    rank_ = how.process;
    size_ = how.processes;
    most_tag_ = INT32_MAX;
    peers_.resize(static_cast<std::size_t>(size_));
    answers_ = answers(size_);
    socket const door = socket::listening();
    std::vector<process_address> all;
    for (std::string const& text : meeting_.exchange(own_address(how, door))) all.push_back(read_address(text));
    for (process_address const& one : all) rank_places::all().of_process.push_back(one.host + " (" + one.address + ")");
    try {
      for (int other = 0; other < rank_; ++other) call(all[static_cast<std::size_t>(other)], other);
      for (int missing = size_ - 1 - rank_; missing > 0; --missing) answer(door);
    } catch (std::exception const& e) {
      meeting_.fail(": it met all, and cannot reach some", e,
                    "see whether the hosts let each other through on all ports");
    }
    for (int other = 0; other < size_; ++other)
      if (other != rank_) peer_of(other).line.make_prompt();
  }

  void send(messages& to, void const* data, std::size_t bytes, int peer, int tag) override {
    std::lock_guard const lock(mutex_);
    queue(peer, tag, data, bytes, add(to, peer, false));
  }

  void receive(messages& to, void* data, std::size_t bytes, int peer, int tag) override {
    std::lock_guard const lock(mutex_);
    auto const done = add(to, peer, true);
    connection& from = peer_of(peer);
    auto const early = from.early.find(tag);
    if (early == from.early.end()) {
      from.expected[tag].push_back({static_cast<std::byte*>(data), bytes, done});
      return;
    }
    give({static_cast<std::byte*>(data), bytes, done}, early->second.front());
    early->second.pop_front();
    if (early->second.empty()) from.early.erase(early);
  }

  bool finished(messages& some) override {
    std::lock_guard const lock(mutex_);
    if (all_done(some)) return true;
    move_all();
    return all_done(some);
  }

  std::vector<int> missing(messages& some) override {
    std::lock_guard const lock(mutex_);
    std::vector<int> late;
    for (std::size_t i = 0; i < some.peers.size(); ++i)
      if (!*flags_of(some)[i] && std::find(late.begin(), late.end(), some.peers[i]) == late.end())
        late.push_back(some.peers[i]);
    return late;
  }

  void abandon(messages&& some) override {
    std::lock_guard const lock(mutex_);
    abandoned_.push_back(std::move(some));
  }

  void announce(process_notice const& what) override {
    std::lock_guard const lock(mutex_);
    if (what.ended_rank == failed) answers_.fail(what.run);
    tell_all(notice_tag, {what.run, static_cast<std::int32_t>(what.code), what.ended_rank}, what.text);
  }

  std::vector<process_notice> heard() override {
    std::lock_guard const lock(mutex_);
    move_all();
    return std::exchange(heard_, {});
  }

  std::vector<process_notice> gone() override {
    std::lock_guard const lock(mutex_);
    std::vector<process_notice> all;
    for (int other = 0; other < size_; ++other) {
      connection const& one = peer_of(other);
      if (other == rank_ || (one.line.open() && !answers_.silent(other))) continue;
      std::string const what = one.left ? " has ended its program; see what it printed"
                               : one.line.open()
                                   ? " does not answer: it is stopped, or the way to it is cut; see what it does"
                                   : " is gone without a word: it was killed; see what it printed";
      all.push_back({0, other, failed, exit_code::peer_lost, "its process" + place_of_process(other) + what});
    }
    return all;
  }

  void leave(int code) noexcept override try {
    if (std::exchange(left_, true)) return;
    std::unique_lock lock(mutex_);
    tell_all(leave_tag, {}, "");
    auto const end = clock::now() + (code == 0 ? std::chrono::seconds(3600) : std::chrono::seconds(5));
    auto const awaited = [&] {
      for (int other = 0; other < size_; ++other) {
        connection const& one = peer_of(other);
        if (one.line.open() && !(one.left && one.out.empty()) && !answers_.silent(other)) return true;
      }
      return false;
    };
    while (clock::now() < end && awaited()) {
      move_all();
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      lock.lock();
    }
  } catch (std::exception const&) {
    // The process ends; what it could not tell the others see by themselves.
  }

 private:
  using clock = std::chrono::steady_clock;
  using flag = std::shared_ptr<std::atomic<bool>>;

  static constexpr int notice_tag = -1, leave_tag = -2;

  struct process_address {
    std::string address = {};
    int port = 0;
    std::string host = {};
  };
  struct message_head {
    std::int64_t bytes;
    std::int32_t tag, unused = 0;
  };
  struct notice_head {
    std::uint64_t run;
    std::int32_t code, ended_rank;
  };
  struct flags final : messages::state {
    std::vector<flag> all;
  };
  struct outgoing {
    message_head head;
    void const* data;
    flag done;
    std::shared_ptr<std::string> own = {};  ///< where data lies, if it is nobody else's
    std::size_t sent = 0;                   ///< of head and data
  };
  struct expected_message {
    std::byte* data;
    std::size_t bytes;
    flag done;
  };
  using early_message = std::vector<std::byte>;

  struct connection {
    socket line = {};
    bool left = false;  ///< its program has ended
    std::deque<outgoing> out = {};
    std::map<int, std::deque<expected_message>> expected = {};
    std::map<int, std::deque<early_message>> early = {};  ///< came before it was expected
    message_head head = {};
    std::size_t read = 0;  ///< of head and data
    expected_message into = {};
    early_message stored = {};
  };

  connection& peer_of(int number) { return peers_[static_cast<std::size_t>(number)]; }

  static std::string own_address(options::launch const& how, socket const& door) {
    return socket::address_towards(how.host, how.port) + " " + std::to_string(door.port()) + " " + host_name();
  }

  static process_address read_address(std::string const& text) {
    process_address one;
    std::istringstream(text) >> one.address >> one.port >> one.host;
    return one;
  }

  void call(process_address const& at, int other) {
    connection& to = peer_of(other);
    to.line = socket::connected(at.address, at.port, meeting_.left());
    std::int32_t const me = rank_;
    if (to.line.write(&me, sizeof me) != sizeof me) throw std::runtime_error("a connection broke at once");
  }

  /// Waits for one of the others; strangers are sent away.
  void answer(socket const& door) {
    auto const left = [&] { return static_cast<int>(std::min<std::int64_t>(meeting_.left().count(), 1'000'000)); };
    while (door.readable(left())) {
      socket line = door.accepted();
      std::int32_t who = -1;
      if (!line.open() || !line.readable(std::min(left(), 1'000)) || line.read(&who, sizeof who) != sizeof who ||
          who <= rank_ || who >= size_ || peer_of(who).line.open())
        continue;
      peer_of(who).line = std::move(line);
      return;
    }
    throw std::runtime_error("some did not call in time");
  }

  static std::vector<flag>& flags_of(messages& some) {
    if (!some.transport) some.transport = std::make_unique<flags>();
    return static_cast<flags&>(*some.transport).all;
  }

  static bool all_done(messages& some) {
    std::vector<flag> const& all = flags_of(some);
    return std::all_of(all.begin(), all.end(), [](flag const& one) { return one->load(); });
  }

  static flag add(messages& to, int peer, bool receives) {
    to.peers.push_back(peer);
    to.receives.push_back(receives);
    return flags_of(to).emplace_back(std::make_shared<std::atomic<bool>>(false));
  }

  void queue(int peer, int tag, void const* data, std::size_t bytes, flag done, std::shared_ptr<std::string> own = {}) {
    connection& to = peer_of(peer);
    to.out.push_back({{static_cast<std::int64_t>(bytes), tag}, data, std::move(done), std::move(own)});
    if (to.out.size() == 1) write_to(to);
  }

  void tell_all(int tag, notice_head const& head, std::string const& words) {
    auto const text = std::make_shared<std::string>(reinterpret_cast<char const*>(&head), sizeof head);
    *text += words;
    for (int other = 0; other < size_; ++other)
      if (other != rank_) queue(other, tag, text->data(), text->size(), std::make_shared<std::atomic<bool>>(), text);
  }

  /// What can go goes, and what is there is read.
  void move_all() {
    std::vector<pollfd> ready;
    for (connection const& one : peers_)
      ready.push_back({one.line.number(), static_cast<short>(one.out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
    if (::poll(ready.data(), ready.size(), 0) <= 0) return;
    for (int other = 0; other < size_; ++other) {
      short const events = ready[static_cast<std::size_t>(other)].revents;
      if ((events & POLLOUT) != 0) write_to(peer_of(other));
      if ((events & (POLLIN | POLLERR | POLLHUP)) != 0) read_from(other);
    }
  }

  void write_to(connection& to) {
    while (!to.out.empty() && to.line.open()) {
      outgoing& one = to.out.front();
      std::size_t const all = sizeof one.head + static_cast<std::size_t>(one.head.bytes);
      bool const in_head = one.sent < sizeof one.head;
      auto const* const from = in_head ? reinterpret_cast<std::byte const*>(&one.head) + one.sent
                                       : static_cast<std::byte const*>(one.data) + (one.sent - sizeof one.head);
      if (one.sent < all) {
        std::int64_t const went = to.line.write(from, (in_head ? sizeof one.head : all) - one.sent);
        if (went < 0) to.line = socket();
        if (went <= 0) return;
        one.sent += static_cast<std::size_t>(went);
      }
      if (one.sent < all) continue;
      one.done->store(true);
      to.out.pop_front();
    }
  }

  void read_from(int other) {
    connection& from = peer_of(other);
    while (from.line.open()) {
      bool const in_head = from.read < sizeof from.head;
      std::size_t const all = sizeof from.head + (in_head ? 0 : static_cast<std::size_t>(from.head.bytes));
      if (in_head || from.read < all) {
        std::byte* const to = in_head ? reinterpret_cast<std::byte*>(&from.head) + from.read
                                      : target_of(from) + (from.read - sizeof from.head);
        std::int64_t const came = from.line.read(to, all - from.read);
        if (came < 0) from.line = socket();
        if (came <= 0) return;
        from.read += static_cast<std::size_t>(came);
      }
      if (in_head && from.read == sizeof from.head) find_target(from);
      if (from.read == sizeof from.head + static_cast<std::size_t>(from.head.bytes) && from.read >= sizeof from.head)
        take(other);
    }
  }

  static std::byte* target_of(connection& from) { return from.into.done ? from.into.data : from.stored.data(); }

  static void find_target(connection& from) {
    auto const found = from.expected.find(from.head.tag);
    if (found == from.expected.end()) {
      from.stored.resize(static_cast<std::size_t>(from.head.bytes));
      return;
    }
    from.into = expect(from, found);
    if (static_cast<std::size_t>(from.head.bytes) > from.into.bytes) too_long(from.into.bytes, from.head.bytes);
  }

  static expected_message expect(connection& from, std::map<int, std::deque<expected_message>>::iterator found) {
    expected_message one = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) from.expected.erase(found);
    return one;
  }

  /// A whole message has come.
  void take(int other) {
    connection& from = peer_of(other);
    from.read = 0;
    if (from.into.done) {
      from.into.done->store(true);
      from.into = {};
    } else if (from.head.tag == leave_tag) {
      from.left = true;
    } else if (from.head.tag == notice_tag) {
      hear(other, from.stored);
    } else if (auto const found = from.expected.find(from.head.tag); found != from.expected.end()) {
      give(expect(from, found), from.stored);  // expected meanwhile
    } else {
      from.early[from.head.tag].push_back(std::move(from.stored));
    }
    from.stored = {};
  }

  void hear(int other, early_message const& told) {
    notice_head head;
    std::memcpy(&head, told.data(), sizeof head);
    answers_.answer(other, head.run);
    if (head.ended_rank == answered) return;
    std::string_view const all(reinterpret_cast<char const*>(told.data()), told.size());
    heard_.push_back(
        {head.run, other, head.ended_rank, static_cast<exit_code>(head.code), std::string(all.substr(sizeof head))});
    if (head.ended_rank == failed && answers_.fail(head.run)) tell_all(notice_tag, {head.run, 0, answered}, "");
  }

  static void give(expected_message const& to, early_message const& content) {
    if (content.size() > to.bytes) too_long(to.bytes, static_cast<std::int64_t>(content.size()));
    if (!content.empty()) std::memcpy(to.data, content.data(), content.size());
    to.done->store(true);
  }

  [[noreturn]] static void too_long(std::size_t room, std::int64_t bytes) {
    throw error(exit_code::internal, "a message of " + std::to_string(bytes) + " bytes came where " +
                                         std::to_string(room) + " were expected; all ranks must make the same calls");
  }

  rendezvous meeting_;
  std::mutex mutex_;
  std::vector<connection> peers_;  ///< the own one has no line
  answers answers_;
  std::vector<process_notice> heard_;
  std::vector<messages> abandoned_;
  bool left_ = false;
};

/// Errors: exit code 76.
inline std::unique_ptr<process_session> join_by_sockets(options::launch const& how, std::chrono::milliseconds limit) {
  return std::make_unique<socket_session>(how, limit);
}

}  // namespace redco::comm::detail
