#pragma once

#include <redco/comm/in_process_group.hpp>

#include <redco/comm/detail/device_calls.hpp>
#include <redco/comm/detail/mailbox.hpp>
#include <redco/comm/detail/meeting.hpp>
#include <redco/comm/detail/reduce_ranks.hpp>
#include <redco/comm/detail/tensor_rows.hpp>
#include <redco/tensor/device.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace redco::comm {

/// State that the handles of all ranks of one group share.
struct in_process_group::shared {
  shared(std::string const& name, std::vector<int> const& members, std::shared_ptr<lifeline> const& line, bool as)
      : as_on_devices(as), meeting(name, members, line) {}

  bool as_on_devices;
  detail::meeting meeting;
  detail::mailbox mailbox;

  detail::point_to_point messages() { return {meeting, mailbox}; }
};

REDCO_INLINE std::vector<std::unique_ptr<group>> in_process_group::make(std::string const& name,
                                                                        std::vector<int> const& members,
                                                                        std::shared_ptr<lifeline> const& line,
                                                                        bool as_on_devices) {
  auto const state = std::make_shared<shared>(name, members, line, as_on_devices);
  std::vector<std::unique_ptr<group>> handles;
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    handles.push_back(std::unique_ptr<group>(new in_process_group(state, rank)));
  }
  return handles;
}

REDCO_INLINE std::vector<std::unique_ptr<group>> in_process_group::make(std::string const& name, int size) {
  std::vector<int> members(static_cast<std::size_t>(size));
  std::iota(members.begin(), members.end(), 0);
  return make(name, members, std::make_shared<lifeline>(size));
}

REDCO_INLINE void in_process_group::abort(exit_code code, std::string const& message) {
  state_->meeting.line().fail(state_->meeting.member(me_), code, message);
}

REDCO_INLINE in_process_group::in_process_group(std::shared_ptr<shared> state, std::size_t me)
    : group(static_cast<int>(me), static_cast<int>(state->meeting.size()), state->meeting.name()),
      state_(std::move(state)),
      me_(me),
      pointers_(state_->meeting.size()),
      targets_(state_->meeting.size()) {}

REDCO_INLINE void in_process_group::do_all_reduce(at::Tensor const& x, at::Tensor const& out, reduce_op op) {
  detail::reduce_function const reduce = detail::reduction_for(x, name());
  if (on_device(x)) return on_devices().all_reduce(x, out, op);
  auto const mine = detail::operand::of(shape::collective::all_reduce, x, 0, op);
  detail::meeting& meeting = state_->meeting;
  std::size_t const ranks = pointers_.size();
  auto const count = static_cast<std::size_t>(x.numel());
  void* own = out.data_ptr();
  if (x.nbytes() <= detail::meeting::copy_bytes) {
    if (count != 0) std::memcpy(meeting.copy_of_next(me_), x.data_ptr(), x.nbytes());
    meeting.open(me_, mine, deadline());
    for (std::size_t rank = 0; rank < ranks; ++rank) pointers_[rank] = meeting.copy_of(rank, me_);
    reduce({pointers_.data(), ranks, 0, &own, 1, 0, count}, op);
    return;
  }
  meeting.open(me_, mine, deadline(), x.data_ptr(), own);
  gather_pointers();
  for (std::size_t rank = 0; rank < ranks; ++rank) targets_[rank] = meeting.out_of(rank, me_);
  std::size_t const slice = detail::slice_of(x, ranks);
  std::size_t const begin = std::min(count, slice * me_);
  std::size_t const end = std::min(count, begin + slice);
  reduce({pointers_.data(), ranks, begin, targets_.data(), ranks, begin, end - begin}, op);
  meeting.close(me_);
}

REDCO_INLINE void in_process_group::do_all_gather(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) {
  if (on_device(x)) return on_devices().all_gather(x, out, dim);
  state_->meeting.open(me_, detail::operand::of(shape::collective::all_gather, x, dim), deadline(), x.data_ptr());
  gather_pointers();
  std::size_t const outer = detail::rows_before(x, dim);
  std::size_t const bytes = outer == 0 ? 0 : x.nbytes() / outer;
  auto* to = static_cast<std::byte*>(out.data_ptr());
  for (std::size_t row = 0; row < outer && bytes != 0; ++row) {
    for (void* const from : pointers_) {
      std::memcpy(to, static_cast<std::byte const*>(from) + row * bytes, bytes);
      to += bytes;
    }
  }
  state_->meeting.close(me_);
}

