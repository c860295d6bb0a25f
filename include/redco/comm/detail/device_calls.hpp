#pragma once

#include <redco/comm/detail/meeting.hpp>
#include <redco/comm/detail/operand.hpp>
#include <redco/comm/detail/reduce_ranks.hpp>
#include <redco/comm/detail/tensor_rows.hpp>
#include <redco/comm/group.hpp>

#include <redco/tensor/device_streams.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace redco::comm::detail {

/// An implementation of collectives between threads whose tensors are on one or several devices.
/// ATen's operators read and write the peers' tensors, so any device type works. Each rank uses its
/// own stream, which waits until the other ranks' streams have produced the data.
///
/// In all_reduce, each rank reduces its slice of all tensors and writes the result into all of
/// them. Sums are in rank order.
class device_calls {
 public:
  device_calls(meeting& where, std::size_t me, std::chrono::milliseconds limit)
      : where_(where), me_(me), limit_(limit) {}

  void all_reduce(at::Tensor const& x, at::Tensor const& out, reduce_op op) const {
    std::int64_t const count = x.numel(), slice = static_cast<std::int64_t>(slice_of(x, where_.size()));
    std::int64_t const begin = std::min(count, slice * static_cast<std::int64_t>(me_));
    std::int64_t const length = std::min(count, begin + slice) - begin;
    auto const mine = [&](at::Tensor const& of) { return of.view(-1).narrow(0, begin, length); };
    together(operand::of(shape::collective::all_reduce, x, 0, op), x, out, [&] {
      if (length == 0) return;
      at::Tensor const joint = reduced_in_order(of_all([&](shown const& one) { return mine(one.x); }), op, x);
      for (std::size_t rank = 0; rank < where_.size(); ++rank) mine(of(rank).out).copy_(joint);
    });
  }

  void all_gather(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) const {
    together(operand::of(shape::collective::all_gather, x, dim), x, out, [&] {
      std::int64_t const each = x.size(dim);
      for (std::size_t rank = 0; rank < where_.size(); ++rank)
        out.narrow(dim, static_cast<std::int64_t>(rank) * each, each).copy_(of(rank).x);
    });
  }

  void reduce_scatter(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) const {
    together(operand::of(shape::collective::reduce_scatter, x, dim), x, out, [&] {
      std::int64_t const part = out.size(dim), begin = part * static_cast<std::int64_t>(me_);
      auto const mine = [&](shown const& one) { return one.x.narrow(dim, begin, part); };
      out.copy_(reduced_in_order(of_all(mine), reduce_op::sum, out));
    });
  }

  void all_to_all(at::Tensor const& x, at::Tensor const& out, row_counts const& rows) const {
    together(operand::of_rows(x, rows), x, out, [&] {
      std::int64_t at = 0;
      for (std::size_t rank = 0; rank < where_.size(); ++rank) {
        std::int64_t const some = rows(rank, me_);
        out.narrow(0, at, some).copy_(of(rank).x.narrow(0, rows.sum(rank, 0, me_), some));
        at += some;
      }
    });
  }

  void broadcast(at::Tensor const& x, int root) const {
    auto const from = static_cast<std::size_t>(root);
    together(operand::of(shape::collective::broadcast, x, root), x, x, [&] {
      if (me_ != from) x.copy_(of(from).x);
    });
  }

 private:
  struct shown {
    at::Tensor const& x;
    at::Tensor const& out;
    /// Event after which peers may read and write this rank's tensors.
    std::optional<c10::Event> came;
    /// Event after which this rank has finished reading and writing the peers' tensors.
    std::optional<c10::Event> done;
  };

  shown const& of(std::size_t rank) const { return *static_cast<shown const*>(where_.data_of(rank, me_)); }

  template <class F>
  std::vector<at::Tensor> of_all(F const& f) const {
    std::vector<at::Tensor> all;
    for (std::size_t rank = 0; rank < where_.size(); ++rank) all.push_back(f(of(rank)));
    return all;
  }

  /// Runs one collective: `f` does this rank's part of the work. No rank leaves the collective
  /// before all ranks are done, even if an operation fails. No CPU thread waits for a device.
  /// Instead, each rank's stream waits for the events of the other ranks' streams.
  template <class F>
  void together(operand const& brought, at::Tensor const& x, at::Tensor const& out, F const& f) const {
    at::Device const device = x.device();
    shown mine{x, out, tensors::mark_on(device), std::nullopt};
    where_.open(me_, brought, limit_, &mine);
    std::exception_ptr failure;
    auto const attempt = [&](auto const& step) {
      try {
        step();
      } catch (...) {
        if (!failure) failure = std::current_exception();
      }
    };
    attempt([&] {
      for (std::size_t rank = 0; rank < where_.size(); ++rank) tensors::follow_on(device, of(rank).came);
      f();
      mine.done = tensors::mark_on(device);
    });
    where_.stage_done(me_);
    attempt([&] {
      for (std::size_t rank = 0; rank < where_.size(); ++rank) tensors::follow_on(device, of(rank).done);
    });
    where_.close(me_);
    if (failure) std::rethrow_exception(failure);
  }

  meeting& where_;
  std::size_t me_;
  std::chrono::milliseconds limit_;
};

}  // namespace redco::comm::detail
