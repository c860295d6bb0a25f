#pragma once

#include <redco/comm/detail/door.hpp>
#include <redco/comm/detail/handshake.hpp>
#include <redco/comm/detail/meeting_point.hpp>
#include <redco/comm/detail/secrets.hpp>
#include <redco/comm/detail/socket.hpp>
#include <redco/comm/detail/wire.hpp>
#include <redco/comm/rank_hosts.hpp>
#include <redco/tensor/describe.hpp>
#include <redco/options/launch.hpp>

#include <redco/diag/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace redco::comm::detail {

/// The procedure by which the processes of a launcher connect by TCP. All processes connect to
/// process 0. When the last has connected, process 0 sends all of them a table of addresses. Then
/// each process connects to the processes with lower numbers. A caller that cannot prove that it
/// belongs to the run is refused. Afterwards, no process listens any more.
class rendezvous {
 public:
  struct joined {
    /// Socket to each process, by number. The entry of this process itself is not open.
    std::vector<socket> lines = {};
    std::vector<wire::endpoint> endpoints = {};  ///< address and host name of each process
  };

  rendezvous(options::launch const& how, std::chrono::milliseconds limit)
      : how_(how), limit_(limit), end_(clock::now() + limit) {
    own_.process = how.process;
    own_.processes = how.processes;
    own_.run = sha256(how.start_id);
    all_.lines.resize(static_cast<std::size_t>(how.processes));
  }

  /// Connects all processes and returns the sockets and addresses. Throws `error` with exit code 76
  /// if this fails; the message names the processes that came and those that are missing. Throws
  /// `error` with exit code 64 if any program on a network could join, because there is no secret.
  joined join() {
    if (std::string const anyone = options::joining_without_secret(how_);
        !anyone.empty() && !options::meets_on_this_host(how_) && !how_.trusts_network)
      throw error(exit_code::usage, anyone +
                                        "; set REDCO_SECRET to one value on all hosts (`openssl rand -hex 16`), or "
                                        "REDCO_TRUSTED_NETWORK=1 if you trust everyone who can reach this port");
    try {
      meeting_point point(how_, left());
      if (how_.first()) gather(point);
      else attend(point);
    } catch (error const&) {
      throw;
    } catch (std::exception const& e) {
      fail(": they cannot meet (" + first_line(e) +
           "); see whether another program has the port, and whether the launcher's store runs");
    }
    return std::move(all_);
  }

 private:
  using clock = std::chrono::steady_clock;

  /// First byte of a refusal, which process 0 sends in place of the table of addresses.
  static constexpr char failed = '!';

  /// Executes the part of process 0 in the rendezvous: waits until all processes have connected,
  /// and sends them the table of addresses.
  void gather(meeting_point& point) {
    std::vector<socket> sockets = point.opened();
    door entrance(std::move(sockets), own_, point.key(), 1);
    std::vector<std::optional<door::caller>> members(all_.lines.size());
    all_.endpoints.resize(members.size());
    while (std::any_of(members.begin() + 1, members.end(), [](auto const& one) { return !one; })) {
      if (clock::now() > end_) {
        point.closed();
        give_up(members);
      }
      std::optional<door::caller> one = entrance.next(std::min(left(), std::chrono::milliseconds(100)));
      wrong_secrets_ = entrance.wrong_secrets();
      for (auto& member : members)
        if (member && !is_there(member->line)) member.reset();
      if (!one) continue;
      auto const who = static_cast<std::size_t>(one->talk.process());
      std::optional<wire::endpoint> endpoint = wire::read_endpoint(one->talk.text());
      // The first caller with a process number counts while its connection is open.
      if (!endpoint || members[who]) continue;
      all_.endpoints[who] = *std::move(endpoint);
      members[who] = std::move(one);
    }
    point.closed();
    all_.endpoints[0] = {members.size() > 1 ? members[1]->line.own_address() : how_.host, 0, host_name()};
    check_reachable(members);
    answer_all(members, wire::table_text({random_text(), all_.endpoints}));
    for (std::size_t who = 1; who < members.size(); ++who) all_.lines[who] = std::move(members[who]->line);
  }

