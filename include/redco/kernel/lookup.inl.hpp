#pragma once

#include <redco/kernel/lookup.hpp>

#include <redco/tensor/recorded_function.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <string>

namespace redco::detail {

/// Rows of a table shard; ids that another shard holds are -1 and give zero rows. Linear in the table, and its backward is
/// made of ATen's own differentiable operators, so any order of derivative is right.
struct lookup_function : recorded_function<lookup_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& table, at::Tensor const& local_ids,
                            bool foreign, std::int64_t padding) {
    ctx->save_for_backward({local_ids});
    ctx->saved_data["padding"] = padding;
    ctx->saved_data["rows"] = table.size(0);
    if (!foreign) return at::embedding(table, local_ids);
    at::Tensor rows = at::embedding(table, local_ids.clamp_min(0));
    return rows.masked_fill_(local_ids.lt(0).unsqueeze(-1), 0);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& gradient) {
    at::Tensor const ids = ctx->get_saved_variables()[0];
    std::int64_t const padding = ctx->saved_data["padding"].toInt();
    if (at::GradMode::is_enabled()) {  // true exactly under create_graph: the next derivative looks up every id
      at::Tensor const own = gradient[0].masked_fill(ids.lt(0).logical_or(ids == padding).unsqueeze(-1), 0);
      at::Tensor const none = at::zeros({ctx->saved_data["rows"].toInt(), own.size(-1)}, own.options());
      return {none.index_add(0, ids.clamp_min(0).flatten(), own.flatten(0, -2)), {}, {}, {}};
    }
    // ATen leaves one id out: that of other shards, so that the padding's becomes the same.
    at::Tensor const kept = padding < 0 ? ids : ids.masked_fill(ids == padding, -1);
    return {at::embedding_dense_backward(gradient[0], kept, ctx->saved_data["rows"].toInt(), -1, false), {}, {}, {}};
  }
};

}  // namespace redco::detail

namespace redco::kernel {

REDCO_INLINE at::Tensor lookup(at::Tensor const& table, at::Tensor const& ids, std::int64_t first_row,
                               std::int64_t vocabulary, std::int64_t padding) {
  if (ids.numel() > 0) {
    auto const [low, high] = at::aminmax(ids);
    if (low.item<std::int64_t>() < 0 || high.item<std::int64_t>() >= vocabulary)
      throw error(exit_code::data, "token ids from " + std::to_string(low.item<std::int64_t>()) + " to " +
                                       std::to_string(high.item<std::int64_t>()) + " in a vocabulary of " +
                                       std::to_string(vocabulary) + ": check the tokenizer and the model's config");
  }
  std::int64_t const rows = table.size(0);
  if (rows >= vocabulary) return redco::detail::lookup_function::apply(table, ids, false, padding);
  at::Tensor const local = ids - first_row;
  bool const here = padding >= first_row && padding < first_row + rows;
  return redco::detail::lookup_function::apply(table, at::where((local < 0).logical_or(local >= rows), -1, local), true,
                                               here ? padding - first_row : -1);
}

}  // namespace redco::kernel
