#pragma once

#include <redco/comm/group.hpp>

#include <redco/tensor/describe.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>

namespace redco::comm {

REDCO_INLINE void group::count(shape::collective kind, std::int64_t payload, std::int64_t wire) {
  shape::traffic::entry& entry = counters_[kind];
  ++entry.calls;
  entry.payload_bytes += payload;
  entry.wire_bytes += wire;
}

REDCO_INLINE void group::count(shape::collective kind, std::int64_t payload) {
  count(kind, payload, shape::traffic::wire(kind, payload, rank_, size_));
}

REDCO_INLINE std::int64_t group::checked_dim(at::Tensor const& x, std::int64_t dim, shape::collective kind) const {
  if (dim >= -x.dim() && dim < x.dim()) return dim < 0 ? dim + x.dim() : dim;
  throw error(exit_code::internal, std::string(name_of(kind)) + " in group " + name_ + ": dimension " +
                                       std::to_string(dim) + " is not one of " + tensors::describe(x) +
                                       "; name an existing one");
}

REDCO_INLINE std::int64_t group::checked_part(at::Tensor const& x, std::int64_t dim, shape::collective kind) const {
  std::int64_t const extent = x.size(dim);
  if (extent % size_ == 0) return extent / size_;
  throw error(exit_code::internal, std::string(name_of(kind)) + " in group " + name_ + ": dimension " +
                                       std::to_string(dim) + " of " + tensors::describe(x) + " does not divide into " +
                                       std::to_string(size_) + " equal parts; pad it to a multiple");
}

REDCO_INLINE void group::check_peer(int peer, shape::collective kind, bool self_allowed) const {
  if (peer >= 0 && peer < size_ && (self_allowed || peer != rank_)) return;
  throw error(exit_code::internal, std::string(name_of(kind)) + " in group " + name_ + ": rank " +
                                       std::to_string(peer) + " is not a peer among " + std::to_string(size_) +
                                       " ranks; name one of them");
}

/// Calls `call` with `x` if `x` is contiguous, else with a contiguous copy that is copied back to
/// `x`. If `call` wrote into `x` itself, increases the version counter of `x`. Without that,
/// backward would silently use an overwritten saved tensor.
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

REDCO_INLINE void group::all_reduce(at::Tensor const& x, reduce_op op) {
  if (size_ == 1) return;
  count(shape::collective::all_reduce, static_cast<std::int64_t>(x.nbytes()));
  in_place(x, [&](at::Tensor const& dense) { do_all_reduce(dense, dense, op); });
}

REDCO_INLINE at::Tensor group::all_reduced(at::Tensor const& x, reduce_op op) {
  if (size_ == 1) return x;
  count(shape::collective::all_reduce, static_cast<std::int64_t>(x.nbytes()));
  at::NoGradGuard const no_grad;
  at::Tensor const dense = x.detach().contiguous();
  at::Tensor out = at::empty_like(dense);
  do_all_reduce(dense, out, op);
  return out;
}

REDCO_INLINE at::Tensor group::all_gather(at::Tensor const& x, std::int64_t dim) {
  dim = checked_dim(x, dim, shape::collective::all_gather);
  if (size_ == 1) return x;
  count(shape::collective::all_gather, static_cast<std::int64_t>(x.nbytes()) * size_);
  at::NoGradGuard const no_grad;
  auto extents = x.sizes().vec();
  extents[static_cast<std::size_t>(dim)] *= size_;
  at::Tensor out = at::empty(extents, x.options());
  do_all_gather(x.detach().contiguous(), out, dim);
  return out;
}

REDCO_INLINE at::Tensor group::reduce_scatter(at::Tensor const& x, std::int64_t dim) {
  dim = checked_dim(x, dim, shape::collective::reduce_scatter);
  if (size_ == 1) return x;
  auto extents = x.sizes().vec();
  extents[static_cast<std::size_t>(dim)] = checked_part(x, dim, shape::collective::reduce_scatter);
  count(shape::collective::reduce_scatter, static_cast<std::int64_t>(x.nbytes()));
  at::NoGradGuard const no_grad;
  at::Tensor out = at::empty(extents, x.options());
  do_reduce_scatter(x.detach().contiguous(), out, dim);
  return out;
}

REDCO_INLINE void group::all_gather_in_place(at::Tensor const& x) {
  if (size_ == 1) return;
  at::NoGradGuard const no_grad;
  at::Tensor const part = part_of(x, 0).clone();
  count(shape::collective::all_gather, static_cast<std::int64_t>(x.nbytes()));
  in_place(x, [&](at::Tensor const& dense) { do_all_gather(part, dense, 0); });
}

REDCO_INLINE void group::reduce_scatter_in_place(at::Tensor const& x) {
  if (size_ == 1) return;
  at::NoGradGuard const no_grad;
  at::Tensor const sum = reduce_scatter(x, 0);
  part_of(x, 0).copy_(sum);
}

REDCO_INLINE at::Tensor group::part_of(at::Tensor const& x, std::int64_t dim) const {
  dim = checked_dim(x, dim, shape::collective::reduce_scatter);
  std::int64_t const part = checked_part(x, dim, shape::collective::reduce_scatter);
  return x.narrow(dim, part * rank_, part);
}

REDCO_INLINE at::Tensor group::all_to_all(at::Tensor const& x, std::int64_t split_dim, std::int64_t concat_dim) {
  split_dim = checked_dim(x, split_dim, shape::collective::all_to_all);
  concat_dim = checked_dim(x, concat_dim, shape::collective::all_to_all);
  if (size_ == 1) return x;
  std::int64_t const part = checked_part(x, split_dim, shape::collective::all_to_all);
  count(shape::collective::all_to_all, static_cast<std::int64_t>(x.nbytes()));
  at::NoGradGuard const no_grad;
  at::Tensor const parts = x.detach().unflatten(split_dim, {size_, part}).movedim(split_dim, 0).contiguous();
  at::Tensor const arrived = at::empty_like(parts);
  do_all_to_all(parts, arrived, row_counts(1));
  return arrived.movedim(0, concat_dim).flatten(concat_dim, concat_dim + 1).contiguous();
}

REDCO_INLINE group::arrived_rows group::all_to_all_v(at::Tensor const& x, std::vector<std::int64_t> const& rows_to) {
  auto const ranks = static_cast<std::size_t>(size_);
  bool const fits = x.dim() > 0 && rows_to.size() == ranks &&
                    std::all_of(rows_to.begin(), rows_to.end(), [](std::int64_t rows) { return rows >= 0; }) &&
                    std::accumulate(rows_to.begin(), rows_to.end(), std::int64_t{0}) == x.size(0);
  if (!fits)
    throw error(exit_code::internal, "all_to_all_v in group " + name_ + ": give " + std::to_string(size_) +
                                         " numbers of rows from 0 on that add up to those of " + tensors::describe(x));
  if (size_ == 1) return {x, rows_to};
  at::Tensor const counts = all_gather(at::tensor(rows_to, at::kLong), 0);
  return all_to_all_v(
      x, row_counts({counts.const_data_ptr<std::int64_t>(), counts.const_data_ptr<std::int64_t>() + counts.numel()},
                    size_));
}

REDCO_INLINE group::arrived_rows group::all_to_all_v(at::Tensor const& x, row_counts const& rows) {
  auto const ranks = static_cast<std::size_t>(size_), me = static_cast<std::size_t>(rank_);
  if (x.dim() == 0 || rows.sum(me, 0, ranks) != x.size(0))
    throw error(exit_code::internal, "all_to_all_v in group " + name_ + ": give " + std::to_string(size_) +
                                         " numbers of rows from 0 on that add up to those of " + tensors::describe(x));
  std::vector<std::int64_t> from;
  for (std::size_t other = 0; other < ranks; ++other) from.push_back(rows(other, me));
  if (size_ == 1) return {x, from};
  auto extents = x.sizes().vec();
  std::int64_t const row_bytes = c10::multiply_integers(x.sizes().slice(1)) * x.element_size();
  extents[0] = std::accumulate(from.begin(), from.end(), std::int64_t{0});
  count(shape::collective::all_to_all, static_cast<std::int64_t>(x.nbytes()), (x.size(0) - rows(me, me)) * row_bytes);
  at::NoGradGuard const no_grad;
  at::Tensor out = at::empty(extents, x.options());
  do_all_to_all(x.detach().contiguous(), out, rows);
  return {out, from};
}

REDCO_INLINE void group::broadcast(at::Tensor const& x, int root) {
  check_peer(root, shape::collective::broadcast, true);
  if (size_ == 1) return;
  auto const bytes = static_cast<std::int64_t>(x.nbytes());
  count(shape::collective::broadcast, bytes,
        shape::traffic::wire(shape::collective::broadcast, bytes, rank_, size_, root));
  in_place(x, [&](at::Tensor const& dense) { do_broadcast(dense, root); });
}

/// Checks and counts a message of this rank for `peer`. Returns `x` detached and contiguous.
REDCO_INLINE at::Tensor group::counted_message(at::Tensor const& x, int peer) {
  check_peer(peer, shape::collective::send, false);
  count(shape::collective::send, static_cast<std::int64_t>(x.nbytes()));
  return x.detach().contiguous();
}

REDCO_INLINE void group::send(at::Tensor const& x, int peer, int tag) {
  at::NoGradGuard const no_grad;
  do_send(counted_message(x, peer), peer, tag);
}

REDCO_INLINE ticket group::send_later(at::Tensor const& x, int peer, int tag) {
  at::NoGradGuard const no_grad;
  return ticket(do_send_later(counted_message(x, peer), peer, tag));
}

REDCO_INLINE void group::wait(ticket& sent) {
  std::unique_ptr<ticket::message> const message = std::move(sent.sent_);
  if (message) message->wait(deadline_);
}

REDCO_INLINE void group::recv(at::Tensor const& x, int peer, int tag) {
  check_peer(peer, shape::collective::recv, false);
  count(shape::collective::recv, static_cast<std::int64_t>(x.nbytes()));
  in_place(x, [&](at::Tensor const& dense) { do_recv(dense, peer, tag); });
}

REDCO_INLINE void group::barrier() {
  if (size_ == 1) return;
  count(shape::collective::barrier, 0);
  do_barrier();
}

}  // namespace redco::comm
