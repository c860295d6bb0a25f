// torch
// Each rank holds other elements of a split value than of a replicated value.
#include <redco/tensor/tensor.hpp>

int main() {
#if REDCO_ACCEPT
  static_cast<void>(redco::tensor<redco::shape::split<-1>>() + redco::tensor<redco::shape::split<-1>>());
#else  // expect: redco[S008]
  static_cast<void>(redco::tensor<redco::shape::split<-1>>() + redco::tensor<redco::shape::replicated>());
#endif
}
