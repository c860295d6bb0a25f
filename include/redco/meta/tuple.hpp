#pragma once

#include <boost/hana/at.hpp>
#include <boost/hana/basic_tuple.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/unpack.hpp>

namespace redco {

/// Boost.Hana as redco spells it. This header is the library's only door to it; what redco takes from it is
/// `hana::basic_tuple` (values of different types, no cost for empty ones), `hana::at_c`, `hana::unpack` and
/// `hana::for_each`.
namespace hana = boost::hana;

}  // namespace redco
