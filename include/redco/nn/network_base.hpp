#pragma once

#include <redco/nn/parameter_store.hpp>
#include <redco/nn/parameter_values.hpp>
#include <redco/nn/side_products.hpp>
#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace redco {

/// What can be asked of one rank's network whatever its type. The store is another's and outlives it.
class network_base {
 public:
  /// The leaves that the modules read, in the order in which they were taken.
  std::vector<at::Tensor> const& parameters() const { return values_.all(); }
  parameter_values const& values() const { return values_; }
  /// The tensors of parameters() as constants, which get no gradients. Made once.
  parameter_values const& constants() const { return constants_; }
  std::size_t cache_slots() const { return cache_slots_; }
  /// Whether some layer talks to the other replicas while it trains.
  bool meets_replicas() const { return !statistics_.empty(); }
  /// What such layers follow: to be equal on all replicas.
  std::vector<stored_parameter> const& statistics() const { return statistics_; }
  /// What outer layers compute beside the products of weights.
  std::vector<std::shared_ptr<detail::side_source const>> const& side_products() const { return side_products_; }
  parameter_store const& store() const { return *store_; }

 protected:
  explicit network_base(parameter_store const& store) : store_(&store) {}
  ~network_base() = default;

  /// Takes over what the modules took while they were built.
  template <class Builder>
  void hold(Builder const& b) {
    values_ = parameter_values(b.taken(), true);
    constants_ = values_.detached();
    cache_slots_ = b.cache_slots();
    statistics_ = b.all_statistics();
    side_products_ = b.all_side_products();
  }

 private:
  parameter_store const* store_;
  parameter_values values_{{}, true}, constants_{{}};
  std::size_t cache_slots_ = 0;
  std::vector<stored_parameter> statistics_;
  std::vector<std::shared_ptr<detail::side_source const>> side_products_;
};

}  // namespace redco
