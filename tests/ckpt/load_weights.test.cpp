#include "safetensors/support.hpp"

#include "python.hpp"
#include "skip.hpp"
#include "torch_catch.hpp"

#include <redco/ckpt/detail/write_parts.hpp>
#include <redco/ckpt/load_weights.hpp>
#include <redco/comm/detail/rank_threads.hpp>
#include <redco/comm/in_process_group.hpp>
#include <redco/comm/lifeline.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/workdir/open_weights.hpp>
#include <redco/safetensors/output_file.hpp>
#include <redco/safetensors/safetensors_plan.hpp>
#include <redco/safetensors/weights_source.hpp>
#include <redco/safetensors/xxh64.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using redco::safetensors::file_dtype;
using redco::safetensors::xxh64;

std::string bytes_of(std::vector<float> const& values) {
  return {reinterpret_cast<char const*>(values.data()), values.size() * sizeof(float)};
}

TEST_CASE("weights are distinguished by headers, first values, keys of config.json and other files of the folder") {
  temporary_folder const folder;
  auto const plan = redco::safetensors::plan_safetensors(  // orders tensors by name
      {{"up", file_dtype::f32, {2, 5}}, {"down", file_dtype::f32, {3}}, {"none", file_dtype::f32, {0, 2}}});
  std::vector<float> up{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, down{-1, -2, -3};
  ckpt_test::put(folder / "model.safetensors", plan.header + bytes_of(down) + bytes_of(up));
  ckpt_test::put(folder / "config.json", R"({"model_type": "gpt2", "sizes": [1, 2], "scale": 0.5})");
  ckpt_test::put(folder / "vocab.txt", "a\nb\n");
  ckpt_test::put(folder / "README.md", "of no folder file");
  auto const all = redco::ckpt::identity_of(redco::safetensors::open_safetensors(folder.path));
  // At most four elements of each dimension count: columns 0 to 3 of both rows.
  std::string const corner = bytes_of({0, 1, 2, 3, 5, 6, 7, 8});
  std::map<std::string, std::string> const expected{
      {"config.json model_type", "\"gpt2\""},
      {"config.json scale", "0.5"},
      {"config.json sizes", "[1,2]"},
      {"vocab.txt", "digest " + xxh64::text_of(xxh64::of("a\nb\n"))},
      {"tensor up", "F32 [2, 5] in model.safetensors from byte 12, digest " + xxh64::text_of(xxh64::of(corner))},
      {"tensor down", "F32 [3] in model.safetensors from byte 0, digest " + xxh64::text_of(xxh64::of(bytes_of(down)))},
      {"tensor none", "F32 [0, 2] in model.safetensors from byte 12, digest " + xxh64::text_of(xxh64::of(""))}};
  CHECK(all == expected);
}

TEST_CASE("a process of several ranks reads its folder once to compare it") {
  temporary_folder const folder;
  auto const plan = redco::safetensors::plan_safetensors({{"up", file_dtype::f32, {2, 5}}});
  ckpt_test::put(folder / "model.safetensors", plan.header + bytes_of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  auto const alone = redco::safetensors::open_safetensors(folder.path);
  std::uint64_t const header = alone.files->bytes_read();
  redco::ckpt::identity_of(alone);
  std::uint64_t const once = alone.files->bytes_read() - header;
  CHECK(once == 8 * sizeof(float));

  using std::chrono::milliseconds;
  milliseconds const deadline(20'000);
  // Pretends several processes, though all ranks run in this one
  int const ranks = 4, ranks_here = 3;
  auto const line = std::make_shared<redco::comm::lifeline>(ranks);
  redco::comm::rank_groups groups({.dp = ranks}, 0, ranks_here, [&](auto const& which, auto const& members) {
    return redco::comm::in_process_group::make(which.name, members, line);
  });
  groups.begin_run(deadline);
  auto const shared = redco::safetensors::open_safetensors(folder.path);
  redco::comm::detail::rank_threads threads(0, ranks);
  auto const check = [&](redco::rank_context& me) { redco::ckpt::check_same_weights(shared, me); };
  threads.run({*line, groups, 1, deadline, check}, milliseconds(5), [](std::vector<int> const&) {});
  REQUIRE_FALSE(line->failed());
  CHECK(shared.files->bytes_read() == header + once);
}

using named_tensors = std::vector<std::pair<std::string, at::Tensor>>;

void write_weights(std::filesystem::path const& path, named_tensors const& tensors) {
  std::vector<redco::ckpt::state_part> parts;
  for (auto const& [name, values] : tensors)
    parts.push_back({name, values.sizes().vec(), values, redco::safetensors::whole(values.sizes().vec())});
  std::vector<redco::ckpt::detail::written_part> written;
  for (auto const& part : parts) written.push_back({&part, part.name});
  redco::workdir::manifest share;
  share.tensors = redco::ckpt::detail::described(parts);
  redco::safetensors::posix_file_ops ops;
  redco::ckpt::detail::write_parts(ops, path.parent_path(), path.filename().string(), written, share,
                                   [](std::uint64_t) {});
}

redco::ckpt::state_part wanted(std::string const& name, std::vector<std::int64_t> const& shape,
                               redco::safetensors::box const& box, at::ScalarType type) {
  return {name, shape, at::full(box.shape, 9, at::TensorOptions(type)), box};
}

void load_alone(redco::safetensors::weights_source const& weights, std::vector<redco::ckpt::state_part> const& parts,
                std::vector<std::string> const& unread = {}) {
  redco::comm::run_ranks(
      {.dp = 1}, {}, [&](redco::rank_context& rank) { redco::ckpt::load_parameters(weights, parts, rank, unread); });
}

}  // namespace

TEST_CASE("a warm start reads each rank's box and converts floating types only") {
  temporary_folder const folder;
  at::Tensor const values = at::arange(35, at::kFloat).reshape({5, 7});
  write_weights(folder / "w.safetensors", {{"a", values}, {"ids", at::arange(3, at::kLong)}});
  auto const weights = redco::workdir::open_weights(folder / "w.safetensors");
  std::vector<redco::ckpt::state_part> parts{wanted("a", {5, 7}, {{1, 2}, {4, 3}}, at::kBFloat16),
                                             wanted("ids", {3}, redco::safetensors::whole({3}), at::kLong)};
  load_alone(weights, parts);
  CHECK(parts[0].local.equal(values.narrow(0, 1, 4).narrow(1, 2, 3).to(at::kBFloat16)));
  CHECK(parts[1].local.equal(at::arange(3, at::kLong)));
  std::vector<redco::ckpt::state_part> const other{parts[0],
                                                   wanted("ids", {3}, redco::safetensors::whole({3}), at::kFloat)};
  CHECK(ckpt_test::has(ckpt_test::error_of([&] { load_alone(weights, other); }).text, "\"ids\" has dtype I64"));
  std::vector<redco::ckpt::state_part> const fewer{parts[0]};
  CHECK(ckpt_test::error_of([&] { load_alone(weights, fewer); }).code == redco::exit_code::data);
  CHECK(ckpt_test::error_of([&] { load_alone(weights, fewer, {"id"}); }).code == redco::exit_code::done);
}

TEST_CASE("a sharded index is read, and an index that contradicts its files is refused") {
  temporary_folder const folder;
  write_weights(folder / "one.safetensors", {{"a", at::ones({2, 3})}});
  write_weights(folder / "two.safetensors", {{"b", at::full({5}, 4.0F)}});
  auto const failure = [&](std::string const& index) {
    ckpt_test::put(folder / "model.safetensors.index.json", index);
    return ckpt_test::error_of([&] {
      std::vector<redco::ckpt::state_part> parts{wanted("a", {2, 3}, redco::safetensors::whole({2, 3}), at::kFloat),
                                                 wanted("b", {5}, redco::safetensors::whole({5}), at::kFloat)};
      load_alone(redco::workdir::open_weights(folder.path), parts);
      CHECK(parts[1].local.equal(at::full({5}, 4.0F)));
    });
  };
  CHECK(failure(R"({"metadata":{"total_size":44},"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})").text ==
        "");
  CHECK(ckpt_test::has(
      failure(R"({"metadata":{"total_size":45},"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})").text,
      "total_size"));
  CHECK(ckpt_test::has(failure(R"({"weight_map":{"a":"one.safetensors","b":"three.safetensors"}})").text,
                       "three.safetensors"));
  CHECK(ckpt_test::has(failure(R"({"weight_map":{"a":"one.safetensors","b":"one.safetensors"}})").text,
                       "not in its file"));
  CHECK(ckpt_test::has(failure(R"({"weight_map":{"a":"../one.safetensors","b":"two.safetensors"}})").text,
                       "plain file name"));
  CHECK(ckpt_test::has(failure(R"({"weight_map":{"a":"/one.safetensors","b":"two.safetensors"}})").text,
                       "plain file name"));
  CHECK(ckpt_test::has(failure(R"({"weight_map":{"a":"one.safetensors"}})").text, "\"b\" is missing"));
  CHECK(ckpt_test::has(failure(R"({"weight_map":[]})").text, "no weight_map"));
  write_weights(folder / "both.safetensors", {{"a", at::ones({2, 3})}, {"b", at::ones({5})}});
  CHECK(
      ckpt_test::has(failure(R"({"weight_map":{"a":"one.safetensors","b":"both.safetensors"}})").text, "in two files"));
}

