#pragma once

#include <redco/run/network_state.hpp>
#include <redco/nn/families.hpp>
#include <redco/nn/network.hpp>
#include <redco/nn/network_arguments.hpp>
#include <redco/shard/families.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/model.hpp>
#include <redco/shape/zero.hpp>
#include <redco/adapt/low_rank.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace redco::run {

/// A network with its optimizer on one rank, for training loops that the user writes. `frozen`:
/// name patterns of parameters that are not trained. `zero`: state of which the replicas keep
/// shares. Throws `error` with exit code 64 if a pattern matches no parameter, or if the optimizer
/// needs whole parameters and the replicas keep shares.
template <model M>
class trained_network final : public network_state {
 public:
  trained_network(M const& m, shard::dynamic_plan const& p, update::any_optimizer with, dtype compute,
                  std::uint64_t seed, int rank, std::vector<std::string> const& frozen = {},
                  at::Device device = tensors::cpu_device(), shape::zero const& zero = {})
      : network_state(shard::placed_parameters(p), std::move(with), compute, seed, rank, frozen, device, zero),
        net(nn::make_network(m, store, rank, p.mesh,
                             shape::stage_blocks(p.stages, p.mesh.coordinate(rank, shape::axis::pp)))) {
    store.cut_masters();  // after the modules have set their own initial values
  }

  nn::network_base const& network() const override { return *net; }

  /// Returns the network bound to a pass (settings of a forward call). The pass must outlive the
  /// returned object and the backward of its results. Passing a temporary pass is the compile error
  /// redco[R001].
  bound_network<M> in(pass const& one) const { return {net, one}; }
  template <nn::detail::temporary<pass> Pass>
  bound_network<M> in(Pass&& one) const {
    return in(nn::detail::refused_temporary(one));
  }

  std::shared_ptr<nn::network<M> const> net;
};

}  // namespace redco::run
