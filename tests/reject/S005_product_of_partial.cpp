// torch
// A sum of products is not the product of the sums: reduce before multiplying.
#include <redco/tensor/arithmetic.hpp>

int main() {
#if REDCO_ACCEPT
  static_cast<void>(redco::tensor<redco::replicated>() * redco::tensor<redco::replicated>());
#else  // expect: redco[S005]
  static_cast<void>(redco::tensor<redco::partial>() * redco::tensor<redco::replicated>());
#endif
}
