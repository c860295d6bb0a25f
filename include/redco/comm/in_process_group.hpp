#pragma once

#include <redco/comm/group.hpp>
#include <redco/comm/lifeline.hpp>

#include <redco/diag/error.hpp>

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace redco::comm::detail {

class device_calls;

}  // namespace redco::comm::detail

namespace redco::comm {

/// A group whose ranks are threads of this process and exchange data through shared memory. Tensors
/// on devices are reduced and copied on the devices (detail/device_calls.hpp). In one call, either
/// all ranks bring a device tensor or none does.
///
/// In all_reduce, each rank reduces one slice of all ranks' tensors and writes the result into all
/// of them. For tensors up to 4 KiB, each rank reduces everything from copies, which synchronises
/// the threads once instead of twice. Only send() and strided arguments need extra memory.
class in_process_group final : public group {
 public:
  /// Creates a group of the ranks `members`, which are threads of this process, and returns one
  /// handle per member. `members` are the ranks' numbers in `line`, the shared state of the run. If
  /// `as_on_devices` is true, CPU tensors take the code path of device tensors; tests use this
  /// option.
  static std::vector<std::unique_ptr<group>> make(std::string const& name, std::vector<int> const& members,
                                                  std::shared_ptr<lifeline> const& line, bool as_on_devices = false);

  /// Creates a group of threads 0 to `size` - 1 and returns one handle per thread. Used if this
  /// group is the only one of a run.
  static std::vector<std::unique_ptr<group>> make(std::string const& name, int size);

  void abort(exit_code code, std::string const& message) override;

 private:
  struct shared;

  in_process_group(std::shared_ptr<shared> state, std::size_t me);

  void do_all_reduce(at::Tensor const& x, at::Tensor const& out, reduce_op op) override;
  void do_all_gather(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) override;
  void do_reduce_scatter(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) override;
  void do_all_to_all(at::Tensor const& x, at::Tensor const& out, row_counts const& rows) override;
  void do_broadcast(at::Tensor const& x, int root) override;
  void do_send(at::Tensor const& x, int peer, int tag) override;
  std::unique_ptr<ticket::message> do_send_later(at::Tensor const& x, int peer, int tag) override;
  void do_recv(at::Tensor const& x, int peer, int tag) override;
  void do_barrier() override;
  void do_meet(detail::operand const& brought) override;
  void do_begin_run() override;

  void gather_pointers();
  bool on_device(at::Tensor const& x) const;
  detail::device_calls on_devices() const;

  std::shared_ptr<shared> state_;
  std::size_t me_;
  std::vector<void*> pointers_;
  std::vector<void*> targets_;
};

}  // namespace redco::comm

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/comm/in_process_group.inl.hpp>
#endif
