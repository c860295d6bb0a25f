#include "safetensors/support.hpp"
#include "torch_catch.hpp"

#include <redco/ckpt/load_weights.hpp>
#include <redco/ckpt/save_model.hpp>
#include <redco/ckpt/save_model_with.hpp>
#include <redco/workdir/open_weights.hpp>

#include <redco/comm/thread_world.hpp>
#include <redco/options/value_text.hpp>

#include "python.hpp"
#include "skip.hpp"
#include "toy_model.hpp"
#include "workdir/recording_ops.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

using ckpt_test::recording_ops;
using ckpt_test::toy_names;
using ckpt_test::toy_state;

void save_on(redco::mesh const& mesh, std::filesystem::path const& folder,
             redco::save_model_options const& options = {}) {
  redco::comm::run_ranks(mesh, {}, [&](redco::rank_context& rank) {
    redco::ckpt::save_model(folder, toy_names, toy_state(mesh, rank.rank, true), rank.world, options);
  });
}

int wrong_on(redco::mesh const& mesh, std::filesystem::path const& folder) {
  auto const weights = redco::workdir::open_weights(folder);
  std::atomic<int> wrong = 0;
  redco::comm::run_ranks(mesh, {}, [&](redco::rank_context& rank) {
    auto const parts = toy_state(mesh, rank.rank, false);
    redco::ckpt::load_model(weights, {toy_names}, parts, rank);
    wrong += ckpt_test::wrong_toy_parts(parts);
  });
  return wrong;
}

/// Returns the version of the weights in a folder: 0 those of `toy_state`, 1 those plus one, 2
/// none, -1 a mixture or unreadable weights.
int version_in(std::filesystem::path const& folder) {
  int version = -1;
  auto const failure = ckpt_test::error_of([&] {
    auto const weights = redco::workdir::open_weights(folder);
    redco::comm::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
      auto const parts = toy_state({.dp = 1}, 0, false);
      redco::ckpt::load_model(weights, {toy_names}, parts, rank);
      for (int i = 1; i >= 0 && version < 0; --i) {
        for (auto const& part : parts) part.local.sub_(i);
        if (ckpt_test::wrong_toy_parts(parts) == 0) version = i;
        for (auto const& part : parts) part.local.add_(i);
      }
    });
  });
  return ckpt_test::has(failure.text, "has neither model.safetensors nor") ? 2 : version;
}

