#include "safetensors/support.hpp"
#include "torch_catch.hpp"

#include <redco/ckpt/load_weights.hpp>
#include <redco/ckpt/save_model.hpp>
#include <redco/workdir/open_weights.hpp>
#include <redco/safetensors/safetensors_plan.hpp>

#include <redco/comm/thread_world.hpp>

#include "toy_model.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using ckpt_test::toy_names;
using ckpt_test::toy_state;

void save_toy(std::filesystem::path const& folder, std::uint64_t file_bytes = 1 << 20) {
  redco::comm::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
    redco::ckpt::save_model(folder, toy_names, toy_state({.dp = 1}, 0, true), rank.world, {.file_bytes = file_bytes});
  });
}

/// Writes a file of zeros with these tensors.
void write_zeros(std::filesystem::path const& path, std::vector<redco::safetensors::safetensors_entry> entries) {
  auto const plan = redco::safetensors::plan_safetensors(std::move(entries));
  ckpt_test::put(path, plan.header + std::string(static_cast<std::size_t>(plan.bytes() - plan.header.size()), '\0'));
}

std::vector<redco::safetensors::safetensors_entry> toy_entries() {
  auto const f32 = redco::safetensors::file_dtype::f32;
  return {{"t.wte.weight", f32, {7, 5}},      {"t.h.0.attn.weight", f32, {5, 24}}, {"t.h.0.attn.bias", f32, {24}},
          {"t.h.0.out.weight", f32, {12, 5}}, {"t.h.0.few.weight", f32, {4, 5}},   {"t.h.1.few.weight", f32, {4, 5}},
          {"t.h.0.ln.weight", f32, {5}},      {"t.cls", f32, {1, 1, 9}},           {"t.none", f32, {0, 3}}};
}

/// Returns the error that loading a file of these tensors throws.
ckpt_test::thrown failure_of(std::vector<redco::safetensors::safetensors_entry> entries,
                             std::vector<std::string_view> const& unread = {}) {
  temporary_folder const folder;
  write_zeros(folder / "model.safetensors", std::move(entries));
  auto const weights = redco::workdir::open_weights(folder.path);
  std::atomic<int> failed = 0;
  auto const failure = ckpt_test::error_of([&] {
    redco::comm::run_ranks({.dp = 2, .tp = 2}, {}, [&](redco::rank_context& rank) {
      try {
        redco::ckpt::load_model(weights, {toy_names, unread}, toy_state({.dp = 2, .tp = 2}, rank.rank, false), rank);
      } catch (redco::error const&) {
        ++failed;
        throw;
      }
    });
  });
  CHECK(failed == (failure.code == redco::exit_code::done ? 0 : 4));
  return failure;
}

}  // namespace

TEST_CASE("every byte of the files is read at most once on any mesh") {
  for (std::uint64_t const limit : {std::uint64_t{1} << 20, std::uint64_t{300}}) {
    temporary_folder const folder;
    save_toy(folder.path, limit);
    std::uint64_t bytes = 0;
    for (auto const& entry : std::filesystem::directory_iterator(folder.path))
      bytes += entry.path().extension() == ".safetensors" ? entry.file_size() : 0;
    for (redco::mesh const mesh : {redco::mesh{.dp = 1},
                                   {.dp = 2},
                                   {.tp = 2},
                                   {.tp = 3},
                                   {.dp = 2, .tp = 2},
                                   {.tp = 4},
                                   {.dp = 3, .tp = 4},
                                   {.dp = 2, .tp = 6}}) {
      INFO("mesh " << mesh.dp << "x" << mesh.tp);
      redco::workdir::shared_weights const weights(folder.path);
      std::atomic<int> wrong = 0;
      redco::comm::run_ranks(mesh, {}, [&](redco::rank_context& rank) {
        auto const parts = toy_state(mesh, rank.rank, false);
        redco::ckpt::load_model(weights.open(), {toy_names}, parts, rank);
        wrong += ckpt_test::wrong_toy_parts(parts);
      });
      CHECK(wrong == 0);
      CHECK(weights.open().files->bytes_read() == bytes);  // every byte is needed
    }
  }
}

