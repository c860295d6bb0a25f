// torch
// A predictor reads its trainer at every call. Only an inference can be moved into a predictor.
#include "points.hpp"

int main() {
  auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);
  redco::model_of<redco::sequential<redco::linear<1, 8>, redco::relu, redco::linear<8, 1>>> const model;
  redco::deployer deployer({});
#if REDCO_ACCEPT
  redco::trainer trainer(deployer, model, job, redco::adamw{.lr = 1e-2});
  redco::predictor const predictor(trainer);
#else  // expect: redco[R001]
  redco::predictor const predictor(redco::trainer(deployer, model, job, redco::adamw{.lr = 1e-2}));
#endif
  std::vector<double> const xs{-1, 0, 2};
  for (auto const& y : predictor.predict(xs)) std::cout << y << '\n';
}
