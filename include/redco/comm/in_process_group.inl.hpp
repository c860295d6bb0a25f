#pragma once

#include <redco/comm/in_process_group.hpp>

#include <redco/comm/detail/letters.hpp>
#include <redco/comm/detail/mailbox.hpp>
#include <redco/comm/detail/meeting.hpp>
#include <redco/comm/detail/reduce_ranks.hpp>
#include <redco/comm/detail/tensor_rows.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace redco {

/// Where the ranks of a group meet.
struct in_process_group::shared {
  shared(std::string const& name, std::vector<int> const& members, std::shared_ptr<comm::lifeline> const& line)
      : meeting(name, members, line) {}

  comm::detail::meeting meeting;
  comm::detail::mailbox mailbox;
};

REDCO_INLINE std::vector<std::unique_ptr<group>> in_process_group::make(std::string const& name,
                                                                        std::vector<int> const& members,
                                                                        std::shared_ptr<comm::lifeline> const& line) {
  auto const place = std::make_shared<shared>(name, members, line);
  std::vector<std::unique_ptr<group>> handles;
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    handles.push_back(std::unique_ptr<group>(new in_process_group(place, rank)));
  }
  return handles;
}

REDCO_INLINE std::vector<std::unique_ptr<group>> in_process_group::make(std::string const& name, int size) {
  std::vector<int> members(static_cast<std::size_t>(size));
  std::iota(members.begin(), members.end(), 0);
  return make(name, members, std::make_shared<comm::lifeline>(size));
}

REDCO_INLINE void in_process_group::abort(exit_code code, std::string const& message) {
  place_->meeting.line().fail(place_->meeting.member(me_), code, message);
}

REDCO_INLINE in_process_group::in_process_group(std::shared_ptr<shared> place, std::size_t me)
    : group(static_cast<int>(me), static_cast<int>(place->meeting.size()), place->meeting.name()),
      place_(std::move(place)),
      me_(me),
      pointers_(place_->meeting.size()),
      targets_(place_->meeting.size()) {}

REDCO_INLINE void in_process_group::do_all_reduce(at::Tensor const& x, at::Tensor const& out, comm::reduce_op op) {
  check_device(x);
  comm::detail::reduce_function const reduce = comm::detail::reduction_for(x, name());
  auto const mine = comm::detail::operand::of(collective::all_reduce, x, 0, op);
  comm::detail::meeting& meeting = place_->meeting;
  std::size_t const ranks = pointers_.size();
  auto const count = static_cast<std::size_t>(x.numel());
  void* own = out.data_ptr();
  if (x.nbytes() <= comm::detail::meeting::copy_bytes) {
    if (count != 0) std::memcpy(meeting.copy_of_next(me_), x.data_ptr(), x.nbytes());
    meeting.open(me_, mine, deadline());
    for (std::size_t rank = 0; rank < ranks; ++rank) pointers_[rank] = meeting.copy_of(rank, me_);
    reduce({pointers_.data(), ranks, 0, &own, 1, 0, count}, op);
    return;
  }
  meeting.open(me_, mine, deadline(), x.data_ptr(), own);
  gather_pointers();
  for (std::size_t rank = 0; rank < ranks; ++rank) targets_[rank] = meeting.out_of(rank, me_);
  std::size_t const slice = comm::detail::slice_of(x, ranks);
  std::size_t const begin = std::min(count, slice * me_);
  std::size_t const end = std::min(count, begin + slice);
  reduce({pointers_.data(), ranks, begin, targets_.data(), ranks, begin, end - begin}, op);
  meeting.close(me_);
}

REDCO_INLINE void in_process_group::do_all_gather(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) {
  check_device(x);
  place_->meeting.open(me_, comm::detail::operand::of(collective::all_gather, x, dim), deadline(), x.data_ptr());
  gather_pointers();
  std::size_t const outer = comm::detail::rows_before(x, dim);
  std::size_t const bytes = outer == 0 ? 0 : x.nbytes() / outer;
  auto* to = static_cast<std::byte*>(out.data_ptr());
  for (std::size_t row = 0; row < outer && bytes != 0; ++row) {
    for (void* const from : pointers_) {
      std::memcpy(to, static_cast<std::byte const*>(from) + row * bytes, bytes);
      to += bytes;
    }
  }
  place_->meeting.close(me_);
}

REDCO_INLINE void in_process_group::do_reduce_scatter(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) {
  check_device(x);
  comm::detail::reduce_function const reduce = comm::detail::reduction_for(x, name());
  place_->meeting.open(me_, comm::detail::operand::of(collective::reduce_scatter, x, dim), deadline(), x.data_ptr());
  gather_pointers();
  std::size_t const outer = comm::detail::rows_before(x, dim);
  std::size_t const part = outer == 0 ? 0 : static_cast<std::size_t>(out.numel()) / outer;
  std::size_t const ranks = pointers_.size();
  void* to = out.data_ptr();
  for (std::size_t row = 0; row < outer; ++row) {
    reduce({pointers_.data(), ranks, (row * ranks + me_) * part, &to, 1, row * part, part}, comm::reduce_op::sum);
  }
  place_->meeting.close(me_);
}

REDCO_INLINE void in_process_group::do_all_to_all(at::Tensor const& x, at::Tensor const& out) {
  check_device(x);
  place_->meeting.open(me_, comm::detail::operand::of(collective::all_to_all, x, 0), deadline(), x.data_ptr());
  gather_pointers();
  std::size_t const bytes = x.nbytes() / pointers_.size();
  auto* to = static_cast<std::byte*>(out.data_ptr());
  for (std::size_t rank = 0; rank < pointers_.size() && bytes != 0; ++rank) {
    std::memcpy(to + rank * bytes, static_cast<std::byte const*>(pointers_[rank]) + me_ * bytes, bytes);
  }
  place_->meeting.close(me_);
}

REDCO_INLINE void in_process_group::do_broadcast(at::Tensor const& x, int root) {
  check_device(x);
  place_->meeting.open(me_, comm::detail::operand::of(collective::broadcast, x, root), deadline(), x.data_ptr());
  auto const from = static_cast<std::size_t>(root);
  if (me_ != from && x.numel() != 0) std::memcpy(x.data_ptr(), place_->meeting.data_of(from, me_), x.nbytes());
  place_->meeting.close(me_);
}

REDCO_INLINE void in_process_group::do_send(at::Tensor const& x, int peer, int tag) {
  check_device(x);
  comm::detail::letters{place_->meeting, place_->mailbox}.send(me_, static_cast<std::size_t>(peer), tag, x);
}

REDCO_INLINE void in_process_group::do_recv(at::Tensor const& x, int peer, int tag) {
  check_device(x);
  comm::detail::letters{place_->meeting, place_->mailbox}.receive(me_, static_cast<std::size_t>(peer), tag, x,
                                                                  deadline());
}

REDCO_INLINE void in_process_group::do_barrier() { place_->meeting.open(me_, {}, deadline()); }

REDCO_INLINE void in_process_group::do_begin_run() { place_->mailbox.clear(); }

REDCO_INLINE void in_process_group::gather_pointers() {
  for (std::size_t rank = 0; rank < pointers_.size(); ++rank) pointers_[rank] = place_->meeting.data_of(rank, me_);
}

REDCO_INLINE void in_process_group::check_device(at::Tensor const& x) const {
  comm::detail::check_in_host_memory(x, name(), "threads");
}

}  // namespace redco
