// Exchanges messages between two processes over UCX and over one plain TCP connection. The script
// benchmarks/ucx/run starts it, breaks connections and measures.
// - `ucx PROCESS HOST PORT speed`: ping-pong over UCX and TCP in turns; process 0 prints the times
// - `ucx PROCESS HOST PORT endless`: 80 KB each way every 5 ms until something fails; prints
//   "sums", then the failure and its time
#include <ucp/api/ucp.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point begin) {
  return std::chrono::duration<double>(clock_type::now() - begin).count();
}

void must(bool holds, char const* operation) {
  if (holds) return;
  std::fprintf(stderr, "ucx: %s failed\n", operation);
  std::exit(1);
}

/// Returns one TCP connection between the processes. They exchange UCX addresses over it, and UCX's
/// speed is compared with it.
int connection(int process, char const* host, char const* port) {
  addrinfo wanted = {}, *found = nullptr;
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_STREAM;
  must(getaddrinfo(host, port, &wanted, &found) == 0, "getaddrinfo");
  int line = -1;
  if (process == 0) {
    int const door = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    must(bind(door, found->ai_addr, found->ai_addrlen) == 0 && listen(door, 1) == 0, "bind");
    line = accept(door, nullptr, nullptr);
    close(door);
  }
  for (int turn = 0; line < 0 && turn < 1000; ++turn) {
    line = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(line, found->ai_addr, found->ai_addrlen) == 0) break;
    close(line);
    line = -1;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  must(line >= 0, "connect");
  int const yes = 1;
  setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  freeaddrinfo(found);
  return line;
}

void put(int line, void const* data, std::size_t bytes) {
  auto const* at = static_cast<char const*>(data);
  while (bytes > 0) {
    ssize_t const went = send(line, at, bytes, MSG_NOSIGNAL);
    must(went > 0, "send");
    at += went;
    bytes -= static_cast<std::size_t>(went);
  }
}

void take(int line, void* data, std::size_t bytes) {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    ssize_t const came = recv(line, at, bytes, 0);
    must(came > 0, "recv");
    at += came;
    bytes -= static_cast<std::size_t>(came);
  }
}

struct peer {
  ucp_context_h context = nullptr;
  ucp_worker_h worker = nullptr;
  ucp_ep_h endpoint = nullptr;
  ucs_status_t failure = UCS_OK;  ///< status that the error handler received

  explicit peer(int line) {
    ucp_params_t features = {};
    features.field_mask = UCP_PARAM_FIELD_FEATURES;
    features.features = UCP_FEATURE_TAG;
    ucp_config_t* config = nullptr;
    must(ucp_config_read(nullptr, nullptr, &config) == UCS_OK, "ucp_config_read");
    must(ucp_init(&features, config, &context) == UCS_OK, "ucp_init");
    ucp_config_release(config);
    ucp_worker_params_t threads = {};
    threads.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    threads.thread_mode = UCS_THREAD_MODE_SERIALIZED;
    must(ucp_worker_create(context, &threads, &worker) == UCS_OK, "ucp_worker_create");
    ucp_address_t* own = nullptr;
    std::size_t bytes = 0, its_bytes = 0;
    must(ucp_worker_get_address(worker, &own, &bytes) == UCS_OK, "ucp_worker_get_address");
    put(line, &bytes, sizeof bytes);
    put(line, own, bytes);
    take(line, &its_bytes, sizeof its_bytes);
    std::vector<char> its(its_bytes);
    take(line, its.data(), its_bytes);
    ucp_ep_params_t to = {};
    to.field_mask =
        UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    to.address = reinterpret_cast<ucp_address_t const*>(its.data());
    to.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    to.err_handler.arg = this;
    to.err_handler.cb = [](void* self, ucp_ep_h, ucs_status_t status) { static_cast<peer*>(self)->failure = status; };
    must(ucp_ep_create(worker, &to, &endpoint) == UCS_OK, "ucp_ep_create");
    ucp_worker_release_address(worker, own);
  }

  ucs_status_ptr_t send(void const* data, std::size_t bytes) {
    ucp_request_param_t const plain = {};
    return ucp_tag_send_nbx(endpoint, data, bytes, 7, &plain);
  }
  ucs_status_ptr_t receive(void* data, std::size_t bytes) {
    ucp_request_param_t const plain = {};
    return ucp_tag_recv_nbx(worker, data, bytes, 7, ~std::uint64_t{0}, &plain);
  }
  void progress() {
    if (ucp_worker_progress(worker) == 0) std::this_thread::yield();
  }
  /// Returns UCS_INPROGRESS while the request is in flight, else its status.
  static ucs_status_t status(ucs_status_ptr_t one) {
    return UCS_PTR_IS_PTR(one) ? ucp_request_check_status(one) : UCS_PTR_STATUS(one);
  }
  void finish(ucs_status_ptr_t one) {
    while (status(one) == UCS_INPROGRESS) progress();
    must(status(one) == UCS_OK, "a message");
    if (UCS_PTR_IS_PTR(one)) ucp_request_free(one);
  }
};

