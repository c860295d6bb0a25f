// A head that is always tied has no name of its own. A head that the config ties by a value has a
// weight or none.
#include <redco/layer/language_head.hpp>

namespace {

using redco::layers::head_bias;
using redco::layers::language_head;

struct sizes {
  bool tied = false;
};

using own = language_head<8, 4>;
using always = language_head<8, 4, "wte.weight">;
using by_value = language_head<8, 4, "wte.weight", head_bias::none, &sizes::tied>;

static_assert(own::unnamed && !always::unnamed && by_value::unnamed);
static_assert(language_head<8, 4, "wte.weight", head_bias::trained>::unnamed);
static_assert(!own::is_tied(sizes{}) && always::is_tied(sizes{}));
static_assert(!by_value::is_tied(sizes{}) && by_value::is_tied(sizes{.tied = true}));

}  // namespace

int main() {}
