#pragma once

#include <redco/tensor/device_graph.hpp>

#include <redco/config.hpp>

#include <atomic>
#include <memory>

namespace redco::tensors::detail {

/// Returns the factory that makes CUDA graphs. Only declared here: cuda_graph derives from
/// device_graph, so the definition is in a later header.
REDCO_INLINE device_graph::maker const& cuda_graph_maker();

inline std::atomic<device_graph::maker const*>& graph_maker_cell() {
  static std::atomic<device_graph::maker const*> maker = &cuda_graph_maker();
  return maker;
}

}  // namespace redco::tensors::detail

namespace redco::tensors {

REDCO_INLINE device_graph::maker const& device_graph::maker_in_use() { return *detail::graph_maker_cell().load(); }

REDCO_INLINE device_graph::forced::forced(maker const& other) : before_(detail::graph_maker_cell().exchange(&other)) {}

REDCO_INLINE device_graph::forced::~forced() { detail::graph_maker_cell().store(before_); }

}  // namespace redco::tensors

#include <redco/tensor/detail/cuda_graph.hpp>
