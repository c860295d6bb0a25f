#pragma once

#include <redco/comm/detail/call_words.hpp>
#include <redco/comm/detail/operand.hpp>
#include <redco/comm/detail/process_session.hpp>
#include <redco/comm/detail/tensor_rows.hpp>
#include <redco/comm/detail/waiting_room.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/lifeline.hpp>
#include <redco/options/launch.hpp>

#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace redco::comm::detail {

/// A group whose ranks are processes. CPU tensors only.
///
/// Every collective begins with a message of each rank to each: what it brings, and its elements where they are few. Only when all
/// agree do the rest follow, straight from rank to rank. Sums are made as threads make them, in rank order, so that the results
/// are the same bits.
class process_group final : public group {
 public:
  /// `members` are processes; `number`, below 32, tells this group from others of the same processes; `runs` counts the runs.
  process_group(std::string name, int number, std::vector<int> members, process_session& session,
                std::shared_ptr<lifeline> line, std::uint64_t const& runs)
      : group(place_of(members, session.rank()), static_cast<int>(members.size()), std::move(name)),
        members_(std::move(members)),
        number_(number),
        session_(session),
        line_(std::move(line)),
        runs_(runs),
        me_(static_cast<std::size_t>(rank())),
        ranks_(members_.size()),
        shown_(ranks_ * shown_bytes) {}

  bool spans_processes() const noexcept override { return size() > 1; }
  void abort(exit_code code, std::string const& message) override { line_->fail(session_.rank(), code, message); }

 private:
  enum channel { opening, payload, letter_head, letter_content };
  static constexpr std::size_t few_bytes = 4096;
  static constexpr std::size_t shown_bytes = sizeof(operand) + few_bytes;

  struct letter {
    std::size_t from;
    int tag;
    at::Tensor content;
  };

  static int place_of(std::vector<int> const& members, int process) {
    return static_cast<int>(std::find(members.begin(), members.end(), process) - members.begin());
  }

  void do_all_reduce(at::Tensor const& x, at::Tensor const& out, reduce_op op) override {
    check(x);
    reduce_function const reduce = reduction_for(x, name());
    operand const mine = operand::of(collective::all_reduce, x, 0, op);
    auto const count = static_cast<std::size_t>(x.numel());
    void* to = out.data_ptr();
    if (x.nbytes() <= few_bytes) {
      open(mine, x);
      std::vector<void const*> sources;
      for (std::size_t from = 0; from < ranks_; ++from) sources.push_back(elements_of(from));
      reduce({sources.data(), ranks_, 0, &to, 1, 0, count}, op);
      return;
    }
    open(mine);
    std::size_t const slice = slice_of(x, ranks_), element = static_cast<std::size_t>(x.element_size());
    auto const begin = [&](std::size_t of) { return std::min(count, slice * of); };
    auto const length = [&](std::size_t of) { return std::min(count, begin(of) + slice) - begin(of); };
    auto* const from = static_cast<std::byte*>(x.data_ptr());
    each_adds_up(mine, x, from + begin(me_) * element, length(me_) * element, [&](std::size_t of) {
      return piece{from + begin(of) * element, length(of) * element};
    });
    reduce({rows_.data(), ranks_, 0, &to, 1, begin(me_), length(me_)}, op);
    messages some = about({out});
    auto* const all = static_cast<std::byte*>(to);
    for_each_other([&](std::size_t other) {
      session_.receive(some, all + begin(other) * element, length(other) * element, members_[other], tag(payload));
    });
    for_each_other([&](std::size_t other) {
      session_.send(some, all + begin(me_) * element, length(me_) * element, members_[other], tag(payload));
    });
    finish(some, mine.text());
  }

  void do_all_gather(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) override {
    check(x);
    operand const mine = operand::of(collective::all_gather, x, dim);
    open(mine);
    std::size_t const outer = rows_before(x, dim), bytes = outer == 0 ? 0 : x.nbytes() / outer;
    if (bytes == 0) return;
    auto* const to = static_cast<std::byte*>(out.data_ptr());
    auto const* const own = static_cast<std::byte const*>(x.data_ptr());
    messages some = about({x, out});
    std::byte* const arrived = outer == 1 ? to : memory(some, ranks_ * x.nbytes());
    std::memcpy(arrived + me_ * x.nbytes(), own, x.nbytes());
    for_each_other([&](std::size_t other) {
      session_.receive(some, arrived + other * x.nbytes(), x.nbytes(), members_[other], tag(payload));
    });
    for_each_other([&](std::size_t other) { session_.send(some, own, x.nbytes(), members_[other], tag(payload)); });
    finish(some, mine.text());
    if (outer == 1) return;
    for (std::size_t row = 0; row < outer; ++row)
      for (std::size_t from = 0; from < ranks_; ++from)
        std::memcpy(to + (row * ranks_ + from) * bytes, arrived + from * x.nbytes() + row * bytes, bytes);
  }

