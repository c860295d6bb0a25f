#pragma once

#include <redco/comm/collective_kind.hpp>
#include <redco/comm/reduce_op.hpp>
#include <redco/comm/traffic.hpp>

#include <redco/diag/error.hpp>

#include <redco/tensor/torch.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace redco {

/// One rank's handle on a communicator group: `size` ranks, of which this one is `rank`.
///
/// All ranks of a group call the same collectives in the same order with tensors of the same shape and dtype; each
/// call blocks until its result is there. Results depend on the ranks' values only, never on who came first: sums run
/// in rank order, bf16 and f16 are summed in f32 and rounded once. Tensors may be empty or strided; reductions know
/// f64, f32, bf16, f16, i64, i32 and u8, the others move any dtype. No call records autograd nodes (collectives.hpp
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

  /// How long any later call may wait for a peer.
  void set_deadline(std::chrono::milliseconds deadline) noexcept { deadline_ = deadline; }
  std::chrono::milliseconds deadline() const noexcept { return deadline_; }

  /// Replaces `x`, in place, by the elementwise reduction over the ranks.
  void all_reduce(at::Tensor const& x, reduce_op op = reduce_op::sum);

  /// The same as a new, contiguous tensor; `x` stays as it is. Counted as all_reduce.
  at::Tensor all_reduced(at::Tensor const& x, reduce_op op = reduce_op::sum);

  /// The ranks' tensors, concatenated along `dim` in rank order.
  at::Tensor all_gather(at::Tensor const& x, std::int64_t dim);

  /// This rank's part, one of size() equal ones along `dim`, of the sum over the ranks. The extent must divide.
  at::Tensor reduce_scatter(at::Tensor const& x, std::int64_t dim);

  /// The part of `x` along `dim` that is this rank's, as a view. Every rank may call it alone. The extent must divide.
  at::Tensor part_of(at::Tensor const& x, std::int64_t dim) const;

  /// Cuts `x` along `split_dim` into size() equal parts, sends part j to rank j, and concatenates what arrives along
  /// `concat_dim` in rank order. The extent must divide.
  at::Tensor all_to_all(at::Tensor const& x, std::int64_t split_dim, std::int64_t concat_dim);

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

 private:
  /// What transports implement, for size() > 1 only. Tensors are contiguous, detached and of legal extents; outputs are
  /// allocated and overlap no input, but for `do_all_reduce`, whose output may be its input; `do_all_to_all` exchanges
  /// along a leading dimension of extent size().
  virtual void do_all_reduce(at::Tensor const& x, at::Tensor const& out, reduce_op op) = 0;
  virtual void do_all_gather(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) = 0;
  virtual void do_reduce_scatter(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) = 0;
  virtual void do_all_to_all(at::Tensor const& x, at::Tensor const& out) = 0;
  virtual void do_broadcast(at::Tensor const& x, int root) = 0;
  virtual void do_send(at::Tensor const& x, int peer, int tag) = 0;
  virtual void do_recv(at::Tensor const& x, int peer, int tag) = 0;
  virtual void do_barrier() = 0;

  void count(collective_kind kind, std::int64_t payload, int root = 0) {
    traffic::entry& entry = counters_[kind];
    ++entry.calls;
    entry.payload_bytes += payload;
    entry.wire_bytes += traffic::wire(kind, payload, rank_, size_, root);
  }
  std::int64_t checked_dim(at::Tensor const& x, std::int64_t dim, collective_kind kind) const;
  std::int64_t checked_part(at::Tensor const& x, std::int64_t dim, collective_kind kind) const;
  void check_peer(int peer, collective_kind kind, bool self_allowed) const;
  template <class Call>
  void in_place(at::Tensor const& x, Call const& call);

  int rank_;
  int size_;
  std::string name_;
  std::chrono::milliseconds deadline_{300'000};
  traffic counters_;
};

namespace detail {

/// "f32 [3, 5]": how messages write a tensor.
inline std::string describe(at::Tensor const& x) {
  std::string text = c10::toString(x.scalar_type());
  text += " [";
  for (std::int64_t dim = 0; dim < x.dim(); ++dim) text += (dim ? ", " : "") + std::to_string(x.size(dim));
  return text + "]";
}

}  // namespace detail

inline std::int64_t group::checked_dim(at::Tensor const& x, std::int64_t dim, collective_kind kind) const {
  if (dim >= -x.dim() && dim < x.dim()) return dim < 0 ? dim + x.dim() : dim;
  throw error(exit_code::internal, std::string(name_of(kind)) + " in group " +
                                       name_ + ": dimension " + std::to_string(dim) + " is not one of " +
                                       detail::describe(x) + "; name an existing one");
}

inline std::int64_t group::checked_part(at::Tensor const& x, std::int64_t dim, collective_kind kind) const {
  std::int64_t const extent = x.size(dim);
  if (extent % size_ == 0) return extent / size_;
  throw error(exit_code::internal, std::string(name_of(kind)) + " in group " +
                                       name_ + ": dimension " + std::to_string(dim) + " of " + detail::describe(x) +
                                       " does not divide into " + std::to_string(size_) +
                                       " equal parts; pad it to a multiple");
}

