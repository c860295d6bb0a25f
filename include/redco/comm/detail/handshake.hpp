#pragma once

#include <redco/comm/detail/secrets.hpp>
#include <redco/comm/detail/wire.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace redco::comm::detail {

/// A proof between two processes that they belong to one run, as a function of the received bytes:
///
///   caller -> door: greeting      door -> caller: greeting
///   caller -> door: HMAC(key, "caller", both greetings, text), text
///   door -> caller: HMAC(key, "door", both greetings, text), text     when answer() is called
///
/// The key itself is never sent. A stranger gets only a greeting, and only after sending one.
class handshake {
 public:
  /// Returns the handshake of the connecting process, which calls process number `door` and sends
  /// `text` with its proof. The answer's text may have at most `most_answer` bytes.
  static handshake calling(wire::greeting const& own, std::string key, int door, std::string text,
                           std::size_t most_answer) {
    handshake one(own, std::move(key), false);
    one.least_ = one.most_ = door;
    one.own_text_ = std::move(text);
    one.most_text_ = most_answer;
    one.output_ = wire::bytes_of(own);
    return one;
  }

  /// Returns the handshake of the listening process. It accepts processes whose number is at least
  /// `least`.
  static handshake answering(wire::greeting const& own, std::string key, int least) {
    handshake one(own, std::move(key), true);
    one.least_ = least;
    one.most_ = own.processes - 1;
    one.most_text_ = wire::most_endpoint;
    return one;
  }

  /// Returns the number of received bytes that the handshake needs next, or 0 if it needs none.
  std::size_t wanted() const { return fault_.empty() ? needed_ - in_.size() : 0; }

  /// Processes the received `bytes` (at most wanted() of them) and advances the handshake.
  void take(std::string_view bytes) {
    in_ += bytes;
    if (stage_ == stage::greeting && !wire::may_greet(std::string_view(in_).substr(0, 8))) {
      fault_ = "the program that answers there is not redco";
      return;
    }
    if (in_.size() < needed_) return;
    switch (stage_) {
      case stage::greeting: take_greeting(); break;
      case stage::proof: take_proof(); break;
      case stage::text: take_text(); break;
      case stage::over: break;
    }
  }

  /// Queues `text` and this side's proof as output of the handshake. Requires that asked() returns
  /// true.
  void answer(std::string text) {
    own_text_ = std::move(text);
    output_ += offer();
  }

  /// Returns true if the peer has proved that it knows the key. From then on, text() is the peer's
  /// complete text.
  bool asked() const { return stage_ == stage::over && fault_.empty(); }

  std::string take_output() { return std::exchange(output_, {}); }
  std::string const& fault() const { return fault_; }
  /// Returns true if the peer is a process of this run that does not know the key.
  bool has_wrong_secret() const { return has_wrong_secret_; }
  std::string const& text() const { return text_; }
  int process() const { return peer_.process; }
  /// Returns true if the peer has sent the greeting of a process of this run. The peer may still
  /// not know the key.
  bool greeted() const { return stage_ != stage::greeting && fault_.empty(); }

 private:
  enum class stage : std::uint8_t { greeting, proof, text, over };

  handshake(wire::greeting const& own, std::string key, bool answers)
      : own_(own), key_(std::move(key)), answers_(answers) {}

  void need(stage next, std::size_t bytes) {
    stage_ = next;
    needed_ = bytes;
    in_.clear();
  }

  void take_greeting() {
    peer_ = wire::read<wire::greeting>(in_);
    if (answers_) output_ += wire::bytes_of(own_);
    fault_ = fault_of_peer();
    if (!answers_ && fault_.empty()) output_ += offer();
    need(stage::proof, proof_.size() + sizeof(std::uint32_t));
  }

  std::string fault_of_peer() const {
    auto const differs = [](std::string const& property, std::int64_t its, std::int64_t own) {
      return "it has " + property + " " + std::to_string(its) + ", this process " + std::to_string(own);
    };
    if (peer_.version != own_.version) return differs("redco's protocol", peer_.version, own_.version);
    if (peer_.links != own_.links || peer_.run != own_.run) return "it belongs to another run";
    if (peer_.processes != own_.processes) return differs("a number of processes of", peer_.processes, own_.processes);
    if (peer_.process < least_ || peer_.process > most_)
      return "it is process " + std::to_string(peer_.process) + ", which is not the one that is meant";
    return "";
  }

  void take_proof() {
    std::memcpy(proof_.data(), in_.data(), proof_.size());
    auto const bytes = wire::read<std::uint32_t>(std::string_view(in_).substr(proof_.size()));
    if (bytes > most_text_) fault_ = "it sends a text of " + std::to_string(bytes) + " bytes";
    need(stage::text, fault_.empty() ? bytes : 0);
    if (fault_.empty() && bytes == 0) take_text();
  }

  void take_text() {
    text_ = in_;
    has_wrong_secret_ = !equal_secrets(text_of(proof_), text_of(proof(!answers_, peer_, text_)));
    if (has_wrong_secret_) fault_ = "it does not know the secret of this run";
    need(stage::over, 0);
  }

  std::string offer() const {
    auto const bytes = static_cast<std::uint32_t>(own_text_.size());
    return std::string(text_of(proof(answers_, own_, own_text_))) + wire::bytes_of(bytes) + own_text_;
  }

  /// Returns the HMAC with which one side of the handshake proves that it knows the key. If
  /// `answers`, that side is the listening process, else the connecting process. `side` is that
  /// side's greeting.
  digest proof(bool answers, wire::greeting const& side, std::string const& text) const {
    std::string const first = wire::bytes_of(side), second = wire::bytes_of(&side == &own_ ? peer_ : own_);
    return hmac_sha256(key_, std::string(answers ? "door" : "caller") + first + second + text);
  }

  wire::greeting own_, peer_ = {};
  std::string key_;
  bool answers_, has_wrong_secret_ = false;
  int least_ = 0, most_ = 0;
  std::size_t most_text_ = 0;
  stage stage_ = stage::greeting;
  std::size_t needed_ = sizeof(wire::greeting);
  std::string in_, output_, own_text_, text_, fault_;
  digest proof_ = {};
};

}  // namespace redco::comm::detail