TEST_CASE("files are aligned, sorted and byte-identical every time") {
  auto const plan = redco::safetensors::plan_safetensors({{"b", redco::safetensors::file_dtype::u8, {3}},
                                                          {"z", redco::safetensors::file_dtype::f64, {1}},
                                                          {"a", redco::safetensors::file_dtype::u8, {5}}});
  CHECK(plan.header.size() % 8 == 0);
  CHECK(plan.entries.at(0).name == "z");
  CHECK(plan.entries.at(1).name == "a");
  CHECK(plan.bytes() == plan.header.size() + 16);
  CHECK(redco::safetensors::plan_safetensors({{"a", redco::safetensors::file_dtype::u8, {5}},
                                              {"z", redco::safetensors::file_dtype::f64, {1}},
                                              {"b", redco::safetensors::file_dtype::u8, {3}}})
            .header == plan.header);
  CHECK(ckpt_test::error_of([] {
          redco::safetensors::plan_safetensors(
              {{"a", redco::safetensors::file_dtype::u8, {5}}, {"a", redco::safetensors::file_dtype::u8, {5}}});
        }).code == redco::exit_code::internal);
  CHECK(redco::safetensors::xxh64::text_of(redco::safetensors::xxh64::of("a")) == "d24ec4f1a98c6e5b");
}

