#pragma once

#include <redco/run/update_noise.hpp>

#include <redco/tensor/scalar_type.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace redco::run {

REDCO_INLINE bool update_noise::is_measured() const { return std::isfinite(count); }

REDCO_INLINE at::ScalarType narrowest_of(dtype compute, update_record const& update) {
  at::ScalarType const computed = tensors::scalar_type_of(compute);
  return c10::elementSize(update.loss_type) < c10::elementSize(computed) ? update.loss_type : computed;
}

REDCO_INLINE void shake(network_state const& network, at::ScalarType type) {
  at::NoGradGuard const no_grad;
  double const most = (type == at::kDouble ? 16 : 1) * verify_tolerance::rounding_of(type);
  for (network_state::updated_part const& one : network.updated_parts()) {
    at::Tensor const& x = one.master.local;
    at::Tensor const numbers = at::arange(x.numel(), x.options().dtype(at::kDouble)).view(x.sizes());
    x.mul_(numbers.mul(78.233).sin_().mul_(most).add_(1).to(x.scalar_type()));
  }
  network.store.publish();
}

REDCO_INLINE double largest(at::Tensor const& x) {
  if (!x.defined() || x.numel() == 0) return 0;
  double const found = x.abs().max().item<double>();
  return std::isfinite(found) ? found : std::numeric_limits<double>::infinity();
}

REDCO_INLINE at::Tensor part_of(at::Tensor const& whole, safetensors::box const& box) {
  at::Tensor part = whole;
  for (std::size_t d = 0; d < box.shape.size(); ++d)
    part = part.narrow(static_cast<std::int64_t>(d), box.offset[d], box.shape[d]);
  return part;
}

REDCO_INLINE double difference(at::Tensor const& own, at::Tensor const& whole, safetensors::box const& box,
                               at::Tensor const& noisy, double strays) {
  if (own.defined() != whole.defined()) return std::numeric_limits<double>::infinity();
  if (!own.defined()) return 0;
  at::Tensor off = (own.to(at::kDouble) - part_of(whole, box).to(own.device(), at::kDouble)).abs_();
  double const most = largest(off);
  if (most == 0 || !std::isfinite(most)) return most;
  if (noisy.defined()) off = off.masked_select(part_of(noisy, box).to(off.device()).logical_not());
  if (strays == 0) return largest(off);
  std::int64_t const left = off.numel() - 1 - static_cast<std::int64_t>(strays * static_cast<double>(off.numel()));
  return left < 1 ? 0 : std::get<0>(off.flatten().kthvalue(left)).item<double>();
}

REDCO_INLINE update_noise noise_meter::measure(update_record const& alone, std::vector<update_record const*> others,
                                               dtype compute) {
  at::NoGradGuard const no_grad;
  std::erase_if(others, [&](update_record const* other) {
    return other == nullptr || other->parameters.size() != alone.parameters.size() || other->network != alone.network;
  });
  update_noise noise;
  double const least = others.empty() ? std::numeric_limits<double>::infinity() : 0;
  noise.loss = noise.norm = noise.count = least;
  for (updated_parameter const& p : alone.parameters)
    noise.parameters.push_back({least, least, std::vector<double>(p.slots.size(), least), {}});
  if (others.empty()) return noise;
  auto const raise = [](double& noise, double a, double b) {
    if (std::isfinite(a - b)) noise = std::max(noise, std::abs(a - b));
  };
  step_result const& here = alone.result;
  for (update_record const* other : others) {
    step_result const& there = other->result;
    raise(noise.loss, here.loss, there.loss);
    raise(noise.norm, here.grad_norm, there.grad_norm);
    raise(noise.count, here.weight, there.weight);
    for (std::size_t i = 0; i < std::min(here.terms.size(), there.terms.size()); ++i)
      raise(noise.terms[here.terms[i].first], here.terms[i].second, there.terms[i].second);
  }
  verify_tolerance const tolerance = verify_tolerance::of(narrowest_of(compute, alone));
  double largest_gradient = 0;
  for (updated_parameter const& p : alone.parameters)
    largest_gradient = std::max(largest_gradient, largest(p.gradient));
  for (std::size_t i = 0; i < alone.parameters.size(); ++i) {
    updated_parameter const& p = alone.parameters[i];
    update_noise::of_parameter& of = noise.parameters[i];
    for (update_record const* other : others)
      of.gradient = std::max(of.gradient, difference(p.gradient, other->parameters[i].gradient, p.box));
    at::Tensor& noisy = noisy_[alone.network + "." + p.name];
    if (p.gradient.defined()) {
      double const small = std::max(verify_tolerance::noise * of.gradient, tolerance.least_gradient * largest_gradient);
      // An element that is 0 each time has no gradient, rather than a small one.
      at::Tensor const some = p.gradient.ne(0);
      for (update_record const* other : others) some.logical_or_(other->parameters[i].gradient.ne(0));
      at::Tensor const now = p.gradient.abs().lt(small).logical_and_(some);
      noisy = noisy.defined() ? noisy.logical_or(now) : now;
    }
    of.noisy = noisy;
    for (update_record const* other : others) {
      updated_parameter const& q = other->parameters[i];
      of.update = std::max(of.update, difference(p.update, q.update, p.box, noisy, tolerance.strays));
      for (std::size_t j = 0; j < std::min(p.slots.size(), q.slots.size()); ++j) {
        at::Tensor const mask = p.slots[j].sizes() == p.update.sizes() ? noisy : at::Tensor();
        of.slots[j] =
            std::max(of.slots[j], difference(p.slots[j], q.slots[j], p.slot_boxes[j], mask, tolerance.strays));
      }
    }
  }
  if (tolerance.strays == 0) return noise;
  // A tensor of few elements may have little noise by chance, so the noise of its layer counts.
  std::map<std::string, update_noise::of_parameter> layers;
  auto const layer_of = [](std::string const& parameter) { return parameter.substr(0, parameter.rfind('.')); };
  for (int const pass : {0, 1})
    for (std::size_t i = 0; i < alone.parameters.size(); ++i) {
      update_noise::of_parameter &of = noise.parameters[i], &layer = layers[layer_of(alone.parameters[i].name)];
      auto const share = [pass](double& one, double& all) { (pass == 0 ? all : one) = std::max(one, all); };
      share(of.gradient, layer.gradient);
      share(of.update, layer.update);
      layer.slots.resize(std::max(layer.slots.size(), of.slots.size()), 0);
      for (std::size_t j = 0; j < of.slots.size(); ++j) share(of.slots[j], layer.slots[j]);
    }
  // After the first update, parameters also differ by updates whose sign rounding has changed.
  if (updates_[alone.network]++ == 0) return noise;
  auto const twice = [](double& one) { one *= 2; };
  for (double* one : {&noise.loss, &noise.norm, &noise.count}) twice(*one);
  for (auto& [name, one] : noise.terms) twice(one);
  for (update_noise::of_parameter& of : noise.parameters) {
    twice(of.gradient);
    twice(of.update);
    std::for_each(of.slots.begin(), of.slots.end(), twice);
  }
  return noise;
}

}  // namespace redco::run
