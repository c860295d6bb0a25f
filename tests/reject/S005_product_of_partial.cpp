// torch
// A sum of products is not the product of sums: reduce before multiplying.
#include <redco/tensor/arithmetic.hpp>

int main() {
  redco::tensor<redco::replicated> const whole(at::ones({2, 4}));
  redco::tensor<redco::entered> const entered(at::ones({2, 4}));
  redco::tensor<redco::partial> const pending(at::ones({2, 4}));
  redco::tensor<redco::split<-1>> const part(at::ones({2, 4}));
#if REDCO_ACCEPT
  auto const y = whole * whole;
#else  // expect: redco[S005]
  auto const y = pending * whole;
#endif
  static_cast<void>(y);
  static_cast<void>(whole), static_cast<void>(entered), static_cast<void>(pending), static_cast<void>(part);
}
