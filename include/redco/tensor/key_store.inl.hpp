#pragma once

#include <redco/tensor/key_store.hpp>

#include <redco/tensor/torch.hpp>
#include <redco/config.hpp>

#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <cstdint>
#include <vector>

namespace redco::tensors {

struct key_store::connection {
  c10::intrusive_ptr<c10d::TCPStore> store;
};

REDCO_INLINE key_store::key_store(std::string const& host, int port, bool serves, std::chrono::milliseconds limit) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(port);
  options.isServer = serves;
  options.waitWorkers = false;
  options.timeout = limit;
  connection_ = std::make_shared<connection>(connection{c10::make_intrusive<c10d::TCPStore>(host, options)});
}

REDCO_INLINE void key_store::set(std::string const& key, std::string const& text) {
  connection_->store->set(key, std::vector<std::uint8_t>(text.begin(), text.end()));
}

REDCO_INLINE std::string key_store::get(std::string const& key, std::chrono::milliseconds limit) {
  connection_->store->wait({key}, limit);
  std::vector<std::uint8_t> const text = connection_->store->get(key);
  return {text.begin(), text.end()};
}

REDCO_INLINE void key_store::remove(std::string const& key) { connection_->store->deleteKey(key); }

REDCO_INLINE bool key_store::has(std::string const& key) { return connection_->store->check({key}); }

}  // namespace redco::tensors
