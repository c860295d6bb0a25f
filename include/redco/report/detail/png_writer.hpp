#pragma once

#include <cassert>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// stb's functions are in a namespace, and its macros end here, so that a program can include stb
// with settings of its own.
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
namespace redco::report::detail::stb {
#include <stb/stb_image_write.h>
}  // namespace redco::report::detail::stb
#undef STB_IMAGE_WRITE_STATIC
#undef STB_IMAGE_WRITE_IMPLEMENTATION
#undef STBI_WRITE_NO_STDIO
#undef INCLUDE_STB_IMAGE_WRITE_H
#undef STBIWDEF
#undef STBIW_MALLOC
#undef STBIW_REALLOC
#undef STBIW_FREE
#undef STBIW_REALLOC_SIZED
#undef STBIW_MEMMOVE
#undef STBIW_ASSERT
#undef STBIW_UCHAR
