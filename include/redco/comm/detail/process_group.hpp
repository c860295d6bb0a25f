#pragma once

#include <redco/comm/detail/begun_message.hpp>
#include <redco/comm/detail/mailbox.hpp>
#include <redco/comm/detail/meeting.hpp>
#include <redco/comm/detail/operand.hpp>
#include <redco/comm/detail/process_exchange.hpp>
#include <redco/comm/detail/process_state.hpp>
#include <redco/comm/detail/reduce_ranks.hpp>
#include <redco/comm/detail/tensor_rows.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/lifeline.hpp>

#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace redco::comm::detail {

/// A group whose ranks are in several processes, one or more in each. It takes CPU tensors only.
///
/// In each collective, the ranks of a process meet in shared memory, and the first of them
/// exchanges messages with other processes. Shapes and dtypes are compared first; large tensors
/// follow only if all agree. Data between two processes is sent once, whatever the number of ranks.
/// Sums run in rank order, or first within each process if processes have several ranks, which
/// sends less. `in_rank_order` forces rank order.
class process_group final : public group {
 public:
  /// Creates a group of the ranks `members` and returns one handle per member. The handle is null
  /// for a member in another process.
  static std::vector<std::unique_ptr<group>> make(std::string const& name, std::vector<int> const& members, int number,
                                                  int line, process_session& session, message_tags const& tags,
                                                  std::shared_ptr<lifeline> const& life, bool in_rank_order) {
    auto const all = std::make_shared<process_state>(name, members, number, line, session, tags, life, in_rank_order);
    std::vector<std::unique_ptr<group>> handles(members.size());
    for (std::size_t seat = 0; seat < all->seats(); ++seat)
      handles[all->first() + seat] = std::unique_ptr<group>(new process_group(all, seat, members.size()));
    return handles;
  }

  void abort(exit_code code, std::string const& message) override {
    here().line().fail(here().member(seat_), code, message);
  }

 private:
  struct early_message {
    std::size_t from;
    int tag;
    at::Tensor content;
  };

  process_group(std::shared_ptr<process_state> all, std::size_t seat, std::size_t members)
      : group(static_cast<int>(all->first() + seat), static_cast<int>(members), all->here.name()),
        state_(std::move(all)),
        seat_(seat) {}

  void do_all_reduce(at::Tensor const& x, at::Tensor const& out, reduce_op op) override {
    check(x);
    reduce_function const reduce = reduction_for(x, name());
    operand const mine = operand::of(shape::collective::all_reduce, x, 0, op);
    auto const count = static_cast<std::size_t>(x.numel());
    if (x.nbytes() <= process_exchange::few_bytes) {
      together(
          mine, x, out, [] {},
          [&](process_exchange::call const& call) {
            std::vector<void const*> const own = state_->sources();
            others().open(call, own, x.nbytes());
            std::vector<void const*> sources;
            for (std::size_t party = 0; party < others().parties(); ++party)
              for (std::size_t i = 0; i < others().count(party); ++i)
                sources.push_back(party == others().me() ? own[i] : others().elements_of(party) + i * x.nbytes());
            std::vector<void*> targets;
            for (process_state::shown const& one : state_->by_seat) targets.push_back(one.out.data_ptr());
            reduce({sources.data(), sources.size(), 0, targets.data(), targets.size(), 0, count}, op);
          },
          [] {});
      return;
    }
    auto const add_up_here = [&] {
      if (state_->by_rank) return;
      std::vector<void const*> const sources = state_->sources();
      void* to = state_->by_seat.front().out.data_ptr();
      auto const [begin, length] = slice(slice_of(x, sources.size()), count, seat_);
      reduce({sources.data(), sources.size(), begin, &to, 1, begin, length}, op);
    };
    auto const speak = [&](process_exchange::call const& call) {
      others().open(call);
      auto* const to = bytes_of(state_->by_seat.front().out);
      std::vector<void const*> const own = state_->by_rank ? state_->sources() : std::vector<void const*>{to};
      std::size_t const each = slice_of(x, others().parties()), element = x.nbytes() / count;
      auto const [begin, length] = slice(each, count, others().me());
      std::vector<void const*> const rows =
          rows_of_all(call, own, begin * element, length * element, [&](std::size_t of) {
            auto const [first, size] = slice(each, count, of);
            return std::pair(first * element, size * element);
          });
      void* target = to;
      reduce({rows.data(), rows.size(), 0, &target, 1, begin, length}, op);
      messages some = state_->messages_of_all();
      others().for_each_other([&](std::size_t other) {
        auto const [first, size] = slice(each, count, other);
        others().receive(some, to + first * element, size * element, other);
      });
      others().for_each_other([&, at = begin * element, size = length * element](std::size_t other) {
        others().send(some, to + at, size, other);
      });
      others().finish(some, call);
    };
    together(mine, x, out, add_up_here, speak, [&] { copy_from_first(out); });
  }

