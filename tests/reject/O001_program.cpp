// torch
// An option that is a list of numbers is one error in a whole program.
#include "points.hpp"

struct own_options {
  redco::deployer_options deployer;
#if REDCO_ACCEPT
  std::vector<std::string> widths;
#else  // expect: redco[O001]
  std::vector<int> widths;
#endif

  static constexpr auto fields() {
    return redco::fields(redco::field<"deployer">(&own_options::deployer, "where to run"),
                         redco::field<"widths">(&own_options::widths, "of the layers"));
  }
};

int main(int argc, char** argv) {
  return redco::main_of<own_options>(argc, argv, [](own_options const& o) {
    redco::deployer deployer(o.deployer);
    for (auto const& width : o.widths) std::cout << width << '\n';
  });
}
