#include "catch.hpp"
#include "safetensors/support.hpp"
#include "saved_bytes.hpp"

#include <redco/workdir/open_weights.hpp>
#include <redco/safetensors/safetensors_reader.hpp>

#include "peak_memory.hpp"
#include "safetensors/safetensors_text.hpp"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <sys/stat.h>

namespace {

using ckpt_test::entry;
using ckpt_test::one;
using ckpt_test::safetensors_bytes;

std::string const e8(8, 'x');
std::string const e12(12, 'x');

/// Weights from outside and the expected result.
struct weights_case {
  std::filesystem::path path;
  bool legal = false;
  std::string why;     ///< part of the message that refuses them
  std::string source;  ///< the file that the message names
};

/// A collection of cases in a folder that the destructor removes.
class corpus {
 public:
  void refuse(std::string const& why, std::string const& bytes) { add(bytes, false, why); }
  void accept(std::string const& bytes) { add(bytes, true, ""); }

  /// Adds a path that exists already. `source`: the file that the message names, if it is not the
  /// path itself.
  void refuse_path(std::string const& why, std::filesystem::path const& path,
                   std::filesystem::path const& source = {}) {
    cases_.push_back({path, false, why, (source.empty() ? path : source).string()});
  }

  /// Adds an index in a folder with the files "one" with tensor a, "two" with b, and "both" with a
  /// and b, 8 bytes each.
  std::filesystem::path index(std::string const& text) {
    auto const folder = folder_ / ("index " + std::to_string(cases_.size()));
    std::filesystem::create_directory(folder);
    ckpt_test::put(folder / "one.safetensors", safetensors_bytes("{" + entry("a", 0, 8) + "}", e8));
    ckpt_test::put(folder / "two.safetensors", safetensors_bytes("{" + entry("b", 0, 8) + "}", e8));
    ckpt_test::put(folder / "both.safetensors",
                   safetensors_bytes("{" + entry("a", 0, 8) + "," + entry("b", 8, 16) + "}", e8 + e8));
    ckpt_test::put(folder / "model.safetensors.index.json", text);
    return folder;
  }
  void refuse_index(std::string const& why, std::string const& text) { refuse_path(why, index(text)); }
  void accept_index(std::string const& text) { cases_.push_back({index(text), true, "", ""}); }

  std::vector<weights_case> const& cases() const { return cases_; }
  std::filesystem::path operator/(std::string_view name) const { return folder_ / name; }

 private:
  void add(std::string const& bytes, bool legal, std::string const& why) {
    auto const path = folder_ / ("hostile " + std::to_string(cases_.size()) + ".safetensors");
    ckpt_test::put(path, bytes);
    cases_.push_back({path, legal, why, legal ? "" : path.string()});
  }

