// A project of its own that uses redco: one step of gradient descent on y = 3 x must bring the weight closer to 3.

#include <redco/tensor/torch.hpp>

#include <cmath>
#include <cstdio>

int main() {
  auto const x = at::arange(1, 6, at::kDouble);
  auto weight = at::zeros({1}, at::kDouble).set_requires_grad(true);
  auto const loss = (weight * x - 3 * x).square().mean();
  loss.backward();
  double const after = (weight - 0.05 * weight.grad()).item<double>();
  std::printf("weight after one step: %g\n", after);
  return std::abs(after - 3) < 1 ? 0 : 1;
}