std::set<std::string> names_in(std::filesystem::path const& folder) {
  std::set<std::string> names;
  for (auto const& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

at::Tensor read(std::filesystem::path const& path, std::string const& name) {
  redco::safetensors::safetensors_reader const file(path);
  auto const* const entry = file.find(name);
  REQUIRE(entry != nullptr);
  at::Tensor const values = at::empty(entry->shape, redco::ckpt::scalar_type_of(entry->type));
  file.read(name, redco::safetensors::whole(entry->shape), redco::ckpt::detail::bytes_of(values), entry->shape,
            std::vector<std::int64_t>(entry->shape.size(), 0));
  return values;
}

}  // namespace

TEST_CASE("a model is saved under the names and in the layouts of its files, the same bytes from any mesh") {
  temporary_folder const folder;
  save_on({.dp = 1}, folder / "one");
  CHECK(names_in(folder / "one") == std::set<std::string>{"model.safetensors"});
  auto const path = folder / "one/model.safetensors";
  std::vector<at::Tensor> values;
  for (auto const& p : ckpt_test::toy_parameters()) values.push_back(ckpt_test::toy_values(p));
  CHECK(read(path, "t.wte.weight").equal(values[0]));
  CHECK(read(path, "t.h.0.attn.weight").equal(at::cat({values[1], values[2]}).t()));
  CHECK(read(path, "t.h.0.attn.bias").equal(at::cat({values[3], values[4]})));
  CHECK(read(path, "t.h.0.out.weight").equal(values[5].t()));
  CHECK(read(path, "t.cls").equal(values[9].reshape({1, 1, 9})));
  CHECK(redco::safetensors::safetensors_reader(path).entries().size() == 9);
  std::string const bytes = ckpt_test::get(path);
  CHECK(ckpt_test::has(bytes.substr(0, 64), R"({"__metadata__":{"format":"pt"},)"));
  for (redco::mesh const mesh :
       {redco::mesh{.dp = 2}, {.tp = 2}, {.tp = 3}, {.dp = 2, .tp = 2}, {.tp = 4}, {.tp = 6}}) {
    INFO("mesh " << mesh.dp << "x" << mesh.tp);
    auto const other = folder / ("mesh" + redco::options::to_text(mesh));
    save_on(mesh, other);
    CHECK(ckpt_test::get(other / "model.safetensors") == bytes);
    CHECK(wrong_on(mesh, folder / "one") == 0);
  }
}

TEST_CASE("ranks with different parts write the tensors and lines of all of them, each once") {
  temporary_folder const folder;
  redco::comm::run_ranks({.pp = 2, .dp = 1}, {}, [&](redco::rank_context& rank) {
    std::string const name = rank.rank == 0 ? "first" : "second";
    redco::ckpt::state_part const part{name, {2}, at::full({2}, rank.rank + 1.0f), {{0}, {2}}, true};
    redco::ckpt::save_parts(
        folder.path, "weights.safetensors", "lines.txt",
        [&]() -> redco::ckpt::parts_with_lines {
          return {{part}, "both\n" + name + "\n"};
        },
        [](std::vector<std::string> const& lines) {
          std::string text;
          for (std::string const& line : lines) text += line + ";";
          return text;
        },
        rank.world);
  });
  CHECK(content_of(folder / "lines.txt") == "both;first;second;");
  auto const weights = redco::workdir::open_weights(folder / "weights.safetensors");
  CHECK(weights.tensors.size() == 2);
}

TEST_CASE("a model is saved in the requested dtype and rounded once") {
  temporary_folder const folder;
  save_on({.tp = 2}, folder.path, {.type = redco::dtype::bf16});
  auto const& p = ckpt_test::toy_parameters()[5];
  at::Tensor const saved = read(folder / "model.safetensors", "t.h.0.out.weight");
  CHECK(saved.scalar_type() == at::kBFloat16);
  CHECK(saved.equal(ckpt_test::toy_values(p).t().to(at::kBFloat16)));
}

TEST_CASE("weights above the size limit become several files with an index and replace older files") {
  temporary_folder const folder;
  save_on({.dp = 1}, folder.path);
  ckpt_test::put(folder / "config.json", "{}");
  ckpt_test::put(folder / ".tmp-model-00001-of-00009.safetensors", "left by a dead save");
  save_on({.tp = 2}, folder.path, {.file_bytes = 500});
  // Bytes: wte 140; attn 480; its biases 96; out 240; few 80 and 80; ln 20; cls 36; none 0.
  CHECK(names_in(folder.path) ==
        std::set<std::string>{"config.json", "model-00001-of-00004.safetensors", "model-00002-of-00004.safetensors",
                              "model-00003-of-00004.safetensors", "model-00004-of-00004.safetensors",
                              "model.safetensors.index.json"});
  CHECK(redco::safetensors::safetensors_reader(folder / "model-00003-of-00004.safetensors").entries().size() == 4);
  CHECK(wrong_on({.tp = 3}, folder.path) == 0);
  save_on({.dp = 1}, folder.path, {.file_bytes = 1});  // one file per tensor
  CHECK(names_in(folder.path).size() == 11);
  CHECK(wrong_on({.dp = 2}, folder.path) == 0);
  save_on({.dp = 2}, folder.path);
  CHECK(names_in(folder.path) == std::set<std::string>{"config.json", "model.safetensors"});
}

TEST_CASE("a save that fails at any call leaves the older weights, the new, or none; never a mixture") {
  for (std::uint64_t const limit : {std::uint64_t{1} << 30, std::uint64_t{500}}) {
    int failures = 0;
    std::set<int> versions;
    for (int call = 0; call < 1000; ++call) {
      temporary_folder const folder;
      save_on({.dp = 1}, folder / "m", {.file_bytes = 300});
      recording_ops ops(folder.path);
      ops.fail_at = call;
      std::atomic<int> failed = 0;
      auto const failure = ckpt_test::error_of([&] {
        redco::comm::run_ranks({.tp = 2}, {}, [&](redco::rank_context& rank) {
          auto const parts = toy_state({.tp = 2}, rank.rank, true);
          for (auto const& part : parts) part.local.add_(1);
          try {
            redco::ckpt::save_model_with(ops, folder / "m", toy_names, parts, rank.world, {.file_bytes = limit});
          } catch (redco::error const&) {
            ++failed;
            throw;
          }
        });
      });
      if (failure.code == redco::exit_code::done) break;
      ++failures;
      INFO("call " << call << " " << ops.log[static_cast<std::size_t>(call)]);
      CHECK(failure.code == redco::exit_code::io);
      CHECK(ckpt_test::has(failure.text, (folder / "m").string()));
      CHECK(failed == 2);
      int const version = version_in(folder / "m");
      CHECK(version >= 0);
      versions.insert(version);
    }
    CHECK(failures > 20);
    // A single file is old or new at any instant. While several files are renamed, there is no
    // complete model.
    CHECK(versions == (limit == 500 ? std::set<int>{0, 1, 2} : std::set<int>{0, 1}));
  }
}

TEST_CASE("a save that fails at any call leaves no weights next to files of another model") {
  std::set<int> versions;
  for (bool const changed : {true, false}) {
    int failures = 0;
    for (int call = 0; call < 1000; ++call) {
      temporary_folder const folder;
      ckpt_test::put(folder / "old.json", "old");
      ckpt_test::put(folder / "new.json", changed ? "new" : "old");
      save_on({.dp = 1, .tp = 1}, folder / "m",
              {.files = {{"config.json", folder / "old.json"}, {"merges.txt", folder / "old.json"}}});
      redco::save_model_options options{.files = {{"config.json", folder / "new.json"}}};
      if (!changed) options.files["merges.txt"] = folder / "old.json";
      recording_ops ops(folder.path);
      ops.fail_at = call;
      auto const failure = ckpt_test::error_of([&] {
        redco::comm::run_ranks({.dp = 1, .tp = 1}, {}, [&](redco::rank_context& rank) {
          auto const parts = toy_state({.dp = 1, .tp = 1}, 0, true);
          for (auto const& part : parts) part.local.add_(1);
          redco::ckpt::save_model_with(ops, folder / "m", toy_names, parts, rank.world, options);
        });
      });
      int const version = version_in(folder / "m");
      bool const newer = ckpt_test::get(folder / "m/config.json") == "new";
      bool const merges = std::filesystem::exists(folder / "m/merges.txt");
      INFO("call " << call << ", version " << version);
      if (version == 0) CHECK((!newer && merges));
      if (version == 1) CHECK((newer == changed && merges != changed));
      CHECK(version >= 0);
      if (failure.code == redco::exit_code::done) break;
      ++failures;
      CHECK(failure.code == redco::exit_code::io);
      // Files next to the weights that do not change are not written again. Then one rename
      // replaces the weights.
      if (changed) versions.insert(version);
      else CHECK(version != 2);
    }
    CHECK(failures > 5);
  }
  CHECK(versions == std::set<int>{0, 1, 2});
}

TEST_CASE("saving over a file that is being read leaves the reader the old content") {
  temporary_folder const folder;
  save_on({.dp = 1}, folder.path);
  auto const weights = redco::workdir::open_weights(folder.path);
  redco::comm::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
    auto parts = toy_state({.dp = 1}, 0, true);
    for (auto const& part : parts) part.local.add_(1);
    redco::ckpt::save_model(folder.path, toy_names, parts, rank.world);
    redco::ckpt::load_model(weights, {toy_names}, parts, rank);
    CHECK(ckpt_test::wrong_toy_parts(parts) == 0);
  });
  CHECK(wrong_on({.dp = 1}, folder.path) > 0);  // a new reader gets the new weights
}

