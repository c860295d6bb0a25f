#pragma once

#include <redco/comm/detail/reduce_ranks.hpp>

#include <redco/tensor/describe.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/device_streams.hpp>
#include <redco/tensor/torch.hpp>

#include <redco/diag/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace redco::comm::detail {

/// Returns the number of rows that `x` has if `dim` and later dimensions form a row: the product of
/// the extents before `dim`.
inline std::size_t rows_before(at::Tensor const& x, std::int64_t dim) {
  return static_cast<std::size_t>(c10::multiply_integers(x.sizes().slice(0, static_cast<std::size_t>(dim))));
}

/// Returns the number of bytes of one row of `x`, a tensor of shape `[rows, ...]`.
inline std::size_t row_bytes(at::Tensor const& x) {
  return static_cast<std::size_t>(c10::multiply_integers(x.sizes().slice(1)) * x.element_size());
}

/// Returns the number of elements in each rank's slice of `x`, if `ranks` ranks divide the work of
/// a reduction. Slices end at cache lines.
inline std::size_t slice_of(at::Tensor const& x, std::size_t ranks) {
  std::size_t const line = 64 / static_cast<std::size_t>(x.element_size());
  return (static_cast<std::size_t>(x.numel()) + ranks * line - 1) / (ranks * line) * line;
}

inline reduce_function reduction_for(at::Tensor const& x, std::string const& group) {
  if (auto const reduce = reduction_of(x.scalar_type())) return reduce;
  throw error(exit_code::internal, "group " + group + " cannot reduce " + tensors::describe(x) +
                                       "; convert it to a floating type, Long, Int or Byte");
}

inline void check_in_cpu_memory(at::Tensor const& x, std::string const& group) {
  if (tensors::in_cpu_memory(x)) return;
  throw error(exit_code::internal, "group " + group + " joins processes over CPU tensors and got one on " +
                                       x.device().str() + "; move it to the CPU");
}

/// Copies `message`, a tensor that rank `sender` sent, into `x`, the tensor that rank `receiver`
/// passed to recv. Throws `error` if shape or dtype differ.
inline void deliver(at::Tensor const& message, at::Tensor const& x, int tag, std::string const& group, int sender,
                    int receiver) {
  if (message.scalar_type() != x.scalar_type() || message.sizes() != x.sizes())
    throw error(exit_code::internal, "recv with tag " + std::to_string(tag) + " in group " + group + ": rank " +
                                         std::to_string(sender) + " sent " + tensors::describe(message) + ", rank " +
                                         std::to_string(receiver) + " expects " + tensors::describe(x) +
                                         "; receive into a tensor of the shape and dtype that was sent");
  x.copy_(message);
  tensors::settle(x.device());
}

}  // namespace redco::comm::detail
