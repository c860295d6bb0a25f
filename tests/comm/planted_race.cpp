// A planted mistake rather than a test. Built with -fsanitize=thread and the project's
// suppressions, it must be reported (exit code 66). While two ranks reduce, a third thread writes
// into the tensor of one rank without synchronisation. The racing accesses are in comm/'s kernel
// and in this file; no suppression of libtorch may hide them.

#include <redco/comm/in_process_group.hpp>

#include <thread>

int main() {
  auto const groups = redco::comm::in_process_group::make("world", 2);
  at::Tensor const first = at::ones({16'384}), second = at::ones({16'384});
  std::thread intruder([data = first.data_ptr<float>(), count = first.numel()] {
    for (std::int64_t at = 0; at < count; ++at) data[at] = 2;
  });
  std::thread peer([&] { groups[1]->all_reduce(second); });
  groups[0]->all_reduce(first);
  peer.join();
  intruder.join();
}
