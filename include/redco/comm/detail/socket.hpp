#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace redco::comm::detail {

/// A TCP socket, closed by the destructor. Members throw std::runtime_error with the system's error
/// text.
class socket {
 public:
  /// The error thrown for a host name that cannot be resolved.
  struct no_such_host : std::runtime_error {
    using std::runtime_error::runtime_error;
  };

  socket() = default;
  explicit socket(int number) : number_(number) {}
  socket(socket&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  socket& operator=(socket&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~socket() {
    if (number_ >= 0) ::close(number_);
  }

  bool open() const noexcept { return number_ >= 0; }
  int number() const noexcept { return number_; }

  /// Returns listening sockets, one at each address of `host` that belongs to this machine,
  /// possibly none. With port 0, the system chooses the port. Throws std::runtime_error if a socket
  /// cannot listen, for example because another program uses the port.
  static std::vector<socket> listening(std::string const& host, int port) {
    std::vector<socket> all;
    each_address(host, port, SOCK_STREAM, [&](addrinfo const& at) {
      socket one(::socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (one.open() && one.listens(at.ai_addr, at.ai_addrlen)) all.push_back(std::move(one));
      else if (errno == EADDRINUSE || errno == EACCES) fail("cannot listen at port " + std::to_string(port));
      return false;
    });
    return all;
  }

  /// Returns a socket that listens at all addresses of this machine.
  static socket listening_everywhere(int port) {
    for (int const family : {AF_INET6, AF_INET}) {
      socket one(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      int const no = 0;
      if (one.open() && family == AF_INET6) setsockopt(one.number_, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
      sockaddr_storage any = {};
      any.ss_family = static_cast<sa_family_t>(family);
      auto& its_port = family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(any).sin6_port
                                          : reinterpret_cast<sockaddr_in&>(any).sin_port;
      its_port = htons(static_cast<std::uint16_t>(port));
      socklen_t const bytes = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
      if (one.open() && one.listens(reinterpret_cast<sockaddr*>(&any), bytes)) return one;
      if (errno == EADDRINUSE || errno == EACCES) break;
    }
    fail("cannot listen at port " + std::to_string(port));
  }

  int port() const {
    sockaddr_storage own = {};
    socklen_t bytes = sizeof own;
    if (getsockname(number_, reinterpret_cast<sockaddr*>(&own), &bytes) != 0) fail("has no port");
    return ntohs(own.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(own).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(own).sin_port);
  }

  /// Returns the numeric address of this machine in the connection.
  std::string own_address() const {
    sockaddr_storage own = {};
    socklen_t bytes = sizeof own;
    if (getsockname(number_, reinterpret_cast<sockaddr*>(&own), &bytes) != 0) fail("has no address");
    return address_text(own, bytes);
  }

  /// Returns the numeric address of the other side of the connection; "" if it has closed.
  std::string peer_address() const {
    sockaddr_storage peer = {};
    socklen_t bytes = sizeof peer;
    return getpeername(number_, reinterpret_cast<sockaddr*>(&peer), &bytes) == 0 ? address_text(peer, bytes) : "";
  }

  /// Returns true if `host` is a numeric address, not a name.
  static bool is_address(std::string const& host) {
    addrinfo wanted = {};
    wanted.ai_flags = AI_NUMERICHOST;
    addrinfo* found = nullptr;
    if (getaddrinfo(host.c_str(), nullptr, &wanted, &found) != 0) return false;
    freeaddrinfo(found);
    return true;
  }

  static bool is_loopback(std::string const& address) { return address.starts_with("127.") || address == "::1"; }

  /// Returns a socket connected to the first address of `host` that answers. Waits at most `limit`
  /// for each address. The socket is non-blocking.
  static socket connected(std::string const& host, int port, std::chrono::milliseconds limit) {
    std::string words = "has no address";
    socket made;
    each_address(host, port, SOCK_STREAM, [&](addrinfo const& at) {
      socket one(::socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      int failure = one.open() && ::connect(one.number_, at.ai_addr, at.ai_addrlen) == 0 ? 0 : errno;
      if (failure == EINPROGRESS)
        failure = one.reached(static_cast<int>(std::min<std::int64_t>(limit.count(), INT_MAX)));
      if (failure != 0) {
        words = std::strerror(failure);
        return false;
      }
      made = std::move(one);
      return true;
    });
    if (!made.open()) throw std::runtime_error(host + ":" + std::to_string(port) + ": " + words);
    return made;
  }

  /// Waits until bytes can be read or a connection can be accepted. Returns false if this does not
  /// happen within `milliseconds`.
  bool readable(int milliseconds) const {
    pollfd one{number_, POLLIN, 0};
    return ::poll(&one, 1, milliseconds) == 1;
  }

  /// Accepts the next pending connection and returns its non-blocking socket. The socket is not
  /// open if no connection is pending.
  socket accepted() const { return socket(::accept4(number_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)); }

  /// Returns the numeric address of the network interface by which this machine reaches `host`.
  static std::string address_towards(std::string const& host, int port) {
    std::string text;
    each_address(host, port, SOCK_DGRAM, [&](addrinfo const& at) {
      socket const one(::socket(at.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
      sockaddr_storage own = {};
      socklen_t bytes = sizeof own;
      if (!one.open() || ::connect(one.number_, at.ai_addr, at.ai_addrlen) != 0 ||
          getsockname(one.number_, reinterpret_cast<sockaddr*>(&own), &bytes) != 0)
        return false;
      text = address_text(own, bytes);
      return true;
    });
    if (text.empty()) throw std::runtime_error("no way leads to " + host);
    return text;
  }

  /// Makes the system send small messages at once (TCP_NODELAY).
  void make_prompt() const {
    int const yes = 1;
    setsockopt(number_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }

  /// Writes without blocking and returns the number of bytes written. Returns 0 if none can be
  /// written now, and -1 if the peer is gone. read() returns its number of bytes by the same rules.
  std::int64_t write(void const* data, std::size_t bytes) const noexcept {
    return moved(::send(number_, data, bytes, MSG_NOSIGNAL));
  }
  std::int64_t read(void* data, std::size_t bytes) const noexcept { return moved(::recv(number_, data, bytes, 0)); }

 private:
  bool listens(sockaddr const* at, socklen_t bytes) const {
    int const yes = 1;
    setsockopt(number_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    return bind(number_, at, bytes) == 0 && ::listen(number_, SOMAXCONN) == 0;
  }

  /// Returns a socket address as numeric text. An IPv4 address that is embedded in an IPv6 address
  /// is written as IPv4.
  static std::string address_text(sockaddr_storage const& at, socklen_t bytes) {
    char name[NI_MAXHOST] = {};
    if (getnameinfo(reinterpret_cast<sockaddr const*>(&at), bytes, name, sizeof name, nullptr, 0, NI_NUMERICHOST) != 0)
      fail("has no address");
    std::string const text = name;
    return text.starts_with("::ffff:") ? text.substr(7) : text;
  }

  /// Waits at most `milliseconds` until a started connection is established. Returns 0 on success,
  /// else the errno value of the failure or of the timeout.
  int reached(int milliseconds) const {
    pollfd one{number_, POLLOUT, 0};
    int failure = ETIMEDOUT;
    socklen_t bytes = sizeof failure;
    if (::poll(&one, 1, milliseconds) == 1) getsockopt(number_, SOL_SOCKET, SO_ERROR, &failure, &bytes);
    return failure;
  }

  static std::int64_t moved(ssize_t result) noexcept {
    if (result > 0) return result;
    return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? 0 : -1;
  }

  template <class F>
  static void each_address(std::string const& host, int port, int type, F const& f) {
    addrinfo wanted = {};
    wanted.ai_socktype = type;
    addrinfo* found = nullptr;
    if (int const failure = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found); failure != 0)
      throw no_such_host(host + ": " + gai_strerror(failure));
    std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> const all(found, &freeaddrinfo);
    for (addrinfo const* at = all.get(); at != nullptr; at = at->ai_next)
      if (f(*at)) return;
  }

  [[noreturn]] static void fail(std::string const& problem) {
    throw std::runtime_error("a socket " + problem + ": " + std::strerror(errno));
  }

  int number_ = -1;
};

}  // namespace redco::comm::detail
