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

// CMake (and redco.pc) defines REDCO_WITH_PCRE2, REDCO_WITH_SENTENCEPIECE, REDCO_WITH_MINJA and
// REDCO_WITH_MPI for the optional libraries that it finds. Without a library, tokenizer/ and comm/
// use replacements whose errors name the package to install. Only files X.inl.hpp may depend on
// these macros, so they change nothing for files that are compiled with REDCO_COMPILED.

// ThreadSanitizer instruments this file: some classes have other members.
#if defined(__SANITIZE_THREAD__)
#define REDCO_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define REDCO_THREAD_SANITIZER
#endif
#endif

// The macros above select definitions and class layouts, so all files of a program must agree on
// them. Files that differ do not link, and the linker's error contains a name from below. The
// attribute `retain` keeps references from files that call nothing, also with --gc-sections.
#ifdef REDCO_COMPILED

#ifdef REDCO_THREAD_SANITIZER
#define REDCO_SANITIZER_CHOICE with_thread_sanitizer
#else
#define REDCO_SANITIZER_CHOICE without_thread_sanitizer
#endif

// redco::plan_compiled defines the `library` of its own macro. Each choice has its `reference`,
// because linkers keep one inline variable of each name.
namespace redco::needs_redco_compiled::REDCO_SANITIZER_CHOICE {
extern char const library;
[[gnu::used, gnu::retain]] inline char const* const reference = &library;
}  // namespace redco::needs_redco_compiled::REDCO_SANITIZER_CHOICE

namespace redco::needs_redco_compiled {
extern char const in_every_file_or_none;
[[gnu::used, gnu::retain]] inline char const* const in_this_file = &in_every_file_or_none;
}  // namespace redco::needs_redco_compiled

#else

// A thread-local variable and a reference to an ordinary variable of the same name do not link.
// Two ordinary variables would link: the linker replaces an inline variable by the library's.
namespace redco::needs_redco_compiled {
[[gnu::used]] inline constinit thread_local char in_every_file_or_none = 0;
}  // namespace redco::needs_redco_compiled

#endif
