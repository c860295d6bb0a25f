#pragma once

#include <chrono>
#include <memory>
#include <string>

namespace redco::tensors {

/// A key-value store of texts that several processes share. It is a c10d::TCPStore, as torchrun's
/// agents use. Members throw what TCPStore throws, c10::Error or another std::exception.
class key_store {
 public:
  /// Connects to the store at host:port within the time `limit`. If `serves` is true, this object
  /// is the server, and the store lives as long as this object.
  key_store(std::string const& host, int port, bool serves, std::chrono::milliseconds limit);

  void set(std::string const& key, std::string const& text);
  /// Waits until a process has set `key`, and returns its text. Throws if this takes longer than
  /// `limit`.
  std::string get(std::string const& key, std::chrono::milliseconds limit);
  bool has(std::string const& key);
  void remove(std::string const& key);

 private:
  struct connection;
  std::shared_ptr<connection> connection_;
};

}  // namespace redco::tensors

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/tensor/key_store.inl.hpp>
#endif