TEST_CASE("every dtype survives a file, and Python's safetensors reads and writes the same", "[outside]") {
  temporary_folder const folder;
  named_tensors all;
  std::vector<redco::ckpt::state_part> parts;
  for (std::size_t i = 0; i < redco::ckpt::detail::scalar_types.size(); ++i) {
    at::ScalarType const type = redco::ckpt::detail::scalar_types[i];
    at::Tensor const numbers = at::arange(6, at::kLong).reshape({2, 3});
    all.emplace_back("t/" + std::string(name_of(static_cast<redco::safetensors::file_dtype>(i))),
                     type == at::kBool ? numbers.remainder(2).eq(0) : numbers.to(type));
    parts.push_back(
        {all.back().first, {2, 3}, at::zeros({2, 3}, at::TensorOptions(type)), redco::safetensors::whole({2, 3})});
  }
  auto const same = [&] {
    int right = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto const bytes = [](at::Tensor const& values) {
        return std::string(static_cast<char const*>(values.data_ptr()), values.nbytes());
      };
      right += bytes(parts[i].local) == bytes(all[i].second);
      parts[i].local.zero_();
    }
    return right;
  };
  write_weights(folder / "ours.safetensors", all);
  load_alone(redco::workdir::open_weights(folder / "ours.safetensors"), parts);
  CHECK(same() == 16);

  std::string const python = python_with("safetensors");
  if (python.empty()) return skip("no Python with safetensors (scripts/setup --tests, or REDCO_TEST_PYTHON)");
  ckpt_test::put(folder / "again.py", R"(import ctypes, sys, safetensors
from safetensors import deserialize, serialize_file
tensors = deserialize(open(sys.argv[1], "rb").read())
assert len(tensors) == 16, len(tensors)
long = dict(F64="float64", F32="float32", BF16="bfloat16", F16="float16", F8_E5M2="float8_e5m2",
            F8_E4M3="float8_e4m3fn",
            I64="int64", I32="int32", I16="int16", I8="int8", U64="uint64", U32="uint32",
            U16="uint16", U8="uint8", BOOL="bool", C64="complex64")
for name, t in tensors:
    assert name == "t/" + t["dtype"] and t["shape"] == [2, 3], (name, t)
kept = {name: ctypes.create_string_buffer(bytes(t["data"]), len(t["data"])) for name, t in tensors}
def spec(name, t):
  facts = dict(dtype=long[t["dtype"]], shape=t["shape"])
  if not hasattr(safetensors, "TensorSpec"): return dict(facts, data=bytes(t["data"]))  # before 0.8
  return safetensors.TensorSpec(**facts, data_ptr=ctypes.addressof(kept[name]), data_len=len(t["data"]))
serialize_file({name: spec(name, t) for name, t in tensors}, sys.argv[2], {"format": "pt"})
)");
  std::string const call = python + " '" + (folder / "again.py").string() + "' '" +
                           (folder / "ours.safetensors").string() + "' '" + (folder / "theirs.safetensors").string() +
                           "'";
  REQUIRE(std::system(call.c_str()) == 0);
  load_alone(redco::workdir::open_weights(folder / "theirs.safetensors"), parts);
  CHECK(same() == 16);
}
