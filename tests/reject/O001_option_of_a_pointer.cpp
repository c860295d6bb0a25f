// The text of an option cannot be read into a pointer; std::string holds it.
#include <redco/options/parse.hpp>

#include <string>

struct options {
#if REDCO_ACCEPT
  std::string name = "a";
#else  // expect: redco[O001]
  char const* name = "a";
#endif
  int epochs = 3;

  static constexpr auto fields() {
    return redco::fields(redco::field<"name">(&options::name), redco::field<"epochs">(&options::epochs));
  }
};

int main(int argc, char** argv) { return redco::options::parse<options>(argc, argv).epochs; }
