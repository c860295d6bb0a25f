// torch
// A predictor needs a predict function.
#include "points.hpp"

int main() {
  std::vector<double> const xs{-1, 0, 2};
  redco::model_of<redco::linear<1, 1>> const model;
  redco::deployer deployer({});
#if REDCO_ACCEPT
  redco::trainer trainer(deployer, model, redco::collate(points) | redco::loss(distance) | redco::predict(signs),
                         redco::adamw{});
  trainer.fit(xs, {.epochs = 2});
  std::vector<std::int64_t> const ys = redco::predictor(trainer).predict(xs);
#else  // expect: redco[P006]
  redco::trainer trainer(deployer, model, redco::collate(points) | redco::loss(distance), redco::adamw{});
  trainer.fit(xs, {.epochs = 2});
  std::vector<std::int64_t> const ys = redco::predictor(trainer).predict(xs);
#endif
  std::cout << ys.size();
}
