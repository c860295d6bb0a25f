// Includes every header in one unit. build.one_definition finds functions in its object that are
// not inline.

#include <everything.hpp>

void not_inline() {}
