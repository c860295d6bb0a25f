#include "torch_catch.hpp"

#include <redco/run/example_digest.hpp>
#include <redco/data/examples.hpp>
#include <redco/data/views.hpp>
#include <redco/json/value.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace example_digest_test {

template <class T>
std::string digest(T const& x) {
  redco::run::example_digest one;
  one.add(x);
  return one.text();
}

struct picture {
  at::Tensor pixels;
  std::vector<std::int64_t> labels;
  std::string name = "n";
  float raw[3] = {1, 2, 3};
};
struct large {
  float pixels[784] = {};
  int label = 0;
};
class opaque {
 public:
  explicit opaque(int value) : value_(value) {}
  int value() const { return value_; }

 private:
  int value_;
};
struct with_opaque {
  opaque one{1};
  int label = 0;
};

TEST_CASE("the digest of an example is the XXH64 of its parts") {
  // xxhsum -H1 of the eight little-endian bytes of 5, and of "text" after its length.
  CHECK(digest(std::int64_t{5}) ==
        redco::safetensors::xxh64::text_of(redco::safetensors::xxh64::of({"\5\0\0\0\0\0\0\0", 8})));
  CHECK(digest(std::string("text")) ==
        redco::safetensors::xxh64::text_of(redco::safetensors::xxh64::of({"\4\0\0\0\0\0\0\0text", 12})));
}

TEST_CASE("examples that differ in any part have different digests") {
  picture const one{at::arange(6).reshape({2, 3}), {1, 2}};
  CHECK(digest(one) == digest(picture{at::arange(6).reshape({2, 3}), {1, 2}}));
  CHECK(digest(one) != digest(picture{at::arange(6).reshape({3, 2}), {1, 2}}));
  CHECK(digest(one) != digest(picture{at::arange(6).reshape({2, 3}).to(at::kInt), {1, 2}}));
  CHECK(digest(one) != digest(picture{at::arange(1, 7).reshape({2, 3}), {1, 2}}));
  CHECK(digest(one) != digest(picture{{}, {1, 2}}));
  CHECK(digest(one) != digest(picture{at::arange(6).reshape({2, 3}), {1, 2, 2}}));
  CHECK(digest(one) != digest(picture{at::arange(6).reshape({2, 3}), {1, 2}, "m"}));
  CHECK(digest(one) != digest(picture{at::arange(6).reshape({2, 3}), {1, 2}, "n", {1, 2, 4}}));
  // A strided tensor is hashed by its values.
  CHECK(digest(at::arange(6).reshape({2, 3}).t()) == digest(at::tensor({0, 3, 1, 4, 2, 5}, at::kLong).reshape({3, 2})));
  std::pair<std::string, std::optional<int>> const two{"a", {}};
  CHECK(digest(two) != digest(std::pair<std::string, std::optional<int>>{"a", 0}));
  CHECK(digest(std::vector<std::string>{"ab", "c"}) != digest(std::vector<std::string>{"a", "bc"}));
  CHECK(digest(std::tuple(1, std::array{2.0, 3.0})) != digest(std::tuple(1, std::array{2.0, 4.0})));
  CHECK(digest(std::map<std::string, int>{{"a", 1}}) != digest(std::map<std::string, int>{{"a", 2}}));
}

TEST_CASE("paths and JSON values count as their texts") {
  CHECK(digest(std::filesystem::path("a/b")) == digest(std::string("a/b")));
  redco::json::json_value const one{{"text", "a"}, {"ids", {1, 2}}};
  CHECK(digest(one) == digest(std::string(R"({"text":"a","ids":[1,2]})")));
}

TEST_CASE("classes with constructors and large structs are not part of the digest") {
  CHECK(digest(opaque(1)) == digest(opaque(2)));
  large other;
  other.label = 3;
  CHECK(digest(large{}) == digest(other));
  CHECK(digest(with_opaque{}) != digest(with_opaque{opaque(1), 2}));
}

TEST_CASE("only the first and the last example are part of the digest") {
  auto const of = [](std::vector<std::string> const& texts) {
    return redco::run::digest_of_ends(redco::examples<std::string>(texts));
  };
  std::string const three = of({"a", "b", "c"});
  CHECK(three == of({"a", "x", "c"}));
  CHECK(three != of({"y", "b", "c"}));
  CHECK(three != of({"a", "b", "z"}));
  CHECK(of({}).empty());
  CHECK_FALSE(of({"a"}).empty());
}

class serializable {
 public:
  explicit serializable(std::int64_t value = 0) : value_(value) {}
  template <class Archive>
  void serialize(Archive& archive) {
    archive(value_);
  }

 private:
  std::int64_t value_;
};

TEST_CASE("a class that cereal can serialize and a variant are part of the digest, and other classes are reported") {
  CHECK(digest(serializable(1)) != digest(serializable(2)));
  using either = std::variant<std::int64_t, std::string>;
  CHECK(digest(either(std::int64_t{1})) != digest(either(std::int64_t{2})));
  auto const complete = [](auto const& x) {
    redco::run::example_digest one;
    one.add(x);
    return one.complete();
  };
  CHECK(complete(std::vector<serializable>{serializable(1)}));
  CHECK(complete(picture{}));
  CHECK_FALSE(complete(std::vector<opaque>{opaque(1)}));
  CHECK_FALSE(complete(with_opaque{}));
  CHECK_FALSE(complete(large{}));
}

TEST_CASE("a data set's digest has all examples in memory, and 64 of those that are computed") {
  auto const of = [](std::vector<std::string> const& texts, std::uint64_t most_bytes = 1 << 20) {
    return redco::run::digest_of_data(redco::examples<std::string>(texts), most_bytes).text;
  };
  std::vector<std::string> const texts(1000, "text");
  std::string const whole = of(texts), part = of(texts, 5000);
  std::vector<std::int64_t> missed;
  for (std::size_t const i : {0UL, 1UL, 499UL, 777UL, 998UL, 999UL}) {
    auto other = texts;
    other[i] = "Text";
    INFO(i);
    CHECK(of(other) != whole);
    if (of(other, 5000) == part) missed.push_back(static_cast<std::int64_t>(i));
  }
  CHECK(missed == std::vector<std::int64_t>{499, 777, 998});
  CHECK(of({texts.begin(), texts.end() - 1}) != whole);
  std::set<std::int64_t> read;
  redco::data::example_view<std::int64_t> const computed(1000, [&](std::int64_t i) {
    read.insert(i);
    if (i == 500) throw std::runtime_error("unreadable");
    return i;
  });
  auto const found = redco::run::digest_of_data(redco::examples<std::int64_t>(computed));
  CHECK(found.complete);
  CHECK(read.size() == 64);
  CHECK(read.contains(500));
  CHECK(read.contains(999));
}

/// A value that changes each time it is read.
struct drawn {
  std::int64_t* looks;
  operator std::int64_t() const { return ++*looks; }
};

TEST_CASE("examples that change at each access have a varying digest") {
  std::int64_t looks = 0;
  std::vector<drawn> const random(5, drawn{&looks});
  CHECK(redco::run::digest_of_ends(redco::examples<std::int64_t>(random)) == "varies");
  CHECK(redco::run::digest_of_data(redco::examples<std::int64_t>(random)).text.empty());
}

}  // namespace example_digest_test
