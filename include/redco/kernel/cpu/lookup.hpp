#pragma once

#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::kernel::cpu {

/// The differentiable function of table lookup. Autograd saves only the ids. Backward computes one
/// dense gradient of the table.
struct lookup_function : tensors::recorded_function<lookup_function> {
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
    // Grad mode is on exactly under create_graph. The gradient then must be differentiable for
    // every id.
    if (at::GradMode::is_enabled()) {
      at::Tensor const own = gradient[0].masked_fill(ids.lt(0).logical_or(ids == padding).unsqueeze(-1), 0);
      at::Tensor const none = at::zeros({ctx->saved_data["rows"].toInt(), own.size(-1)}, own.options());
      return {none.index_add(0, ids.clamp_min(0).flatten(), own.flatten(0, -2)), {}, {}, {}};
    }
    // ATen can skip one id only. Ids of other shards are -1, so the padding id becomes -1 too.
    at::Tensor const kept = padding < 0 ? ids : ids.masked_fill(ids == padding, -1);
    return {at::embedding_dense_backward(gradient[0], kept, ctx->saved_data["rows"].toInt(), -1, false), {}, {}, {}};
  }
};

/// Returns rows of this rank's shard of a table. If `foreign`, ids of other shards are given as -1,
/// and their rows are zeros. The row with the id `padding` gets no gradient.
inline at::Tensor lookup(at::Tensor const& table, at::Tensor const& local_ids, bool foreign, std::int64_t padding) {
  return lookup_function::apply(table, local_ids, foreign, padding);
}

}  // namespace redco::kernel::cpu
