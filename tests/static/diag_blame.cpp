// A verdict converts to bool and names its culprit in its type. ill_formed suppresses errors after
// the first.
#include <redco/diag/blame.hpp>

#include <type_traits>

namespace {

struct divides {
  int units;
  int width;
  constexpr bool passed() const { return units % width == 0; }
};
struct some_layer {};

static_assert(redco::diag::verdict<divides{12, 3}, some_layer>{});
static_assert(!redco::diag::verdict<divides{12, 5}, some_layer>{});
static_assert(!redco::diag::never<int, char> && !redco::diag::never<> && !redco::diag::never_value<3>);

constexpr redco::diag::ill_formed bad;
static_assert(std::is_same_v<decltype(bad(1, "x")), redco::diag::ill_formed>);
static_assert(std::is_same_v<decltype(bad[2]), redco::diag::ill_formed>);
static_assert(std::is_same_v<decltype(bad | 3), redco::diag::ill_formed>);
static_assert(std::is_same_v<decltype(some_layer{} | bad), redco::diag::ill_formed>);
static_assert(std::is_same_v<decltype(bad | bad), redco::diag::ill_formed>);

}  // namespace

int main() {}
