#pragma once

#include <redco/nn/text_rows.hpp>

#include <redco/nn/key_value_cache.hpp>
#include <redco/nn/token_parts.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/device_graph.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <string>

namespace redco::nn::detail {

REDCO_INLINE documents without_padding(documents const& given, at::Device device) {
  if (!given.value.defined() || given.value.dim() != 2 || given.real.defined()) {
    documents found = given;
    if (found.value.defined()) found.value = found.value.to(device);
    if (found.real.defined()) found.real = found.real.to(device);
    return found;
  }
  bool const recorded = tensors::graph_recording::of_thread() != nullptr;
  tensors::graph_recording::scope const reads(nullptr);
  at::Tensor const here = tensors::to_cpu(given.value), real = here.ge(0);
  at::Tensor const there = given.value.to(device);
  if (!recorded && real.all().item<bool>()) {
    bool const is_one = here.eq(at::arange(here.size(1), at::kLong)).all().item<bool>();
    return {is_one ? at::Tensor() : there};
  }
  // Each token of padding is a document of its own, which no other token sees.
  documents found{there.clamp_min(0), there.ge(0)};
  // A recorded graph cannot depend on the values of its first batch.
  if (!recorded && here.eq(at::arange(here.size(1), at::kLong)).logical_or(real.logical_not()).all().item<bool>())
    found.value.reset();
  else if (auto& copies = tensors::cpu_copies::of_thread(); copies.find(given.value))
    copies.add(found.value, here.clamp_min(0));
  return found;
}

REDCO_INLINE at::Tensor text_of_tokens(at::Tensor const& positions) {
  return (at::arange(positions.numel(), positions.options()).view(positions.sizes()) - positions).clamp_min(0);
}

/// Returns the number of tokens of each token's document, int64 [B, T]. Padding does not count.
inline at::Tensor document_lengths(at::Tensor const& positions, at::Tensor const& real) {
  at::Tensor const text = text_of_tokens(positions).flatten();
  at::Tensor const ones = real.defined() ? real.to(at::kLong).flatten() : at::ones_like(text);
  return at::zeros_like(text).scatter_add(0, text, ones).gather(0, text).view(positions.sizes());
}

REDCO_INLINE void begin_texts(pass& in, at::Tensor const& x, documents const& rows, std::int64_t limit) {
  if (!in.real.defined()) in.real = rows.real;
  if (limit == 0 || x.dim() < 2) return;
  std::int64_t const before = in.cache != nullptr ? in.cache->length() : 0;
  if (before + x.size(1) <= limit) return;
  if (rows.value.defined()) in.text_lengths = document_lengths(rows.value, in.real);
  else if (in.real.defined()) in.text_lengths = in.real.to(at::kLong).sum(1, true);
  else return;
  in.own_text_lengths = in.text_lengths.size(1) == 1 ? in.text_lengths : own_tokens(in.text_lengths, in);
}

REDCO_INLINE void refuse_partial_gradients(std::string_view name, pass const& in) {
  if (in.rank == nullptr) return;
  for (shape::axis const one : {shape::axis::cp, shape::axis::ep})
    if (in.rank->mesh.size(one) > 1)
      throw error(exit_code::usage, "the mesh axis " + std::string(shape::name_of(one)) + " has " +
                                        std::to_string(in.rank->mesh.size(one)) + " ranks, and " + std::string(name) +
                                        " needs the whole gradients of a rank's examples, of which each of these ranks "
                                        "has a part; give " +
                                        std::string(shape::name_of(one)) + "=1");
}

}  // namespace redco::nn::detail
