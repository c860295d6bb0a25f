#pragma once

#include <chrono>
#include <memory>
#include <string>

namespace redco {

/// Texts under keys that several processes share: a TCPStore of torch, which torchrun's agents keep as well. Errors: what torch
/// throws, c10::Error or a std::exception.
class key_store {
 public:
  /// The one at this place; `serves` keeps it, as long as this object lives.
  key_store(std::string const& host, int port, bool serves, std::chrono::milliseconds limit);

  void set(std::string const& key, std::string const& text);
  /// Waits until it is there.
  std::string get(std::string const& key, std::chrono::milliseconds limit);
  bool has(std::string const& key);
  void remove(std::string const& key);

 private:
  struct connection;
  std::shared_ptr<connection> connection_;
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/tensor/key_store.inl.hpp>
#endif
