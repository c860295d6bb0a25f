#pragma once

#include <redco/nn/network_base.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/update/any_optimizer.hpp>
#include <redco/update/gradient_norm.hpp>
#include <redco/update/parameter_settings.hpp>
#include <redco/update/segment.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/shard/plan.hpp>
#include <redco/shard/shares.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/zero.hpp>
#include <redco/adapt/merged.hpp>

#include <redco/diag/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redco::run {

/// One rank's state of a network in training: its shards of the parameters and gradients, the
/// optimizer and the optimizer's state. Does not depend on the network's type; `trained_network`
/// derives from it and adds the typed network.
class network_state {
 public:
  /// `zero`: state of which the replicas keep shares. Throws `error` with exit code 64 if they keep
  /// shares of the elements of matrices that the optimizer updates as a whole. Throws it with 64 if
  /// each backward sums its gradients and a layer does not support that: batch norm, or a module
  /// that owns its tensors.
  network_state(std::vector<shard::placed_parameter> const& placed, update::any_optimizer optimizer, dtype compute,
                std::uint64_t seed, int rank, std::vector<std::string> const& frozen = {},
                at::Device device = tensors::cpu_device(), shape::zero const& zero = {});
  network_state(network_state const&) = delete;
  network_state& operator=(network_state const&) = delete;
  virtual ~network_state() = default;

  /// Returns the network's modules; the modules' parameters are views of the member `store`.
  virtual nn::network_base const& network() const = 0;

  /// Copies new values into the parameters: one tensor for each of network().parameters(), in that
  /// order. They must be equal on all replicas that keep shares. Throws `error` with exit code 70
  /// for another number of tensors.
  void set_values(std::vector<at::Tensor> const& parameters);

  /// Returns this rank's part of the state that a checkpoint holds: parameters, master parameters
  /// if they have another dtype, and optimizer slots. If the replicas keep shares, a tensor has
  /// several parts, which together are this rank's share.
  std::vector<ckpt::state_part> parts() const;

  /// Returns this rank's parts of all parameters, in the precision in which the optimizer updates
  /// them. Throws `error` with exit code 70 if the rank has only a share of the masters; see
  /// whole_masters.
  std::vector<ckpt::state_part> master_parts() const;

  /// The parts of one parameter that this rank updates: gradient, master and optimizer slots of an
  /// equal box. The gradient is undefined for a frozen parameter.
  struct updated_part {
    std::string name;
    ckpt::state_part gradient, master;
    std::vector<ckpt::state_part> slots;
  };
  /// Returns the parts of the parameters that this rank updates, and its parts of frozen ones.
  std::vector<updated_part> updated_parts() const;

  /// Returns this rank's parts of the LoRA adapters' parameters, in the precision of the optimizer.
  std::vector<ckpt::state_part> adapter_parts() const { return master_parts(true); }
  /// Returns this rank's parts of all parameters except LoRA adapters, in the precision of the
  /// optimizer.
  std::vector<ckpt::state_part> base_parts() const { return master_parts(false); }

  /// Returns this rank's parts of the model's parameters, with LoRA adapters merged into the
  /// weights.
  std::vector<ckpt::state_part> merged_parts() const { return adapt::merged(network(), base_parts()); }

  /// Gathers the values of the parameters that other ranks update, in the compute dtype. Does
  /// nothing unless the replicas keep shares. All ranks must call it.
  void gather_values(rank_context const& rank) const;

  /// Gathers the shares of all ranks in flat buffers, whose `count` elements from `begin` on
  /// `range(begin, count)` returns. All ranks must call it.
  void gather_shares(rank_context const& rank,
                     tensors::function_ref<at::Tensor(std::int64_t begin, std::int64_t count)> range) const;

  /// Throws `error` with exit code 79 and the parameter's name if a parameter is not finite.
  /// `step`: number of updates done, for the message. Reads all parameters once.
  void check_finite(std::int64_t step) const;

  /// Prefix of the parameters' names in a checkpoint of several networks, such as "actor."; empty
  /// for the only network of a run.
  std::string name;
  nn::parameter_store store;
  update::any_optimizer optimizer;
  /// Number of updates that changed the parameters; Adam's bias corrections use it.
  std::int64_t updates = 0;
  /// Noise that each step adds to the sum of the gradients over the replicas, for private training;
  /// none by default. `deviation`: standard deviation. `seed`: keeps the noise secret.
  struct gradient_noise {
    double deviation = 0;
    std::uint64_t seed = 0;
  };
  gradient_noise noise;
  /// Ranges of the flat buffer that the optimizer updates, one for each trained range whose
  /// parameters have equal settings.
  std::vector<update::segment> segments;
  /// Ranges of store.gradients(), each with its weight in the gradient norm.
  std::vector<update::norm_range> norm_ranges;

 private:
  /// Elements of a parameter that this rank updates, and the location of their optimizer state.
  struct piece {
    std::size_t segment = 0;
    std::int64_t begin = 0;                ///< offset in the segment's slots
    std::int64_t first = 0, elements = 0;  ///< range of the rank's part of the parameter
    std::size_t matrix = 0;                ///< index in the segment's `matrices`, for whole updates
    std::int64_t packed = 0;               ///< offset in buffers of what the rank keeps
  };

  /// A range [begin, end) of elements of the flat buffers. `packed`: its first element in buffers
  /// that have only what the rank keeps.
  using element_range = nn::parameter_store::kept_range;

  void add_segments(std::vector<update::parameter_settings> const& settings);
  void add_segment(element_range const& of, bool decay, update::parameter_settings const& settings,
                   std::vector<update::matrix> matrices);
  void add_pieces();
  void add_norm_range(nn::stored_parameter const& s, piece const& of);
  std::vector<ckpt::state_part> master_parts(std::optional<bool> of_adapters) const;
  ckpt::state_part part(std::string full_name, shard::entry const& plan, at::Tensor local) const;
  std::vector<ckpt::state_part> slot_parts(nn::stored_parameter const& s, piece const& of,
                                           shard::element_box const& box) const;
  ckpt::state_part boxed_part(std::string full_name, nn::stored_parameter const& s, shard::element_box const& box,
                              at::Tensor const& flat, std::int64_t begin) const;
  int first_replica(nn::stored_parameter const& s) const;
  template <class Visit>
  void each_box(nn::stored_parameter const& s, Visit const& visit) const;
  std::size_t index_of(nn::stored_parameter const& s) const {
    return static_cast<std::size_t>(&s - store.parameters().data());
  }

  int rank_;
  /// Flat range of each segment
  std::vector<element_range> ranges_;
  /// Pieces of each parameter that this rank updates, in the order of the store
  std::vector<std::vector<piece>> pieces_;
};

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/network_state.inl.hpp>
#endif
