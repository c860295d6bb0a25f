// Tables of the texts of enumerations.
#include <redco/meta/enum_texts.hpp>

#include <redco/diag/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace {

enum class color : std::uint8_t { red, f64, blue };
struct node {
  enum class kind { leaf, inner2 };
};

constexpr auto colors =
    redco::meta::enum_texts<color>({{color::red, "red"}, {color::f64, "a number"}, {color::blue, "blue"}});
static_assert(colors.text_of(color::red) == "red" && colors.text_of(color::f64) == "a number");
static_assert(colors.text_of(static_cast<color>(3)).empty());
static_assert(colors.value_of("blue") == color::blue);
static_assert(!colors.value_of("blu") && !colors.value_of("blues") && !colors.value_of(""));
static_assert(colors.size() == 3 && colors.values() == std::array{color::red, color::f64, color::blue});

using kind = node::kind;
constexpr auto kinds = redco::meta::enum_texts<kind>({{kind::inner2, "inner"}, {kind::leaf, "leaf"}});
static_assert(kinds.text_of(kind::leaf) == "leaf" && kinds.values()[0] == kind::inner2);

using redco::meta::detail::is_enumerator;
static_assert(is_enumerator<color::f64>() && is_enumerator<kind::inner2>());
static_assert(!is_enumerator<static_cast<color>(3)>() && !is_enumerator<static_cast<kind>(-1)>());
static_assert(is_enumerator<redco::exit_code::not_finite>() && !is_enumerator<static_cast<redco::exit_code>(2)>());

using row = redco::meta::enum_row<color>;
template <std::size_t Rows>
constexpr bool complete(row const (&rows)[Rows]) {
  return redco::meta::detail::has_each_enumerator_once<Rows>(rows);
}
static_assert(complete({{color::blue, "blue"}, {color::red, "red"}, {color::f64, "red"}}));
static_assert(!complete({{color::red, "red"}, {color::f64, "a number"}}));  // the last has no row
static_assert(!complete({{color::red, "red"}, {color::blue, "blue"}, {color::red, "red"}}));

using redco::exit_code;
constexpr redco::meta::enum_row<exit_code> some_codes[] = {
    {exit_code::done, "DONE"}, {exit_code::missed, "MISSED"}, {exit_code::data, "DATA"}};
static_assert(!redco::meta::detail::has_each_enumerator_once<3>(some_codes));  // data is 65

}  // namespace

int main() {}
