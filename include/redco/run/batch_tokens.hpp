#pragma once

#include <redco/tensor/torch.hpp>

#include <concepts>
#include <cstdint>

namespace redco::run::detail {

template <class Member>
concept tensor_member = std::convertible_to<Member, at::Tensor const&>;

/// Kinds of tensors that mark padding: a mask is 0 there, positions and labels are negative.
enum class padding_mark : unsigned char { none, zero, negative };

/// Returns the number of token ids in `ids` that `marks` does not mark as padding. Returns the
/// number of all ids if `marks` is undefined or has another shape.
inline std::int64_t ids_without_padding(at::Tensor const& ids, padding_mark kind, at::Tensor const& marks) {
  if (!ids.defined()) return 0;
  if (kind == padding_mark::none || !marks.defined() || marks.sizes() != ids.sizes()) return ids.numel();
  return (kind == padding_mark::zero ? marks.ne(0) : marks.ge(0)).sum().item<std::int64_t>();
}

}  // namespace redco::run::detail

namespace redco::run {

/// Returns the number of token ids of a batch that are not padding, for the speed in tokens per
/// second; 0 if the batch has no token ids. Reads these members of type at::Tensor:
/// - `input_ids`, without those that a mask (`mask` or `attention_mask`) or negative positions
///   (`documents`) mark as padding,
/// - `decoder_ids`, without those whose `labels` are negative, and `source`, without padding in
///   `source_mask`.
template <class Batch>
std::int64_t tokens_of(Batch const& b) {
  using detail::ids_without_padding, detail::padding_mark, detail::tensor_member;
  std::int64_t count = 0;
  if constexpr (requires { requires tensor_member<decltype((b.input_ids))>; }) {
    if constexpr (requires { requires tensor_member<decltype((b.mask))>; })
      count += ids_without_padding(b.input_ids, padding_mark::zero, b.mask);
    else if constexpr (requires { requires tensor_member<decltype((b.attention_mask))>; })
      count += ids_without_padding(b.input_ids, padding_mark::zero, b.attention_mask);
    else if constexpr (requires { requires tensor_member<decltype((b.documents))>; })
      count += ids_without_padding(b.input_ids, padding_mark::negative, b.documents);
    else count += ids_without_padding(b.input_ids, padding_mark::none, {});
  }
  if constexpr (requires { requires tensor_member<decltype((b.decoder_ids))>; }) {
    if constexpr (requires { requires tensor_member<decltype((b.labels))>; })
      count += ids_without_padding(b.decoder_ids, padding_mark::negative, b.labels);
    else count += ids_without_padding(b.decoder_ids, padding_mark::none, {});
    if constexpr (requires {
                    requires tensor_member<decltype((b.source_mask))>;
                    requires tensor_member<decltype((b.source))>;
                  })
      count += ids_without_padding(b.source, padding_mark::zero, b.source_mask);
    else if constexpr (requires { requires tensor_member<decltype((b.source))>; })
      count += ids_without_padding(b.source, padding_mark::none, {});
  }
  return count;
}

}  // namespace redco::run
