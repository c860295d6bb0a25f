#pragma once

#include <redco/tensor/torch.hpp>

#include <exception>

namespace redco {

/// Returns the message of an exception, without the backtrace for libtorch's exceptions. Usable as
/// an `exception_words` callback.
inline char const* words_of(std::exception const& failure) noexcept {
  auto const* const of_torch = dynamic_cast<c10::Error const*>(&failure);
  return of_torch != nullptr ? of_torch->what_without_backtrace() : failure.what();
}

}  // namespace redco