REDCO_INLINE void in_process_group::do_reduce_scatter(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) {
  detail::reduce_function const reduce = detail::reduction_for(x, name());
  if (on_device(x)) return on_devices().reduce_scatter(x, out, dim);
  state_->meeting.open(me_, detail::operand::of(shape::collective::reduce_scatter, x, dim), deadline(), x.data_ptr());
  gather_pointers();
  std::size_t const outer = detail::rows_before(x, dim);
  std::size_t const part = outer == 0 ? 0 : static_cast<std::size_t>(out.numel()) / outer;
  std::size_t const ranks = pointers_.size();
  void* to = out.data_ptr();
  for (std::size_t row = 0; row < outer; ++row) {
    reduce({pointers_.data(), ranks, (row * ranks + me_) * part, &to, 1, row * part, part}, reduce_op::sum);
  }
  state_->meeting.close(me_);
}

REDCO_INLINE void in_process_group::do_all_to_all(at::Tensor const& x, at::Tensor const& out, row_counts const& rows) {
  if (on_device(x)) return on_devices().all_to_all(x, out, rows);
  state_->meeting.open(me_, detail::operand::of_rows(x, rows), deadline(), x.data_ptr());
  gather_pointers();
  std::size_t const row = detail::row_bytes(x);
  auto* to = static_cast<std::byte*>(out.data_ptr());
  for (std::size_t rank = 0; rank < pointers_.size() && out.nbytes() != 0; ++rank) {
    std::size_t const bytes = static_cast<std::size_t>(rows(rank, me_)) * row;
    auto const* const from = static_cast<std::byte const*>(pointers_[rank]);
    if (bytes != 0) std::memcpy(to, from + static_cast<std::size_t>(rows.sum(rank, 0, me_)) * row, bytes);
    to += bytes;
  }
  state_->meeting.close(me_);
}

REDCO_INLINE void in_process_group::do_broadcast(at::Tensor const& x, int root) {
  if (on_device(x)) return on_devices().broadcast(x, root);
  state_->meeting.open(me_, detail::operand::of(shape::collective::broadcast, x, root), deadline(), x.data_ptr());
  auto const from = static_cast<std::size_t>(root);
  if (me_ != from && x.numel() != 0) std::memcpy(x.data_ptr(), state_->meeting.data_of(from, me_), x.nbytes());
  state_->meeting.close(me_);
}

REDCO_INLINE void in_process_group::do_send(at::Tensor const& x, int peer, int tag) {
  state_->messages().send(me_, static_cast<std::size_t>(peer), tag, x);
}

REDCO_INLINE std::unique_ptr<ticket::message> in_process_group::do_send_later(at::Tensor const& x, int peer, int tag) {
  return state_->messages().send_later(state_, me_, static_cast<std::size_t>(peer), tag, x);
}

REDCO_INLINE void in_process_group::do_recv(at::Tensor const& x, int peer, int tag) {
  state_->messages().receive(me_, static_cast<std::size_t>(peer), tag, x, deadline());
}

REDCO_INLINE void in_process_group::do_barrier() { state_->meeting.open(me_, {}, deadline()); }

REDCO_INLINE void in_process_group::do_meet(detail::operand const& brought) {
  state_->meeting.open(me_, brought, deadline());
}

REDCO_INLINE void in_process_group::do_begin_run() { state_->mailbox.clear(); }

REDCO_INLINE void in_process_group::gather_pointers() {
  for (std::size_t rank = 0; rank < pointers_.size(); ++rank) pointers_[rank] = state_->meeting.data_of(rank, me_);
}

REDCO_INLINE bool in_process_group::on_device(at::Tensor const& x) const {
  return state_->as_on_devices || !tensors::in_cpu_memory(x);
}

REDCO_INLINE detail::device_calls in_process_group::on_devices() const { return {state_->meeting, me_, deadline()}; }

}  // namespace redco::comm
