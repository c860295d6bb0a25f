#pragma once

#include <redco/config.hpp>

// A program of files with and without REDCO_WITH_MPI does not link (config.hpp). Files that include
// no header of comm/ may lack the macro, because redco::plan does not define it.
#ifdef REDCO_COMPILED

#ifdef REDCO_WITH_MPI
#define REDCO_MPI_CHOICE with_mpi
#else
#define REDCO_MPI_CHOICE without_mpi
#endif

// make_world.inl.hpp defines the library's choice.
namespace redco::needs_redco_compiled::REDCO_MPI_CHOICE {
extern char const library;
[[gnu::used, gnu::retain]] inline char const* const reference = &library;
}  // namespace redco::needs_redco_compiled::REDCO_MPI_CHOICE

#endif
