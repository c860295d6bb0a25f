// A verdict is a question with an answer in its type; ill_formed swallows what comes after the first error.
#include <redco/diag/blame.hpp>

#include <type_traits>

namespace {

struct divides {
  int units;
  int width;
  constexpr bool passed() const { return units % width == 0; }
};
struct some_layer {};

static_assert(redco::verdict<divides{12, 3}, some_layer>{});
static_assert(!redco::verdict<divides{12, 5}, some_layer>{});
static_assert(!redco::never<int, char> && !redco::never<> && !redco::never_value<3>);

constexpr redco::ill_formed bad;
static_assert(std::is_same_v<decltype(bad(1, "x")), redco::ill_formed>);
static_assert(std::is_same_v<decltype(bad[2]), redco::ill_formed>);
static_assert(std::is_same_v<decltype(bad | 3), redco::ill_formed>);
static_assert(std::is_same_v<decltype(some_layer{} | bad), redco::ill_formed>);
static_assert(std::is_same_v<decltype(bad | bad), redco::ill_formed>);

}  // namespace

int main() {}
