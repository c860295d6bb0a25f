// torch
// A sum of products is not the product of the sums: reduce before multiplying.
#include <redco/tensor/tensor.hpp>

int main() {
#if REDCO_ACCEPT
  static_cast<void>(redco::tensor<redco::shape::replicated>() * redco::tensor<redco::shape::replicated>());
#else  // expect: redco[S005]
  static_cast<void>(redco::tensor<redco::shape::partial>() * redco::tensor<redco::shape::replicated>());
#endif
}
