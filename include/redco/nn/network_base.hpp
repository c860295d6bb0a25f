#pragma once

#include <redco/nn/load_balance.hpp>
#include <redco/nn/parameter.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/nn/pass.hpp>
#include <redco/nn/side_products.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/stage_cuts.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace redco::nn {

/// A base of `network` with everything that does not depend on the model's type. Refers to a
/// parameter store, which must outlive the network.
class network_base {
 public:
  /// Returns the autograd leaves that the modules read (views of the parameter store), in the order
  /// in which the modules requested them.
  std::vector<at::Tensor> const& parameters() const { return values_.all(); }
  parameter_values const& values() const { return values_; }
  /// Returns the tensors of parameters() detached from autograd, so that they get no gradients.
  /// They are created once.
  parameter_values const& constants() const { return constants_; }
  std::size_t cache_slots() const { return cache_slots_; }
  /// Returns the largest number of positions for which cached keys are right. Decoding computes the
  /// cache again when a sequence becomes longer. 0: no limit.
  std::int64_t cache_limit() const { return cache_limit_; }
  /// Returns the largest number of tokens of a text for which no layer's result depends on the
  /// number. 0: no layer depends on it.
  std::int64_t text_limit() const { return text_limit_; }
  /// Returns the number of token ids of the language head, on every pipeline stage; 0 without head.
  std::int64_t vocabulary() const { return vocabulary_; }
  /// Returns true if some layer communicates with other replicas during forward or backward in
  /// training. Batch norm does so.
  bool meets_replicas() const { return !statistics_.empty(); }
  /// Returns the store's entries of running statistics, such as those of batch norm. Their values
  /// must be equal on all replicas.
  std::vector<stored_parameter> const& statistics() const { return statistics_; }
  /// Returns the routers whose biases balance the loads of their experts.
  std::vector<load_balance> const& balances() const { return balances_; }
  /// Returns all side products of the network. A side product computes a matrix product, such as
  /// that of a low-rank adapter, which is added to the product of a weight.
  std::vector<std::shared_ptr<detail::side_source const>> const& side_products() const { return side_products_; }
  parameter_store const& store() const { return *store_; }

  /// Returns true if calls of the network exchange rows with the ranks along the mesh axis ep,
  /// which hold other experts. All these ranks then call the network together (see
  /// joint_calls.hpp).
  bool exchanges_rows() const { return empty_call_ != nullptr; }
  /// Calls the network with 0 rows of input, so that this rank's experts compute the rows of other
  /// ranks. Returns the sum of the empty output, a scalar from which backward starts. A pipeline
  /// stage runs the model chunk with index `chunk`, or all of its chunks for -1, and passes nothing
  /// on to other stages. Requires that exchanges_rows() is true.
  at::Tensor call_without_rows(pass const& in, int chunk = -1) const { return empty_call_(*this, in, chunk); }

  /// Returns true if this rank runs only a pipeline stage of the network.
  bool is_stage() const { return is_stage_; }
  /// Returns the blocks that this rank runs, counted over all outermost `repeat`s.
  shape::stage_blocks const& blocks() const { return blocks_; }

 protected:
  network_base(parameter_store const& store, shape::stage_blocks const& blocks, bool is_stage)
      : store_(&store), blocks_(blocks), is_stage_(is_stage) {}
  ~network_base() = default;

  using empty_call = at::Tensor (*)(network_base const&, pass const&, int chunk);
  /// Sets the function that calls the network with 0 rows.
  void exchange_rows_by(empty_call call) { empty_call_ = call; }

  /// Stores everything that the builder `b` has collected while modules were built: autograd
  /// leaves, cache slots, size of the vocabulary, running statistics, routers' balances and side
  /// products.
  template <class Builder>
  void hold(Builder const& b) {
    values_ = parameter_values(b.taken(), true);
    constants_ = values_.detached();
    cache_slots_ = b.cache_slots();
    cache_limit_ = b.cache_limit();
    text_limit_ = b.text_limit();
    vocabulary_ = b.vocabulary();
    statistics_ = b.all_statistics();
    balances_ = b.all_balances();
    side_products_ = b.all_side_products();
  }

 private:
  parameter_store const* store_;
  shape::stage_blocks blocks_;
  bool is_stage_;
  empty_call empty_call_ = nullptr;
  parameter_values values_{{}, true}, constants_{{}};
  std::size_t cache_slots_ = 0;
  std::int64_t cache_limit_ = 0, text_limit_ = 0, vocabulary_ = 0;
  std::vector<stored_parameter> statistics_;
  std::vector<load_balance> balances_;
  std::vector<std::shared_ptr<detail::side_source const>> side_products_;
};

}  // namespace redco::nn
