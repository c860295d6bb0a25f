#pragma once

#include <redco/comm/ticket.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/collective.hpp>
#include <redco/shape/traffic.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/enum_texts.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::comm::detail {

class nccl_group;
struct operand;

}  // namespace redco::comm::detail

namespace redco::comm {

/// An operation that combines the elements of all ranks. The results of max and min are NaN if any
/// rank's element is NaN.
enum class reduce_op : std::uint8_t { sum, max, min };

inline constexpr auto reduce_op_texts = meta::enum_texts<reduce_op>({
    {reduce_op::sum, "sum"},
    {reduce_op::max, "max"},
    {reduce_op::min, "min"},
});

/// Returns the name of the operation for messages: "sum", "max" or "min".
constexpr std::string_view name_of(reduce_op op) { return reduce_op_texts.text_of(op); }

/// A table of the number of rows that each rank of a group sends to each other rank in an
/// all_to_all.
class row_counts {
 public:
  /// Creates a table in which each rank sends `each` rows to every rank.
  explicit row_counts(std::int64_t each) : each_(each) {}

  /// Creates a table from `ranks` * `ranks` counts. The counts that rank 0 sends to ranks 0, 1, ...
  /// come first, then the counts of rank 1, and so on.
  row_counts(std::vector<std::int64_t> counts, int ranks)
      : counts_(std::move(counts)), ranks_(static_cast<std::size_t>(ranks)) {}

  /// Returns the counts of the opposite exchange, which sends every row back.
  row_counts back() const {
    if (equal()) return *this;
    row_counts other = *this;
    for (std::size_t from = 0; from < ranks_; ++from)
      for (std::size_t to = 0; to < ranks_; ++to) other.counts_[to * ranks_ + from] = counts_[from * ranks_ + to];
    return other;
  }

  bool equal() const noexcept { return counts_.empty(); }
  /// Returns all counts; empty if each rank sends equally many rows to every rank.
  std::vector<std::int64_t> const& counts() const noexcept { return counts_; }

  std::int64_t operator()(std::size_t from, std::size_t to) const {
    return equal() ? each_ : counts_[from * ranks_ + to];
  }

  /// Returns the number of rows that rank `from` sends to the ranks `begin` to `end` - 1 together.
  std::int64_t sum(std::size_t from, std::size_t begin, std::size_t end) const {
    std::int64_t rows = 0;
    for (std::size_t to = begin; to < end; ++to) rows += (*this)(from, to);
    return rows;
  }

 private:
  std::int64_t each_ = 0;
  std::vector<std::int64_t> counts_;
  std::size_t ranks_ = 0;
};

/// A scope that names the purpose of the calling thread's collectives, such as "grads" or "loss".
/// Messages about a lost peer contain the name. Scopes nest. The text must outlive the object, as
/// string literals do.
class collective_label {
 public:
  explicit collective_label(std::string_view text) noexcept : before_(current_) { current_ = text; }
  ~collective_label() { current_ = before_; }
  collective_label(collective_label const&) = delete;
  collective_label& operator=(collective_label const&) = delete;

  /// Returns the innermost label of the calling thread, or an empty text if the thread has none.
  static std::string_view current() noexcept { return current_; }