void speed(int process, int line) {
  peer other(line);
  for (std::size_t const bytes : {std::size_t{8}, std::size_t{64} << 10, std::size_t{4} << 20}) {
    std::vector<char> mine(bytes, 'm'), its(bytes);
    int const rounds = bytes < 100'000 ? 300 : 12;
    std::vector<double> of_ucx, of_tcp;
    for (int turn = 0; turn < 7; ++turn) {
      auto begin = clock_type::now();
      for (int round = 0; round < rounds; ++round) {
        if (process == 0) other.finish(other.send(mine.data(), bytes));
        other.finish(other.receive(its.data(), bytes));
        if (process == 1) other.finish(other.send(mine.data(), bytes));
      }
      of_ucx.push_back(seconds_since(begin) / rounds / 2);
      begin = clock_type::now();
      for (int round = 0; round < rounds; ++round) {
        if (process == 0) put(line, mine.data(), bytes);
        take(line, its.data(), bytes);
        if (process == 1) put(line, mine.data(), bytes);
      }
      of_tcp.push_back(seconds_since(begin) / rounds / 2);
    }
    auto const median = [](std::vector<double>& all) {
      std::nth_element(all.begin(), all.begin() + 3, all.end());
      return all[3];
    };
    double const ucx = median(of_ucx), tcp = median(of_tcp);
    if (process == 0)
      std::printf("%9zu bytes: ucx %9.1f us %6.2f GB/s, tcp %9.1f us %6.2f GB/s\n", bytes, 1e6 * ucx,
                  1e-9 * static_cast<double>(bytes) / ucx, 1e6 * tcp, 1e-9 * static_cast<double>(bytes) / tcp);
  }
  std::fflush(stdout);
  std::_Exit(0);
}

void endless(int line) {
  constexpr double patience = 30;
  peer other(line);
  std::vector<char> mine(80'000, 'm'), its(80'000);
  for (int round = 0;; ++round) {
    auto const begin = clock_type::now();
    ucs_status_ptr_t const coming = other.receive(its.data(), its.size()), going = other.send(mine.data(), mine.size());
    while (peer::status(coming) == UCS_INPROGRESS || peer::status(going) == UCS_INPROGRESS) {
      other.progress();
      double const waited = seconds_since(begin);
      if (other.failure == UCS_OK && waited < patience) continue;
      std::printf("%s after %.1f s; receive: %s, send: %s\n",
                  other.failure == UCS_OK ? "no error" : ucs_status_string(other.failure), waited,
                  ucs_status_string(peer::status(coming)), ucs_status_string(peer::status(going)));
      std::fflush(stdout);
      auto const end = clock_type::now();
      if (UCS_PTR_IS_PTR(coming) && peer::status(coming) == UCS_INPROGRESS) ucp_request_cancel(other.worker, coming);
      ucp_request_param_t how = {};
      how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
      how.flags = UCP_EP_CLOSE_FLAG_FORCE;
      ucs_status_ptr_t const closing = ucp_ep_close_nbx(other.endpoint, &how);
      while (peer::status(closing) == UCS_INPROGRESS && seconds_since(end) < patience) other.progress();
      std::printf("ended after %.1f s; receive: %s, send: %s\n", seconds_since(end),
                  ucs_status_string(peer::status(coming)), ucs_status_string(peer::status(going)));
      std::fflush(stdout);
      std::_Exit(0);
    }
    must(peer::status(coming) == UCS_OK && peer::status(going) == UCS_OK, "a message");
    if (UCS_PTR_IS_PTR(coming)) ucp_request_free(coming);
    if (UCS_PTR_IS_PTR(going)) ucp_request_free(going);
    if (round == 10) std::puts("sums"), std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

int main(int argc, char** argv) {
  must(argc == 5, "the command line: PROCESS HOST PORT speed|endless");
  int const process = std::atoi(argv[1]), line = connection(process, argv[2], argv[3]);
  if (std::string(argv[4]) == "speed") speed(process, line);
  endless(line);
}
