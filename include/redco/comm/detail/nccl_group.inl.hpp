#pragma once

#include <redco/comm/detail/nccl_group.hpp>

#include <redco/comm/detail/device_queue.hpp>
#include <redco/comm/detail/operand.hpp>
#include <redco/comm/detail/reduce_ranks.hpp>
#include <redco/comm/detail/tensor_rows.hpp>

#include <redco/tensor/device.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <cstring>
#include <utility>

namespace redco::comm::detail::nccl {

inline data_type type_of(at::ScalarType type) {
  switch (type) {
    case at::kDouble: return float64;
    case at::kFloat: return float32;
    case at::kBFloat16: return bfloat16;
    case at::kHalf: return float16;
    case at::kLong: return int64;
    case at::kInt: return int32;
    default: return uint8;
  }
}

}  // namespace redco::comm::detail::nccl

namespace redco::comm::detail {

REDCO_INLINE std::vector<std::unique_ptr<group>> nccl_group::make(std::vector<std::unique_ptr<group>> cpu_groups,
                                                                  std::vector<int> const& members, means const& by) {
  for (std::size_t rank = 0; rank < cpu_groups.size(); ++rank)
    if (cpu_groups[rank]) cpu_groups[rank].reset(new nccl_group(std::move(cpu_groups[rank]), members, by));
  return cpu_groups;
}

REDCO_INLINE std::vector<std::unique_ptr<group>> nccl_group::make(std::vector<std::unique_ptr<group>> cpu_groups,
                                                                  std::vector<int> const& members,
                                                                  std::shared_ptr<lifeline> const& line, int process,
                                                                  bool one_process, bool by_rank) {
  if (!at::accelerator::getAccelerator()) return cpu_groups;
  return make(std::move(cpu_groups), members,
              {std::make_shared<torch_devices>(), nccl_library::of_process, line, process, one_process, by_rank});
}

REDCO_INLINE nccl_group::nccl_group(std::unique_ptr<group> cpu_group, std::vector<int> const& members, means const& by)
    : group(cpu_group->rank(), cpu_group->size(), cpu_group->name()),
      cpu_group_(std::move(cpu_group)),
      member_(members[static_cast<std::size_t>(rank())]),
      by_(by),
      device_(tensors::cpu_device()),
      messages_(*cpu_group_, members, by) {}

REDCO_INLINE void nccl_group::do_all_reduce(at::Tensor const& x, at::Tensor const& out, reduce_op op) {
  operand const brought = operand::of(shape::collective::all_reduce, x, 0, op);
  if (!by_nccl(x, brought)) return cpu_group().do_all_reduce(x, out, op);
  (void)reduction_for(x, name());
  if (by_.by_rank || op != reduce_op::sum) {
    auto extents = x.sizes().vec();
    extents.insert(extents.begin(), size());
    at::Tensor const rows = at::empty(extents, x.options());
    gather(x, rows, brought);
    out.copy_(reduced_in_order(rows.unbind(0), op, out));
    return;
  }
  run(brought, {x, out}, [&](nccl_link::round& on) {
    on.made(on.use.all_reduce(x.data_ptr(), out.data_ptr(), static_cast<std::size_t>(x.numel()),
                              nccl::type_of(x.scalar_type()), nccl::sum, on.in, on.on));
  });
}

REDCO_INLINE void nccl_group::do_all_gather(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) {
  operand const brought = operand::of(shape::collective::all_gather, x, dim);
  if (!by_nccl(x, brought)) return cpu_group().do_all_gather(x, out, dim);
  if (rows_before(x, dim) == 1) return gather(x, out, brought);
  auto extents = x.sizes().vec();
  extents.insert(extents.begin(), size());
  at::Tensor const rows = at::empty(extents, x.options());
  gather(x, rows, brought);
  out.unflatten(dim, {size(), x.size(dim)}).copy_(rows.movedim(0, dim));
}

REDCO_INLINE void nccl_group::do_reduce_scatter(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) {
  operand const brought = operand::of(shape::collective::reduce_scatter, x, dim);
  if (!by_nccl(x, brought)) return cpu_group().do_reduce_scatter(x, out, dim);
  (void)reduction_for(x, name());
  at::Tensor const parts = x.unflatten(dim, {size(), out.size(dim)}).movedim(dim, 0).contiguous();
  if (by_.by_rank) {
    at::Tensor const rows = at::empty_like(parts);
    exchange(parts, rows, row_counts(1), brought);
    out.copy_(reduced_in_order(rows.unbind(0), reduce_op::sum, out));
    return;
  }
  run(brought, {parts, out}, [&](nccl_link::round& on) {
    on.made(on.use.reduce_scatter(parts.data_ptr(), out.data_ptr(), static_cast<std::size_t>(out.numel()),
                                  nccl::type_of(x.scalar_type()), nccl::sum, on.in, on.on));
  });
}

REDCO_INLINE void nccl_group::do_all_to_all(at::Tensor const& x, at::Tensor const& out, row_counts const& rows) {
  operand const brought = operand::of_rows(x, rows);
  if (!by_nccl(x, brought)) return cpu_group().do_all_to_all(x, out, rows);
  exchange(x, out, rows, brought);
}

REDCO_INLINE void nccl_group::do_broadcast(at::Tensor const& x, int root) {
  operand const brought = operand::of(shape::collective::broadcast, x, root);
  if (!by_nccl(x, brought)) return cpu_group().do_broadcast(x, root);
  run(brought, {x}, [&](nccl_link::round& on) {
    on.made(on.use.broadcast(x.data_ptr(), x.data_ptr(), x.nbytes(), nccl::uint8, root, on.in, on.on));
  });
}

REDCO_INLINE void nccl_group::do_send(at::Tensor const& x, int peer, int tag) {
  group& by_cpu = cpu_group();
  if (!is_sent_by_nccl(x)) return by_cpu.do_send(x, peer, tag);
  (void)messages_.send_later(x.clone(), peer, tag);
}

REDCO_INLINE std::unique_ptr<ticket::message> nccl_group::do_send_later(at::Tensor const& x, int peer, int tag) {
  group& by_cpu = cpu_group();
  return is_sent_by_nccl(x) ? messages_.send_later(x, peer, tag) : by_cpu.do_send_later(x, peer, tag);
}

REDCO_INLINE void nccl_group::do_recv(at::Tensor const& x, int peer, int tag) {
  group& by_cpu = cpu_group();
  return is_sent_by_nccl(x) ? messages_.receive(x, peer, tag) : by_cpu.do_recv(x, peer, tag);
}

/// Returns the CPU group (a group of the same ranks for CPU memory), after setting its deadline
/// to the deadline of this group.
REDCO_INLINE group& nccl_group::cpu_group() {
  cpu_group_->set_deadline(deadline());
  return *cpu_group_;
}

/// Returns true if the current call for `x` goes through NCCL. In that case, first waits for all
/// ranks and checks that their operands (operation, shape, dtype) are equal.
REDCO_INLINE bool nccl_group::by_nccl(at::Tensor const& x, operand const& brought) {
  if (!by_.devices->holds(x)) return false;
  if (way_ == way::unsettled) settle_way(x, brought);
  if (way_ == way::cpu) return false;
  if (x.device() != device_)
    throw error(exit_code::internal, "group " + name() + " joins devices, this rank's is " + device_.str() +
                                         ", and got a tensor on " + x.device().str() + "; a rank has one device");
  if (by_.line->failed()) throw by_.line->cause();
  ++calls_;
  cpu_group().do_meet(brought);
  return true;
}

/// Chooses between NCCL and the CPU group (a group of the same ranks for CPU memory). Creates the
/// communicator if NCCL is chosen. All ranks exchange their device numbers and thus choose alike.
REDCO_INLINE void nccl_group::settle_way(at::Tensor const& x, operand const& brought) {
  cpu_group().do_meet(brought);
  at::Tensor const mine = at::tensor({std::int64_t{by_.process}, by_.devices->number_of(x.device())}, at::kLong);
  at::Tensor const all = at::empty({size(), 2}, at::kLong);
  cpu_group().do_all_gather(mine.view({1, 2}), all, 0);
  for (int rank = 0; rank < size(); ++rank) {
    for (int before = 0; before < rank; ++before) {
      if (!at::equal(all[before], all[rank])) continue;
      way_ = way::cpu;
      if (by_.one_process) return;
      throw error(exit_code::usage,
                  "ranks " + std::to_string(before) + " and " + std::to_string(rank) + " of group " + name() +
                      " are on one device, and others are in other processes: use one rank per device");
    }
  }
  device_ = x.device();
  c10::DeviceGuard const on(device_);
  auto const library = by_.library();
  nccl::unique_id id{};
  if (rank() == 0) {
    nccl::result const made = library->get_unique_id(&id);
    if (made != nccl::success)
      throw error(exit_code::internal, "NCCL names no group: " + library->words_of(made, nullptr));
  }
  at::Tensor const sent = at::empty({static_cast<std::int64_t>(sizeof id)}, at::kByte);
  std::memcpy(sent.data_ptr(), &id, sizeof id);
  cpu_group().do_broadcast(sent, 0);
  std::memcpy(&id, sent.const_data_ptr(), sizeof id);
  link_.emplace(library, by_.devices->make_queue(device_));
  link_->join(id, size(), rank(), patience_for(brought));
  way_ = way::nccl;
}

REDCO_INLINE nccl_link::patience nccl_group::patience_for(operand const& brought) const {
  return {*by_.line, member_, deadline(), where_text(brought.text(), calls_, name())};
}

/// Fills `rows` with the tensors of all ranks in rank order.
REDCO_INLINE void nccl_group::gather(at::Tensor const& x, at::Tensor const& rows, operand const& brought) {
  run(brought, {x, rows}, [&](nccl_link::round& on) {
    on.made(on.use.all_gather(x.data_ptr(), rows.data_ptr(), x.nbytes(), nccl::uint8, on.in, on.on));
  });
}

REDCO_INLINE void nccl_group::exchange(at::Tensor const& x, at::Tensor const& out, row_counts const& rows,
                                       operand const& brought) {
  std::size_t const row = row_bytes(x);
  auto const me = static_cast<std::size_t>(rank());
  run(brought, {x, out}, [&](nccl_link::round& on) {
    auto const* from = static_cast<std::byte const*>(x.data_ptr());
    auto* to = static_cast<std::byte*>(out.data_ptr());
    for (std::size_t other = 0; other < static_cast<std::size_t>(size()); ++other) {
      std::size_t const leaves = static_cast<std::size_t>(rows(me, other)) * row;
      std::size_t const comes = static_cast<std::size_t>(rows(other, me)) * row;
      int const peer = static_cast<int>(other);
      if (leaves != 0) on.made(on.use.send(from, leaves, nccl::uint8, peer, on.in, on.on));
      if (comes != 0) on.made(on.use.recv(to, comes, nccl::uint8, peer, on.in, on.on));
      from += leaves;
      to += comes;
    }
  });
}

REDCO_INLINE void nccl_group::run(operand const& brought, std::vector<at::Tensor> const& uses,
                                  tensors::function_ref<void(nccl_link::round&)> calls) {
  c10::DeviceGuard const on(device_);
  try {
    link_->run(calls, patience_for(brought));
  } catch (...) {
    abandoned_.insert(abandoned_.end(), uses.begin(), uses.end());
    throw;
  }
}

}  // namespace redco::comm::detail
