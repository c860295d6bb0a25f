#pragma once

#include <chrono>
#include <memory>
#include <string>

namespace redco {

/// A key-value store of texts that several processes share: a c10d::TCPStore, as torchrun's agents
/// use. Its functions throw what TCPStore throws, c10::Error or another std::exception.
class key_store {
 public:
  /// Connects to the store at host:port within `limit`. If `serves` is true, this object is the
  /// server, and the store lives as long as the object.
  key_store(std::string const& host, int port, bool serves, std::chrono::milliseconds limit);

  void set(std::string const& key, std::string const& text);
  /// Waits at most `limit` until `key` exists and returns its text.
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