  temporary_folder folder_;
  std::vector<weights_case> cases_;
};

std::string prefix_of(std::uint64_t length) {
  std::string prefix(8, '\0');
  std::memcpy(prefix.data(), &length, 8);
  return prefix;
}

void add_prefix(corpus& all) {
  std::string const good = safetensors_bytes(one("\"F32\"", "[3]", "[0,12]"), std::string(12, 'x'));
  all.accept(good);
  all.refuse("shorter than its 8-byte length", "");
  all.refuse("shorter than its 8-byte length", std::string(1, '\0'));
  all.refuse("shorter than its 8-byte length", std::string(7, '\x01'));
  all.refuse("", prefix_of(0));
  all.refuse("the file ends before", prefix_of(9) + "{}      ");
  all.refuse("the file ends before", good.substr(0, 40));
  all.refuse("more than any may have", prefix_of(100'000'001) + "{}");
  all.refuse("more than any may have", prefix_of(std::uint64_t{1} << 63) + "{}");
  all.refuse("more than any may have", prefix_of(std::uint64_t{0} - 8) + "{}");
  all.refuse("more than any may have", prefix_of(std::uint64_t{0} - 1) + "{}");
  all.accept(safetensors_bytes("{}"));
}

void add_json(corpus& all) {
  all.refuse("", safetensors_bytes("{\"\xff\":1}"));
  all.refuse("", safetensors_bytes("{\"\\ud800\":" + one("\"U8\"", "[0]", "[0,0]").substr(5)));
  all.refuse("", safetensors_bytes("{"));
  all.refuse("not a JSON object", safetensors_bytes("[]"));
  all.refuse("not a JSON object", safetensors_bytes("7"));
  all.refuse("not a JSON object", safetensors_bytes("null"));
  all.refuse("", safetensors_bytes("{}{}"));
  all.refuse("", safetensors_bytes("{} x"));
  all.refuse("", safetensors_bytes("/**/{}"));
  all.refuse("", safetensors_bytes(std::string("{}\0", 3)));
  all.refuse("byte order mark", safetensors_bytes("\xef\xbb\xbf{}"));
  all.refuse("", safetensors_bytes(one("\"U8\"", "[NaN]", "[0,0]")));
  all.refuse("deep", safetensors_bytes(std::string(200'000, '[')));
  all.refuse("values", safetensors_bytes("{\"a\":" + std::string(2'000'000, '[')));
  all.refuse("is not an object", safetensors_bytes("{\"__metadata__\":[]}"));
  all.refuse("not a string", safetensors_bytes("{\"__metadata__\":{\"a\":1}}"));
  all.refuse("twice", safetensors_bytes("{\"__metadata__\":{},\"__metadata__\":{}}"));
  all.refuse("", safetensors_bytes("   "));
  all.refuse("", safetensors_bytes("{\"__metadata__\":{/**/}}"));
  all.refuse("", safetensors_bytes("{'a':1}"));
  all.refuse("", safetensors_bytes("{\"__metadata__\":{},}"));
  all.refuse("not a string", safetensors_bytes("{\"__metadata__\":{\"a\":null}}"));
  all.refuse("twice", safetensors_bytes("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}"));
  std::string tiny = "{";
  for (int i = 0; i < 400'000; ++i) tiny += (i ? ",\"" : "\"") + std::to_string(i) + "\":[1,2]";
  all.refuse("values", safetensors_bytes(tiny + "}"));
  std::string most = "{\"a\":[1";  // ten million entries, just under the cap
  for (most.reserve(99'999'000); most.size() < 99'998'000;) most += ",123456789";
  all.refuse("values", safetensors_bytes(most + "]}"));
  all.refuse("with 1 entries", safetensors_bytes("{\"a\":\"" + std::string(99'000'000, 'x') + "\"}"));
  all.refuse("with 0 entries", safetensors_bytes(std::string(99'000'000, ' ')));
  all.accept(safetensors_bytes("{\"__metadata__\":{\"notes\":\"" + std::string(1'000'000, 'n') + "\"}}"));
  all.accept(safetensors_bytes("{\"__metadata__\":{}}" + std::string(1'000'000, ' ')));
  all.accept(safetensors_bytes(" \n{\"__metadata__\":{\"format\":\"pt\"}}   "));
}

void add_keys(corpus& all) {
  std::string const twice = "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]}}";
  all.refuse("twice", safetensors_bytes(twice, e8));
  all.refuse("twice", safetensors_bytes("{" + entry("a", 0, 8) + "," + entry("a", 0, 8) + "}", e8));
  all.refuse("twice", safetensors_bytes("{" + entry("a", 0, 4) + "," + entry("a", 4, 8) + "}", e8));
  all.refuse("name is empty", safetensors_bytes("{" + entry("", 0, 8) + "}", e8));
  all.refuse("", safetensors_bytes("{" + entry("a\\u0000b", 0, 8) + "}", e8));
  all.refuse("control characters", safetensors_bytes("{" + entry("a\\nb", 0, 8) + "}", e8));
  all.refuse("too long", safetensors_bytes("{" + entry(std::string(1 << 20, 'n'), 0, 8) + "}", e8));
  all.refuse("has no \"dtype\"", safetensors_bytes("{\"a\":{\"shape\":[8],\"data_offsets\":[0,8]}}", e8));
  all.refuse("has no \"shape\"", safetensors_bytes("{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,8]}}", e8));
  all.refuse("has no \"data_offsets\"", safetensors_bytes("{\"a\":{\"dtype\":\"U8\",\"shape\":[8]}}", e8));
  all.refuse("other than",
             safetensors_bytes("{\"a\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8],\"x\":0}}", e8));
  all.refuse("not described by an object", safetensors_bytes("{\"a\":[]}"));
  all.refuse("not described by an object", safetensors_bytes("{\"a\":null}"));
  all.accept(safetensors_bytes("{" + entry("a/../../b", 0, 8) + "}", e8));
  all.accept(safetensors_bytes("{" + entry("/etc/passwd", 0, 8) + "}", e8));
}

void add_dtypes(corpus& all) {
  all.refuse("unknown dtype \"F33\"", safetensors_bytes(one("\"F33\"", "[3]", "[0,12]"), e12));
  all.refuse("unknown dtype \"f32\"", safetensors_bytes(one("\"f32\"", "[3]", "[0,12]"), e12));
  all.refuse("not a string", safetensors_bytes(one("32", "[3]", "[0,12]"), e12));
  all.refuse("unsupported", safetensors_bytes(one("\"F4\"", "[3]", "[0,2]"), "xx"));
  all.refuse("unsupported", safetensors_bytes(one("\"F6_E2M3\"", "[4]", "[0,3]"), "abc"));
  all.refuse("unsupported", safetensors_bytes(one("\"F8_E8M0\"", "[8]", "[0,8]"), e8));
  all.refuse("unsupported", safetensors_bytes(one("\"F8_E4M3FNUZ\"", "[8]", "[0,8]"), e8));
  all.refuse("not a string", safetensors_bytes(one("null", "[3]", "[0,12]"), e12));
  all.refuse("unsupported", safetensors_bytes(one("\"F8_E5M2FNUZ\"", "[8]", "[0,8]"), e8));
  all.refuse("unsupported", safetensors_bytes(one("\"F6_E3M2\"", "[4]", "[0,3]"), "abc"));
  all.refuse("unsupported", safetensors_bytes(one("\"F4\"", "[4]", "[0,2]"), "xx"));
  all.refuse("unknown dtype", safetensors_bytes(one("\"" + std::string(5'000'000, 'F') + "\"", "[3]", "[0,12]"), e12));
  std::string every = "{";
  for (std::size_t i = 0; i < redco::safetensors::detail::file_dtypes.size(); ++i) {
    auto const type = std::string(name_of(static_cast<redco::safetensors::file_dtype>(i)));
    every += (i ? "," : "") + ("\"" + type) + "\":{\"dtype\":\"" + type + "\",\"shape\":[0],\"data_offsets\":[0,0]}";
  }
  all.accept(safetensors_bytes(every + "}"));
}

void add_shapes(corpus& all) {
  std::string const big = "18446744073709551616";
  all.refuse("unsigned integer", safetensors_bytes(one("\"U8\"", "[-8]", "[0,8]"), e8));
  all.refuse("unsigned integer", safetensors_bytes(one("\"U8\"", "[8.0]", "[0,8]"), e8));
  all.refuse("unsigned integer", safetensors_bytes(one("\"U8\"", "[8e0]", "[0,8]"), e8));
  all.refuse("unsigned integer", safetensors_bytes(one("\"U8\"", "[\"8\"]", "[0,8]"), e8));
  all.refuse("unsigned integer", safetensors_bytes(one("\"U8\"", "[true]", "[0,8]"), e8));
  all.refuse("not an array", safetensors_bytes(one("\"U8\"", "8", "[0,8]"), e8));
  all.refuse("unsigned integer", safetensors_bytes(one("\"U8\"", "[" + big + "]", "[0,8]"), e8));
  all.refuse("overflows", safetensors_bytes(one("\"U8\"", "[4294967296,4294967296]", "[0,0]")));
  all.refuse("overflows", safetensors_bytes(one("\"F64\"", "[2305843009213693952]", "[0,0]")));
  all.refuse("beyond 2^63-1", safetensors_bytes(one("\"U8\"", "[9223372036854775808]", "[0,0]")));
  all.refuse("overflows", safetensors_bytes(one("\"F32\"", "[0,9223372036854775807]", "[0,0]")));
  all.refuse("overflows", safetensors_bytes(one("\"U8\"", "[0,9223372036854775807,2]", "[0,0]")));
  all.refuse("unsigned integer", safetensors_bytes(one("\"U8\"", "[1e3]", "[0,8]"), e8));
  all.refuse("unsigned integer", safetensors_bytes(one("\"U8\"", "[[8]]", "[0,8]"), e8));
  all.refuse("unsigned integer", safetensors_bytes(one("\"U8\"", "[null]", "[0,8]"), e8));
  all.refuse("overflows", safetensors_bytes(one("\"U8\"", "[4294967296,4294967296,0]", "[0,0]")));
  std::string dimensions = "[1";
  for (int i = 1; i < 10'000; ++i) dimensions += ",1";
  all.refuse("10000 dimensions", safetensors_bytes(one("\"U8\"", dimensions + "]", "[0,1]"), "x"));
  all.accept(safetensors_bytes(one("\"F32\"", "[]", "[0,4]"), "abcd"));
  all.accept(safetensors_bytes(one("\"F32\"", "[2,0]", "[0,0]")));
}

void add_ranges(corpus& all) {
  std::string const big = "18446744073709551616";
  all.refuse("two unsigned integers", safetensors_bytes(one("\"U8\"", "[8]", "[0]"), e8));
  all.refuse("two unsigned integers", safetensors_bytes(one("\"U8\"", "[8]", "[0,8,8]"), e8));
  all.refuse("two unsigned integers", safetensors_bytes(one("\"U8\"", "[8]", "{\"0\":0,\"1\":8}"), e8));
  all.refuse("two unsigned integers", safetensors_bytes(one("\"U8\"", "[8]", "[-8,0]"), e8));
  all.refuse("two unsigned integers", safetensors_bytes(one("\"U8\"", "[8]", "[0,8.0]"), e8));
  all.refuse("in reverse", safetensors_bytes(one("\"U8\"", "[8]", "[8,0]"), e8));
  all.refuse("beyond the end", safetensors_bytes(one("\"U8\"", "[9]", "[0,9]"), e8));
  all.refuse("beyond the end",
             safetensors_bytes(one("\"U8\"", "[9223372036854775807]", "[0,9223372036854775807]"), e8));
  all.refuse("need 12", safetensors_bytes(one("\"F32\"", "[3]", "[0,16]"), std::string(16, 'x')));
  all.refuse("need 12", safetensors_bytes(one("\"F32\"", "[3]", "[0,8]"), e8));
  all.refuse("overlaps", safetensors_bytes("{" + entry("a", 0, 6) + "," + entry("b", 4, 8) + "}", e8));
  all.refuse("overlaps",
             safetensors_bytes("{" + entry("a", 0, 8) + "," + entry("b", 0, 8) + "," + entry("c", 0, 8) + "}", e8));
  all.refuse("hole", safetensors_bytes("{" + entry("a", 2, 8) + "}", e8));
  all.refuse("hole", safetensors_bytes("{" + entry("a", 0, 3) + "," + entry("b", 4, 8) + "}", e8));
  all.refuse("after the last tensor", safetensors_bytes("{" + entry("a", 0, 8) + "}", e8 + "PK"));
  all.refuse("after the last tensor", safetensors_bytes("{}", "x"));
  all.refuse("beyond the end", safetensors_bytes("{" + entry("a", 0, 8) + "}", e8.substr(1)));
  all.refuse("overlaps", safetensors_bytes("{" + entry("a", 0, 8) + "," + entry("z", 4, 4) + "}", e8));
  all.refuse("hole", safetensors_bytes("{" + entry("a", 0, 8) + "," + entry("z", 9, 9) + "}", e8));
  all.refuse("two unsigned integers", safetensors_bytes(one("\"U8\"", "[8]", "[0," + big + "]"), e8));
  all.refuse("two unsigned integers", safetensors_bytes(one("\"U8\"", "[8]", "null"), e8));
  all.refuse("overlaps", safetensors_bytes("{" + entry("a", 0, 8) + "," + entry("z", 0, 1) + "}", e8));
  std::string alike = "{";  // a reader that allocates each tensor would need 10 GB
  for (int i = 0; i < 10'000; ++i) alike += (i ? "," : "") + entry(std::to_string(i), 0, 1'000'000);
  all.refuse("overlaps", safetensors_bytes(alike + "}", std::string(1'000'000, 'x')));
  all.accept(
      safetensors_bytes("{" + entry("late", 3, 8) + "," + entry("none", 3, 3) + "," + entry("early", 0, 3) + "}", e8));
  all.accept(
      // NaN, -Inf
      safetensors_bytes(one("\"F32\"", "[2]", "[0,8]"), std::string("\0\0\xc0\x7f\0\0\x80\xff", 8)));
}

void add_paths(corpus& all) {
  REQUIRE(::mkfifo((all / "fifo").c_str(), 0600) == 0);
  REQUIRE(::mkfifo((all / "fifo.json").c_str(), 0600) == 0);
  std::filesystem::create_directory(all / "folder.safetensors");
  std::filesystem::create_symlink("loop", all / "loop");
  all.refuse_path("No such file", all / "absent");
  all.refuse_path("not a regular file", all / "fifo");  // opening does not wait for a writer
  all.refuse_path("not a regular file", all / "fifo.json");
  all.refuse_path("not a regular file", "/dev/zero");
  all.refuse_path("not a regular file", "/dev/null");
  // A directory is searched
  all.refuse_path("has neither model.safetensors nor", all / "folder.safetensors");
  all.refuse_path("symbolic link", all / "loop");
  std::filesystem::create_directory(all / "holds a fifo");
  REQUIRE(::mkfifo((all / "holds a fifo/model.safetensors").c_str(), 0600) == 0);
  all.refuse_path("not a regular file", all / "holds a fifo");
  std::filesystem::create_directories(all / "holds a folder/model.safetensors");
  all.refuse_path("has neither model.safetensors nor", all / "holds a folder");
}

void add_indices(corpus& all) {
  std::string const right = R"("weight_map":{"a":"one.safetensors","b":"two.safetensors"})";
  all.accept_index("{" + right + "}");
  all.accept_index(R"({"metadata":{"total_size":16},)" + right + "}");
  all.accept_index(R"({"weight_map":{"a":"both.safetensors","b":"both.safetensors"}})");
  all.refuse_index("total_size", R"({"metadata":{"total_size":17},)" + right + "}");
  all.refuse_index("total_size", R"({"metadata":{"total_size":-16},)" + right + "}");
  all.refuse_index("total_size", R"({"metadata":{"total_size":"16"},)" + right + "}");
  all.refuse_index("three.safetensors", R"({"weight_map":{"a":"one.safetensors","b":"three.safetensors"}})");
  all.refuse_index("not in its file", R"({"weight_map":{"a":"one.safetensors","b":"one.safetensors"}})");
  all.refuse_index("does not name tensor \"b\"", R"({"weight_map":{"a":"both.safetensors"}})");
  all.refuse_index("in two files", R"({"weight_map":{"a":"one.safetensors","b":"both.safetensors"}})");
  for (char const* const name : {"../one.safetensors", "/etc/passwd", "./one.safetensors", "folder/one.safetensors",
                                 "..", "", ".hidden", "a\\\\b", "a\\nb"}) {
    all.refuse_index("plain file name", R"({"weight_map":{"a":")" + std::string(name) + R"(","b":"two.safetensors"}})");
  }
  all.refuse_index("NUL", R"({"weight_map":{"a":"one.safetensors\u0000","b":"two.safetensors"}})");
  all.refuse_index("plain file name", R"({"weight_map":{"a":1,"b":"two.safetensors"}})");
  all.refuse_index("plain file name", R"({"weight_map":{"a":null,"b":"two.safetensors"}})");
  all.refuse_index("plain file name",
                   R"({"weight_map":{"a":")" + std::string(300, 'n') + R"(","b":"two.safetensors"}})");
  all.refuse_index("twice", R"({"weight_map":{"a":"one.safetensors","a":"one.safetensors","b":"two.safetensors"}})");
  all.refuse_index("no weight_map", R"({"weight_map":[]})");
  all.refuse_index("no weight_map", "{}");
  all.refuse_index("no weight_map", "[]");
  all.refuse_index("", "");
  all.refuse_index("", "{" + right);
  all.refuse_index("deep", std::string(200'000, '['));
  all.refuse_index("not a valid safetensors file",
                   R"({"weight_map":{"a":"one.safetensors","b":"model.safetensors.index.json"}})");
  auto const hostile = all.index("{" + right + "}");
  ckpt_test::put(hostile / "two.safetensors", safetensors_bytes("{" + entry("b", 2, 8) + "}", e8));
  all.refuse_path("hole", hostile, hostile / "two.safetensors");
  auto const fifo = all.index("{" + right + "}");
  std::filesystem::remove(fifo / "two.safetensors");
  REQUIRE(::mkfifo((fifo / "two.safetensors").c_str(), 0600) == 0);
  all.refuse_path("not a regular file", fifo, fifo / "two.safetensors");
}

}  // namespace

TEST_CASE("every hostile weights file gets the right verdict: exit code 65 with its name and cause") {
  corpus all;
  add_prefix(all);
  add_json(all);
  add_keys(all);
  add_dtypes(all);
  add_shapes(all);
  add_ranges(all);
  add_paths(all);
  add_indices(all);
  CHECK(all.cases().size() >= 80);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr bool sanitized = true;
#else
  constexpr bool sanitized = false;
#endif
  for (weights_case const& weights : all.cases()) {
    std::int64_t const memory = peak_memory::reset();
    auto const failure = ckpt_test::error_of([&] { redco::workdir::open_weights(weights.path); });
    INFO(weights.path << ", wanted \"" << weights.why << "\", got: " << failure.text);
    CHECK(failure.code == (weights.legal ? redco::exit_code::done : redco::exit_code::data));
    CHECK(ckpt_test::has(failure.text, weights.source));
    CHECK(ckpt_test::has(failure.text, weights.why));
    CHECK(failure.text.size() < 1000);
    std::error_code none;
    auto const size =
        std::filesystem::is_regular_file(weights.path, none) ? std::filesystem::file_size(weights.path, none) : 0;
    if (!sanitized) CHECK(peak_memory::now() - memory <= static_cast<std::int64_t>(size) + (64 << 20));
  }
}

TEST_CASE("a file of a checkpoint may not be a symbolic link, other weights may") {
  temporary_folder const folder;
  ckpt_test::put(folder / "real", safetensors_bytes("{}"));
  std::filesystem::create_symlink("real", folder / "link");
  CHECK(redco::safetensors::safetensors_reader(folder / "link").entries().empty());
  auto const refused = ckpt_test::error_of(
      [&] { redco::safetensors::safetensors_reader(folder / "link", redco::diag::links::refused); });
  CHECK(refused.code == redco::exit_code::data);
  CHECK(ckpt_test::has(refused.text, "symbolic link"));
}

TEST_CASE("odd but legal entries are read correctly") {
  temporary_folder const folder;
  ckpt_test::put(folder / "f",
                 safetensors_bytes("{" + entry("late", 3, 8) + "," + entry("none", 3, 3) + "," + entry("early", 0, 3) +
                                       ",\"scalar\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[8,12]}}",
                                   "12345678abcd"));
  auto const entries = redco::safetensors::safetensors_reader(folder / "f").entries();
  REQUIRE(entries.size() == 4);
  CHECK(entries[0].name == "early");
  CHECK(entries[1].name == "none");
  CHECK(entries[2].name == "late");
  CHECK(entries[3].shape.empty());
}

TEST_CASE("a file that is replaced while it is open keeps the content that was opened") {
  temporary_folder const folder;
  ckpt_test::put(folder / "f", safetensors_bytes("{" + entry("a", 0, 4) + "}", "old!"));
  redco::safetensors::safetensors_reader const file(folder / "f");
  ckpt_test::put(folder / "new", safetensors_bytes("{" + entry("a", 0, 2) + "}", "ne"));
  std::filesystem::rename(folder / "new", folder / "f");
  std::string target(4, '\0');
  std::vector<std::int64_t> const shape{4};
  std::vector<std::int64_t> const at{0};
  file.read("a", redco::safetensors::whole(shape), std::as_writable_bytes(std::span(target)), shape, at);
  CHECK(target == "old!");
}

TEST_CASE("a workdir is refused as weights, and its checkpoints are named") {
  temporary_folder const folder;
  std::filesystem::create_directory(folder / "run");
  ckpt_test::save_bytes(folder / "run", 3, "run-a", {"min_loss", "max_accuracy", "epoch_0"});
  std::string const at = (folder / "run" / "ckpts").string();
  for (std::filesystem::path const& path : {folder / "run", folder / "run" / "ckpts"}) {
    auto const failure = ckpt_test::error_of([&] { redco::workdir::open_weights(path); });
    CHECK(failure.code == redco::exit_code::data);
    CHECK(failure.text == path.string() + " is the folder of a run, which has several checkpoints: give " + at +
                              "/last, or " + at + "/max_accuracy, or " + at + "/min_loss");
  }
  CHECK(redco::workdir::open_weights(folder / "run" / "ckpts" / "last").own_names);
  // If a folder holds both weights and a folder ckpts, the weights are read.
  ckpt_test::put(folder / "run" / "model.safetensors", safetensors_bytes("{" + entry("a", 0, 8) + "}", e8));
  CHECK(redco::workdir::open_weights(folder / "run").tensors.contains("a"));
}
