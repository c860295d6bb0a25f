// torch
// A part of the features and whole features have different elements on each rank.
#include <redco/tensor/arithmetic.hpp>

int main() {
  redco::tensor<redco::replicated> const whole(at::ones({2, 4}));
  redco::tensor<redco::entered> const entered(at::ones({2, 4}));
  redco::tensor<redco::partial> const pending(at::ones({2, 4}));
  redco::tensor<redco::split<-1>> const part(at::ones({2, 4}));
#if REDCO_ACCEPT
  auto const y = part + part;
#else  // expect: redco[S008]
  auto const y = part + whole;
#endif
  static_cast<void>(y);
  static_cast<void>(whole), static_cast<void>(entered), static_cast<void>(pending), static_cast<void>(part);
}
