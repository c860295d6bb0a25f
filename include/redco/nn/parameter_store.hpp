#pragma once

#include <redco/nn/parameter.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shard/plan.hpp>
#include <redco/shard/regions.hpp>
#include <redco/shard/shares.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/zero.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace redco::nn {

class value_source;

/// An entry of the parameter store: one rank's part of a parameter, as views of the rank's flat
/// buffers.
struct stored_parameter {
  std::string name;
  shard::entry plan;
  /// Offset of the parameter in elements, equal in each flat buffer (values, masters, gradients)
  std::int64_t offset = 0;
  bool trainable = true;
  /// Index of the replica to which the parameter belongs wholly, along the mesh axes over whose
  /// ranks state is shared out; -1: none, see shard::owned_layout
  int owner = -1;
  /// Value that forward reads, [local extents], in the compute dtype. If the rank keeps only a
  /// share of the values (parameter_store::shares_values), it has no elements in memory while no
  /// layer needs it.
  at::Tensor value;
  /// Copy of the value that the optimizer updates, [local extents], f32 (f64 if the run computes in
  /// f64). It is the value itself if the dtypes are equal. If the rank keeps only a share of the
  /// copies (parameter_store::has_cut_masters), it has no elements in memory.
  at::Tensor master;
  /// Gradient of this rank's part, [local extents], in the compute dtype; undefined if the
  /// parameter is frozen, or if the rank keeps only a share of the gradients.
  at::Tensor gradient;
};

/// A store of all parameters that one rank holds in flat buffers. Parameters with equal weight
/// decay whose gradients are summed over the same mesh axes form a region. They are adjacent, in
/// the order of the plan, so that an optimizer needs one call per region.
class parameter_store {
 public:
  /// Allocates and initialises the parameters of `rank` in dtype `compute`. Parameters in `placed`
  /// that only other pipeline stages hold are left out. Random values are keyed
  /// by seed, name and global element index, so they are equal on every mesh. Padding is zero.
  /// `frozen` lists patterns of names of parameters that are not trained. Throws `error` with exit
  /// code 64 if a pattern matches no name. `zero`: tensors of which the replicas keep shares.
  parameter_store(std::vector<shard::placed_parameter> const& placed, int rank, dtype compute, std::uint64_t seed,
                  std::vector<std::string> const& frozen = {}, at::Device device = tensors::cpu_device(),
                  shape::zero const& zero = {});

  std::span<stored_parameter const> parameters() const { return parameters_; }
  /// Returns an empty region with the properties of the parameter `p` in this store.
  shard::region region_of(stored_parameter const& p) const { return shard::region_of(p.plan, p.trainable, zero_); }

  stored_parameter const* find(std::string_view name) const;
  /// Returns true if the plan has the parameter `name` and only other pipeline stages hold it.
  bool is_elsewhere(std::string_view name) const { return elsewhere_.contains(std::string(name)); }

  /// Returns the regions of the flat buffers (ranges of elements whose parameters are trained
  /// alike), in elements.
  shard::regions const& regions() const { return regions_; }

  /// Returns the ranges of the flat buffers of which each replica keeps one share, in ascending
  /// order; empty if each replica keeps all.
  std::vector<shard::shared_range> const& shares() const { return shares_; }
  /// A range [begin, end) of the flat buffers that this rank keeps. `packed`: its first element in
  /// buffers that have only the kept ranges, one after the other.
  struct kept_range {
    std::int64_t begin = 0, end = 0, packed = 0;
  };
  /// Returns this rank's share of each of shares(), without padding.
  std::vector<kept_range> const& kept() const { return kept_; }

  /// Returns the values that forward reads. With shares_values(), they are in several buffers;
  /// see value_parts().
  at::Tensor const& values() const { return values_; }
  /// A buffer with the elements [begin, end) of the values: all trained or all frozen parameters of
  /// one block, or of the layers outside blocks (`block` -1).
  struct value_part {
    std::int64_t begin = 0, end = 0, block = -1;
    at::Tensor values;
  };
  /// Returns the buffers of the values with shares_values(), in ascending order.
  std::vector<value_part> const& value_parts() const { return value_parts_; }
  /// Returns `count` values from element `begin` on, which are in one buffer.
  at::Tensor values_at(std::int64_t begin, std::int64_t count) const;
  /// Returns the index in the flat buffers of the first element of an autograd leaf.
  std::int64_t first_element(at::Tensor const& leaf) const;
  /// Returns the values that this rank keeps with shares_values(), one kept range after the other.
  at::Tensor const& kept_values() const { return kept_values_; }
  /// Returns the masters of all parameters; with shares() in bf16, those of trained parameters.
  at::Tensor const& masters() const { return masters_; }
  /// Returns the masters that this rank keeps, one kept range after the other. Undefined without
  /// shares(), and if the masters are the values.
  at::Tensor const& kept_masters() const { return kept_masters_; }
  /// Returns the gradients of all trained parameters; with has_cut_gradients(), those that this
  /// rank keeps, one kept range after the other.
  at::Tensor const& gradients() const { return gradients_; }
  dtype compute() const { return compute_; }
  /// Returns the device that holds the buffers and computes the network.
  at::Device device() const { return device_; }
  bool has_masters() const { return compute_ != dtype::f64 && compute_ != dtype::f32; }
  /// Returns true if this rank has only its share of the masters in memory.
  bool has_cut_masters() const { return is_cut_; }

  /// Returns true if this rank has only its share of the gradients in memory. Then leaves have no
  /// gradients outside backward, and each backward sums its gradients into the share.
  bool has_cut_gradients() const { return zero_.sums_in_backward(); }

