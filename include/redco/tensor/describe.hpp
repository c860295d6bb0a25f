#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <exception>
#include <string>

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

/// Returns the message of an exception. For an exception of libtorch, omits the backtrace. Usable
/// as the callback `exception_words`.
inline char const* words_of(std::exception const& failure) noexcept {
  auto const* const of_torch = dynamic_cast<c10::Error const*>(&failure);
  return of_torch != nullptr ? of_torch->what_without_backtrace() : failure.what();
}

}  // namespace redco::tensors
