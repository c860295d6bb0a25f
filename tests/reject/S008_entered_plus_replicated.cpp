// torch
// The gradient of an entered value still needs a reduction, the gradient of a replicated value does
// not. Their sum would need half of one.
#include <redco/tensor/tensor.hpp>

int main() {
#if REDCO_ACCEPT
  static_cast<void>(redco::tensor<redco::shape::entered>() + redco::tensor<redco::shape::entered>());
#else  // expect: redco[S008]
  static_cast<void>(redco::tensor<redco::shape::entered>() + redco::tensor<redco::shape::replicated>());
#endif
}
