// torch
// A wrong predict is one error in a main whose options are auto and whose predicted classes and
// texts are scored, compared and joined.
#include "points.hpp"

#include <redco/metrics/rouge_l.hpp>

inline auto const words = [](auto const& net, point_batch const& b) {
  at::Tensor const y = net(b.x).squeeze(1);
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < y.size(0); ++i) all.push_back(y[i].template item<double>() > 0 ? "above" : "below");
  return all;
};
#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(words);
#else  // expect: redco[P002]
inline auto const job = redco::collate(points) | redco::loss(distance) |
                        redco::predict([](auto const& net, image_batch const& b) { return words(net, b); });
#endif

struct own_options {
  redco::deployer_options deployer;
  static constexpr auto fields() { return redco::fields(redco::field<"deployer">(&own_options::deployer)); }
};

int main(int argc, char** argv) {
  return redco::main_of<own_options>(argc, argv, "Learns a line.", [](auto const& o) {
    std::vector<double> const xs{-1, 0, 2};
    std::vector<std::string> const truth{"below", "below", "above"};
    redco::deployer deployer(o.deployer);
    redco::trainer trainer(deployer, redco::model_of<two_layers>{}, job, redco::adamw{.lr = 1e-2});
    trainer.fit(xs, {.eval = xs, .metrics = [&](auto const&, auto const& found) {
                       return redco::options::metric_map{{"accuracy", redco::metrics::accuracy(found, truth)}};
                     }});
    auto const said = redco::predictor(trainer).predict(xs);
    std::string text = "said: ";
    for (auto const& word : said) text += word + ", ";
    for (std::string const& word : said) text += word.substr(1);
    if (said.at(0) == "above" || said[1] != truth[1] || said.back() < said.front()) text += said.front();
    std::cout << text << said[0].size() << redco::metrics::rouge_l(said[0], truth[0]).f
              << redco::metrics::accuracy(said, truth) << '\n';
    return said.empty() ? 1 : 0;
  });
}
