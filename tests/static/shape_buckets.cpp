#include <redco/shape/pieces.hpp>

using redco::shape::buckets;

// Pieces have one size, except for the last. A border belongs to the piece after it.
static_assert(buckets{10, 4}.count() == 3);
static_assert(buckets{8, 4}.count() == 2);
static_assert(buckets{10, 4}.begin(2) == 8 && buckets{10, 4}.end(2) == 10);
static_assert(buckets{10, 4}.begin(1) == 4 && buckets{10, 4}.end(1) == 8);
static_assert(buckets{10, 4}.of(3) == 0 && buckets{10, 4}.of(4) == 1 && buckets{10, 4}.of(9) == 2);
// No elements: no pieces. Piece size 0: one piece of all elements.
static_assert(buckets{0, 4}.count() == 0 && buckets{0, 0}.count() == 0);
static_assert(buckets{10, 0}.count() == 1 && buckets{10, 0}.begin(0) == 0 && buckets{10, 0}.end(0) == 10);
static_assert(buckets{10, 0}.of(9) == 0);

int main() {}
