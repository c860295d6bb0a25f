#pragma once

#include <redco/comm/joint_calls.hpp>

#include <redco/tensor/torch.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <limits>
#include <string>
#include <string_view>

namespace redco::comm::detail {

constexpr std::string_view name_of(joint_call call) {
  switch (call) {
    case joint_call::none: return "no call";
    case joint_call::forward: return "a call without gradients";
    case joint_call::recorded: return "a call with gradients";
    case joint_call::backward: return "backward";
    case joint_call::returned: return "the end of a loss function";
    case joint_call::counts: return "the sum of a loss's counts";
  }
  return "";
}

}  // namespace redco::comm::detail

namespace redco::comm {

REDCO_INLINE joint_call announced(group& ranks, joint_call own) {
  if (ranks.size() == 1) return own;
  collective_label const label("the next joint call of a network");
  auto const code = static_cast<std::int64_t>(own);
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  at::Tensor const both = at::tensor({code, own == joint_call::none ? least : -code}, at::kLong);
  ranks.all_reduce(both, reduce_op::max);
  std::int64_t const most = both[0].item<std::int64_t>(), smallest = both[1].item<std::int64_t>();
  if (most > 0 && smallest != -most)
    throw error(exit_code::internal,
                "rank " + std::to_string(ranks.rank()) + " of group " + ranks.name() + " comes to " +
                    std::string(detail::name_of(own)) + ", and ranks of the group come to " +
                    std::string(detail::name_of(static_cast<joint_call>(most))) + " and to " +
                    std::string(detail::name_of(static_cast<joint_call>(-smallest))) +
                    ": the messages of a network with experts would not match; call the network, and add losses, "
                    "equally often and in the same order on all ranks");
  return static_cast<joint_call>(most);
}

REDCO_INLINE joint_call first_of(group& ranks, joint_call own) {
  collective_label const label("the next joint call of a network");
  constexpr auto no_call = static_cast<std::int64_t>(joint_call::counts) + 1;
  auto const place = own == joint_call::none ? no_call : static_cast<std::int64_t>(own);
  at::Tensor const first = at::tensor({-place}, at::kLong);
  ranks.all_reduce(first, reduce_op::max);
  std::int64_t const found = -first.item<std::int64_t>();
  return found == no_call ? joint_call::none : static_cast<joint_call>(found);
}

}  // namespace redco::comm
