#pragma once

// Runs a network on a mesh with given parameters and assembles unsharded results and gradients, to
// compare them with those of one rank or of plain operators.

#include "torch_catch.hpp"

#include <redco/nn/network.hpp>
#include <redco/nn/nn.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/model.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sharded {

using tensor_map = std::map<std::string, at::Tensor>;

inline void must(bool holds, std::string const& law) {
  if (!holds) throw std::runtime_error("does not hold: " + law);
}

inline std::vector<std::int64_t> sizes_of(redco::extents const& e) { return {e.size.begin(), e.size.begin() + e.rank}; }

/// Returns values that depend only on a name. None is zero, no two are equal.
inline at::Tensor values_of(std::string const& name, std::vector<std::int64_t> const& sizes) {
  double phase = 0.3;
  for (char const c : name) phase = phase * 1.7 + static_cast<double>(static_cast<unsigned char>(c)) * 0.013;
  phase -= static_cast<double>(static_cast<int>(phase / 6.28)) * 6.28;
  std::int64_t const n = c10::multiply_integers(sizes);
  at::Tensor const at = at::arange(n, at::kDouble);
  return (at::sin(at * 0.7391 + phase) * 0.4 + at::cos(at * at * 0.013 + phase) * 0.11 + 0.03).view(sizes);
}

inline at::Tensor values_of(std::string const& name, redco::extents const& shape) {
  return values_of(name, sizes_of(shape));
}

/// The part of a rank's local tensor without padding, and its position in the unsharded tensor.
struct local_part {
  redco::shard::entry const& plan;
  int rank;

  at::Tensor own(at::Tensor const& local) const { return cut(local, {}); }
  at::Tensor part_of(at::Tensor const& whole) const { return cut(whole, plan.offset(rank)); }

 private:
  at::Tensor cut(at::Tensor x, redco::extents const& from) const {
    redco::extents const part = plan.logical(rank);
    for (int d = 0; d < part.rank; ++d) x = x.narrow(d, from.size[static_cast<std::size_t>(d)], part[d]);
    return x;
  }
};

/// Gives every parameter of a store the values of its name.
inline void fill(redco::nn::parameter_store const& store, int tp_index) {
  at::NoGradGuard const quiet;
  for (auto const& p : store.parameters()) {
    local_part const at{p.plan, tp_index};
    at.own(p.value).copy_(at.part_of(values_of(p.name, p.plan.fact.shape)));
  }
}

/// Unsharded tensors that are assembled from the ranks' parts. Parts that several ranks hold, as
/// replicas or as sharers, must be equal.
class whole_tensors {
 public:
  void add(redco::nn::stored_parameter const& p, at::Tensor const& local, int tp_index) {
    std::lock_guard const lock(mutex_);
    local_part const at{p.plan, tp_index};
    at::Tensor& whole = all_[p.name];
    if (!whole.defined()) whole = at::zeros(sizes_of(p.plan.fact.shape), local.options());
    if (p.plan.is_split()) {
      bool const first = ++seen_[p.name + " at " + std::to_string(p.plan.first_of_row(tp_index, 0))] == 1;
      if (first) {
        at.part_of(whole).add_(at.own(local));
      } else {
        must(at.part_of(whole).equal(at.own(local)), p.name + " is alike on its sharers");
      }
      int const dim = p.plan.fact.on(redco::shape::axis::tp).dim;
      if (dim < 0) return;
      std::int64_t const logical = at.own(local).size(dim);
      must(local.narrow(dim, logical, local.size(dim) - logical).eq(0).all().item<bool>(),
           p.name + " has zero padding");
    } else if (++seen_[p.name] == 1) {
      whole.copy_(local);
    } else {
      must(whole.equal(local), p.name + " is alike on all ranks");
    }
  }

  tensor_map const& all() const { return all_; }

 private:
  std::mutex mutex_;
  tensor_map all_;
  std::map<std::string, int> seen_;
};

