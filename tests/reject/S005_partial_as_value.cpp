// A layer that needs values cannot take a pending sum.
#include <redco/layer/activations.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/sequential.hpp>

int main() {
  using pair = redco::sequential<redco::linear<4, 6>, redco::gelu, redco::linear<6, 4>>;
#if REDCO_ACCEPT
  static_assert(
      sizeof(redco::layers::out_t<redco::gelu,
                                  redco::layers::finished_t<redco::layers::out_t<pair, redco::shape::replicated>>>) >
      0);
#else  // expect: redco[S005]
  static_assert(sizeof(redco::layers::out_t<redco::gelu, redco::layers::out_t<pair, redco::shape::replicated>>) > 0);
#endif
}
