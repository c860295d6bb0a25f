#include "catch.hpp"
#include "support.hpp"

#include <redco/safetensors/safetensors_reader.hpp>

#include "safetensors_text.hpp"

#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace {

using ckpt_test::entry;
using ckpt_test::one;
using ckpt_test::safetensors_bytes;

}  // namespace

TEST_CASE("any box of a tensor is read into any position of an array") {
  temporary_folder const folder;
  std::vector<std::int64_t> const shape{5, 7, 6};
  std::vector<std::int32_t> values(5 * 7 * 6);
  std::iota(values.begin(), values.end(), 1000);
  std::string data(values.size() * 4, '\0');
  std::memcpy(data.data(), values.data(), data.size());
  std::string const header =
      "{" + entry("pad", 0, 4) + ",\"t\":{\"dtype\":\"I32\",\"shape\":[5,7,6],\"data_offsets\":[4,844]}}";
  ckpt_test::put(folder / "f", safetensors_bytes(header, "zzzz" + data));
  redco::safetensors::safetensors_reader const file(folder / "f");
  for (redco::safetensors::box const& box :
       {redco::safetensors::whole(shape), redco::safetensors::box{{1, 0, 0}, {3, 7, 6}},
        redco::safetensors::box{{0, 2, 0}, {5, 3, 6}}, redco::safetensors::box{{4, 6, 5}, {1, 1, 1}},
        redco::safetensors::box{{1, 2, 3}, {3, 4, 2}}, redco::safetensors::box{{2, 3, 1}, {0, 4, 2}}}) {
    std::vector<std::int64_t> const target_shape{6, 9, 8};
    std::vector<std::int64_t> const at{1, 1, 2};
    std::vector<std::int32_t> target(6 * 9 * 8, -1);
    std::uint64_t const before = file.bytes_read();
    file.read("t", box, std::as_writable_bytes(std::span(target)), target_shape, at);
    CHECK(file.bytes_read() - before == static_cast<std::uint64_t>(redco::safetensors::count_of(box.shape)) * 4);
    for (std::int64_t i = 0; i < 6; ++i) {
      for (std::int64_t j = 0; j < 9; ++j) {
        for (std::int64_t k = 0; k < 8; ++k) {
          bool const in =
              i >= 1 && i - 1 < box.shape[0] && j >= 1 && j - 1 < box.shape[1] && k >= 2 && k - 2 < box.shape[2];
          std::int64_t const from = ((i - 1 + box.offset[0]) * 7 + j - 1 + box.offset[1]) * 6 + k - 2 + box.offset[2];
          CHECK(target[static_cast<std::size_t>((i * 9 + j) * 8 + k)] ==
                (in ? values[static_cast<std::size_t>(from)] : -1));
        }
      }
    }
  }
  std::vector<std::int32_t> small(4);
  auto const bytes = std::as_writable_bytes(std::span(small));
  std::vector<std::int64_t> const two{1, 2, 2};
  std::vector<std::int64_t> const zero{0, 0, 0};
  CHECK(ckpt_test::error_of([&] {
          file.read("t", {{0, 6, 0}, {1, 2, 2}}, bytes, two, zero);
        }).code == redco::exit_code::internal);
  CHECK(ckpt_test::error_of([&] {
          file.read("no", {{0, 0, 0}, {1, 2, 2}}, bytes, two, zero);
        }).code == redco::exit_code::data);
}

TEST_CASE("long and short runs of a large tensor are read correctly") {
  temporary_folder const folder;
  std::int64_t const rows = 37;
  std::int64_t const columns = 30'011;
  std::vector<std::int32_t> values(static_cast<std::size_t>(rows * columns));
  std::iota(values.begin(), values.end(), 7);
  std::string data(values.size() * 4, '\0');
  std::memcpy(data.data(), values.data(), data.size());
  ckpt_test::put(folder / "f", safetensors_bytes("{\"t\":{\"dtype\":\"I32\",\"shape\":[37,30011],\"data_offsets\":[0," +
                                                     std::to_string(data.size()) + "]}}",
                                                 data));
  redco::safetensors::safetensors_reader const file(folder / "f");
  for (auto const& [first, width] :
       {std::pair<std::int64_t, std::int64_t>{0, 30'011}, {11, 29'990}, {29'000, 1011}, {3, 13'001}}) {
    std::vector<std::int64_t> const shape{rows, width};
    std::vector<std::int64_t> const at{0, 0};
    std::vector<std::int32_t> target(static_cast<std::size_t>(rows * width));
    std::uint64_t const before = file.bytes_read();
    file.read("t", {{0, first}, shape}, std::as_writable_bytes(std::span(target)), shape, at);
    CHECK(file.bytes_read() - before == target.size() * 4);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < rows * width; ++i)
      wrong += target[static_cast<std::size_t>(i)] !=
               values[static_cast<std::size_t>(i / width * columns + first + i % width)];
    CHECK(wrong == 0);
  }
}

TEST_CASE("a range of a file with many destinations is read in few pieces, each byte once") {
  temporary_folder const folder;
  std::int64_t const rows = 300'001;
  std::string data(static_cast<std::size_t>(rows) * 7, '\0');
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i % 251);
  ckpt_test::put(folder / "f",
                 safetensors_bytes(one("\"U8\"", "[300001,7]", "[0," + std::to_string(data.size()) + "]"), data));
  redco::safetensors::safetensors_reader const file(folder / "f");
  std::uint64_t const header = file.bytes_read();
  CHECK(header == file.size() - data.size());
  std::vector<std::byte> target(static_cast<std::size_t>(rows) * 9);
  std::vector<std::int64_t> const shape{rows, 9};
  std::vector<std::int64_t> const at{0, 1};
  file.read("a", redco::safetensors::whole({rows, 7}), target, shape, at);
  CHECK(file.bytes_read() == file.size());
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < target.size(); ++i) {
    bool const inside = i % 9 >= 1 && i % 9 < 8;
    wrong += std::to_integer<char>(target[i]) != (inside ? data[i / 9 * 7 + i % 9 - 1] : '\0');
  }
  CHECK(wrong == 0);
}

TEST_CASE("a file that is cut while it is open causes an error, not a signal") {
  temporary_folder const folder;
  ckpt_test::put(folder / "f", safetensors_bytes(one("\"U8\"", "[64]", "[0,64]"), std::string(64, 'x')));
  redco::safetensors::safetensors_reader const file(folder / "f");
  std::filesystem::resize_file(folder / "f", file.size() - 10);
  std::vector<std::byte> target(64);
  std::vector<std::int64_t> const shape{64};
  std::vector<std::int64_t> const at{0};
  auto const failure =
      ckpt_test::error_of([&] { file.read("a", redco::safetensors::whole(shape), target, shape, at); });
  CHECK(failure.code == redco::exit_code::data);
  CHECK(ckpt_test::has(failure.text, "cut while being read"));
}
