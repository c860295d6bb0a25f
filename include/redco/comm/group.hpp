#pragma once

#include <redco/comm/reduce_op.hpp>
#include <redco/comm/row_counts.hpp>

#include <redco/diag/error.hpp>

#include <redco/shape/collective.hpp>
#include <redco/shape/traffic.hpp>

#include <redco/tensor/torch.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace redco::comm::detail {

class nccl_group;
struct operand;

}  // namespace redco::comm::detail

namespace redco {

/// One rank's handle on a communicator group: `size` ranks, of which this one is `rank`.
///
/// All ranks of a group call the same collectives in the same order with tensors of the same shape and dtype; each
/// call blocks until its result is there. Results depend on the ranks' values only, never on who came first: sums run
/// in rank order, bf16 and f16 are summed in f32 and rounded once (NCCL has its own order, and may round each addition). Tensors
/// may be empty or strided; reductions know f64, f32, bf16, f16, i64, i32 and u8, the others move any dtype. No call records autograd nodes (collectives.hpp
/// has those that do), and all are legal inside backward. A group of one returns its argument and counts nothing.
///
/// Errors: a rank that fails, leaves or misses its deadline ends every waiting rank with `error`: `peer_lost` when a
/// rank is missing, else the first failure's own code. Tensors that differ between ranks, or a shape that does not
/// divide, are `internal` and name both sides. After an error the group is of no more use.
///
/// One thread uses a handle at a time. Transports (threads, MPI, NCCL) derive from this class and implement the `do_`
/// calls.
class group {
 public:
  virtual ~group() = default;
  group(group const&) = delete;
  group& operator=(group const&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  std::string const& name() const noexcept { return name_; }

  /// Calls and bytes of this rank in this group.
  traffic const& counters() const noexcept { return counters_; }
  void reset_counters() noexcept { counters_ = {}; }
  /// Counts here what was asked of another handle on the same ranks.
  void count(traffic const& more) noexcept {
    for (std::size_t kind = 0; kind < counters_.kinds.size(); ++kind) counters_.kinds[kind] += more.kinds[kind];
  }
  /// `calls` of this kind that were counted are the parts of one.
  void count_as_one(collective kind, std::int64_t calls) noexcept {
    if (size_ > 1) counters_[kind].calls -= calls - 1;
  }

  /// Between two runs of a world: counts from nothing, and forgets what was sent and never received.
  void begin_run() {
    reset_counters();
    do_begin_run();
  }

  /// How long any later call may wait for a peer.
  void set_deadline(std::chrono::milliseconds deadline) noexcept { deadline_ = deadline; }
  std::chrono::milliseconds deadline() const noexcept { return deadline_; }

  /// Replaces `x`, in place, by the elementwise reduction over the ranks.
  void all_reduce(at::Tensor const& x, comm::reduce_op op = comm::reduce_op::sum);

  /// The same as a new, contiguous tensor; `x` stays as it is. Counted as all_reduce.
  at::Tensor all_reduced(at::Tensor const& x, comm::reduce_op op = comm::reduce_op::sum);

  /// The ranks' tensors, concatenated along `dim` in rank order.
  at::Tensor all_gather(at::Tensor const& x, std::int64_t dim);

  /// This rank's part, one of size() equal ones along `dim`, of the sum over the ranks. The extent must divide.
  at::Tensor reduce_scatter(at::Tensor const& x, std::int64_t dim);

  /// The part of `x` along `dim` that is this rank's, as a view. Every rank may call it alone. The extent must divide.
  at::Tensor part_of(at::Tensor const& x, std::int64_t dim) const;

  /// Cuts `x` along `split_dim` into size() equal parts, sends part j to rank j, and concatenates what arrives along
  /// `concat_dim` in rank order. The extent must divide.
  at::Tensor all_to_all(at::Tensor const& x, std::int64_t split_dim, std::int64_t concat_dim);

  /// What arrives where ranks send each other as many rows as each wants.
  struct arrived_rows {
    at::Tensor rows;                 ///< [sum of from, ...], in rank order
    std::vector<std::int64_t> from;  ///< how many each rank sent
  };

  /// Sends the first `rows_to[0]` rows of `x` [rows, ...] to rank 0, the next `rows_to[1]` to rank 1 and so on. The numbers, which
  /// each rank chooses for itself, are told first, by an all_gather. They must add up to the rows.
  arrived_rows all_to_all_v(at::Tensor const& x, std::vector<std::int64_t> const& rows_to);

  /// Replaces `x`, in place, by the tensor of rank `root`.
  void broadcast(at::Tensor const& x, int root);

  /// Sends `x` to `peer`. May return before the peer receives it; must not be relied on to do so.
  void send(at::Tensor const& x, int peer, int tag = 0);

  /// Fills `x` with the oldest tensor that `peer` sent with this tag; shape and dtype must be those of `x`.
  void recv(at::Tensor const& x, int peer, int tag = 0);

  /// Returns when every rank has called it.
  void barrier();

  /// Ends every rank's current and later calls with this cause; the first cause of a run is the one that counts.
  virtual void abort(exit_code code, std::string const& message) = 0;

 protected:
  group(int rank, int size, std::string name) : rank_(rank), size_(size), name_(std::move(name)) {}

  /// What a transport has sent to other processes in a call of this kind.
  void count_sent(collective kind, std::int64_t bytes) noexcept { counters_[kind].host_bytes += bytes; }

 private:
  friend class comm::detail::nccl_group;  // hands on to the group of the same ranks in host memory

  /// What transports implement, for size() > 1 only. Tensors are contiguous, detached and of legal extents; outputs are
  /// allocated and overlap no input, but for `do_all_reduce`, whose output may be its input; `do_all_to_all` exchanges
  /// rows, which lie in the order of their ranks.
  virtual void do_all_reduce(at::Tensor const& x, at::Tensor const& out, comm::reduce_op op) = 0;
  virtual void do_all_gather(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) = 0;
  virtual void do_reduce_scatter(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) = 0;
  virtual void do_all_to_all(at::Tensor const& x, at::Tensor const& out, comm::row_counts const& rows) = 0;
  virtual void do_broadcast(at::Tensor const& x, int root) = 0;
  virtual void do_send(at::Tensor const& x, int peer, int tag) = 0;
  virtual void do_recv(at::Tensor const& x, int peer, int tag) = 0;
  virtual void do_barrier() = 0;
  /// A barrier in which all show what they bring to a call of another transport; it throws where these differ.
  virtual void do_meet(comm::detail::operand const& brought) = 0;
  virtual void do_begin_run() = 0;

  void count(collective kind, std::int64_t payload);
  void count(collective kind, std::int64_t payload, std::int64_t wire);
  std::int64_t checked_dim(at::Tensor const& x, std::int64_t dim, collective kind) const;
  std::int64_t checked_part(at::Tensor const& x, std::int64_t dim, collective kind) const;
  void check_peer(int peer, collective kind, bool self_allowed) const;
  template <class Call>
  void in_place(at::Tensor const& x, Call const& call);

  int rank_;
  int size_;
  std::string name_;
  std::chrono::milliseconds deadline_{300'000};
  traffic counters_;
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/comm/group.inl.hpp>
#endif
