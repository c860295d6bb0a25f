// A text as a member of a template argument.
#include <redco/shape/short_text.hpp>

#include <string_view>

namespace {

using redco::shape::short_text;

template <short_text Text>
struct named {
  static constexpr std::string_view text = Text;
};

static_assert(named<"q,v">::text == "q,v" && named<short_text{}>::text.empty());
static_assert(short_text("q") == short_text(std::string_view("qk").substr(0, 1)) && short_text("q") != short_text("k"));

}  // namespace