  void do_all_gather(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) override {
    check(x);
    std::size_t const outer = rows_before(x, dim), all = x.nbytes();
    auto const speak = [&](process_exchange::call const& call) {
      others().open(call);
      messages some = state_->messages_of_all();
      std::byte* const to =
          outer == 1 ? bytes_of(state_->by_seat.front().out) : process_state::room(state_->scratch, ranks() * all);
      for (std::size_t i = 0; i < state_->seats(); ++i) copy(to + (state_->first() + i) * all, state_->source(i), all);
      others().for_each_other([&](std::size_t other) {
        for_each_member(other, [&](std::size_t member) { others().receive(some, to + member * all, all, other); });
      });
      others().for_each_other([&](std::size_t other) {
        for (std::size_t i = 0; i < state_->seats(); ++i) others().send(some, state_->source(i), all, other);
      });
      others().finish(some, call);
    };
    auto const finish = [&] {
      if (outer == 1) return copy_from_first(out);
      std::size_t const row = outer == 0 ? 0 : all / outer;
      for (std::size_t at = 0; at < outer; ++at)
        for (std::size_t member = 0; member < ranks(); ++member)
          copy(bytes_of(out) + (at * ranks() + member) * row, state_->scratch.data() + member * all + at * row, row);
    };
    together(
        operand::of(shape::collective::all_gather, x, dim), x, out, [] {}, speak, finish);
  }

  void do_reduce_scatter(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) override {
    check(x);
    reduce_function const reduce = reduction_for(x, name());
    at::Tensor const parts = x.unflatten(dim, {size(), out.size(dim)}).movedim(dim, 0).contiguous();
    std::size_t const part = out.nbytes(), elements = static_cast<std::size_t>(out.numel());
    if (seat_ == 0 && !state_->by_rank) process_state::room(state_->partial, x.nbytes());
    auto const add_up_here = [&] {
      if (state_->by_rank) return;
      std::vector<void const*> const sources = state_->sources();
      void* to = state_->partial.data();
      for (std::size_t member = seat_; member < ranks(); member += state_->seats())
        reduce({sources.data(), sources.size(), member * elements, &to, 1, member * elements, elements},
               reduce_op::sum);
    };
    auto const speak = [&](process_exchange::call const& call) {
      others().open(call);
      auto const own = state_->by_rank ? state_->sources() : std::vector<void const*>{state_->partial.data()};
      state_->rows = rows_of_all(call, own, state_->first() * part, state_->seats() * part, [&](std::size_t of) {
        return std::pair(others().begin(of) * part, others().count(of) * part);
      });
    };
    auto const finish = [&] {
      void* to = out.data_ptr();
      reduce({state_->rows.data(), state_->rows.size(), seat_ * elements, &to, 1, 0, elements}, reduce_op::sum);
    };
    together(operand::of(shape::collective::reduce_scatter, x, dim), parts, out, add_up_here, speak, finish);
  }

  void do_all_to_all(at::Tensor const& x, at::Tensor const& out, row_counts const& rows) override {
    check(x);
    std::size_t const row = row_bytes(x);
    std::size_t const first = state_->first(), end = first + state_->seats();
    auto const bytes = [&](std::size_t from, std::size_t begin, std::size_t stop) {
      return static_cast<std::size_t>(rows.sum(from, begin, stop)) * row;
    };
    auto const speak = [&](process_exchange::call const& call) {
      others().open(call);
      std::size_t all = 0;
      for (std::size_t member = 0; member < ranks(); ++member) all += bytes(member, first, end);
      messages some = state_->messages_of_all();
      std::byte* to = process_state::room(state_->scratch, all);
      state_->rows.clear();
      for (std::size_t member = 0; member < ranks(); ++member) {
        std::size_t const coming = bytes(member, first, end);
        if (is_here(member)) {
          state_->rows.push_back(static_cast<std::byte const*>(state_->source(member - first)) +
                                 bytes(member, 0, first));
          continue;
        }
        others().receive(some, to, coming, others().party_of(member));
        state_->rows.push_back(std::exchange(to, to + coming));
      }
      others().for_each_other([&](std::size_t other) {
        std::size_t const begin = others().begin(other), stop = others().begin(other + 1);
        for (std::size_t member = first; member < end; ++member)
          others().send(some, static_cast<std::byte const*>(state_->source(member - first)) + bytes(member, 0, begin),
                        bytes(member, begin, stop), other);
      });
      others().finish(some, call);
    };
    auto const finish = [&] {
      std::byte* to = bytes_of(out);
      for (std::size_t member = 0; member < ranks(); ++member) {
        std::size_t const mine = bytes(member, me(), me() + 1);
        copy(to, static_cast<std::byte const*>(state_->rows[member]) + bytes(member, first, me()), mine);
        to += mine;
      }
    };
    together(
        operand::of_rows(x, rows), x, out, [] {}, speak, finish);
  }

