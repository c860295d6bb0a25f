#pragma once

#include <redco/comm/detail/secrets.hpp>
#include <redco/comm/detail/socket.hpp>
#include <redco/comm/detail/wire.hpp>
#include <redco/tensor/key_store.hpp>
#include <redco/options/launch.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace redco::comm::detail {

/// The address at which process 0 waits for the other processes of a launcher, and a secret key.
/// Each process must prove that it knows the key. The key is derived from the environment variable
/// REDCO_SECRET, and from random bits if the launcher has a key-value store that distributes them.
/// If REDCO_SECRET is not set and the launcher has no such store, the key is not secret.
class meeting_point {
 public:
  /// Connects to the launcher's key-value store (as torchrun has), if there is one. Throws the
  /// errors of key_store if the store does not answer within `limit`.
  meeting_point(options::launch const& how, std::chrono::milliseconds limit) : how_(how) {
    if (how.has_store) store_.emplace(how.host, how.port, false, limit);
  }
  meeting_point(meeting_point const&) = delete;
  meeting_point& operator=(meeting_point const&) = delete;

  struct address {
    std::string host;
    int port;
    std::string key;
  };

  /// Opens and returns the listening sockets of process 0. They listen at the addresses that the
  /// other processes use for this machine. They listen at all addresses if this machine does not
  /// own these addresses (a Kubernetes service) or if the host name means only loopback here.
  std::vector<socket> opened() {
    if (!store_) {
      key_ = made_key("");
      return listening_at(host(), how_.port);
    }
    std::string const towards = socket::address_towards(host(), how_.port), random = random_text();
    bool const only_here = socket::is_loopback(towards) && how_.processes_on_host < how_.processes;
    std::vector<socket> all;
    if (only_here) all.push_back(socket::listening_everywhere(0));
    else all = socket::listening(towards, 0);
    if (all.empty()) throw std::runtime_error("this host cannot listen at its own address " + towards);
    key_ = made_key(random);
    store_->set(name(), wire::endpoint_text({only_here ? how_.host : towards, all.front().port(), random}));
    return all;
  }

  /// Removes the address of process 0 from the launcher's key-value store. Process 0 calls it when
  /// all processes have connected, or when it gives up.
  void closed() {
    if (store_) store_->remove(name());
  }

  /// Returns the secret key. On process 0, opened() must have been called before.
  std::string const& key() const { return key_; }

  /// Returns the address and key with which another process connects to process 0. Throws
  /// std::runtime_error if process 0 has not opened its sockets yet.
  address found() {
    if (!store_) return {host(), how_.port, made_key("")};
    if (!store_->has(name())) throw std::runtime_error("process 0 has not written into the launcher's store");
    std::optional<wire::endpoint> const at = wire::read_endpoint(store_->get(name(), std::chrono::seconds(5)));
    if (!at) throw std::runtime_error("the launcher's store has something else under " + name());
    return {at->address, at->port, made_key(at->host)};
  }

 private:
  /// Returns the host at which the processes connect: loopback if all of them are on this host.
  std::string host() const {
    bool const named = !socket::is_loopback(how_.host) && how_.host != "localhost";
    return named && options::meets_on_this_host(how_) ? "127.0.0.1" : how_.host;
  }

  std::string name() const { return "redco/" + how_.start_id + "/meeting"; }

  std::string made_key(std::string const& random) const {
    return std::string(text_of(hmac_sha256(how_.secret, random)));
  }

  /// Returns sockets that listen at the addresses of `host`. They listen at all addresses if this
  /// machine owns none of these, or if the name `host` means only loopback here and the run has
  /// other hosts. Numeric addresses and "localhost" are used as they are.
  std::vector<socket> listening_at(std::string const& host, int port) const {
    std::vector<socket> all;
    try {
      all = socket::listening(host, port);
    } catch (socket::no_such_host const&) {
      // Other machines may be able to resolve the name.
    }
    bool const elsewhere = how_.processes_on_host < how_.processes,
               literal = host == "localhost" || socket::is_address(host);
    bool const only_here =
        std::all_of(all.begin(), all.end(), [](socket const& one) { return socket::is_loopback(one.own_address()); });
    if (all.empty() || (only_here && elsewhere && !literal)) {
      all.clear();
      all.push_back(socket::listening_everywhere(port));
    }
    return all;
  }

  options::launch const& how_;
  std::optional<tensors::key_store> store_;
  std::string key_;
};

}  // namespace redco::comm::detail