TEST_CASE("a warm start reads every byte once") {
  temporary_folder const folder;
  constexpr std::array same{redco::models::stored_name{"a", "a"}, redco::models::stored_name{"b", "b"}};
  auto const state = [](int rank) {
    return std::vector<redco::ckpt::state_part>{
        // Rank 1 has padding
        {"a", {6, 7}, at::full({6, 4}, rank), {{0, rank * 4}, {6, rank == 0 ? 4 : 3}}},
        {"b", {5}, at::full({5}, 3), redco::safetensors::whole({5}), rank == 0}};
  };
  redco::comm::run_ranks({.tp = 2}, {}, [&](redco::rank_context& rank) {
    redco::ckpt::save_model(folder.path, same, state(rank.tp.rank()), rank.world, {.type = redco::dtype::f64});
  });
  for (redco::mesh const& on : {redco::mesh{.dp = 2, .tp = 2}, {.dp = 2, .ep = 2}}) {
    auto const opened = redco::workdir::open_weights(folder / "model.safetensors");
    std::atomic<int> right = 0;
    redco::comm::run_ranks(on, {}, [&](redco::rank_context& rank) {
      int const shard = rank.coordinate(redco::shape::model_axes);
      auto const parts = state(shard);
      for (auto const& part : parts) part.local.fill_(9);
      redco::ckpt::load_parameters(opened, parts, rank);
      at::Tensor const want = at::full({6, 4}, shard);
      if (shard == 1) want.narrow(1, 3, 1).zero_();
      right += parts[0].local.equal(want) && parts[1].local.equal(at::full({5}, 3));
    });
    CHECK(right == 4);
    CHECK(opened.files->bytes_read() == std::filesystem::file_size(folder / "model.safetensors"));
  }
}

TEST_CASE("a failed read on one rank ends all ranks with its cause") {
  temporary_folder const folder;
  save_toy(folder.path);
  auto const weights = redco::workdir::open_weights(folder.path);
  auto const path = folder / "model.safetensors";
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 8);
  std::mutex mutex;
  std::set<std::string> causes;
  redco::comm::run_ranks(
      {.dp = 2, .tp = 2}, {.first_deadline = std::chrono::seconds(20)}, [&](redco::rank_context& rank) {
        auto const failure = ckpt_test::error_of([&] {
          redco::ckpt::load_model(weights, {toy_names}, toy_state({.dp = 2, .tp = 2}, rank.rank, false), rank);
        });
        std::lock_guard const lock(mutex);
        CHECK(failure.code == redco::exit_code::data);
        causes.insert(failure.text);
      });
  REQUIRE(causes.size() == 1);
  CHECK(ckpt_test::has(*causes.begin(), path.string()));
  CHECK(ckpt_test::has(*causes.begin(), "cut while being read"));
}

TEST_CASE("a weights file of another model is refused with the differences") {
  CHECK(failure_of(toy_entries()).code == redco::exit_code::done);
  auto const changed = [](auto change, std::vector<std::string_view> const& unread = {}) {
    auto entries = toy_entries();
    change(entries);
    auto const failure = failure_of(entries, unread);
    if (failure.code != redco::exit_code::done) CHECK(failure.code == redco::exit_code::data);
    return failure.text;
  };
  CHECK(ckpt_test::has(changed([](auto& e) { e.erase(e.begin()); }),
                       "1 differences\n  \"t.wte.weight\" is missing in the file\n"));
  CHECK(ckpt_test::has(changed([](auto& e) {
                         e[1].shape = {24, 5};
                       }),
                       "\"t.h.0.attn.weight\" has shape [24, 5] in the file, the model has [5, 24]"));
  CHECK(ckpt_test::has(changed([](auto& e) { e[7].shape = {9}; }),
                       "\"t.cls\" has shape [9] in the file, the model has [1, 1, 9]"));
  CHECK(ckpt_test::has(changed([](auto& e) { e[2].type = redco::safetensors::file_dtype::i32; }),
                       "\"t.h.0.attn.bias\" has dtype I32 in the file, the model has F32"));
  auto const surplus = [](auto& e) { e.push_back({"t.h.0.attn.mask", redco::safetensors::file_dtype::boolean, {3}}); };
  CHECK(ckpt_test::has(changed(surplus), "\"t.h.0.attn.mask\" is in the file, the model has no such tensor"));
  CHECK(changed(surplus, {"t.h.*.attn.mask"}) == "");
  for (auto const type :
       {redco::safetensors::file_dtype::bf16, redco::safetensors::file_dtype::f16, redco::safetensors::file_dtype::f64})
    CHECK(changed([&](auto& e) { e[0].type = type; }) == "");
}

TEST_CASE("the first twenty of many differences are listed in sorted order with the number of further ones") {
  auto entries = toy_entries();
  for (int i = 0; i < 30; ++i)
    entries.push_back({"x." + std::to_string(100 - i), redco::safetensors::file_dtype::f32, {1}});
  entries.erase(entries.begin());
  std::string const text = failure_of(entries).text;
  CHECK(ckpt_test::has(text,
                       "31 differences, the first 20 are\n  \"t.wte.weight\" is missing in the file\n  \"x.100\" is"));
  CHECK(ckpt_test::has(text, "\"x.88\" is in the file, the model has no such tensor\n  and 11 more\n"));
  CHECK_FALSE(ckpt_test::has(text, "x.89"));
}

TEST_CASE("weights that several ranks need are opened once, and a failure reaches every rank that asks") {
  temporary_folder const folder;
  redco::workdir::shared_weights const absent(folder / "absent.safetensors");
  for (int i = 0; i < 2; ++i) CHECK(ckpt_test::error_of([&] { absent.open(); }).code == redco::exit_code::data);
  save_toy(folder.path);
  redco::workdir::shared_weights const weights(folder.path);
  CHECK(weights.open().files == weights.open().files);
}