 private:
  inline static thread_local std::string_view current_{};
  std::string_view before_;
};

/// A rank's handle on a group of `size` communicating ranks, in which this rank has the number
/// `rank`.
///
/// All ranks of a group must make the same calls in the same order, with equal shapes and dtypes.
/// Calls block and record no autograd nodes; they are legal inside backward. Sums run in rank order
/// (NCCL chooses its own). Reductions support f64, f32, bf16, f16, i64, i32 and u8. If a rank
/// fails, leaves or misses its deadline, all waiting ranks throw `error` and the group becomes
/// unusable. Only one thread may use a handle. More rules: README of comm/.
class group {
 public:
  virtual ~group() = default;
  group(group const&) = delete;
  group& operator=(group const&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  std::string const& name() const noexcept { return name_; }

  /// Returns the calls and bytes of this rank in this group since the last reset_counters().
  shape::traffic const& counters() const noexcept { return counters_; }
  void reset_counters() noexcept { counters_ = {}; }
  /// Adds `more` to the counters of this handle. Used for the traffic of another handle on the same
  /// ranks, such as the handle of a background thread.
  void count(shape::traffic const& more) noexcept {
    for (std::size_t kind = 0; kind < counters_.kinds.size(); ++kind) counters_.kinds[kind] += more.kinds[kind];
  }
  /// Merges the last `calls` calls of `kind` into one call in the counters, because they are pieces
  /// of one collective. Byte counters stay unchanged.
  void count_as_one(shape::collective kind, std::int64_t calls) noexcept {
    if (size_ > 1) counters_[kind].calls -= calls - 1;
  }

  /// Resets the counters and drops tensors that were sent but not received. Must be called only
  /// between two runs of a world (calls of world::run).
  void begin_run() {
    reset_counters();
    do_begin_run();
  }

  /// Sets the longest time that each later call of this handle waits for a peer.
  void set_deadline(std::chrono::milliseconds deadline) noexcept { deadline_ = deadline; }
  std::chrono::milliseconds deadline() const noexcept { return deadline_; }

  /// Replaces `x` by its elementwise reduction over the ranks, in place.
  void all_reduce(at::Tensor const& x, reduce_op op = reduce_op::sum);

  /// Returns the elementwise reduction over the ranks as a new contiguous tensor, and leaves `x`
  /// unchanged. A group of one rank returns `x` itself. The counters count this call as an
  /// all_reduce.
  at::Tensor all_reduced(at::Tensor const& x, reduce_op op = reduce_op::sum);

  /// Returns the tensors of all ranks, concatenated along `dim` in rank order.
  at::Tensor all_gather(at::Tensor const& x, std::int64_t dim);

  /// Sums `x` over the ranks and returns this rank's part: one of size() equal parts along `dim`.
  /// Throws `error` if the extent is not divisible by size().
  at::Tensor reduce_scatter(at::Tensor const& x, std::int64_t dim);

  /// Fills `x` with the parts of all ranks: each rank has set its own part (see part_of) along the
  /// first dimension, and gets the others. Needs memory for a copy of one part. Throws `error` if
  /// the extent is not divisible by size().
  void all_gather_in_place(at::Tensor const& x);

  /// Sums `x` over the ranks into this rank's part (see part_of) along the first dimension; the
  /// other parts keep their elements. Needs memory for a copy of one part. Throws `error` if the
  /// extent is not divisible by size().
  void reduce_scatter_in_place(at::Tensor const& x);

  /// Returns this rank's part of `x` along `dim` as a view, without communication. Throws `error`
  /// if the extent is not divisible by size().
  at::Tensor part_of(at::Tensor const& x, std::int64_t dim) const;

  /// Splits `x` along `split_dim` into size() equal parts and sends part j to rank j. Returns the
  /// received parts, concatenated along `concat_dim` in rank order. Throws `error` if the extent is
  /// not divisible by size().
  at::Tensor all_to_all(at::Tensor const& x, std::int64_t split_dim, std::int64_t concat_dim);

  /// The result of all_to_all_v(): the rows that this rank received.
  struct arrived_rows {
    /// Received rows in the order of the sending ranks; the shape is `[sum of from, ...]`.
    at::Tensor rows;
    std::vector<std::int64_t> from;  ///< number of rows received from each rank, by rank
  };

  /// Sends the first `rows_to[0]` rows of `x` `[rows, ...]` to rank 0, the next `rows_to[1]` rows
  /// to rank 1, and so on. Each rank chooses its own counts; an all_gather first exchanges them.
  /// Throws `error` if the counts in `rows_to` do not add up to the rows of `x`.
  arrived_rows all_to_all_v(at::Tensor const& x, std::vector<std::int64_t> const& rows_to);

  /// Sends rows of `x` like the overload above, but exchanges no counts: all ranks know the counts
  /// `rows` of all ranks. Throws `error` if the counts of this rank do not add up to the rows of
  /// `x`.
  arrived_rows all_to_all_v(at::Tensor const& x, row_counts const& rows);

  /// Overwrites `x` on every rank with the tensor `x` of rank `root`.
  void broadcast(at::Tensor const& x, int root);

  /// Sends `x` to rank `peer`. The call may return before the peer receives the tensor, but callers
  /// must not rely on that.
  void send(at::Tensor const& x, int peer, int tag = 0);

  /// Starts to send `x` to rank `peer` and returns without waiting for the receiver. The caller may
  /// free `x`, but must not modify it before wait() returns: a contiguous tensor is sent without a
  /// copy. Counters count the call like send(). Example:
  ///
  ///     comm::ticket sent = me.group(axis::pp).send_later(activation, next);
  ///     me.group(axis::pp).wait(sent);
  ticket send_later(at::Tensor const& x, int peer, int tag = 0);

  /// Blocks until the message of `sent` no longer uses its tensor, and removes the message from
  /// `sent`. Does nothing if `sent` has no message. Callers must not rely on whether the peer has
  /// received the tensor.
  void wait(ticket& sent);

  /// Fills `x` with the oldest tensor that `peer` sent with this tag. Throws `error` if the sent
  /// tensor has another shape or dtype.
  void recv(at::Tensor const& x, int peer, int tag = 0);

  /// Blocks until every rank of the group has called barrier().
  void barrier();

  /// Fails the run: the current and later calls of every rank throw `error` with this code and
  /// message. Only the first failure of a run counts.
  virtual void abort(exit_code code, std::string const& message) = 0;

 protected:
  group(int rank, int size, std::string name) : rank_(rank), size_(size), name_(std::move(name)) {}

  /// Adds `bytes` to the counter of bytes sent to other processes in calls of `kind`. Transports
  /// call it.
  void count_sent(shape::collective kind, std::int64_t bytes) noexcept { counters_[kind].host_bytes += bytes; }

 private:
  friend class detail::nccl_group;  // forwards calls to the CPU group of the same ranks

  /// Functions that each transport implements; called only if size() > 1. Tensors are contiguous,
  /// detached and of legal extents. Outputs are allocated and overlap no input, but do_all_reduce()
  /// may reduce in place. Rows of do_all_to_all() are sorted by destination rank in the input and
  /// by source rank in the output.
  virtual void do_all_reduce(at::Tensor const& x, at::Tensor const& out, reduce_op op) = 0;
  virtual void do_all_gather(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) = 0;
  virtual void do_reduce_scatter(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) = 0;
  virtual void do_all_to_all(at::Tensor const& x, at::Tensor const& out, row_counts const& rows) = 0;
  virtual void do_broadcast(at::Tensor const& x, int root) = 0;
  virtual void do_send(at::Tensor const& x, int peer, int tag) = 0;
  virtual std::unique_ptr<ticket::message> do_send_later(at::Tensor const& x, int peer, int tag) = 0;
  virtual void do_recv(at::Tensor const& x, int peer, int tag) = 0;
  virtual void do_barrier() = 0;
  /// Waits for all ranks and compares `brought`, their arguments to a collective that another
  /// transport will execute. Throws `error` if the arguments differ.
  virtual void do_meet(detail::operand const& brought) = 0;
  virtual void do_begin_run() = 0;

  void count(shape::collective kind, std::int64_t payload);
  void count(shape::collective kind, std::int64_t payload, std::int64_t wire);
  std::int64_t checked_dim(at::Tensor const& x, std::int64_t dim, shape::collective kind) const;
  std::int64_t checked_part(at::Tensor const& x, std::int64_t dim, shape::collective kind) const;
  void check_peer(int peer, shape::collective kind, bool self_allowed) const;
  at::Tensor counted_message(at::Tensor const& x, int peer);
  template <class Call>
  void in_place(at::Tensor const& x, Call const& call);

  int rank_;
  int size_;
  std::string name_;
  std::chrono::milliseconds deadline_{300'000};
  shape::traffic counters_;
};

}  // namespace redco::comm

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/comm/group.inl.hpp>
#endif