/// Returns a flat tensor of a rank's values over its leaves, in the layout of the flat buffers.
inline at::Tensor flat_of(redco::nn::parameter_store const& store, std::vector<at::Tensor> const& leaves,
                          std::vector<at::Tensor> const& values) {
  at::NoGradGuard const quiet;
  at::Tensor const flat = at::zeros_like(store.values());
  for (std::size_t i = 0; i < leaves.size(); ++i)
    if (values[i].defined())
      flat.narrow(0, leaves[i].storage_offset(), leaves[i].numel()).copy_(values[i].reshape({-1}));
  return flat;
}

inline at::Tensor part_of(at::Tensor const& flat, redco::nn::stored_parameter const& p) {
  return flat.narrow(0, p.offset, p.value.numel()).view(p.value.sizes());
}

/// Returns the rows of one parameter in the tensor over the leaf that covers it; undefined if that
/// tensor is undefined.
inline at::Tensor part_of_leaves(std::vector<at::Tensor> const& leaves, std::vector<at::Tensor> const& values,
                                 redco::nn::stored_parameter const& p) {
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    std::int64_t const begin = p.offset - leaves[i].storage_offset();
    if (begin < 0 || begin >= leaves[i].numel()) continue;
    if (!values[i].defined()) return {};
    return values[i].narrow(0, begin / (leaves[i].numel() / leaves[i].size(0)), p.value.size(0));
  }
  return {};
}

/// A model for a network over ids or rows of features, or the given model that states its input.
template <class Net>
struct model_for {
  using type = redco::model_of<Net>;
};
template <redco::model M>
struct model_for<M> {
  using type = M;
};
template <class Net>
using model_for_t = typename model_for<Net>::type;

/// A network on one rank, with its type erased.
struct rank_net {
  std::shared_ptr<redco::nn::parameter_store> store;
  std::vector<at::Tensor> leaves;
  std::function<at::Tensor(redco::pass const&, std::vector<at::Tensor> const* substitutes, at::Tensor const& x)> run;
};
using net_maker = std::function<rank_net(redco::mesh const&, int tp_index)>;

struct call {
  template <class Net>
  at::Tensor operator()(Net const& net, at::Tensor const& x) const {
    if constexpr (requires { net(x).tensor(); }) {
      return net(x).tensor();
    } else {
      return net(x);
    }
  }
};

template <class Net, class Use = call>
net_maker maker_of(Use use = {}) {
  using model = model_for_t<Net>;
  return [use](redco::mesh const& on, int tp_index) {
    rank_net r;
    r.store = std::make_shared<redco::nn::parameter_store>(redco::shard::placed_parameters(redco::plan_of(model{}, on)),
                                                           tp_index, redco::dtype::f64, 1);
    fill(*r.store, tp_index);
    auto const net = std::make_shared<redco::nn::network<model> const>(model{}, *r.store, tp_index, on);
    r.leaves = net->parameters();
    r.run = [net, use](redco::pass const& in, std::vector<at::Tensor> const* substitutes, at::Tensor const& x) {
      redco::bound_network<model> const bound(net, in);
      return substitutes != nullptr ? use(bound.substituted(*substitutes), x) : use(bound, x);
    };
    return r;
  };
}

/// The results of a network for a loss that is quadratic in its output: first derivatives by
/// backward, second derivatives through substituted parameters.
struct outcome {
  at::Tensor y, input_gradient, second_input_gradient;
  tensor_map gradients, second;
};

inline at::Tensor quadratic(at::Tensor const& y) {
  return (y * y * values_of("loss", y.sizes().vec())).sum() + (y * values_of("slope", y.sizes().vec())).sum();
}

struct settings {
  bool training = false;
  redco::recomputed_blocks recompute = {};
  bool second_order = true;
  bool overlap = false;  ///< exchanges between shards overlap their products
};