TEST_CASE("no rank holds more than its part and some slabs of the tensors that are saved") {
  temporary_folder const folder;
  std::int64_t const rows = 1024, columns = 12'000;  // 46 MiB in the file, half on each rank
  constexpr std::array names{redco::models::stored_name{"w", "w", true}};
  std::array<std::int64_t, 2> held{};
  redco::comm::run_ranks({.tp = 2}, {}, [&](redco::rank_context& rank) {
    at::Tensor const local = at::full({rows / 2, columns}, rank.rank + 1);
    std::vector<redco::ckpt::state_part> const parts{
        {"w", {rows, columns}, local.to(at::kFloat), {{rank.rank * rows / 2, 0}, {rows / 2, columns}}}};
    rank.memory->reset_peak();
    std::int64_t const before = rank.memory->current();
    redco::ckpt::save_model(folder.path, names, parts, rank.world);
    held[static_cast<std::size_t>(rank.rank)] = rank.memory->peak() - before;
  });
  CHECK(held[0] < 60 << 20);
  CHECK(held[1] < 60 << 20);
  at::Tensor const saved = read(folder / "model.safetensors", "w");
  CHECK(saved.narrow(1, 0, 512).eq(1).all().item<bool>());
  CHECK(saved.narrow(1, 512, 512).eq(2).all().item<bool>());
}

