#pragma once

#include <boost/hana/at.hpp>
#include <boost/hana/basic_tuple.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/unpack.hpp>

namespace redco::meta {

/// A short name for Boost.Hana, which only this header includes. redco uses `hana::basic_tuple` (a
/// tuple without cost for empty types), `hana::at_c`, `hana::unpack` and `hana::for_each`.
namespace hana = boost::hana;

}  // namespace redco::meta
