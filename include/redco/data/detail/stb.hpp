#pragma once

#include <cassert>
#include <climits>
#include <cmath>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// stb's functions are in a namespace, and its macros end here, so that a program can include stb
// with settings of its own.
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_SIMD
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
namespace redco::data::detail::stb {
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
}  // namespace redco::data::detail::stb
#undef STB_IMAGE_STATIC
#undef STB_IMAGE_IMPLEMENTATION
#undef STBI_NO_STDIO
#undef STBI_NO_LINEAR
#undef STBI_NO_SIMD
#undef STBI_ONLY_JPEG
#undef STBI_ONLY_PNG
#undef STBI_NO_BMP
#undef STBI_NO_PSD
#undef STBI_NO_TGA
#undef STBI_NO_GIF
#undef STBI_NO_HDR
#undef STBI_NO_PIC
#undef STBI_NO_PNM
#undef STBI_INCLUDE_STB_IMAGE_H
#undef STBI_VERSION
#undef STBIDEF
#undef STBI_ASSERT
#undef STBI_MALLOC
#undef STBI_REALLOC
#undef STBI_REALLOC_SIZED
#undef STBI_FREE
#undef STBI_MAX_DIMENSIONS
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
