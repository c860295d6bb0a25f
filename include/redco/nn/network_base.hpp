#pragma once

#include <redco/nn/parameter_store.hpp>
#include <redco/nn/parameter_values.hpp>
#include <redco/nn/side_products.hpp>
#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace redco {

/// The part of one rank's network that does not depend on the model's type. The parameter store
/// must outlive it.
class network_base {
 public:
  /// Returns the autograd leaves that the modules read, in the order in which modules took them.
  std::vector<at::Tensor> const& parameters() const { return values_.all(); }
  parameter_values const& values() const { return values_; }
  /// Returns the tensors of parameters() as constants, which get no gradients. They are made once.
  parameter_values const& constants() const { return constants_; }
  std::size_t cache_slots() const { return cache_slots_; }
  /// Returns true if some layer communicates with the other replicas during training, as batch norm
  /// does.
  bool meets_replicas() const { return !statistics_.empty(); }
  /// Returns the running statistics of layers such as batch norm. They must be equal on all
  /// replicas.
  std::vector<stored_parameter> const& statistics() const { return statistics_; }
  /// Returns the sources of products that outer layers add to those of weights, such as low-rank
  /// adapters.
  std::vector<std::shared_ptr<detail::side_source const>> const& side_products() const { return side_products_; }
  parameter_store const& store() const { return *store_; }

 protected:
  explicit network_base(parameter_store const& store) : store_(&store) {}
  ~network_base() = default;

  /// Stores the leaves, cache slots, statistics and side products that the builder `b` has
  /// collected.
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