namespace detail {

inline void first_order(rank_net const& r, redco::pass const& in, at::Tensor const& x, int rank, whole_tensors& to,
                        outcome& result, std::mutex& mutex) {
  at::Tensor const input = x.is_floating_point() ? x.detach().clone().requires_grad_() : x;
  at::Tensor const y = r.run(in, nullptr, input);
  quadratic(y).backward();
  for (auto const& p : r.store->parameters())
    if (p.trainable) to.add(p, p.gradient.clone(), rank);
  std::lock_guard const lock(mutex);
  if (!result.y.defined()) result.y = y.detach(), result.input_gradient = input.grad();
  must(result.y.equal(y.detach()), "the result is alike on all ranks");
  if (input.grad().defined())
    must(result.input_gradient.equal(input.grad()), "the input's gradient is alike on all ranks");
}

inline void second_order(rank_net const& r, redco::pass const& in, at::Tensor const& x, int rank, whole_tensors& to,
                         outcome& result, std::mutex& mutex) {
  std::vector<at::Tensor> inputs;
  for (at::Tensor const& leaf : r.leaves) inputs.push_back(leaf.detach().clone().requires_grad_());
  auto const parameters = inputs;
  at::Tensor const input = x.is_floating_point() ? x.detach().clone().requires_grad_() : x;
  if (input.requires_grad()) inputs.push_back(input);
  auto const first = torch::autograd::grad({quadratic(r.run(in, &parameters, input))}, inputs, {}, true, true, true);
  at::Tensor const directions = at::zeros_like(r.store->values());
  for (auto const& p : r.store->parameters()) {
    local_part const at{p.plan, rank};
    at.own(part_of(directions, p)).copy_(at.part_of(values_of("direction of " + p.name, p.plan.fact.shape)));
  }
  at::Tensor sharded = at::zeros({}, at::kDouble), whole = at::zeros({}, at::kDouble);
  if (input.requires_grad() && first.back().defined())
    whole = whole + (first.back() * values_of("direction of x", x.sizes().vec())).sum();
  for (auto const& p : r.store->parameters()) {
    at::Tensor const gradient = part_of_leaves(r.leaves, first, p);
    if (!gradient.defined()) continue;
    at::Tensor const direction = part_of(directions, p);
    // Sharers have one gradient. Each adds its share of the product, and the derivative of each
    // share returns to all sharers.
    at::Tensor const own = redco::comm::enter_shared(gradient, *in.tp, p.plan.sharers(redco::shape::axis::tp));
    at::Tensor& total = p.plan.is_split() ? sharded : whole;
    total = total + (own * direction).sum() / p.plan.sharers(redco::shape::axis::tp);
  }
  at::Tensor const number = redco::comm::reduce(redco::tensor<redco::shape::partial>(sharded, {whole}), *in.tp).local();
  auto second = torch::autograd::grad({number}, inputs, {}, false, false, true);
  at::Tensor const of_input = input.requires_grad() ? second.back() : at::Tensor();
  at::Tensor const flat = flat_of(*r.store, r.leaves, second);
  for (auto const& p : r.store->parameters()) to.add(p, part_of(flat, p), rank);
  std::lock_guard const lock(mutex);
  if (!result.second_input_gradient.defined()) result.second_input_gradient = of_input;
  if (of_input.defined()) must(result.second_input_gradient.equal(of_input), "the input's second gradient is alike");
}

}  // namespace detail

/// Runs the network on `width` tensor-parallel ranks.
inline outcome on_width(net_maker const& make, int width, at::Tensor const& x, settings const& how = {}) {
  outcome result;
  whole_tensors first, second;
  std::mutex mutex;
  redco::comm::run_ranks({.tp = width}, {}, [&](redco::rank_context& rank) {
    rank_net const r = make(rank.mesh, rank.tp_index());
    redco::pass in = redco::nn::training_pass(rank, 7, 3, {.recompute = how.recompute, .check_saved = how.overlap})
                         .with_examples(2, x.size(0));
    in.training = how.training;
    if (how.overlap) in.shard_lane = &rank.lane(redco::shape::axis::tp), in.shard_lane->min_bytes = 1;
    detail::first_order(r, in, x, rank.tp_index(), first, result, mutex);
    in.calls = 0;
    if (how.second_order) detail::second_order(r, in, x, rank.tp_index(), second, result, mutex);
  });
  result.gradients = first.all();
  result.second = second.all();
  return result;
}

