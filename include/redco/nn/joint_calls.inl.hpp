#pragma once

#include <redco/nn/joint_calls.hpp>

#include <redco/config.hpp>

namespace redco::nn {

REDCO_INLINE void join_calls(network_base const& net, pass const& in, std::function<void()> const& sum_counts) {
  if (!net.exchanges_rows()) return;
  comm::group& ranks = in.rank->group(shape::axis::ep);
  at::Tensor recorded;
  while (true) {
    comm::joint_call const next = comm::announced(ranks, comm::joint_call::none);
    if (next == comm::joint_call::none) return;
    if (next == comm::joint_call::counts) {
      sum_counts();
      continue;
    }
    if (next == comm::joint_call::backward) {
      if (recorded.defined() && recorded.requires_grad()) recorded.backward();
      recorded.reset();
      continue;
    }
    at::AutoGradMode const record(next == comm::joint_call::recorded);
    at::Tensor const sum = net.call_without_rows(in);
    if (next == comm::joint_call::recorded) recorded = recorded.defined() ? recorded + sum : sum;
  }
}

REDCO_INLINE at::Tensor join_forward(network_base const& net, pass const& in, int chunk) {
  comm::group& ranks = in.rank->group(shape::axis::ep);
  at::Tensor recorded;
  while (true) {
    comm::joint_call const next = comm::announced(ranks, comm::joint_call::none);
    if (next != comm::joint_call::forward && next != comm::joint_call::recorded) return recorded;
    at::AutoGradMode const record(next == comm::joint_call::recorded);
    at::Tensor const sum = net.call_without_rows(in, chunk);
    if (next == comm::joint_call::recorded) recorded = recorded.defined() ? recorded + sum : sum;
  }
}

REDCO_INLINE void join_backward(rank_context const& rank, at::Tensor const& recorded) {
  comm::joint_call const next = comm::announced(rank.group(shape::axis::ep), comm::joint_call::none);
  if (next == comm::joint_call::backward && recorded.defined() && recorded.requires_grad()) recorded.backward();
}

}  // namespace redco::nn
