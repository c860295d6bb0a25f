#pragma once

#include <redco/tensor/torch.hpp>

#include <exception>

namespace redco::tensors {

/// Returns the message of an exception. For an exception of libtorch, omits the backtrace. Usable
/// as the callback `exception_words`.
inline char const* words_of(std::exception const& failure) noexcept {
  auto const* const of_torch = dynamic_cast<c10::Error const*>(&failure);
  return of_torch != nullptr ? of_torch->what_without_backtrace() : failure.what();
}

}  // namespace redco::tensors
