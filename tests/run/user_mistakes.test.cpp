#include "mlp.hpp"

#include <redco/nn/cross_entropy.hpp>

#include <string>

// Mistakes that only data can show. The error message of the library names the rank, step and
// function, and what to do.

using run_test::in;
using run_test::mentions;
using run_test::mlp_batch;
using run_test::mlp_options;
using run_test::outcome;

namespace {

/// Runs a small classifier whose batches `change` alters, with the given loss. 13 examples give
/// ranks unequal numbers.
template <class Change, class Loss>
outcome run_with(redco::mesh mesh, Change change, Loss loss) {
  temporary_folder folder;
  auto const job = redco::collate([change](std::span<std::int64_t const> ids) {
                     mlp_batch b = run_test::mlp_batch_of(ids);
                     change(b);
                     return b;
                   }) |
                   redco::loss([loss](auto const& net, mlp_batch const& b) { return loss(net, b); });
  typename run_test::options_of<run_test::mlp, std::remove_const_t<decltype(job)>> o;
  o.epochs = 1;
  o.global_batch = 4;
  return run_test::fit(in(folder.path, mesh), run_test::mlp{}, job, run_test::numbers(13), o, redco::adamw{.lr = 0.02});
}

auto const entropy = [](auto const& net, mlp_batch const& b) { return redco::cross_entropy(net(b.x), b.labels); };

}  // namespace

TEST_CASE("a label that is not a class is reported with its example and the number of classes") {
  for (redco::mesh const mesh : {redco::mesh{.dp = 1}, {.tp = 2}, {.dp = 2}}) {
    outcome const run = run_with(
        mesh,
        [](mlp_batch& b) {
          if (b.labels.size(0) > 1) b.labels[1] = 4;
        },
        entropy);
    INFO(run.reason);
    CHECK(run.code == 65);
    CHECK(mentions(run, "step 1"));
    CHECK(mentions(run, "in loss"));
    CHECK(mentions(run, "label 4 of example 1"));
    CHECK(mentions(run, "none of 3 classes"));
  }
  outcome const floats = run_with(
      {.dp = 1}, [](mlp_batch& b) { b.labels = b.labels.to(at::kDouble); }, entropy);
  CHECK(floats.code == 65);
  CHECK(mentions(floats, "int64"));
}

TEST_CASE("an input that does not fit is reported with the layer's path, not only with libtorch's message") {
  for (redco::mesh const mesh : {redco::mesh{.dp = 1}, {.tp = 2}, {.dp = 2}}) {
    outcome const run = run_with(
        mesh, [](mlp_batch& b) { b.x = b.x.narrow(1, 0, 4); }, entropy);
    INFO(run.reason);
    CHECK(run.code == 70);
    CHECK(mentions(run, "rank "));
    CHECK(mentions(run, "step 1"));
    CHECK(mentions(run, "in loss"));
    CHECK(mentions(run, "layer 'up' cannot take Double ["));
    CHECK(mentions(run, ", 4]"));
  }
}

TEST_CASE("a loss without a gradient says so") {
  outcome const run = run_with(
      {.dp = 1}, [](mlp_batch&) {},
      [](auto const& net, mlp_batch const& b) {
        redco::mean const m = redco::cross_entropy(net(b.x), b.labels);
        return redco::mean{m.sum.detach(), m.count};
      });
  INFO(run.reason);
  CHECK(run.code == 70);
  CHECK(mentions(run, "step 1"));
  CHECK(mentions(run, "the loss has no gradient"));
  CHECK_FALSE(mentions(run, "element 0 of tensors"));
}

TEST_CASE("the path of a layer includes its blocks") {
  redco::nn::layer_error const inner("up", "Float [2, 7]", "why");
  std::string const text = inner.inside("mlp").inside("3").inside("h").what();
  CHECK(text.find("layer 'h.3.mlp.up' cannot take Float [2, 7]: why") == 0);
}