  /// Returns what the replicas share out; level 0 if there is one replica.
  shape::zero const& zero() const { return zero_; }
  /// Returns true if each replica keeps only its share of the values.
  bool shares_values() const { return zero_.shares_values(); }
  /// Returns true if a buffer of values has its elements in memory. `has_whole_values` returns true
  /// if all buffers do.
  static bool is_whole(value_part const& one) { return one.values.storage().nbytes() > 0 || one.begin == one.end; }
  bool has_whole_values() const { return std::all_of(value_parts_.begin(), value_parts_.end(), is_whole); }
  /// Allocates a buffer of values, and sets the elements that this rank keeps. Returns the buffer's
  /// elements as a tensor of which autograd does not see changes; the caller gathers the others.
  at::Tensor allocate(value_part const& one) const;
  /// Frees a buffer of values. Its memory stays for the next allocate() of a buffer of equal size,
  /// until `forget_dropped`.
  void drop(value_part const& one) const;
  void forget_dropped() const { dropped_ = {}; }
  /// The object that gathers values before layers read them; null if all are in memory.
  value_source* source() const { return source_; }
  void set_source(value_source* one) const { source_ = one; }

  /// Returns the seed that keys the random numbers of the parameter or layer `name`.
  std::uint64_t seed_of(std::string_view name) const;

  /// Copies the masters (the optimizer's f32 copies) into the values that forward reads. Call it
  /// after the parameters were initialised or loaded. Does nothing if has_cut_masters(), because
  /// cut_masters() has copied them.
  void publish() const;

  /// Copies all masters into the values, keeps this rank's share of the masters, and frees the
  /// others; with shares_values(), also frees the values. Does nothing unless the masters are
  /// shared out. Until join_masters(), only the optimizer may change masters.
  void cut_masters() const;
  /// Allocates what cut_masters() freed, and sets the elements that this rank keeps. The caller
  /// gathers the others: the ranges shares() of masters_at().
  void join_masters() const;
  /// Returns `count` masters from element `begin` on, which are in one buffer.
  at::Tensor masters_at(std::int64_t begin, std::int64_t count) const;

  /// Adds normal numbers of the given standard deviation to the gradients of `rank`, which must be
  /// summed over the replicas already. The numbers are keyed by seed, step, name and global element
  /// index, so they are equal on every mesh and on all ranks that hold an element.
  void add_noise(double deviation, int rank, std::uint64_t seed, std::uint64_t step) const;

 private:
  void lay_out();
  void share_out(int rank);
  void give_out(int rank);
  void allocate();
  static void initialise(stored_parameter& p, int rank, std::uint64_t seed);

  dtype compute_;
  std::uint64_t seed_;
  at::Device device_;
  std::vector<stored_parameter> parameters_;
  std::unordered_map<std::string, std::size_t> index_;
  std::unordered_set<std::string> elsewhere_;  ///< Names of parameters that only other stages hold
  shard::regions regions_;
  std::vector<shard::shared_range> shares_;
  std::vector<kept_range> kept_;
  shape::zero zero_;
  mutable bool is_cut_ = false;  ///< true between cut_masters() and join_masters()
  at::Tensor values_, masters_, gradients_;
  at::Tensor kept_masters_, kept_values_;
  /// Masters of frozen parameters, apart if only those of trained ones are shared out
  at::Tensor frozen_masters_;
  std::vector<value_part> value_parts_;
  /// Memory of the last dropped buffer of values
  struct memory {
    c10::DataPtr data;
    std::size_t bytes = 0;
  };
  mutable memory dropped_;
  mutable value_source* source_ = nullptr;
};

/// A factory of autograd leaves, which are views of one rank's flat parameter buffers. A leaf
/// covers one parameter, or adjacent parameters that a module reads as one matrix (q, k, v). The
/// leaf's `.grad` is a view of the flat gradient buffer, unless a rank keeps only a share of it.
class leaves {
 public:
  explicit leaves(parameter_store const& store) : store_(store) {}

  /// Returns a handle to a new autograd leaf that covers the parameters `names`, joined in this
  /// order along the first dimension. The handle is empty if only other pipeline stages hold the
  /// parameters. Throws `error` with exit code 64 if only some of the parameters are frozen.
  parameter take(std::vector<std::string> const& names);

  /// Returns the handle of the leaf that take() made for the parameter `name`, so that another
  /// layer can read the same (tied) parameter. The handle is empty if only other pipeline stages
  /// hold the parameter. Throws `error` with exit code 70 if there is no such leaf.
  parameter tied(std::string const& name) const;

  /// Sets the first value of the parameter `name`, which a layer initialises with the tensor of a
  /// user's module. Does nothing if the parameter has a value already (from a checkpoint).
  void start(std::string const& name, at::Tensor const& value) const;

  /// Returns the entry of the parameter `name` in the parameter store. Throws `error` with exit
  /// code 70 if the store has none.
  stored_parameter const& stored(std::string const& name) const;

  bool has(std::string const& name) const { return store_.find(name) != nullptr; }
  bool is_elsewhere(std::string const& name) const { return store_.is_elsewhere(name); }

  /// Returns the seed of the random numbers that the layer at `path` draws while it is constructed.
  std::uint64_t seed_of(std::string_view path) const { return store_.seed_of(path); }

  std::vector<at::Tensor> const& taken() const { return taken_; }

 private:
  at::Tensor leaf_of(std::vector<std::string> const& names) const;

  parameter_store const& store_;
  std::vector<at::Tensor> taken_;
  std::unordered_map<std::string, parameter> by_name_;
};

}  // namespace redco::nn

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/parameter_store.inl.hpp>
#endif
