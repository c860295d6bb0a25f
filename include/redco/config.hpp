#pragma once

/// Where the functions stand that are no templates. Without REDCO_COMPILED redco is header-only: a header includes its own
/// definitions, name.inl.hpp beside it, and they are inline. With it they are compiled once, in the library redco::compiled
/// (redco::plan_compiled above the torch line), and a program that includes the header sees declarations only. CMake
/// defines REDCO_COMPILED for whoever links one of these libraries; it is never defined by hand.
#ifdef REDCO_COMPILED
#define REDCO_INLINE
#else
#define REDCO_INLINE inline
#endif

// REDCO_WITH_PCRE2, REDCO_WITH_SENTENCEPIECE, REDCO_WITH_MPI: defined by CMake (and by redco.pc) where it found these optional
// libraries, for everything that links redco. Without them tokenizer/ and comm/ take twins that say what to install.
