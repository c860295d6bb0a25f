#pragma once

// A small classifier whose examples are numbers, with hooks into its functions.

#include "training.hpp"

#include <redco/nn/nn.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/pipeline/functions.hpp>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace run_test {

struct mlp_config {
  std::int64_t hidden = 12;  // widths 1, 2 and 3 divide it
};
struct mlp {
  static constexpr auto hidden = &mlp_config::hidden;
  using net = redco::sequential<redco::named<"up", redco::linear<5, hidden>>, redco::relu,
                                redco::named<"down", redco::linear<hidden, 3>>>;
  mlp_config config;
};

struct mlp_batch {
  at::Tensor ids, x, labels, weights;
};

/// Functions that a test runs inside the pipeline's functions. All ranks call them concurrently.
struct behaviour {
  std::function<void(std::span<std::int64_t const>, redco::pipelines::collate_info const&)> collate;
  std::function<at::Tensor(at::Tensor const& loss, mlp_batch const&)> loss;
  std::function<void(mlp_batch const&)> predict;
};

/// Returns the batch of examples `ids`: five features, a label, and a weight of 1, 2 or 3, so that
/// batches of equal size count unequally.
inline mlp_batch mlp_batch_of(std::span<std::int64_t const> ids) {
  at::Tensor const i = at::tensor(std::vector<std::int64_t>(ids.begin(), ids.end()));
  at::Tensor const x = at::sin(i.to(at::kDouble).unsqueeze(1) * 0.7 + at::arange(5, at::kDouble) * 1.3);
  return {i, x, (i * 7 + 1).remainder(3), i.remainder(3).to(at::kDouble) + 1};
}

inline at::Tensor losses_of(at::Tensor const& logits, mlp_batch const& b) {
  return at::cross_entropy_loss(logits, b.labels, {}, at::Reduction::None);
}

inline auto mlp_collate(behaviour const& b = {}) {
  return redco::collate([b](std::span<std::int64_t const> ids, redco::pipelines::collate_info const& info) {
    if (b.collate) b.collate(ids, info);
    return mlp_batch_of(ids);
  });
}

inline auto mlp_pipeline(behaviour const& b = {}) {
  return mlp_collate(b) | redco::loss([b](auto const& net, mlp_batch const& batch) {
           at::Tensor const each = losses_of(net(batch.x), batch) * batch.weights;
           return redco::mean{b.loss ? b.loss(each, batch) : each.sum(), batch.weights.sum().template item<double>()};
         }) |
         redco::predict([b](auto const& net, mlp_batch const& batch) {
           if (b.predict) b.predict(batch);
           at::Tensor const best = net(batch.x).argmax(-1) + 10 * batch.ids;
           return std::vector<std::int64_t>(best.template data_ptr<std::int64_t>(),
                                            best.template data_ptr<std::int64_t>() + best.numel());
         });
}

using mlp_options = options_of<mlp, decltype(mlp_pipeline())>;

inline outcome fit_mlp(redco::deployer_options const& where, mlp_options const& options, std::int64_t examples = 13,
                       behaviour const& b = {}, mlp const& model = {}, redco::adamw const& optimizer = {.lr = 0.02}) {
  return fit(where, model, mlp_pipeline(b), numbers(examples), options, optimizer);
}

}  // namespace run_test
