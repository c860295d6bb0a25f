#pragma once

#include <redco/comm/detail/answers.hpp>
#include <redco/comm/detail/connection.hpp>
#include <redco/comm/detail/process_session.hpp>
#include <redco/comm/detail/rendezvous.hpp>
#include <redco/comm/detail/wire.hpp>
#include <redco/comm/rank_hosts.hpp>
#include <redco/options/launch.hpp>

#include <redco/diag/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>

namespace redco::comm::detail {

/// A process_session (connection with all other processes) by TCP, with one connection per pair of
/// processes. Any thread that polls for its own messages also moves the bytes of all other messages
/// of this process.
class socket_session final : public process_session {
 public:
  /// Connects this process with all other processes of the launcher. Throws `error` with exit code
  /// 76 if this takes longer than `limit` or fails.
  socket_session(options::launch const& how, std::chrono::milliseconds limit) {
    rank_ = how.process;
    size_ = how.processes;
    most_tag_ = INT32_MAX;
    answers_ = answers(size_);
    rendezvous::joined all = rendezvous(how, limit).join();
    for (wire::endpoint const& one : all.endpoints)
      rank_hosts::all().of_process.push_back(one.host + " (" + one.address + ")");
    for (socket& line : all.lines) peers_.push_back(line.open() ? connection(std::move(line)) : connection());
  }

  void send(messages& to, void const* data, std::size_t bytes, int peer, int tag) override {
    std::lock_guard const lock(mutex_);
    peer_of(peer).send(tag, data, bytes, add(to, peer, false));
  }

  void receive(messages& to, void* data, std::size_t bytes, int peer, int tag) override {
    std::lock_guard const lock(mutex_);
    peer_of(peer).receive(tag, data, bytes, add(to, peer, true));
  }

  bool finished(messages& some) override {
    std::lock_guard const lock(mutex_);
    if (all_done(some)) return true;
    move_all();
    if (misuse_) throw *misuse_;
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
    drop_complete();
    abandoned_.push_back(std::move(some));
  }

  void announce(process_notice const& notice) override {
    std::lock_guard const lock(mutex_);
    if (notice.ended_rank == failed) answers_.fail(notice.run);
    tell_all(wire::notice_tag, wire::notice_text({notice.run, notice.code, notice.ended_rank, notice.text}));
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
      if (other == rank_ || (one.open() && !answers_.silent(other))) continue;
      all.push_back(
          {0, other, failed, exit_code::peer_lost, "its process" + on_host_of_process(other) + end_of(other)});
    }
    return all;
  }

  void keep() override {
    std::lock_guard const lock(mutex_);
    move_all();
    drop_complete();
    if (left_) return;
    for (connection& one : peers_)
      if (one.left() && one.open()) one.tell(wire::alive_tag, "");
  }

  void leave(int code) noexcept override try {
    std::unique_lock lock(mutex_);
    if (std::exchange(left_, true)) return;
    tell_all(wire::leave_tag, "");
    auto const begin = clock::now();
    auto const is_late = [&](connection const& one) {
      return code == 0 && clock::now() > std::max(begin, one.heard_at()) + leave_patience;
    };
    auto const is_awaited = [&](int other) {
      connection const& one = peer_of(other);
      return one.open() && !(one.left() && !one.has_output()) && !answers_.silent(other) && !is_late(one);
    };
    auto const end = begin + (code == 0 ? std::chrono::seconds(3600) : std::chrono::seconds(5));
    auto const awaited = [&] {
      for (int other = 0; other < size_; ++other)
        if (is_awaited(other)) return true;
      return false;
    };
    while (clock::now() < end && awaited()) {
      move_all();
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      lock.lock();
    }
    for (int other = 0; other < size_; ++other)
      if (is_late(peer_of(other)) && peer_of(other).open() && !peer_of(other).left()) say_not_awaited(other);
  } catch (std::exception const&) {
    // The process ends; other processes notice its closed connections.
  }

 private:
  using clock = std::chrono::steady_clock;
  using flag = connection::flag;

  struct flags final : messages::state {
    std::vector<flag> all;
  };

  connection& peer_of(int number) { return peers_[static_cast<std::size_t>(number)]; }