  void do_reduce_scatter(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) override {
    check(x);
    reduce_function const reduce = reduction_for(x, name());
    operand const mine = operand::of(collective::reduce_scatter, x, dim);
    open(mine);
    if (out.numel() == 0) return;
    std::int64_t const part = out.size(dim);
    std::vector<at::Tensor> parts;
    for (std::int64_t of = 0; of < size(); ++of) parts.push_back(x.narrow(dim, of * part, part).contiguous());
    each_adds_up(mine, x, parts[me_].data_ptr(), out.nbytes(), [&](std::size_t of) {
      return piece{static_cast<std::byte*>(parts[of].data_ptr()), out.nbytes()};
    });
    void* to = out.data_ptr();
    reduce({rows_.data(), ranks_, 0, &to, 1, 0, static_cast<std::size_t>(out.numel())}, reduce_op::sum);
  }

  void do_all_to_all(at::Tensor const& x, at::Tensor const& out) override {
    check(x);
    operand const mine = operand::of(collective::all_to_all, x, 0);
    open(mine);
    std::size_t const bytes = x.nbytes() / ranks_;
    if (bytes == 0) return;
    auto* const to = static_cast<std::byte*>(out.data_ptr());
    auto const* const from = static_cast<std::byte const*>(x.data_ptr());
    std::memcpy(to + me_ * bytes, from + me_ * bytes, bytes);
    messages some = about({x, out});
    for_each_other(
        [&](std::size_t other) { session_.receive(some, to + other * bytes, bytes, members_[other], tag(payload)); });
    for_each_other(
        [&](std::size_t other) { session_.send(some, from + other * bytes, bytes, members_[other], tag(payload)); });
    finish(some, mine.text());
  }

  void do_broadcast(at::Tensor const& x, int root) override {
    check(x);
    operand const mine = operand::of(collective::broadcast, x, root);
    bool const few = x.nbytes() <= few_bytes;
    auto const from = static_cast<std::size_t>(root);
    if (few) open(mine, x);
    else open(mine);
    if (few && me_ != from && x.nbytes() != 0) std::memcpy(x.data_ptr(), elements_of(from), x.nbytes());
    if (few) return;
    messages some = about({x});
    if (me_ == from)
      for_each_other(
          [&](std::size_t other) { session_.send(some, x.data_ptr(), x.nbytes(), members_[other], tag(payload)); });
    else session_.receive(some, x.data_ptr(), x.nbytes(), members_[from], tag(payload));
    finish(some, mine.text());
  }

  void do_send(at::Tensor const& x, int peer, int user_tag) override {
    check(x);
    if (line_->failed()) throw line_->cause();
    operand const head = operand::of(collective::send, x, user_tag);
    int const to = members_[static_cast<std::size_t>(peer)];
    messages some = about({x});
    std::byte* const message = memory(some, sizeof head);
    std::memcpy(message, &head, sizeof head);
    session_.send(some, message, sizeof head, to, tag(letter_head));
    session_.send(some, x.data_ptr(), x.nbytes(), to, tag(letter_content));
    finish(some, head.text());
  }

  void do_recv(at::Tensor const& x, int peer, int user_tag) override {
    check(x);
    auto const from = static_cast<std::size_t>(peer);
    auto const is_it = [&](letter const& one) { return one.from == from && one.tag == user_tag; };
    auto found = std::find_if(letters_.begin(), letters_.end(), is_it);
    while (found == letters_.end()) {
      letters_.push_back(next_letter(from, "recv of " + describe(x) + " with tag " + std::to_string(user_tag)));
      found = is_it(letters_.back()) ? std::prev(letters_.end()) : letters_.end();
    }
    at::Tensor const content = found->content;
    letters_.erase(found);
    deliver(content, x, user_tag, name(), members_[from], session_.rank());
  }

  void do_barrier() override { open({}); }

  void do_begin_run() override { letters_.clear(); }

  /// Waits for all to come with equal operands; `few` are the elements that go with it.
  void open(operand const& mine, at::Tensor const& few = {}) {
    ++calls_;
    std::size_t const bytes = sizeof(operand) + (few.defined() ? few.nbytes() : 0);
    std::byte* const own = shown_.data() + me_ * shown_bytes;
    std::memcpy(own, &mine, sizeof mine);
    if (few.defined() && few.numel() != 0) std::memcpy(own + sizeof mine, few.data_ptr(), few.nbytes());
    messages some;
    some.bytes.swap(shown_);  // its memory is theirs until they are through
    std::byte* const all = some.bytes.data();
    for_each_other([&](std::size_t other) {
      session_.receive(some, all + other * shown_bytes, shown_bytes, members_[other], tag(opening));
    });
    for_each_other(
        [&](std::size_t other) { session_.send(some, all + me_ * shown_bytes, bytes, members_[other], tag(opening)); });
    finish(some, mine.text());
    shown_.swap(some.bytes);
    operand const first = shown_by(0);
    for (std::size_t other = 1; other < ranks_; ++other)
      if (operand const its = shown_by(other); its.digest() != first.digest())
        throw disagreement(calls_, name(), members_[0], first, members_[other], its);
  }

