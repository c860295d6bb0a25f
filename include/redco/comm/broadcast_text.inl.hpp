#pragma once

#include <redco/comm/broadcast_text.hpp>

#include <redco/comm/collective_label.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace redco::comm {

REDCO_INLINE std::string broadcast_text(group& ranks, std::string const& text, int root) {
  collective_label const label("a text");
  at::Tensor const size = at::full({1}, static_cast<std::int64_t>(text.size()), at::kLong);
  ranks.broadcast(size, root);
  at::Tensor const bytes = at::empty({size.item<std::int64_t>()}, at::kByte);
  if (ranks.rank() == root && !text.empty()) std::memcpy(bytes.data_ptr(), text.data(), text.size());
  ranks.broadcast(bytes, root);
  return {static_cast<char const*>(bytes.const_data_ptr()), static_cast<std::size_t>(bytes.numel())};
}

}  // namespace redco::comm
