// Tests the types that can be options, and that no member of the structs of options lacks a field.
#include <redco/options/choices.hpp>
#include <redco/options/deployer_options.hpp>
#include <redco/options/fit_options.hpp>
#include <redco/options/fit_settings.hpp>
#include <redco/options/row.hpp>

#include <redco/shape/dtype.hpp>
#include <redco/meta/field_count.hpp>
#include <redco/meta/for_each_shared.hpp>

namespace {

enum class unnamed { a, b };

static_assert(redco::options::choice<redco::dtype>);
static_assert(!redco::options::choice<unnamed> && !redco::options::choice<int>);
static_assert(redco::options::provenance::flag > redco::options::provenance::file);
static_assert(redco::options::provenance::file > redco::options::provenance::standard);
static_assert(redco::options::name_of(redco::options::provenance::standard) == "default");

template <class Options>
constexpr auto members_without_field = redco::meta::field_count<Options> -
                                       redco::meta::detail::field_names<Options>.size();
using untyped = redco::options::detail::untyped;

static_assert(members_without_field<redco::deployer_options> == 0);
static_assert(members_without_field<redco::training_flags> == 0);
// train_of_epoch, length, train_step, eval and metrics have types of the program.
static_assert(members_without_field<redco::fit_options<untyped, untyped, untyped>> == 5);

}  // namespace

int main() {}
