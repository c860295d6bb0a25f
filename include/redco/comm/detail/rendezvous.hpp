#pragma once

#include <redco/tensor/key_store.hpp>
#include <redco/tensor/words_of.hpp>
#include <redco/options/launch.hpp>

#include <redco/diag/error.hpp>
#include <redco/diag/exit_code.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace redco::comm::detail {

/// Where the processes of a launcher tell each other their addresses; the store is kept by the launcher's agent, or by the first
/// process to its end.
class rendezvous {
 public:
  /// Errors: exit code 76 where no store is there within `limit`.
  rendezvous(options::launch const& how, std::chrono::milliseconds limit) : how_(how), end_(clock::now() + limit) {
    bool const serves = how.first() && !how.has_store;
    try {
      store_.emplace(how.host, how.port, serves, limit);
    } catch (std::exception const& e) {
      fail(" found no store within " + std::to_string(limit.count()) + " ms", e,
           serves ? "see whether another program has the port"
                  : "see whether process 0 runs there and whether the port can be reached");
    }
  }

  /// Every process's text, in their order. Errors: exit code 76, with who came and who did not.
  std::vector<std::string> exchange(std::string const& mine) {
    std::vector<std::string> all;
    try {
      store_->set(key(how_.process), mine);
      for (int other = 0; other < how_.processes; ++other) all.push_back(store_->get(key(other), left()));
    } catch (std::exception const& e) {
      fail(": " + who_came(), e, "see what became of the others");
    }
    return all;
  }

  /// Of the time that the processes have to find each other.
  std::chrono::milliseconds left() const {
    auto const rest = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - clock::now());
    return std::max(rest, std::chrono::milliseconds(1));
  }

  /// Errors: exit code 76, always.
  [[noreturn]] void fail(std::string const& what, std::exception const& why, std::string const& cure) const {
    std::string const words = words_of(why);
    throw error(exit_code::rendezvous, "process " + std::to_string(how_.process) + " of " +
                                           std::to_string(how_.processes) + " (" + how_.by + "), which meet at " +
                                           how_.host + ":" + std::to_string(how_.port) + what + " (" +
                                           words.substr(0, words.find('\n')) + "); " + cure);
  }

 private:
  using clock = std::chrono::steady_clock;

  std::string key(int process) const { return "redco/" + how_.run + "/" + std::to_string(process); }

  std::string who_came() {
    std::string came, missing;
    for (int other = 0; other < how_.processes; ++other) {
      std::string& which = is_there(other) ? came : missing;
      which += (which.empty() ? "" : ", ") + std::to_string(other);
    }
    return (came.empty() ? "none" : came) + " came, " + (missing.empty() ? "none" : missing) + " did not";
  }

  bool is_there(int process) {
    try {
      return store_->has(key(process));
    } catch (std::exception const&) {
      return false;  // the store is gone too
    }
  }

  options::launch const& how_;
  clock::time_point end_;
  std::optional<key_store> store_;
};

}  // namespace redco::comm::detail
