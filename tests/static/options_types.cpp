// Tests the types that can be options, and the names of meshes.
#include <redco/options/choices.hpp>
#include <redco/options/provenance.hpp>

#include <redco/shape/dtype.hpp>

namespace {

enum class unnamed { a, b };

static_assert(redco::options::choice<redco::dtype>);
static_assert(!redco::options::choice<unnamed> && !redco::options::choice<int>);
static_assert(redco::options::provenance::flag > redco::options::provenance::file);
static_assert(redco::options::provenance::file > redco::options::provenance::standard);
static_assert(redco::options::name_of(redco::options::provenance::standard) == "default");

}  // namespace

int main() {}
