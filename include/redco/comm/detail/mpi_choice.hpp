#pragma once

#include <redco/config.hpp>

// Files with and without REDCO_WITH_MPI do not link (config.hpp). Files that include no comm/ may
// lack the macro, as redco::plan does.
#ifdef REDCO_COMPILED

#ifdef REDCO_WITH_MPI
#define REDCO_MPI_CHOICE with_mpi
#else
#define REDCO_MPI_CHOICE without_mpi
#endif

// process_world.inl.hpp defines the library's choice.
namespace redco::needs_redco_compiled::REDCO_MPI_CHOICE {
extern char const library;
[[gnu::used, gnu::retain]] inline char const* const reference = &library;
}  // namespace redco::needs_redco_compiled::REDCO_MPI_CHOICE

#endif
