#pragma once

#include <redco/kernel/composed/attention.hpp>
#include <redco/kernel/gathered_attention.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::kernel::composed {

/// Copies each row's keys and values to where attention reads them.
inline at::Tensor gathered_attention(at::Tensor const& q, gathered_keys const& seen, attention_options const& o) {
  at::Tensor const places = seen.places.to(q.device());
  auto const of_rows = [&](at::Tensor const& x) {
    return x.index_select(0, places.flatten()).view({places.size(0), places.size(1), x.size(1)});
  };
  return attention(q, of_rows(seen.keys), of_rows(seen.values), o);
}

}  // namespace redco::kernel::composed
