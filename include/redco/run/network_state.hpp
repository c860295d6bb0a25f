#pragma once

#include <redco/nn/network_base.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/update/any_optimizer.hpp>
#include <redco/update/norm_range.hpp>
#include <redco/update/segment.hpp>
#include <redco/tensor/device.hpp>
#include <redco/shard/placed.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/adapt/merged.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace redco::run {

/// What one rank holds of a network that is trained, whatever the network's type (trained_network): its part of the
/// parameters, their gradients, the optimizer and its state.
class network_state {
 public:
  network_state(std::vector<shard::placed_parameter> const& placed, update::any_optimizer optimizer, dtype compute,
                std::uint64_t seed, int rank, std::vector<std::string> const& frozen = {},
                at::Device device = host_device());
  network_state(network_state const&) = delete;
  network_state& operator=(network_state const&) = delete;
  virtual ~network_state() = default;

  /// Its modules, over the store.
  virtual network_base const& network() const = 0;

  /// Sets its parameters to these: one for each of network().parameters(), in that order.
  void set_values(std::vector<at::Tensor> const& parameters);

  /// The state that a checkpoint holds: parameters, masters where they differ, optimizer slots.
  std::vector<ckpt::state_part> parts() const;

  /// The parameters alone, in the precision in which they are updated.
  std::vector<ckpt::state_part> master_parts() const;

  /// Of these those of low-rank adapters, and all others.
  std::vector<ckpt::state_part> adapter_parts() const;
  std::vector<ckpt::state_part> base_parts() const;

  /// The parameters as those of the model without adapters, which are merged into the weights.
  std::vector<ckpt::state_part> merged_parts() const { return merged(network(), base_parts()); }

  /// Errors: exit code 79 with the name of a parameter that is not finite, after `step` updates. One pass over memory.
  void check_finite(std::int64_t step) const;

  std::string name;  ///< in front of its parameters' names in a checkpoint of several networks: "actor."
  parameter_store store;
  update::any_optimizer optimizer;
  std::int64_t updates = 0;                     ///< that changed the parameters, as Adam's bias corrections count them
  std::vector<update::segment> segments;        ///< one for each trained region of the store
  std::vector<update::norm_range> norm_ranges;  ///< over the flat gradient

 private:
  void add_segment(shard::region const& of);
  void add_norm_range(stored_parameter const& s);
  std::vector<ckpt::state_part> master_parts(bool of_adapters) const;
  ckpt::state_part part(std::string full_name, stored_parameter const& s, at::Tensor local) const;

  int rank_;
};

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/network_state.inl.hpp>
#endif
