#pragma once

#include <redco/update/detail/wide.hpp>

#include <redco/tensor/torch.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace redco::update::detail {

/// Flat buffers of an update that treats each element alone: parameters, gradients and state slots.
template <class T, class Grad, std::size_t Slots>
struct element_arrays {
  T* param;
  Grad const* grad;
  std::array<T*, Slots> slots;
  c10::BFloat16* copy;  // bf16 copy of the parameters, or null
};

/// Updates the elements [begin, end) by `rule(parameter, gradient, slots)`, which changes the slots
/// and returns the next parameter.
template <class Rule, class T, class Grad, std::size_t Slots>
[[gnu::always_inline]] inline void element_each(element_arrays<T, Grad, Slots> const& a, std::int64_t begin,
                                                std::int64_t end, Rule const& rule) {
  for (std::int64_t i = begin; i < end; ++i) {
    T slots[Slots];
    for (std::size_t k = 0; k < Slots; ++k) slots[k] = a.slots[k][i];
    T const next = rule(a.param[i], static_cast<T>(a.grad[i]), slots);
    for (std::size_t k = 0; k < Slots; ++k) a.slots[k][i] = slots[k];
    a.param[i] = next;
    if (a.copy) a.copy[i] = static_cast<float>(next);
  }
}

#if defined(__x86_64__)
/// Updates the elements [begin, end) with the CPU's fused multiply-add instruction. Code compiled
/// without this target would call a library function for each fused multiply-add.
template <class Rule, class T, class Grad, std::size_t Slots>
[[gnu::target("avx2,fma")]] inline void element_wide(element_arrays<T, Grad, Slots> const& a, std::int64_t begin,
                                                     std::int64_t end, Rule const& rule) {
  element_each(a, begin, end, rule);
}
#endif

/// Updates the elements [begin, end) by `rule`. `wide` allows AVX2 instructions; results are
/// bit-equal with and without them.
template <class Rule, class T, class Grad, std::size_t Slots>
void element_kernel(element_arrays<T, Grad, Slots> const& a, std::int64_t begin, std::int64_t end, Rule const& rule,
                    [[maybe_unused]] bool wide) {
#if defined(__x86_64__)
  if (wide) return element_wide(a, begin, end, rule);
#endif
  element_each(a, begin, end, rule);
}

}  // namespace redco::update::detail