  void do_broadcast(at::Tensor const& x, int root) override {
    check(x);
    auto const from = static_cast<std::size_t>(root);
    std::size_t const party = others().party_of(from), seat = party == others().me() ? from - state_->first() : 0;
    auto const speak = [&](process_exchange::call const& call) {
      bool const few = x.nbytes() <= process_exchange::few_bytes, has = party == others().me();
      auto* const data = bytes_of(state_->by_seat[seat].x);
      others().open(call, few && has ? std::vector<void const*>{data} : std::vector<void const*>{}, x.nbytes());
      if (few && !has) copy(data, others().elements_of(party), x.nbytes());
      if (few) return;
      messages some = state_->messages_of_all();
      if (has) others().for_each_other([&](std::size_t other) { others().send(some, data, x.nbytes(), other); });
      else others().receive(some, data, x.nbytes(), party);
      others().finish(some, call);
    };
    together(
        operand::of(shape::collective::broadcast, x, root), x, x, [] {}, speak,
        [&] {
          if (seat_ != seat) copy(bytes_of(x), bytes_of(state_->by_seat[seat].x), x.nbytes());
        });
  }

  void do_send(at::Tensor const& x, int peer, int tag) override {
    check(x);
    if (here().line().failed()) throw here().line().cause();
    auto const to = static_cast<std::size_t>(peer);
    if (is_here(to)) return point_to_point{here(), state_->post}.send(seat_, to - state_->first(), tag, x);
    begun(to, tag, x)->wait(deadline());
  }

  std::unique_ptr<ticket::message> do_send_later(at::Tensor const& x, int peer, int tag) override {
    check(x);
    if (here().line().failed()) throw here().line().cause();
    auto const to = static_cast<std::size_t>(peer);
    if (is_here(to))
      return point_to_point{here(), state_->post}.send_later(state_, seat_, to - state_->first(), tag, x);
    std::unique_ptr<begun_message> message = begun(to, tag, x);
    message->move_meanwhile();
    return message;
  }

  void do_recv(at::Tensor const& x, int peer, int tag) override {
    check(x);
    auto const from = static_cast<std::size_t>(peer);
    if (is_here(from))
      return point_to_point{here(), state_->post}.receive(seat_, from - state_->first(), tag, x, deadline());
    auto const is_it = [&](early_message const& one) { return one.from == from && one.tag == tag; };
    auto found = std::find_if(early_.begin(), early_.end(), is_it);
    operand const wanted = operand::of(shape::collective::recv, x, tag);
    while (found == early_.end()) {
      process_exchange::call call = call_of(wanted);
      call.words = message_text(shape::collective::recv, x, tag);
      auto [its_tag, content] = others().receive_message(call, from, me(), x);
      if (content.is_same(x)) return;
      early_.push_back({from, its_tag, std::move(content)});
      found = is_it(early_.back()) ? std::prev(early_.end()) : early_.end();
    }
    at::Tensor const content = found->content;
    early_.erase(found);
    deliver(content, x, tag, name(), others().member(from), here().member(seat_));
  }

  void do_barrier() override {
    together(
        {}, {}, {}, [] {}, [&](process_exchange::call const& call) { others().open(call); }, [] {});
  }

  void do_meet(operand const& brought) override {
    together(
        brought, {}, {}, [] {}, [&](process_exchange::call const& call) { others().open(call); }, [] {});
  }

  void do_begin_run() override {
    early_.clear();
    state_->post.clear();
  }

