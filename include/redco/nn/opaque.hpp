#pragma once

#include <redco/nn/module.hpp>
#include <redco/nn/parameter.hpp>
#include <redco/tensor/device.hpp>
#include <redco/layer/opaque.hpp>
#include <redco/diag/error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco::nn {

/// A user's module that owns its tensors, like a torch::nn::Module. It is default-constructible and
/// has `named_parameters()`, a range of pairs of name and tensor. A pair has members key()/value()
/// or first/second. The module is called with one tensor, by operator() or `forward`.
template <class M>
concept tensor_owner = std::is_default_constructible_v<M> && requires(M m) {
  m.named_parameters();
};

}  // namespace redco::nn

namespace redco::nn::detail {

/// Calls f(name, tensor) for each parameter that named_parameters() of a user's module lists.
template <tensor_owner M, class F>
void for_each_owned(M& m, F&& f) {
  auto owned = m.named_parameters();
  for (auto& item : owned) {
    if constexpr (requires { item.key(); }) {
      f(item.key(), item.value());
    } else {
      f(item.first, item.second);
    }
  }
}

/// Returns a new object of the user's module type M. Seeds torch's default generator with `seed`
/// during the construction and restores it afterwards. So the constructor draws equal numbers on
/// every rank and mesh. A lock lets threads construct modules one at a time.
template <tensor_owner M>
std::shared_ptr<M> made_with(std::uint64_t seed) {
  static std::mutex one_at_a_time;
  std::lock_guard const lock(one_at_a_time);
  at::Generator generator = at::globalContext().defaultGenerator(tensors::cpu_device());
  auto const seeded = [&](std::uint64_t value) {
    std::lock_guard const draws(generator.mutex());
    generator.set_current_seed(value);
  };
  at::Tensor const before = generator.get_state();
  seeded(seed);
  auto const made = std::make_shared<M>();
  std::lock_guard const draws(generator.mutex());
  generator.set_state(before);
  return made;
}

template <class M>
at::Tensor called(M& m, at::Tensor const& x) {
  if constexpr (requires { m(x); }) {
    return m(x);
  } else {
    return m.forward(x);
  }
}

}  // namespace redco::nn::detail

namespace redco {

template <class M>
  requires(nn::tensor_owner<M> && !requires { M::parameters; })
struct layers::opaque_facts<M> {
  static void state(fact::recorder& w) {
    auto const built = nn::detail::made_with<M>(0);
    nn::detail::for_each_owned(*built, [&](std::string const& name, at::Tensor const& t) {
      fact::parameter_fact fact;
      for (std::int64_t const extent : t.sizes()) fact.shape.push(extent);
      fact.decay = fact.shape.rank > 1;
      fact.why = fact::reason::opaque;
      fact.start = {fact::initial::kind::own, 0};
      w.parameter(name, fact);
    });
  }
};

/// A module that calls a user's callable. A callable that lists its parameters is called as f(x,
/// std::span<at::Tensor const>). A callable that owns its tensors is called as f(x). Its tensors
/// become views of the flat parameter buffers and keep their constructed values.
///
/// If a call substitutes other tensors for parameters, it constructs another callable of type M,
/// which is not differentiable in these tensors. Throws `error` with exit code 70 if they require
/// gradients.
template <class M, class X>
struct module<opaque<M>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b) {
    if constexpr (requires { M::parameters; }) {
      callable = std::make_shared<M>();
      for (layers::parameter_shape const& p : M::parameters) parameters.push_back(b.parameter(p.name));
    } else {
      callable = nn::detail::made_with<M>(b.seed());
      nn::detail::for_each_owned(*callable, [&](std::string const& name, at::Tensor& t) {
        if (b.is_elsewhere(name)) return;
        b.start(name, t);
        parameters.push_back(b.parameter(name));
        at::Tensor const& leaf = b.taken().back();
        t.set_data(leaf.detach());
        t.requires_grad_(leaf.requires_grad());
        if (leaf.requires_grad()) t.mutable_grad() = leaf.grad();
      });
    }
  }

  template <class Context>
  tensor<shape::replicated> operator()(tensor<X> const& x, Context const& ctx) const {
    if constexpr (requires { M::parameters; }) {
      std::vector<at::Tensor> values;
      for (parameter const p : parameters) values.push_back(ctx[p]);
      return std::as_const(*callable)(x.local(), std::span<at::Tensor const>(values));
    } else {
      return nn::detail::called(ctx.parameters().own() ? *callable : *owner_of(ctx.parameters()), x.local());
    }
  }

  std::shared_ptr<M> callable;
  std::vector<parameter> parameters;

 private:
  std::shared_ptr<M> owner_of(nn::parameter_values const& values) const {
    auto const made = nn::detail::made_with<M>(0);
    std::size_t next = 0;
    nn::detail::for_each_owned(*made, [&](std::string const& name, at::Tensor& t) {
      at::Tensor const& value = values[parameters[next++]];
      if (value.requires_grad())
        throw error(exit_code::internal,
                    "'" + name +
                        "' belongs to an opaque module, which cannot be differentiated in other tensors than "
                        "its own; list its parameters and take them as a span");
      t.set_data(value.detach());
      t.requires_grad_(false);
    });
    return made;
  }
};

}  // namespace redco