TEST_CASE("a model that cannot be saved is refused on all ranks") {
  temporary_folder const folder;
  auto const failure = [&](auto change) {
    return ckpt_test::error_of([&] {
      redco::comm::run_ranks({.tp = 2}, {}, [&](redco::rank_context& rank) {
        auto parts = toy_state({.tp = 2}, rank.rank, true);
        change(parts, rank.rank);
        redco::ckpt::save_model(folder / "m", toy_names, parts, rank.world);
      });
    });
  };
  auto const nobody = failure([](auto& parts, int) { parts[8].owner = false; });
  CHECK(nobody.code == redco::exit_code::internal);
  CHECK(ckpt_test::has(nobody.text, "t.h.0.ln.weight"));
  auto const twice = failure([](auto& parts, int) { parts[8].owner = true; });
  CHECK(ckpt_test::has(twice.text, "overlap"));
  auto const unknown = failure([](auto& parts, int) { parts[8].name = "h.0.norm.weight"; });
  CHECK(unknown.code == redco::exit_code::internal);
  CHECK(ckpt_test::has(unknown.text, "no row for its parameter \"h.0.norm.weight\""));
  auto const whole_numbers =
      ckpt_test::error_of([&] { save_on({.tp = 2}, folder / "m", {.type = redco::dtype::i32}); });
  CHECK(whole_numbers.code == redco::exit_code::usage);
  CHECK_FALSE(std::filesystem::exists(folder / "m"));
}

TEST_CASE("Python's safetensors reads a saved model, in one file and in several", "[outside]") {
  std::string const python = python_with("safetensors");
  if (python.empty()) return skip("no Python with safetensors (scripts/setup --tests, or REDCO_TEST_PYTHON)");
  temporary_folder const folder;
  ckpt_test::put(folder / "check.py", R"(import json, os, struct, sys
from safetensors import deserialize
folder = sys.argv[1]
index = os.path.join(folder, "model.safetensors.index.json")
files = sorted(set(json.load(open(index))["weight_map"].values())) if os.path.exists(index) else ["model.safetensors"]
tensors, total = {}, 0
for name in files:
    content = open(os.path.join(folder, name), "rb").read()
    header = json.loads(content[8:8 + struct.unpack("<Q", content[:8])[0]])
    assert header["__metadata__"] == {"format": "pt"}, header
    tensors.update(dict(deserialize(content)))
if os.path.exists(index):
    facts = json.load(open(index))
    assert set(facts["weight_map"]) == set(tensors), facts
    assert facts["metadata"]["total_size"] == sum(len(t["data"]) for t in tensors.values()), facts
assert len(tensors) == 9, sorted(tensors)
shapes = {name: t["shape"] for name, t in tensors.items()}
assert shapes["t.h.0.attn.weight"] == [5, 24] and shapes["t.cls"] == [1, 1, 9] and shapes["t.none"] == [0, 3], shapes
first = struct.unpack("<5f", bytes(tensors["t.wte.weight"]["data"])[:20])
assert first == tuple(1000 + i / 8 for i in range(1, 6)), first
)");
  for (std::uint64_t const limit : {std::uint64_t{1} << 30, std::uint64_t{500}}) {
    auto const saved = folder / ("limit " + std::to_string(limit));
    save_on({.tp = 3}, saved, {.file_bytes = limit});
    CHECK(std::system((python + " '" + (folder / "check.py").string() + "' '" + saved.string() + "'").c_str()) == 0);
  }
}
