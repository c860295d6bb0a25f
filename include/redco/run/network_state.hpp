#pragma once

#include <redco/nn/network_base.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/update/any_optimizer.hpp>
#include <redco/update/gradient_norm.hpp>
#include <redco/update/parameter_settings.hpp>
#include <redco/update/segment.hpp>
#include <redco/tensor/device.hpp>
#include <redco/shard/plan.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/adapt/merged.hpp>

#include <redco/diag/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace redco::run {

/// One rank's state of a network in training: its shards of the parameters and gradients, the
/// optimizer and the optimizer's state. Does not depend on the network's type; `trained_network`
/// derives from it and adds the typed network.
class network_state {
 public:
  network_state(std::vector<shard::placed_parameter> const& placed, update::any_optimizer optimizer, dtype compute,
                std::uint64_t seed, int rank, std::vector<std::string> const& frozen = {},
                at::Device device = tensors::cpu_device());
  network_state(network_state const&) = delete;
  network_state& operator=(network_state const&) = delete;
  virtual ~network_state() = default;

  /// Returns the network's modules; the modules' parameters are views of the member `store`.
  virtual nn::network_base const& network() const = 0;

  /// Copies new values into the parameters: one tensor for each of network().parameters(), in that
  /// order. Throws `error` with exit code 70 for another number of tensors.
  void set_values(std::vector<at::Tensor> const& parameters);

  /// Returns this rank's part of the state that a checkpoint holds: parameters, master parameters
  /// if they have another dtype, and optimizer slots.
  std::vector<ckpt::state_part> parts() const;

  /// Returns this rank's parts of all parameters, in the precision in which the optimizer updates
  /// them.
  std::vector<ckpt::state_part> master_parts() const;

  /// Returns this rank's parts of the LoRA adapters' parameters, in the precision of the optimizer.
  std::vector<ckpt::state_part> adapter_parts() const { return master_parts(true); }
  /// Returns this rank's parts of all parameters except LoRA adapters, in the precision of the
  /// optimizer.
  std::vector<ckpt::state_part> base_parts() const { return master_parts(false); }

  /// Returns this rank's parts of the model's parameters, with LoRA adapters merged into the
  /// weights.
  std::vector<ckpt::state_part> merged_parts() const { return adapt::merged(network(), base_parts()); }

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
  /// Ranges of the flat gradient, each with its weight in the gradient norm.
  std::vector<update::norm_range> norm_ranges;

 private:
  /// The location of a parameter's optimizer state: a segment, an offset in its slots, and the
  /// index in its `matrices`, if the optimizer updates the parameter as a whole.
  struct slot_location {
    std::size_t segment = 0;
    std::int64_t begin = 0;
    std::size_t matrix = 0;
  };

  /// A range [begin, end) of elements of the flat buffers.
  struct element_range {
    std::int64_t begin = 0, end = 0;
  };

  void add_segments(std::vector<update::parameter_settings> const& settings);
  void add_segment(element_range of, bool decay, update::parameter_settings const& settings,
                   std::vector<update::matrix> matrices);
  void add_norm_range(nn::stored_parameter const& s);
  std::vector<ckpt::state_part> master_parts(bool of_adapters) const;
  ckpt::state_part part(std::string full_name, shard::entry const& plan, at::Tensor local) const;

  int rank_;
  /// Place of each parameter's optimizer state, in the order of the store
  std::vector<slot_location> locations_;
};

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/network_state.inl.hpp>
#endif
