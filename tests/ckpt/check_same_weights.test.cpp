#include "safetensors/support.hpp"
#include "torch_catch.hpp"

#include <redco/ckpt/load_weights.hpp>
#include <redco/comm/detail/rank_threads.hpp>
#include <redco/comm/in_process_group.hpp>
#include <redco/comm/lifeline.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/safetensors/safetensors_plan.hpp>
#include <redco/safetensors/weights_source.hpp>
#include <redco/safetensors/xxh64.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
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

}  // namespace