TEST_CASE("files of a base model, whose names lack the model's prefix, are read on any mesh") {
  temporary_folder const folder;
  std::vector<redco::models::stored_name> bare(toy_names.begin(), toy_names.end());
  for (redco::models::stored_name& row : bare) row.theirs.remove_prefix(2);
  redco::comm::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
    redco::ckpt::save_model(folder.path, bare, toy_state({.dp = 1}, 0, true), rank.world);
  });
  auto const weights = redco::workdir::open_weights(folder.path);
  for (redco::mesh const mesh : {redco::mesh{.dp = 1}, {.dp = 2, .tp = 3}}) {
    std::atomic<int> wrong = 0;
    CHECK_NOTHROW(redco::comm::run_ranks(mesh, {}, [&](redco::rank_context& rank) {
      auto const parts = toy_state(mesh, rank.rank, false);
      redco::ckpt::load_model(weights, {.names = toy_names, .base = "t."}, parts, rank);
      wrong += ckpt_test::wrong_toy_parts(parts);
    }));
    CHECK(wrong == 0);
  }
  CHECK(ckpt_test::has(ckpt_test::error_of([&] {
                         redco::comm::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
                           redco::ckpt::load_model(weights, {toy_names}, toy_state({.dp = 1}, 0, false), rank);
                         });
                       }).text,
                       "\"t.wte.weight\" is missing in the file"));
}

TEST_CASE("tensors missing in files are zero, fresh, or refused with the layers that could be fresh") {
  temporary_folder const folder;
  auto entries = toy_entries();
  entries.erase(entries.begin() + 7);  // t.cls
  for (auto& entry : entries)          // a tensor of another size
    if (entry.name == "t.h.0.ln.weight") entry.shape = {8};
  write_zeros(folder / "model.safetensors", entries);
  auto weights = redco::workdir::open_weights(folder.path);
  std::vector<redco::models::stored_name> names(toy_names.begin(), toy_names.end());
  constexpr std::array<std::string_view, 2> heads{"cls", "none"};
  /// Returns the values of cls.weight and h.0.ln.weight on both shards. They are 77 before loading.
  auto const loaded = [&](std::vector<std::string> const& fresh) {
    weights.fresh = fresh;
    std::vector<double> values(4, -1);
    redco::comm::run_ranks({.tp = 2}, {}, [&](redco::rank_context& rank) {
      auto const parts = toy_state({.tp = 2}, rank.rank, false);
      redco::ckpt::load_model(weights, {.names = names, .heads = heads}, parts, rank);
      for (std::size_t i : {std::size_t{0}, std::size_t{1}})
        values[2 * static_cast<std::size_t>(rank.rank) + i] = parts[9 - i].local.max().item<double>();
      CHECK(parts[0].local.max().item<double>() == 0);
    });
    return values;
  };
  auto const failure = [&](std::vector<std::string> const& fresh) {
    return ckpt_test::error_of([&] { loaded(fresh); });
  };
  CHECK(loaded({"cls", "h.0.ln"}) == std::vector<double>{77, 77, 77, 77});
  CHECK(loaded({"cls", "h.0.ln.weight"}) == std::vector<double>{77, 77, 77, 77});
  CHECK(ckpt_test::has(failure({"h.0.ln"}).text, "open the folder with .fresh = {\"cls\"}."));
  CHECK(failure({"h.0.ln"}).code == redco::exit_code::data);
  CHECK(ckpt_test::has(failure({"cls"}).text, "has shape [8] in the file"));
  CHECK(ckpt_test::has(failure({"cls"}).text, "Use the configuration it was saved with"));
  CHECK(failure({"cls", "h.0.l"}).code == redco::exit_code::usage);
  CHECK(ckpt_test::has(failure({"cls", "h.0.l"}).text, "fresh names \"h.0.l\""));
  names[8].zero = true;
  CHECK(loaded({"h.0.ln"}) == std::vector<double>{0, 77, 0, 77});
}

TEST_CASE("every tensor that a rank reads from a folder of weights counts as progress until the deadline of disks") {
  temporary_folder const folder;
  save_toy(folder.path);
  auto const weights = redco::workdir::open_weights(folder.path);
  using namespace std::chrono_literals;
  std::vector<std::uint64_t> gathers;
  for (auto const between : {600'000ms, 0ms})
    redco::comm::run_ranks({.tp = 2}, {}, [&](redco::rank_context& rank) {
      auto const count = [&] {
        return static_cast<std::uint64_t>(rank.world.counters()[redco::shape::collective::all_gather].calls);
      };
      std::uint64_t const before = count();
      auto const parts = toy_state({.tp = 2}, rank.rank, false);
      redco::ckpt::load_model(weights, {toy_names}, parts, rank, {.deadline = 600s, .between = between});
      if (rank.rank == 0) gathers.push_back(count() - before);
    });
  CHECK(gathers[1] >= gathers[0] + 3);
}