inline void group::check_peer(int peer, collective_kind kind, bool self_allowed) const {
  if (peer >= 0 && peer < size_ && (self_allowed || peer != rank_)) return;
  throw error(exit_code::internal, std::string(name_of(kind)) + " in group " +
                                       name_ + ": rank " + std::to_string(peer) + " is not a peer among " +
                                       std::to_string(size_) + " ranks; name one of them");
}

/// Transports see contiguous memory; a strided tensor is copied there and back. Writes behind autograd's back must be
/// told to the version counter, else a tensor saved before would be used silently in backward.
template <class Call>
void group::in_place(at::Tensor const& x, Call const& call) {
  at::NoGradGuard const no_grad;
  at::Tensor const dense = x.detach().contiguous();
  call(dense);
  if (dense.is_alias_of(x)) {
    if (!x.is_inference()) x.unsafeGetTensorImpl()->bump_version();
  } else {
    x.copy_(dense);
  }
}

inline void group::all_reduce(at::Tensor const& x, reduce_op op) {
  if (size_ == 1) return;
  count(collective_kind::all_reduce, static_cast<std::int64_t>(x.nbytes()));
  in_place(x, [&](at::Tensor const& dense) { do_all_reduce(dense, dense, op); });
}

inline at::Tensor group::all_reduced(at::Tensor const& x, reduce_op op) {
  if (size_ == 1) return x;
  count(collective_kind::all_reduce, static_cast<std::int64_t>(x.nbytes()));
  at::NoGradGuard const no_grad;
  at::Tensor const dense = x.detach().contiguous();
  at::Tensor out = at::empty_like(dense);
  do_all_reduce(dense, out, op);
  return out;
}

inline at::Tensor group::all_gather(at::Tensor const& x, std::int64_t dim) {
  dim = checked_dim(x, dim, collective_kind::all_gather);
  if (size_ == 1) return x;
  count(collective_kind::all_gather, static_cast<std::int64_t>(x.nbytes()) * size_);
  at::NoGradGuard const no_grad;
  auto extents = x.sizes().vec();
  extents[static_cast<std::size_t>(dim)] *= size_;
  at::Tensor out = at::empty(extents, x.options());
  do_all_gather(x.detach().contiguous(), out, dim);
  return out;
}

inline at::Tensor group::reduce_scatter(at::Tensor const& x, std::int64_t dim) {
  dim = checked_dim(x, dim, collective_kind::reduce_scatter);
  if (size_ == 1) return x;
  auto extents = x.sizes().vec();
  extents[static_cast<std::size_t>(dim)] = checked_part(x, dim, collective_kind::reduce_scatter);
  count(collective_kind::reduce_scatter, static_cast<std::int64_t>(x.nbytes()));
  at::NoGradGuard const no_grad;
  at::Tensor out = at::empty(extents, x.options());
  do_reduce_scatter(x.detach().contiguous(), out, dim);
  return out;
}

inline at::Tensor group::part_of(at::Tensor const& x, std::int64_t dim) const {
  dim = checked_dim(x, dim, collective_kind::reduce_scatter);
  std::int64_t const part = checked_part(x, dim, collective_kind::reduce_scatter);
  return x.narrow(dim, part * rank_, part);
}

inline at::Tensor group::all_to_all(at::Tensor const& x, std::int64_t split_dim, std::int64_t concat_dim) {
  split_dim = checked_dim(x, split_dim, collective_kind::all_to_all);
  concat_dim = checked_dim(x, concat_dim, collective_kind::all_to_all);
  if (size_ == 1) return x;
  std::int64_t const part = checked_part(x, split_dim, collective_kind::all_to_all);
  count(collective_kind::all_to_all, static_cast<std::int64_t>(x.nbytes()));
  at::NoGradGuard const no_grad;
  at::Tensor const parts = x.detach().unflatten(split_dim, {size_, part}).movedim(split_dim, 0).contiguous();
  at::Tensor const arrived = at::empty_like(parts);
  do_all_to_all(parts, arrived);
  return arrived.movedim(0, concat_dim).flatten(concat_dim, concat_dim + 1).contiguous();
}

inline void group::broadcast(at::Tensor const& x, int root) {
  check_peer(root, collective_kind::broadcast, true);
  if (size_ == 1) return;
  count(collective_kind::broadcast, static_cast<std::int64_t>(x.nbytes()), root);
  in_place(x, [&](at::Tensor const& dense) { do_broadcast(dense, root); });
}

inline void group::send(at::Tensor const& x, int peer, int tag) {
  check_peer(peer, collective_kind::send, false);
  count(collective_kind::send, static_cast<std::int64_t>(x.nbytes()));
  at::NoGradGuard const no_grad;
  do_send(x.detach().contiguous(), peer, tag);
}

inline void group::recv(at::Tensor const& x, int peer, int tag) {
  check_peer(peer, collective_kind::recv, false);
  count(collective_kind::recv, static_cast<std::int64_t>(x.nbytes()));
  in_place(x, [&](at::Tensor const& dense) { do_recv(dense, peer, tag); });
}

inline void group::barrier() {
  if (size_ == 1) return;
  count(collective_kind::barrier, 0);
  do_barrier();
}

}  // namespace redco
