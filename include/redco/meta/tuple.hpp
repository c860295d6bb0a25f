#pragma once

#include <boost/hana/at.hpp>
#include <boost/hana/basic_tuple.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/unpack.hpp>

namespace redco {

/// An alias for Boost.Hana; only this header includes the library. redco uses `hana::basic_tuple`
/// (values of different types, no cost for empty ones), `hana::at_c`, `hana::unpack` and
/// `hana::for_each`.
namespace hana = boost::hana;

}  // namespace redco