  /// Refuses all processes if other hosts could not connect to one of them. This is the case if one
  /// process reached process 0 by a loopback address and another process did not.
  void check_reachable(std::vector<std::optional<door::caller>>& members) {
    for (std::size_t called = 1; called < members.size(); ++called)
      for (std::size_t caller = called + 1; caller < members.size(); ++caller) {
        std::string const &to = all_.endpoints[called].address, &from = all_.endpoints[caller].address;
        if (!socket::is_loopback(to) || socket::is_loopback(from)) continue;
        refuse_all(members, ": process " + std::to_string(called) + " found the way by " + to +
                                ", which leads nowhere from the host of process " + std::to_string(caller) +
                                "; let them meet at an address that all hosts know");
      }
  }

  [[noreturn]] void give_up(std::vector<std::optional<door::caller>>& members) {
    std::string came = "0", missing;
    for (std::size_t who = 1; who < members.size(); ++who) {
      std::string& which = members[who] ? came : missing;
      which += (which.empty() ? "" : ", ") + std::to_string(who);
    }
    refuse_all(members, ": " + came + " came, " + missing + " did not within " + std::to_string(limit_.count()) +
                            " ms" + refused_callers() + "; see what became of the others, or raise the deadline");
  }

  /// Returns a description of the processes that called with another secret, for a message.
  std::string refused_callers() const {
    std::string words;
    for (auto const& [process, address] : wrong_secrets_)
      words += (words.empty() ? "" : ", ") + std::to_string(process) + " (from " + address + ")";
    return words.empty() ? "" : "; with another REDCO_SECRET called process " + words;
  }

  [[noreturn]] void refuse_all(std::vector<std::optional<door::caller>>& members, std::string const& why) {
    answer_all(members, failed + why.substr(0, wire::most_endpoint - 1));
    fail(why);
  }

  void answer_all(std::vector<std::optional<door::caller>>& members, std::string const& text) {
    for (auto& one : members) {
      if (!one) continue;
      one->talk.answer(text);
      try {
        write_all(one->line, one->talk.take_output());
      } catch (std::runtime_error const&) {
        // The process has just died: others notice this in the run, or when they call it.
      }
    }
  }

  /// Executes the part of every process except process 0: connects to process 0 until it sends the
  /// table of addresses.
  void attend(meeting_point& point) {
    std::string text;
    std::vector<socket> doors;
    std::string key, why;
    while (text.empty()) {
      try {
        meeting_point::address const at = point.found();
        socket line = socket::connected(at.host, at.port, std::min(left(), one_try));
        std::string const own = line.own_address();
        doors = socket::listening(own, 0);
        if (doors.empty()) throw std::runtime_error("this host cannot listen at its own address " + own);
        key = at.key;
        text = asked(line, key, 0, own_, wire::endpoint_text({own, doors.front().port(), host_name()}),
                     wire::most_table(how_.processes));
        all_.lines[0] = std::move(line);
      } catch (std::exception const& e) {
        if (why.empty() || clock::now() < end_) why = first_line(e);  // a timeout explains nothing
      }
      if (text.empty()) {
        if (clock::now() > end_)
          fail(": process 0 does not let it in within " + std::to_string(limit_.count()) + " ms (" + why +
               "); see whether process 0 runs there and whether the port can be reached");
        std::this_thread::sleep_for(std::min(left(), std::chrono::milliseconds(100)));
      }
    }
    if (text.front() == failed) fail(text.substr(1));
    std::optional<wire::table> table = wire::read_table(text, how_.processes);
    if (!table) fail(": process 0 sent an invalid table of processes; check that all processes run the same program");
    all_.endpoints = std::move(table->endpoints);
    link(std::move(doors), table->session, std::string(text_of(hmac_sha256(key, table->session))));
  }

  /// Connects this process with all processes except process 0, to which it is already connected.
  /// `doors` are the listening sockets of this process.
  void link(std::vector<socket> doors, std::string const& session, std::string const& key) {
    wire::greeting own = own_;
    own.links = 1;
    own.run = sha256(session);
    door entrance(std::move(doors), own, key, how_.process + 1);
    for (int other = 1; other < how_.process; ++other) call(other, own, key);
    auto const missing = [&] {
      std::string words;
      for (int other = how_.process + 1; other < how_.processes; ++other)
        if (!line_of(other).open()) words += (words.empty() ? "" : ", ") + std::to_string(other);
      return words;
    };
    while (!missing().empty()) {
      if (clock::now() > end_) cannot_reach("process " + missing() + " did not call");
      std::optional<door::caller> one = entrance.next(std::min(left(), std::chrono::milliseconds(100)));
      if (!one) continue;
      one->talk.answer("");
      write_all(one->line, one->talk.take_output());
      line_of(one->talk.process()) = std::move(one->line);
    }
  }

