#pragma once

// Debian 12 has Catch2 v2, Debian 13 has v3: the tests use only what both spell alike.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
