// Named reflection without a macro.
#include <redco/meta/fields.hpp>
#include <redco/meta/for_each_shared.hpp>
#include <redco/meta/glob.hpp>

#include <string_view>

namespace {

struct inner {
  double rate = 0.1;
  static constexpr auto fields() { return redco::fields(redco::field<"rate">(&inner::rate, "probability")); }
};
struct outer {
  int epochs = 3;
  inner dropout;
  bool quiet = false;
  static constexpr auto fields() {
    return redco::fields(redco::field<"epochs">(&outer::epochs, "passes over the training data"),
                         redco::field<"dropout">(&outer::dropout), redco::field<"quiet">(&outer::quiet));
  }
};
struct plain {
  int a;
};

static_assert(redco::meta::reflected<inner> && redco::meta::reflected<outer const&>);
static_assert(!redco::meta::reflected<plain> && !redco::meta::reflected<int>);

constexpr bool visits_in_order() {
  outer o;
  std::string_view const expected[] = {"epochs", "dropout", "quiet"};
  int seen = 0;
  bool right = true;
  redco::meta::for_each_named(o, [&](auto const& field, auto& member) {
    right = right && field.name() == expected[seen];
    if (seen == 0) right = right && field.about == "passes over the training data";
    if constexpr (redco::meta::reflected<decltype(member)>) {
      redco::meta::for_each_named(member, [&](auto const& nested, double& value) {
        right = right && nested.name() == "rate" && value == 0.1;
        value = 0.25;
      });
    }
    ++seen;
  });
  return right && seen == 3 && o.dropout.rate == 0.25;
}
static_assert(visits_in_order());

struct elsewhere {
  int epochs = 4;
};
constexpr auto of_other = redco::meta::field_like<outer, "epochs">(&elsewhere::epochs);
constexpr auto of_outer = redco::meta::field_named<outer, "epochs">();
static_assert(elsewhere().*of_other.member == 4 && of_other.name() == "epochs" && of_other.about == of_outer.about);
static_assert(of_other.least == of_outer.least && of_other.most == of_outer.most && of_other.group == of_outer.group);

struct shorter : outer {
  static constexpr auto fields() { return redco::meta::fields_without<outer, "dropout">(); }
};

constexpr bool leaves_out() {
  shorter o;
  int seen = 0;
  bool right = true;
  redco::meta::for_each_named(o, [&](auto const& field, auto&) {
    right = right && field.name() == (seen == 0 ? "epochs" : "quiet");
    right = right && field.about == (seen == 0 ? "passes over the training data" : "");
    ++seen;
  });
  return right && seen == 2;
}
static_assert(leaves_out());

struct other {
  bool quiet = true;
  long more = 5;
  int epochs = 7;
  static constexpr auto fields() {
    return redco::fields(redco::field<"quiet">(&other::quiet), redco::field<"more">(&other::more),
                         redco::field<"epochs">(&other::epochs).per_process());
  }
};

constexpr bool copies_shared_members() {
  outer o;
  int seen = 0;
  redco::meta::for_each_shared(other{}, o, [&](auto const& value, auto& copy) {
    copy = value;
    ++seen;
  });
  return seen == 2 && o.epochs == 7 && o.quiet && o.dropout.rate == 0.1;
}
static_assert(copies_shared_members());

static_assert(!redco::field<"epochs">(&outer::epochs).recorded().of_process);
static_assert(redco::field<"epochs">(&outer::epochs).recorded().decides_result);
static_assert(redco::field<"epochs">(&outer::epochs).per_process().of_process);
static_assert(!redco::field<"epochs">(&outer::epochs).per_process().decides_result);

template <redco::meta::fixed_string... Name>
concept can_leave_out = requires {
  redco::meta::fields_without<outer, Name...>();
};
static_assert(can_leave_out<> && can_leave_out<"epochs", "dropout", "quiet"> && !can_leave_out<"epoch">);

static_assert(redco::meta::fixed_string("abc").view() == "abc" && redco::meta::fixed_string("").view().empty());
static_assert(redco::meta::fixed_string("ab") == redco::meta::fixed_string("ab") &&
              !(redco::meta::fixed_string("ab") == redco::meta::fixed_string("ac")));

static_assert(redco::meta::glob("h.*.mlp.*", "h.11.mlp.up.weight") && !redco::meta::glob("h.*.mlp", "h.11.mlp.up"));
static_assert(redco::meta::glob("*", "") && redco::meta::glob("", "") && !redco::meta::glob("", "a") &&
              redco::meta::glob("**a**", "xxa"));
static_assert(redco::meta::glob("a?c", "abc") && !redco::meta::glob("a?c", "ac") && !redco::meta::glob("?", ""));
static_assert(redco::meta::glob("*.bias", "a.bias.bias") && redco::meta::glob("a*b*c", "aXbYbZc") &&
              !redco::meta::glob("a*b*c", "aXcYb"));

}  // namespace

int main() {}