  void call(int other, wire::greeting const& own, std::string const& key) {
    wire::endpoint const& at = all_.endpoints[static_cast<std::size_t>(other)];
    auto const last = std::min(end_, clock::now() + tries);
    while (!line_of(other).open()) {
      try {
        socket line = socket::connected(at.address, at.port, std::min(left(), one_try));
        asked(line, key, other, own, "", 0);
        line_of(other) = std::move(line);
      } catch (std::exception const& e) {
        if (clock::now() > last) cannot_reach("process " + std::to_string(other) + ": " + first_line(e));
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
    }
  }

  /// Performs the handshake with process `other`: sends the greeting, and `text` with the proof of
  /// the key. Returns the text of the other side's answer. Throws std::runtime_error if `other`
  /// refuses or does not answer.
  std::string asked(socket const& line, std::string const& key, int other, wire::greeting own, std::string text,
                    std::size_t most_answer) {
    randomize(own.nonce.data(), own.nonce.size());
    handshake talk = handshake::calling(own, key, other, std::move(text), most_answer);
    write_all(line, talk.take_output());
    while (!talk.asked()) {
      // After the greeting, waits longer: process 0 may have begun later, and needs the time to
      // name the missing processes.
      auto const last = talk.greeted() ? end_ + one_try : end_;
      if (clock::now() > last) throw std::runtime_error("process " + std::to_string(other) + " does not answer");
      line.readable(static_cast<int>(std::clamp<std::int64_t>(left().count(), 10, 1'000)));
      if (move_on(talk, line)) continue;
      std::string const who = "process " + std::to_string(other);
      if (!talk.fault().empty()) throw std::runtime_error(who + ": " + talk.fault());
      throw std::runtime_error(who + (talk.greeted()
                                          ? " knows another REDCO_SECRET, has this process already, or has ended"
                                          : " has ended, or is another program"));
    }
    return talk.text();
  }

  /// Writes all of `text` to a socket. Throws std::runtime_error if the other side is gone or does
  /// not read before the time for the rendezvous is over.
  void write_all(socket const& to, std::string const& text) const {
    for (std::size_t at = 0; at < text.size();) {
      std::int64_t const went = to.write(text.data() + at, text.size() - at);
      if (went < 0 || clock::now() > end_ + one_try) throw std::runtime_error("a connection broke at once");
      if (went == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      at += static_cast<std::size_t>(went);
    }
  }

  /// Returns true if a connected process still waits for its answer. Returns false if it has closed
  /// the connection, or has sent bytes too early.
  static bool is_there(socket const& line) {
    char byte = 0;
    return line.read(&byte, 1) == 0;
  }

  socket& line_of(int other) { return all_.lines[static_cast<std::size_t>(other)]; }

  /// Returns the time that is left for connecting the processes, at least 1 ms.
  std::chrono::milliseconds left() const {
    auto const rest = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - clock::now());
    return std::max(rest, std::chrono::milliseconds(1));
  }

  static std::string first_line(std::exception const& e) {
    std::string const words = tensors::words_of(e);
    return words.substr(0, words.find('\n'));
  }

  [[noreturn]] void cannot_reach(std::string const& reason) const {
    fail(": it met all, and cannot reach some (" + reason +
         "); see whether the hosts let each other through on all ports");
  }

  [[noreturn]] void fail(std::string const& problem) const {
    throw error(exit_code::rendezvous, "process " + std::to_string(how_.process) + " of " +
                                           std::to_string(how_.processes) + " (" + how_.launcher + "), which meet at " +
                                           options::meeting_address(how_) + problem);
  }

  static constexpr auto one_try = std::chrono::milliseconds(5'000);
  static constexpr auto tries = std::chrono::seconds(10);

  options::launch const& how_;
  std::chrono::milliseconds limit_;
  clock::time_point end_;
  wire::greeting own_;
  joined all_;
  std::map<int, std::string> wrong_secrets_;  ///< address of each process with another secret
};

}  // namespace redco::comm::detail