  /// Runs one collective. The members in this process meet and run `prepare`. Then the first member
  /// runs `speak`, which exchanges messages with other processes. Then all run `finish`. No member
  /// leaves earlier, so members may access each other's tensors.
  template <class Prepare, class Speak, class Finish>
  void together(operand const& mine, at::Tensor const& x, at::Tensor const& out, Prepare const& prepare,
                Speak const& speak, Finish const& finish) {
    state_->by_seat[seat_] = {x, out};
    here().open(seat_, mine, deadline());
    prepare();
    here().stage_done(seat_);
    if (seat_ == 0) {
      state_->failure = nullptr;
      try {
        speak(call_of(mine));
      } catch (...) {
        state_->failure = std::current_exception();
      }
      count_sent(mine.kind, others().take_sent());
    }
    here().stage_done(seat_);
    std::exception_ptr const failure = state_->failure;
    if (!failure) finish();
    here().close(seat_);
    state_->by_seat[seat_] = {};
    if (failure) std::rethrow_exception(failure);
  }

  /// Exchanges pieces of rows with all other processes. Sends the piece `piece_of(party)` of each
  /// row in `own` to each process `party`, and receives pieces of `bytes` bytes. Returns pointers
  /// to all pieces for this process in group order. This process's own pieces begin at offset
  /// `begin` of its rows.
  template <class PieceOf>
  std::vector<void const*> rows_of_all(process_exchange::call const& call, std::vector<void const*> const& own,
                                       std::size_t begin, std::size_t bytes, PieceOf const& piece_of) {
    messages some = state_->messages_of_all();
    auto const rows_from = [&](std::size_t party) { return state_->by_rank ? others().count(party) : 1; };
    std::byte* to = process_state::room(state_->scratch, ranks() * bytes);
    std::vector<void const*> rows;
    for (std::size_t party = 0; party < others().parties(); ++party)
      for (std::size_t row = 0; row < rows_from(party); ++row) {
        if (party == others().me()) {
          rows.push_back(static_cast<std::byte const*>(own[row]) + begin);
          continue;
        }
        others().receive(some, to, bytes, party);
        rows.push_back(std::exchange(to, to + bytes));
      }
    others().for_each_other([&](std::size_t other) {
      auto const [first, size] = piece_of(other);
      for (void const* const row : own) others().send(some, static_cast<std::byte const*>(row) + first, size, other);
    });
    others().finish(some, call);
    return rows;
  }

  /// Starts to send `x` to member `to`, which is in another process.
  std::unique_ptr<begun_message> begun(std::size_t to, int tag, at::Tensor const& x) {
    count_sent(shape::collective::send, static_cast<std::int64_t>(x.nbytes()));
    return std::make_unique<begun_message>(state_, me(), to, here().calls(seat_), tag, x);
  }

  void copy_from_first(at::Tensor const& out) const {
    if (seat_ != 0) copy(bytes_of(out), bytes_of(state_->by_seat.front().out), out.nbytes());
  }

  static void copy(std::byte* to, void const* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }
  static std::byte* bytes_of(at::Tensor const& x) { return static_cast<std::byte*>(x.data_ptr()); }
  /// Returns begin and length of slice number `which`, if `count` elements are divided into slices
  /// of `size` elements. The last slice may be shorter.
  static std::pair<std::size_t, std::size_t> slice(std::size_t size, std::size_t count, std::size_t which) {
    std::size_t const begin = std::min(count, size * which);
    return {begin, std::min(count, begin + size) - begin};
  }

  template <class F>
  void for_each_member(std::size_t party, F const& f) const {
    for (std::size_t i = 0; i < others().count(party); ++i) f(others().begin(party) + i);
  }

  process_exchange& others() const { return state_->others; }
  meeting& here() const { return state_->here; }
  std::size_t me() const { return static_cast<std::size_t>(rank()); }
  std::size_t ranks() const { return static_cast<std::size_t>(size()); }
  bool is_here(std::size_t member) const { return others().party_of(member) == others().me(); }
  process_exchange::call call_of(operand const& mine) const { return {mine, here().calls(seat_), deadline()}; }
  void check(at::Tensor const& x) const { check_in_cpu_memory(x, name()); }

  std::shared_ptr<process_state> state_;
  std::size_t seat_;  ///< index of this rank among the members in this process
  /// Messages that arrived while do_recv() waited for a message with another tag.
  std::deque<early_message> early_;
};

}  // namespace redco::comm::detail
