// torch
// What has entered owes its gradient a reduction, a replicated value does not: their sum would owe half of it.
#include <redco/tensor/arithmetic.hpp>

int main() {
#if REDCO_ACCEPT
  static_cast<void>(redco::tensor<redco::entered>() + redco::tensor<redco::entered>());
#else  // expect: redco[S008]
  static_cast<void>(redco::tensor<redco::entered>() + redco::tensor<redco::replicated>());
#endif
}
