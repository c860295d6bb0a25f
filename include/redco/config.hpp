#pragma once

/// Selects the definitions of functions that are not templates. Without REDCO_COMPILED, redco is
/// header-only: X.hpp includes X.inl.hpp, and its functions are inline. With REDCO_COMPILED, the
/// library redco::compiled (redco::plan_compiled without torch) contains the functions, and headers
/// only declare them. CMake defines REDCO_COMPILED for targets that link one of these libraries.
/// Never define it by hand.
#ifdef REDCO_COMPILED
#define REDCO_INLINE
#else
#define REDCO_INLINE inline
#endif

// CMake (and redco.pc) defines REDCO_WITH_PCRE2, REDCO_WITH_SENTENCEPIECE and REDCO_WITH_MPI for
// the optional libraries that it finds. Without a library, tokenizer/ and comm/ use replacements
// whose errors name the package to install.
