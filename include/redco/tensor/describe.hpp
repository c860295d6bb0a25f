#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <system_error>

namespace redco::tensors {

/// Returns a shape as text for messages, such as "[3, 5]".
inline std::string describe(at::IntArrayRef sizes) {
  std::string text;
  for (std::int64_t const extent : sizes) text += (text.empty() ? "[" : ", ") + std::to_string(extent);
  return text.empty() ? "[]" : text + "]";
}

/// Returns the dtype and shape of a tensor as text for messages, such as "Float [3, 5]".
inline std::string describe(at::Tensor const& x) {
  return std::string(c10::toString(x.scalar_type())) + " " + describe(x.sizes());
}

/// Returns the message of an exception. Omits the backtrace of an exception of libtorch. Exhausted
/// memory has a sentence of its own. Allocates no memory. Usable as the callback `exception_words`.
inline char const* words_of(std::exception const& failure) noexcept {
  if (dynamic_cast<std::bad_alloc const*>(&failure) != nullptr)
    return "the memory of this process is exhausted (std::bad_alloc): take more ranks or pipeline stages, a smaller "
           "micro-batch, or recomputation";
  auto const* const of_system = dynamic_cast<std::system_error const*>(&failure);
  if (of_system != nullptr && of_system->code() == std::errc::resource_unavailable_try_again)
    return "a thread cannot be started: the memory or the number of threads of this process is exhausted";
  auto const* const of_torch = dynamic_cast<c10::Error const*>(&failure);
  if (of_torch == nullptr) return failure.what();
  char const* const words = of_torch->what_without_backtrace();
  char const* const of_allocator = std::strstr(words, "DefaultCPUAllocator: ");
  return of_allocator != nullptr ? of_allocator : words;
}

}  // namespace redco::tensors
