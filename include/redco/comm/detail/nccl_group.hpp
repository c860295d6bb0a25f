#pragma once

#include <redco/comm/detail/device_queue.hpp>
#include <redco/comm/detail/nccl_library.hpp>
#include <redco/comm/detail/nccl_link.hpp>
#include <redco/comm/detail/operand.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/lifeline.hpp>

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redco::comm::detail {

/// A group whose tensors may lie on devices: what lies in host memory goes through the group of the same ranks that it has for
/// this; what lies on devices goes through NCCL where each rank has its own, and where threads of one process share some,
/// through that group too (in_process_group). Which it is, is settled at the first call with such a tensor; the communicator is
/// made then.
///
/// All ranks compare what they bring before each call of NCCL, in host memory, as NCCL does not: it hangs, or writes where it
/// may not. That costs a barrier of the host's group, and finds ranks that are late or gone by their names.
///
/// Sums are made in NCCL's own order, in which 16-bit floats may be rounded at each addition, or, where `by_rank`, gathered and
/// made in rank order, as maxima and minima always are: NCCL does not say that a NaN wins. Letters go through the host's group
/// and between processes through host memory: NCCL keeps nothing for a receiver who comes later, knows no tags, and its
/// communicator cannot be made by two of many.
class nccl_group final : public group {
 public:
  /// What all ranks of this process use alike.
  struct means {
    std::shared_ptr<device_access> devices;
    std::function<std::shared_ptr<nccl_library const>()> library;
    std::shared_ptr<lifeline> line;
    int process = 0;          ///< this one
    bool one_process = true;  ///< all ranks are in it
    bool by_rank = false;
  };

  /// One handle for each one of `hosts` that is not null. `members` are their ranks in the run.
  static std::vector<std::unique_ptr<group>> make(std::vector<std::unique_ptr<group>> hosts,
                                                  std::vector<int> const& members, means const& by);

  /// The same with the devices of libtorch, and `hosts` themselves where it has none.
  static std::vector<std::unique_ptr<group>> make(std::vector<std::unique_ptr<group>> hosts,
                                                  std::vector<int> const& members,
                                                  std::shared_ptr<lifeline> const& line, int process, bool one_process,
                                                  bool by_rank);

  void abort(exit_code code, std::string const& message) override { host_->abort(code, message); }

 private:
  enum class way { unsettled, host, nccl };

  nccl_group(std::unique_ptr<group> host, int member, means const& by);

  void do_all_reduce(at::Tensor const& x, at::Tensor const& out, reduce_op op) override;
  void do_all_gather(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) override;
  void do_reduce_scatter(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) override;
  void do_all_to_all(at::Tensor const& x, at::Tensor const& out, row_counts const& rows) override;
  void do_broadcast(at::Tensor const& x, int root) override;
  void do_send(at::Tensor const& x, int peer, int tag) override;
  void do_recv(at::Tensor const& x, int peer, int tag) override;
  void do_barrier() override { host().do_barrier(); }
  void do_meet(operand const& brought) override { host().do_meet(brought); }
  void do_begin_run() override { host_->begin_run(); }

  group& host();
  bool by_nccl(at::Tensor const& x, operand const& brought);
  void settle_way(at::Tensor const& x, operand const& brought);
  nccl_link::patience patience_for(operand const& brought) const;
  void gather(at::Tensor const& x, at::Tensor const& rows, operand const& brought);
  void exchange(at::Tensor const& x, at::Tensor const& out, row_counts const& rows, operand const& brought);
  void run(operand const& brought, std::vector<at::Tensor> const& uses, function_ref<void(nccl_link::round&)> calls);

  std::unique_ptr<group> host_;
  int member_;
  means by_;
  way way_ = way::unsettled;
  std::uint64_t calls_ = 0;  ///< of NCCL
  at::Device device_;
  std::optional<nccl_link> link_;
  std::vector<at::Tensor> abandoned_;  ///< what a call that was aborted may still use
};

}  // namespace redco::comm::detail

#ifndef REDCO_COMPILED
#include <redco/comm/detail/nccl_group.inl.hpp>
#endif