/// A function that computes the expected output from the parameters with plain operators.
using dense_function = std::function<at::Tensor(tensor_map const& parameters, at::Tensor const& x)>;

inline outcome dense(dense_function const& f, redco::shard::dynamic_plan const& plan, at::Tensor const& x) {
  outcome result;
  tensor_map parameters;
  std::vector<at::Tensor> inputs;
  std::vector<std::string> names;
  for (auto const& p : redco::shard::placed_parameters(plan)) {
    inputs.push_back(values_of(p.name, p.plan.fact.shape).requires_grad_());
    names.push_back(p.name);
    parameters[p.name] = inputs.back();
  }
  at::Tensor const input = x.is_floating_point() ? x.detach().clone().requires_grad_() : x;
  if (input.requires_grad()) inputs.push_back(input);
  at::Tensor const y = f(parameters, input);
  result.y = y.detach();
  if (inputs.empty()) return result;
  auto const first = torch::autograd::grad({quadratic(y)}, inputs, {}, true, true, true);
  at::Tensor number = at::zeros({}, at::kDouble);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::string const name = i < names.size() ? names[i] : "x";
    if (first[i].defined())
      number = number + (first[i] * values_of("direction of " + name, inputs[i].sizes().vec())).sum();
  }
  auto const second = torch::autograd::grad({number}, inputs, {}, false, false, true);
  auto const or_zero = [&](at::Tensor const& g, std::size_t i) {
    return g.defined() ? g.detach() : at::zeros_like(inputs[i]);
  };
  for (std::size_t i = 0; i < names.size(); ++i) {
    result.gradients[names[i]] = or_zero(first[i], i);
    result.second[names[i]] = or_zero(second[i], i);
  }
  if (input.requires_grad()) {
    result.input_gradient = or_zero(first.back(), names.size());
    result.second_input_gradient = or_zero(second.back(), names.size());
  }
  return result;
}

/// Returns the largest difference divided by 1 + the largest expected value; infinite if the shapes
/// differ.
inline double distance(at::Tensor const& found, at::Tensor const& expected) {
  if (!expected.defined()) return 0;
  if (!found.defined()) return expected.abs().max().item<double>();
  if (found.sizes() != expected.sizes()) return 1e300;
  if (expected.numel() == 0) return 0;
  double const worst = ((found - expected).abs().max() / (1 + expected.abs().max())).item<double>();
  return worst == worst ? worst : 1e300;
}

inline void check_equal(outcome const& found, outcome const& expected, double tolerance = 1e-12) {
  CHECK(distance(found.y, expected.y) < tolerance);
  CHECK(distance(found.input_gradient, expected.input_gradient) < tolerance);
  if (!found.second.empty() || found.second_input_gradient.defined())
    CHECK(distance(found.second_input_gradient, expected.second_input_gradient) < tolerance);
  for (auto const& [name, gradient] : found.gradients) {
    INFO(name);
    CHECK(distance(gradient, expected.gradients.at(name)) < tolerance);
  }
  for (auto const& [name, gradient] : found.second) {
    INFO("second derivative, " << name);
    CHECK(distance(gradient, expected.second.at(name)) < tolerance);
  }
}

/// Compares a network on each of `widths` with plain operators: values, first and second
/// derivatives.
template <class Net, class Use = call>
void check_module(at::Tensor const& x, dense_function const& f, std::vector<int> const& widths = {1, 2, 3},
                  Use use = {}, settings const& how = {}) {
  outcome const expected = dense(f, redco::plan_of(model_for_t<Net>{}, {.dp = 1}), x);
  for (int const width : widths) {
    INFO("width " << width);
    outcome found;
    REQUIRE_NOTHROW(found = on_width(maker_of<Net>(use), width, x, how));
    check_equal(found, expected);
  }
}

}  // namespace sharded
