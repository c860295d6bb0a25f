#include "support.hpp"

#include <redco/ckpt/safetensors_reader.hpp>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <sys/stat.h>

namespace {

using ckpt_test::safetensors_bytes;

struct hostile {
  std::string why;   ///< part of the message that refuses it
  std::string file;  ///< its bytes
};

std::string one(std::string const& dtype, std::string const& shape, std::string const& offsets) {
  return "{\"a\":{\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}}";
}

std::string prefix_of(std::uint64_t length) {
  std::string prefix(8, '\0');
  std::memcpy(prefix.data(), &length, 8);
  return prefix;
}

std::string entry(std::string const& name, int begin, int end) {
  return "\"" + name + "\":{\"dtype\":\"U8\",\"shape\":[" + std::to_string(end - begin) + "],\"data_offsets\":[" +
         std::to_string(begin) + "," + std::to_string(end) + "]}";
}

std::vector<hostile> corpus() {
  std::string const good = safetensors_bytes(one("\"F32\"", "[3]", "[0,12]"), std::string(12, 'x'));
  std::string const big = "18446744073709551616";
  std::string const e8 = std::string(8, 'x');
  std::string const e12 = std::string(12, 'x');
  // One call each: a list of this many strings takes compilers minutes.
  std::vector<hostile> all;
  auto const add = [&](char const* why, std::string file) { all.push_back({why, std::move(file)}); };
  // prefix
  add("shorter than its 8-byte length", "");
  add("shorter than its 8-byte length", std::string(1, '\0'));
  add("shorter than its 8-byte length", std::string(7, '\x01'));
  add("", prefix_of(0));
  add("the file ends before", prefix_of(9) + "{}      ");
  add("the file ends before", good.substr(0, 40));
  add("more than any may have", prefix_of(100'000'001) + "{}");
  add("more than any may have", prefix_of(std::uint64_t{1} << 63) + "{}");
  add("more than any may have", prefix_of(std::uint64_t{0} - 8) + "{}");
  add("more than any may have", prefix_of(std::uint64_t{0} - 1) + "{}");
  // JSON
  add("", safetensors_bytes("{\"\xff\":1}"));
  add("", safetensors_bytes("{\"\\ud800\":" + one("\"U8\"", "[0]", "[0,0]").substr(5)));
  add("", safetensors_bytes("{"));
  add("not a JSON object", safetensors_bytes("[]"));
  add("not a JSON object", safetensors_bytes("7"));
  add("not a JSON object", safetensors_bytes("null"));
  add("", safetensors_bytes("{}{}"));
  add("", safetensors_bytes("{} x"));
  add("", safetensors_bytes("/**/{}"));
  add("", safetensors_bytes(std::string("{}\0", 3)));
  add("byte order mark", safetensors_bytes("\xef\xbb\xbf{}"));
  add("", safetensors_bytes(one("\"U8\"", "[NaN]", "[0,0]")));
  add("deep", safetensors_bytes(std::string(200'000, '[')));
  add("deep", safetensors_bytes("{\"a\":" + std::string(2'000'000, '[')));
  add("is not an object", safetensors_bytes("{\"__metadata__\":[]}"));
  add("not a string", safetensors_bytes("{\"__metadata__\":{\"a\":1}}"));
  add("twice", safetensors_bytes("{\"__metadata__\":{},\"__metadata__\":{}}"));
  add("", safetensors_bytes("   "));
  // keys
  std::string const twice = "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]}}";
  add("twice", safetensors_bytes(twice, e8));
  add("twice", safetensors_bytes("{" + entry("a", 0, 8) + "," + entry("a", 0, 8) + "}", e8));
  add("twice", safetensors_bytes("{" + entry("a", 0, 4) + "," + entry("a", 4, 8) + "}", e8));
  add("name is empty", safetensors_bytes("{" + entry("", 0, 8) + "}", e8));
  add("", safetensors_bytes("{" + entry("a\\u0000b", 0, 8) + "}", e8));
  add("control characters", safetensors_bytes("{" + entry("a\\nb", 0, 8) + "}", e8));
  add("too long", safetensors_bytes("{" + entry(std::string(1 << 20, 'n'), 0, 8) + "}", e8));
  add("has no \"dtype\"", safetensors_bytes("{\"a\":{\"shape\":[8],\"data_offsets\":[0,8]}}", e8));
  add("has no \"shape\"", safetensors_bytes("{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,8]}}", e8));
  add("has no \"data_offsets\"", safetensors_bytes("{\"a\":{\"dtype\":\"U8\",\"shape\":[8]}}", e8));
  add("other than", safetensors_bytes("{\"a\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8],\"x\":0}}", e8));
  add("not described by an object", safetensors_bytes("{\"a\":[]}"));
  add("not described by an object", safetensors_bytes("{\"a\":null}"));
  // dtype
  add("unknown dtype \"F33\"", safetensors_bytes(one("\"F33\"", "[3]", "[0,12]"), e12));
  add("unknown dtype \"f32\"", safetensors_bytes(one("\"f32\"", "[3]", "[0,12]"), e12));
  add("not a string", safetensors_bytes(one("32", "[3]", "[0,12]"), e12));
  add("unsupported", safetensors_bytes(one("\"F4\"", "[3]", "[0,2]"), "xx"));
  add("unsupported", safetensors_bytes(one("\"F6_E2M3\"", "[4]", "[0,3]"), "abc"));
  add("unsupported", safetensors_bytes(one("\"F8_E8M0\"", "[8]", "[0,8]"), e8));
  add("unsupported", safetensors_bytes(one("\"F8_E4M3FNUZ\"", "[8]", "[0,8]"), e8));
  add("not a string", safetensors_bytes(one("null", "[3]", "[0,12]"), e12));
  // shape
  add("unsigned integer", safetensors_bytes(one("\"U8\"", "[-8]", "[0,8]"), e8));
  add("unsigned integer", safetensors_bytes(one("\"U8\"", "[8.0]", "[0,8]"), e8));
  add("unsigned integer", safetensors_bytes(one("\"U8\"", "[8e0]", "[0,8]"), e8));
  add("unsigned integer", safetensors_bytes(one("\"U8\"", "[\"8\"]", "[0,8]"), e8));
  add("unsigned integer", safetensors_bytes(one("\"U8\"", "[true]", "[0,8]"), e8));
  add("not an array", safetensors_bytes(one("\"U8\"", "8", "[0,8]"), e8));
  add("64 bits", safetensors_bytes(one("\"U8\"", "[" + big + "]", "[0,8]"), e8));
  add("overflows", safetensors_bytes(one("\"U8\"", "[4294967296,4294967296]", "[0,0]")));
  add("overflows", safetensors_bytes(one("\"F64\"", "[2305843009213693952]", "[0,0]")));
  add("beyond 2^63-1", safetensors_bytes(one("\"U8\"", "[9223372036854775808]", "[0,0]")));
  add("overflows", safetensors_bytes(one("\"F32\"", "[0,9223372036854775807]", "[0,0]")));
  add("overflows", safetensors_bytes(one("\"U8\"", "[0,9223372036854775807,2]", "[0,0]")));
  // data_offsets
  add("two unsigned integers", safetensors_bytes(one("\"U8\"", "[8]", "[0]"), e8));
  add("two unsigned integers", safetensors_bytes(one("\"U8\"", "[8]", "[0,8,8]"), e8));
  add("two unsigned integers", safetensors_bytes(one("\"U8\"", "[8]", "{\"0\":0,\"1\":8}"), e8));
  add("two unsigned integers", safetensors_bytes(one("\"U8\"", "[8]", "[-8,0]"), e8));
  add("two unsigned integers", safetensors_bytes(one("\"U8\"", "[8]", "[0,8.0]"), e8));
  add("in reverse", safetensors_bytes(one("\"U8\"", "[8]", "[8,0]"), e8));
  add("beyond the end", safetensors_bytes(one("\"U8\"", "[9]", "[0,9]"), e8));
  add("beyond the end", safetensors_bytes(one("\"U8\"", "[9223372036854775807]", "[0,9223372036854775807]"), e8));
  add("need 12", safetensors_bytes(one("\"F32\"", "[3]", "[0,16]"), std::string(16, 'x')));
  add("need 12", safetensors_bytes(one("\"F32\"", "[3]", "[0,8]"), e8));
  add("overlaps", safetensors_bytes("{" + entry("a", 0, 6) + "," + entry("b", 4, 8) + "}", e8));
  add("overlaps",
      safetensors_bytes("{" + entry("a", 0, 8) + "," + entry("b", 0, 8) + "," + entry("c", 0, 8) + "}", e8));
  add("hole", safetensors_bytes("{" + entry("a", 2, 8) + "}", e8));
  add("hole", safetensors_bytes("{" + entry("a", 0, 3) + "," + entry("b", 4, 8) + "}", e8));
  add("after the last tensor", safetensors_bytes("{" + entry("a", 0, 8) + "}", e8 + "PK"));
  add("after the last tensor", safetensors_bytes("{}", "x"));
  add("beyond the end", safetensors_bytes("{" + entry("a", 0, 8) + "}", e8.substr(1)));
  add("overlaps", safetensors_bytes("{" + entry("a", 0, 8) + "," + entry("z", 4, 4) + "}", e8));
  add("hole", safetensors_bytes("{" + entry("a", 0, 8) + "," + entry("z", 9, 9) + "}", e8));
  std::string dimensions = "[1";
  for (int i = 1; i < 10'000; ++i) dimensions += ",1";
  all.push_back({"10000 dimensions", safetensors_bytes(one("\"U8\"", dimensions + "]", "[0,1]"), "x")});
  std::string many = "{";
  for (int i = 0; i < 400'000; ++i) many += (i ? ",\"" : "\"") + std::to_string(i) + "\":[1,2]";
  all.push_back({"values", safetensors_bytes(many + "}")});
  return all;
}

}  // namespace

TEST_CASE("every hostile safetensors file is refused with its name, its cause and exit code 65") {
  ckpt_test::scratch const folder;
  auto const files = corpus();
  CHECK(files.size() >= 80);
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto const path = folder / ("hostile " + std::to_string(i) + ".safetensors");
    ckpt_test::put(path, files[i].file);
    auto const failure = ckpt_test::error_of([&] { redco::safetensors_reader{path}; });
    INFO("file " << i << ", wanted \"" << files[i].why << "\", got: " << failure.text);
    CHECK(failure.code == redco::exit_code::data);
    CHECK(ckpt_test::has(failure.text, path.string()));
    CHECK(ckpt_test::has(failure.text, files[i].why));
    CHECK(failure.text.size() < 1000);
  }
}

TEST_CASE("a path that is no regular file is refused without waiting") {
  ckpt_test::scratch const folder;
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  for (std::filesystem::path const& path :
       {folder / "absent", folder / "fifo", folder.path(), std::filesystem::path("/dev/zero")}) {
    CHECK(ckpt_test::error_of([&] { redco::safetensors_reader{path}; }).code == redco::exit_code::data);
  }
  ckpt_test::put(folder / "real", safetensors_bytes("{}"));
  std::filesystem::create_symlink("real", folder / "link");
  CHECK(redco::safetensors_reader(folder / "link").entries().empty());
  auto const refused = ckpt_test::error_of([&] { redco::safetensors_reader(folder / "link", redco::links::refused); });
  CHECK(refused.code == redco::exit_code::data);
  CHECK(ckpt_test::has(refused.text, "symbolic link"));
}

TEST_CASE("what is odd but legal in a safetensors file is read") {
  ckpt_test::scratch const folder;
  auto const read = [&](std::string const& bytes) {
    ckpt_test::put(folder / "f", bytes);
    return redco::safetensors_reader(folder / "f").entries();
  };
  CHECK(read(safetensors_bytes("{}")).empty());
  CHECK(read(safetensors_bytes(" \n{\"__metadata__\":{\"format\":\"pt\"}}   ")).empty());
  CHECK(read(safetensors_bytes(one("\"F32\"", "[]", "[0,4]"), "abcd")).at(0).shape.empty());
  CHECK(read(safetensors_bytes(one("\"F32\"", "[2,0]", "[0,0]"))).at(0).shape == std::vector<std::int64_t>{2, 0});
  CHECK(read(safetensors_bytes("{" + entry("a/../../b", 0, 2) + "}", "xy")).at(0).name == "a/../../b");
  auto const reordered = read(safetensors_bytes(
      "{" + entry("late", 3, 8) + "," + entry("none", 3, 3) + "," + entry("early", 0, 3) + "}", "12345678"));
  REQUIRE(reordered.size() == 3);
  CHECK(reordered[0].name == "early");
  CHECK(reordered[1].name == "none");
  CHECK(reordered[2].name == "late");
}

TEST_CASE("any box of a tensor is read into any place of an array") {
  ckpt_test::scratch const folder;
  std::vector<std::int64_t> const shape{5, 7, 6};
  std::vector<std::int32_t> values(5 * 7 * 6);
  std::iota(values.begin(), values.end(), 1000);
  std::string data(values.size() * 4, '\0');
  std::memcpy(data.data(), values.data(), data.size());
  std::string const header =
      "{" + entry("pad", 0, 4) + ",\"t\":{\"dtype\":\"I32\",\"shape\":[5,7,6],\"data_offsets\":[4,844]}}";
  ckpt_test::put(folder / "f", safetensors_bytes(header, "zzzz" + data));
  redco::safetensors_reader const file(folder / "f");
  for (redco::box const& box :
       {redco::whole(shape), redco::box{{1, 0, 0}, {3, 7, 6}}, redco::box{{0, 2, 0}, {5, 3, 6}},
        redco::box{{4, 6, 5}, {1, 1, 1}}, redco::box{{1, 2, 3}, {3, 4, 2}}, redco::box{{2, 3, 1}, {0, 4, 2}}}) {
    std::vector<std::int64_t> const target_shape{6, 9, 8};
    std::vector<std::int64_t> const at{1, 1, 2};
    std::vector<std::int32_t> target(6 * 9 * 8, -1);
    file.read("t", box, std::as_writable_bytes(std::span(target)), target_shape, at);
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

TEST_CASE("long and short runs of a large tensor are read alike") {
  ckpt_test::scratch const folder;
  std::int64_t const rows = 37;
  std::int64_t const columns = 30'011;
  std::vector<std::int32_t> values(static_cast<std::size_t>(rows * columns));
  std::iota(values.begin(), values.end(), 7);
  std::string data(values.size() * 4, '\0');
  std::memcpy(data.data(), values.data(), data.size());
  ckpt_test::put(folder / "f", safetensors_bytes("{\"t\":{\"dtype\":\"I32\",\"shape\":[37,30011],\"data_offsets\":[0," +
                                                     std::to_string(data.size()) + "]}}",
                                                 data));
  redco::safetensors_reader const file(folder / "f");
  for (auto const& [first, width] :
       {std::pair<std::int64_t, std::int64_t>{0, 30'011}, {11, 29'990}, {29'000, 1011}, {3, 13'001}}) {
    std::vector<std::int64_t> const shape{rows, width};
    std::vector<std::int64_t> const at{0, 0};
    std::vector<std::int32_t> target(static_cast<std::size_t>(rows * width));
    file.read("t", {{0, first}, shape}, std::as_writable_bytes(std::span(target)), shape, at);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < rows * width; ++i)
      wrong += target[static_cast<std::size_t>(i)] !=
               values[static_cast<std::size_t>(i / width * columns + first + i % width)];
    CHECK(wrong == 0);
  }
}

TEST_CASE("a file that is cut while it is open ends in an error, not in a signal") {
  ckpt_test::scratch const folder;
  ckpt_test::put(folder / "f", safetensors_bytes(one("\"U8\"", "[64]", "[0,64]"), std::string(64, 'x')));
  redco::safetensors_reader const file(folder / "f");
  std::filesystem::resize_file(folder / "f", file.size() - 10);
  std::vector<std::byte> target(64);
  std::vector<std::int64_t> const shape{64};
  std::vector<std::int64_t> const at{0};
  auto const failure = ckpt_test::error_of([&] { file.read("a", redco::whole(shape), target, shape, at); });
  CHECK(failure.code == redco::exit_code::data);
  CHECK(ckpt_test::has(failure.text, "cut while being read"));
}