  operand shown_by(std::size_t other) const {
    operand its;
    std::memcpy(&its, shown_.data() + other * shown_bytes, sizeof its);
    return its;
  }
  std::byte const* elements_of(std::size_t other) const {
    return shown_.data() + other * shown_bytes + sizeof(operand);
  }

  struct piece {
    std::byte* data;
    std::size_t bytes;
  };

  /// Sends every rank its piece of this rank's tensor; the pieces of all for this rank then lie in `rows_`, in rank order.
  template <class PieceOf>
  void each_adds_up(operand const& mine, at::Tensor const& x, void const* own, std::size_t bytes,
                    PieceOf const& piece_of) {
    messages some = about({x});
    some.bytes.swap(scratch_);
    std::byte* const arrived = memory(some, ranks_ * bytes);
    rows_.clear();
    for (std::size_t from = 0; from < ranks_; ++from) rows_.push_back(arrived + from * bytes);
    if (bytes != 0) std::memcpy(arrived + me_ * bytes, own, bytes);
    for_each_other([&](std::size_t other) {
      session_.receive(some, arrived + other * bytes, bytes, members_[other], tag(payload));
    });
    for_each_other([&](std::size_t other) {
      auto const [data, size] = piece_of(other);
      session_.send(some, data, size, members_[other], tag(payload));
    });
    finish(some, mine.text());
    scratch_.swap(some.bytes);
  }

  letter next_letter(std::size_t from, std::string const& what) {
    operand head;
    messages opening_of;
    std::byte* const message = memory(opening_of, sizeof head);
    session_.receive(opening_of, message, sizeof head, members_[from], tag(letter_head));
    finish(opening_of, what);
    std::memcpy(&head, message, sizeof head);
    at::Tensor const content = at::empty({head.extents.data(), static_cast<std::size_t>(head.dims)}, head.type);
    messages some = about({content});
    session_.receive(some, content.data_ptr(), content.nbytes(), members_[from], tag(letter_content));
    finish(some, what);
    return {from, static_cast<int>(head.argument), content};
  }

  static messages about(std::vector<at::Tensor> tensors) {
    messages some;
    some.tensors = std::move(tensors);
    return some;
  }
  static std::byte* memory(messages& of, std::size_t bytes) {
    if (of.bytes.size() < bytes) of.bytes.resize(bytes);
    return of.bytes.data();
  }

  template <class F>
  void for_each_other(F const& f) const {
    for (std::size_t next = 1; next < ranks_; ++next) f((me_ + next) % ranks_);
  }

  int tag(channel which) const { return session_.tag(runs_, number_ * 4 + which); }
  void check(at::Tensor const& x) const { check_in_host_memory(x, name(), "processes"); }

  /// Waits until the messages are through; throws where the run fails, or a peer has ended or misses the deadline.
  void finish(messages& some, std::string const& what) {
    using clock = std::chrono::steady_clock;
    constexpr auto under_way = std::chrono::milliseconds(200);  // what a peer sent before it ended comes within
    int const spins = crowded_ ? 0 : 2000, offers = crowded_ ? 50 : 4000;
    auto const end = clock::now() + deadline();
    auto last = clock::time_point::max();
    for (int turn = 0; !session_.finished(some); ++turn) {
      if (line_->failed()) {
        session_.abandon(std::move(some));
        throw line_->cause();
      }
      if (turn < spins) {
        pause_core();
        continue;
      }
      auto const now = clock::now();
      if (last == clock::time_point::max() && line_->troubled()) {
        std::vector<int> const late = session_.missing(some);
        if (std::any_of(late.begin(), late.end(), [&](int peer) { return line_->ended(peer); })) last = now + under_way;
      }
      if (now > end || now > last) {
        std::vector<int> const late = session_.missing(some);
        if (late.empty()) return;
        session_.abandon(std::move(some));
        lose_peers(*line_, session_.rank(), where_text(what, calls_, name()), late, deadline());
      }
      if (turn < offers) std::this_thread::yield();
      else std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  std::vector<int> members_;
  int number_;
  process_session& session_;
  std::shared_ptr<lifeline> line_;
  std::uint64_t const& runs_;
  std::size_t me_, ranks_;
  /// Others want the core: more processes than cores, or the rank, which computes while its lane waits.
  bool crowded_ = number_ >= 16 || options::launched().here > static_cast<int>(std::thread::hardware_concurrency());
  std::uint64_t calls_ = 0;
  std::vector<std::byte> shown_;    ///< by every rank, in the last opening
  std::vector<std::byte> scratch_;  ///< what is added up
  std::vector<void const*> rows_;
  std::deque<letter> letters_;  ///< that came before one that is waited for
};

}  // namespace redco::comm::detail