  /// Returns a phrase about how process `other` was lost, to follow the process's name in an error
  /// message. Example: " has ended its program; see what it printed".
  std::string end_of(int other) const {
    connection const& one = peers_[static_cast<std::size_t>(other)];
    if (one.left()) return " has ended its program; see what it printed";
    if (one.open()) return " does not answer: it is stopped, or the way to it is cut; see what it does";
    if (!one.fault().empty())
      return " sent " + one.fault() + ", and is shut out; see whether all processes run the same program";
    if (auto const pause = pause_before_end_.find(other); pause != pause_before_end_.end())
      return " is gone: this process was stopped for " +
             std::to_string(std::chrono::duration_cast<std::chrono::seconds>(pause->second).count()) +
             " s, and the others did not wait for it; see what they printed";
    return " is gone without a word: it was killed; see what it printed";
  }

  static std::vector<flag>& flags_of(messages& some) {
    if (!some.transport) some.transport = std::make_unique<flags>();
    return static_cast<flags&>(*some.transport).all;
  }

  static bool all_done(messages& some) {
    std::vector<flag> const& all = flags_of(some);
    return std::all_of(all.begin(), all.end(), [](flag const& one) { return one->load(); });
  }

  void drop_complete() { std::erase_if(abandoned_, all_done); }

  static flag add(messages& to, int peer, bool receives) {
    to.peers.push_back(peer);
    to.receives.push_back(receives);
    return flags_of(to).emplace_back(std::make_shared<std::atomic<bool>>(false));
  }

  void tell_all(std::int32_t tag, std::string const& words) {
    for (int other = 0; other < size_; ++other)
      if (other != rank_) peer_of(other).tell(tag, words);
  }

  /// Writes queued bytes and reads arrived bytes on all connections, without blocking.
  void move_all() {
    auto const now = clock::now(), before = std::exchange(moved_at_, now);
    if (now > before + long_pause) {
      pause_ = now - before;
      paused_until_ = now;
    }
    std::vector<pollfd> ready;
    for (connection const& one : peers_)
      ready.push_back({one.number(), static_cast<short>(one.has_output() ? POLLIN | POLLOUT : POLLIN), 0});
    if (::poll(ready.data(), ready.size(), 0) <= 0) return;
    for (int other = 0; other < size_; ++other) {
      short const events = ready[static_cast<std::size_t>(other)].revents;
      if ((events & POLLOUT) != 0) peer_of(other).write();
      if ((events & (POLLIN | POLLERR | POLLHUP)) != 0) read_from(other);
    }
  }

  void read_from(int other) try {
    connection& from = peer_of(other);
    bool const open = from.open();
    from.read(answered, [&](wire::notice const& one) { hear(other, one); });
    if (open && !from.open() && clock::now() < paused_until_ + long_pause) pause_before_end_[other] = pause_;
  } catch (error const& e) {
    if (!misuse_) misuse_ = e;
  }

  void hear(int other, wire::notice const& received) {
    answers_.answer(other, received.run);
    if (received.ended_rank == answered) return;
    heard_.push_back({received.run, other, received.ended_rank, received.code, received.text});
    if (received.ended_rank == failed && answers_.fail(received.run))
      tell_all(wire::notice_tag, wire::notice_text({received.run, exit_code::done, answered, ""}));
  }

  // Much longer than half a second, the time between two calls of keep().
  static constexpr auto long_pause = std::chrono::seconds(3);

  std::mutex mutex_;
  /// Connection to each process, by number. The entry of this process itself is not open.
  std::vector<connection> peers_;
  answers answers_;
  std::vector<process_notice> heard_;
  std::vector<messages> abandoned_;
  /// First error about a received message that is longer than its receive buffer.
  std::optional<error> misuse_;
  clock::time_point moved_at_ = clock::now();
  /// Length of the last pause in which this process did not run (stopped by a signal or the
  /// system).
  clock::duration pause_ = clock::duration::zero();
  clock::time_point paused_until_ = {};
  /// For each process whose connection was found closed after this process had been stopped: the
  /// length of that pause.
  std::map<int, clock::duration> pause_before_end_;
  bool left_ = false;
};

/// Connects this process with all other processes of the launcher by TCP. Throws `error` with exit
/// code 76 if this takes longer than `limit` or fails.
inline std::unique_ptr<process_session> join_by_sockets(options::launch const& how, std::chrono::milliseconds limit) {
  return std::make_unique<socket_session>(how, limit);
}

}  // namespace redco::comm::detail
