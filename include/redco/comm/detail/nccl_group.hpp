#pragma once

#include <redco/comm/detail/device_queue.hpp>
#include <redco/comm/detail/nccl_link.hpp>
#include <redco/comm/detail/nccl_messages.hpp>
#include <redco/comm/detail/operand.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/lifeline.hpp>

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redco::comm::detail {

/// A group whose tensors may be on devices. CPU tensors go through the CPU group (a group of the
/// same ranks for CPU memory). Device tensors go through NCCL, or through the CPU group if threads
/// share a device. The first collective with a device tensor decides and creates the communicator.
/// Before each collective all ranks compare shapes and dtypes, because NCCL would hang or write out
/// of bounds. NCCL chooses the order of sums, unless `means::by_rank` asks for rank order. Messages
/// between processes go through nccl_messages; threads copy from device to device. More reasons are
/// in the README of comm/.
class nccl_group final : public group {
 public:
  using means = nccl_means;

  /// Returns one nccl_group per entry of `cpu_groups`, which are this process's handles on the
  /// group for CPU memory. An entry for a rank of another process is null and stays null. `members`
  /// are the group's ranks, as numbers in the run.
  static std::vector<std::unique_ptr<group>> make(std::vector<std::unique_ptr<group>> cpu_groups,
                                                  std::vector<int> const& members, means const& by);

  /// Returns one nccl_group per entry of `cpu_groups` (this process's handles on the group for CPU
  /// memory), for the devices that libtorch supports. Entries for ranks of other processes are null
  /// and stay null. Returns `cpu_groups` unchanged if libtorch has no accelerator.
  static std::vector<std::unique_ptr<group>> make(std::vector<std::unique_ptr<group>> cpu_groups,
                                                  std::vector<int> const& members,
                                                  std::shared_ptr<lifeline> const& line, int process, bool one_process,
                                                  bool by_rank);

  void abort(exit_code code, std::string const& message) override { cpu_group_->abort(code, message); }

 private:
  enum class way { unsettled, cpu, nccl };

  nccl_group(std::unique_ptr<group> cpu_group, std::vector<int> const& members, means const& by);

  void do_all_reduce(at::Tensor const& x, at::Tensor const& out, reduce_op op) override;
  void do_all_gather(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) override;
  void do_reduce_scatter(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) override;
  void do_all_to_all(at::Tensor const& x, at::Tensor const& out, row_counts const& rows) override;
  void do_broadcast(at::Tensor const& x, int root) override;
  void do_send(at::Tensor const& x, int peer, int tag) override;
  std::unique_ptr<ticket::message> do_send_later(at::Tensor const& x, int peer, int tag) override;
  void do_recv(at::Tensor const& x, int peer, int tag) override;
  void do_barrier() override { cpu_group().do_barrier(); }
  void do_meet(operand const& brought) override { cpu_group().do_meet(brought); }
  void do_begin_run() override {
    messages_.close();
    cpu_group_->begin_run();
  }

  group& cpu_group();
  bool by_nccl(at::Tensor const& x, operand const& brought);
  /// Returns true if messages of `x` go through NCCL.
  bool is_sent_by_nccl(at::Tensor const& x) const { return !by_.one_process && by_.devices->holds(x); }
  void settle_way(at::Tensor const& x, operand const& brought);
  nccl_link::patience patience_for(operand const& brought) const;
  void gather(at::Tensor const& x, at::Tensor const& rows, operand const& brought);
  void exchange(at::Tensor const& x, at::Tensor const& out, row_counts const& rows, operand const& brought);
  void run(operand const& brought, std::vector<at::Tensor> const& uses,
           tensors::function_ref<void(nccl_link::round&)> calls);

  std::unique_ptr<group> cpu_group_;
  int member_;
  means by_;
  way way_ = way::unsettled;
  std::uint64_t calls_ = 0;  ///< number of NCCL calls of this handle
  at::Device device_;
  std::optional<nccl_link> link_;
  /// Tensors that an aborted NCCL call may still use; kept until the group is destroyed.
  std::vector<at::Tensor> abandoned_;
  nccl_messages messages_;
};

}  // namespace redco::comm::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/comm/detail/nccl_group.inl.hpp>
#endif
