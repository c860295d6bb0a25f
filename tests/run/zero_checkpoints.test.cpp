#include "shares.hpp"

#include <redco/run/worker.hpp>
#include <redco/pretrained/stored_names/gpt.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/optimizer/muon.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/zero.hpp>
#include <redco/adapt/plan/adapter_folder.hpp>
#include <redco/adapt/plan/with_lora.hpp>
#include <redco/adapt/save_adapter.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

// Compares the files that runs save whose replicas keep shares of the state (ZeRO), and the states
// that other runs load from them.

namespace zero_checkpoints_test {

using namespace redco;
using optimizer::adafactor;
using optimizer::muon;
using run_test::in;
using run_test::silence;
using shares_test::check_checkpoints;
using shares_test::layout;
using stage_test::equal_files;
using stage_test::tied;
using stage_test::train_and_save;

constexpr shape::zero_owner whole = shape::zero_owner::whole;

TEST_CASE("a checkpoint of any mesh and level is loaded by any other, bit for bit") {
  std::vector<layout> const layouts{{{.dp = 1}, 0},          {{.dp = 2}, 1},          {{.dp = 3, .tp = 2}, 1},
                                    {{.dp = 2, .tp = 2}, 0}, {{.pp = 2, .dp = 2}, 1}, {{.dp = 4}, 1},
                                    {{.dp = 2, .tp = 2}, 2}, {{.dp = 3}, 3},          {{.dp = 2, .tp = 2}, 3}};
  // Each layout loads the checkpoints of three others.
  for (dtype const type : {dtype::f64, dtype::bf16})
    check_checkpoints(layouts, adamw{.lr = 2e-3, .clip_norm = 0.5}, type, {1, 3, 7});
}

TEST_CASE("a checkpoint of any mesh and owner is loaded by any other, bit for bit") {
  auto const check = [](auto const& optimizer, dtype type, int level) {
    // The layouts without owners have the level `level`.
    std::vector<layout> const layouts{
        {{.dp = 1}, level},          {{.dp = 2}, 1, whole},          {{.dp = 3, .tp = 2}, 2, whole},
        {{.dp = 2, .tp = 2}, level}, {{.pp = 2, .dp = 2}, 1, whole}, {{.dp = 2, .tp = 2}, 3, whole}};
    check_checkpoints(layouts, optimizer, type, {1, 3});
  };
  check(muon{.lr = 1e-2}, dtype::f64, 0);
  check(adafactor{}, dtype::bf16, 0);
  check(adamw{.lr = 1e-2}, dtype::bf16, 1);
}

TEST_CASE("a checkpoint of groups is loaded by runs with other shares, bit for bit") {
  std::vector<layout> const elements{{{.dp = 4}, 3, {}, "2"}, {{.dp = 1}}, {{.dp = 3}, 3}, {{.dp = 4}, 1, {}, "2"}};
  check_checkpoints(elements, adamw{.lr = 2e-3}, dtype::f64, {1, 2, 3});
  std::vector<layout> const owners{
      {{.dp = 4}, 1, whole, "2"}, {{.dp = 1}}, {{.dp = 4, .tp = 2}, 3, whole, "2"}, {{.dp = 2}, 2, whole}};
  check_checkpoints(owners, muon{.lr = 1e-2}, dtype::f64, {1, 2});
  check_checkpoints(owners, adafactor{}, dtype::bf16, {1, 2});
}

TEST_CASE("saved models and adapters, warm starts and averages are those of a run without shares") {
  with_lora<gpt2> const lora{{tied.config, {.rank = 2, .targets = "qkv,down"}}};
  auto const save = [](auto const& model, std::filesystem::path const& to, int level, auto const& optimizer,
                       auto const&... start) {
    deployer_options where = shares_test::with_zero(in({}, {.dp = 3}), level);
    where.dtype = dtype::bf16;
    train_and_save(model, where, optimizer, to, start...);
  };
  temporary_folder const folder;
  for (int const level : {0, 1, 2, 3}) {
    std::filesystem::path const to = folder.path / std::to_string(level);
    save(tied, to / "plain", level, adamw{.lr = 1e-2});
    save(tied, to / "average", level, optimizer::averaged(adamw{.lr = 1e-2}, 0.5));
    save(tied, to / "started", level, adamw{.lr = 1e-2}, folder.path / "0/plain/model");
    save(lora, to / "lora", level, adamw{.lr = 1e-2});
  }
  for (char const* what : {"plain/model", "average/model", "started/model", "lora/model", "lora/adapter"}) {
    INFO(what);
    for (char const* level : {"1", "2", "3"}) CHECK(equal_files(folder.path / "0" / what, folder.path / level / what));
  }
}

TEST_CASE("saved models and steps of a worker are those of a run in which each replica updates all") {
  temporary_folder const folder;
  auto const save = [&](shape::zero_owner owner, int level, char const* to) {
    deployer_options where = in({}, {.dp = 3});
    where.dtype = dtype::bf16;
    where.zero = level;
    where.zero_owner = owner;
    stage_test::train_and_save(tied, where, muon{.lr = 1e-2}, folder.path / to);
  };
  save(shape::zero_owner::element, 0, "all");
  for (int const level : {1, 2, 3}) {
    INFO("level " << level);
    std::string const to = "owners" + std::to_string(level);
    save(shape::zero_owner::whole, level, to.c_str());
    CHECK(stage_test::equal_files(folder.path / "all/model", folder.path / to / "model"));
  }

  auto const norms = [&](int level) {
    silence const quiet;
    temporary_folder const own;
    deployer_options where = in(own.path, {.dp = 2});
    where.dtype = dtype::f64;
    where.gradient_bucket = 0.25 / 1024;
    deployer deployer(shares_test::with_zero(where, level, level > 0 ? whole : shape::zero_owner::element));
    std::vector<double> found(2);
    deployer.run([&](rank_context& rank) {
      worker loop(deployer, rank, {.steps = 3});
      auto& net = loop.add("net", tied, muon{.lr = 1e-2});
      for (loop.resume(); !loop.finished(); loop.end_step())
        loop.update(net, loop.micro_batches(3, 1), [&](pass const& in) {
          token_batch const b = stage_test::texts_of(std::vector<std::int64_t>{in.first_example});
          return cross_entropy(net.in(in)(b.input_ids), b.labels);
        });
      double sum = 0;
      for (auto const& p : net.store.parameters()) sum += p.value.square().sum().item<double>();
      found[static_cast<std::size_t>(rank.rank)] = sum;
    });
    return found;
  };
  for (int const level : {1, 2}) CHECK(run_test::difference(norms(0), norms(level)) < 1e-12);
}

}  // namespace zero_checkpoints_test
