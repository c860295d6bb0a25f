// Counts and ties the members of aggregates of any member types.
#include <redco/meta/aggregate.hpp>

#include <any>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace {

struct none {};
struct one {
  int a;
};
struct pair_of {
  one first;
  double second;
};
struct with_array {
  std::array<int, 3> a;
  int b;
};
struct with_c_arrays {
  int a[3];
  char b;
  pair_of c[2];
  float d[2][3];
};
struct deep {
  with_array a;
  with_c_arrays b;
  pair_of c;
  none d;
};

// A class like at::Tensor: an explicit constructor from a handle, and copies that share it.
class handle {
 public:
  handle() = default;
  explicit handle(std::shared_ptr<int> p) : p_(std::move(p)) {}
  template <class T>
  handle& operator=(T const&) & {
    return *this;
  }

 private:
  std::shared_ptr<int> p_;
};
struct batch {
  handle input_ids;
  handle labels;
  std::optional<handle> mask;
  std::vector<handle> extra;
  std::map<std::string, handle> named;
};

enum class color { red, green };
struct library {
  std::string a;
  std::string_view b;
  std::vector<std::string> c;
  std::optional<int> d;
  std::function<int(int)> e;
  std::unique_ptr<int> f;
  std::any g;
  std::variant<int, std::string> h;
  std::span<int const> i;
  color j;
  bool k;
  int* l;
  std::optional<std::string> m;
};
struct with_defaults {
  int a = 3;
  double b = 0.5;
  std::string c = "x";
};
class no_default {
 public:
  explicit no_default(int) {}
};
struct last_needs_value {
  int a;
  std::string b;
  no_default c;
};
template <int>
struct tag {
  int value;
};
struct two {
  int a, b;
};
struct eight {
  tag<0> a;
  tag<1> b;
  two c, d;
  tag<4> e;
  two f, g, h;
};
struct thirty_two {
  int m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24,
      m25, m26, m27, m28, m29, m30, m31;
};

static_assert(redco::meta::field_count<none> == 0);
static_assert(redco::meta::field_count<one> == 1);
static_assert(redco::meta::field_count<pair_of> == 2);
static_assert(redco::meta::field_count<with_array> == 2);
static_assert(redco::meta::field_count<with_c_arrays> == 4);
static_assert(redco::meta::field_count<deep> == 4);
static_assert(redco::meta::field_count<batch> == 5);
static_assert(redco::meta::field_count<library> == 13);
static_assert(redco::meta::field_count<with_defaults> == 3);
static_assert(redco::meta::field_count<last_needs_value> == 3);
static_assert(redco::meta::field_count<eight> == 8);
static_assert(redco::meta::field_count<thirty_two> == 32);
static_assert(redco::meta::field_count<thirty_two const> == 32);

static_assert(redco::meta::aggregate<batch> && redco::meta::aggregate<batch const&>);
static_assert(!redco::meta::aggregate<std::string> && !redco::meta::aggregate<int> && !redco::meta::aggregate<int[3]> &&
              !redco::meta::aggregate<handle>);

template <class T>
using tied = decltype(redco::meta::tie_fields(std::declval<T&>()));
static_assert(std::is_same_v<tied<pair_of>, redco::meta::hana::basic_tuple<one&, double&>>);
static_assert(
    std::is_same_v<tied<with_array const>, redco::meta::hana::basic_tuple<std::array<int, 3> const&, int const&>>);
static_assert(std::is_same_v<tied<with_c_arrays>,
                             redco::meta::hana::basic_tuple<int (&)[3], char&, pair_of (&)[2], float (&)[2][3]>>);

constexpr int sum_of_fields() {
  thirty_two values{};
  int next = 1;
  redco::meta::for_each_field(values, [&next](int& m) { m = next++; });
  int sum = 0;
  redco::meta::for_each_field(static_cast<thirty_two const&>(values),
                              [&sum](int const& m) { sum = 3 * sum % 10007 + m; });
  return sum + values.m0 + values.m31 * 100000;
}
constexpr int expected_sum() {
  int sum = 0;
  for (int i = 1; i <= 32; ++i) sum = 3 * sum % 10007 + i;
  return sum + 1 + 3200000;
}
static_assert(sum_of_fields() == expected_sum());

}  // namespace

int main() {}
