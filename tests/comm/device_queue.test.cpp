#include "torch_catch.hpp"

#include <redco/comm/detail/device_queue.hpp>
#include <redco/tensor/device_streams.hpp>

#include <string>
#include <vector>

namespace {

/// A device with libtorch's interface that records the calls. Streams have numbers; 0 is the
/// current stream.
struct recording_device final : c10::impl::DeviceGuardImplInterface {
  static inline std::vector<std::string> calls;

  static std::string text(c10::Stream const& s) {
    return std::to_string(s.id()) + " of " + std::to_string(s.device_index());
  }

  c10::DeviceType type() const override { return c10::DeviceType::PrivateUse1; }
  c10::Device exchangeDevice(c10::Device d) const override { return d; }
  c10::Device getDevice() const override { return {type(), 0}; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 2; }
  c10::Stream getStream(c10::Device d) const override { return c10::Stream(c10::Stream::UNSAFE, d, 0); }
  c10::Stream getStreamFromGlobalPool(c10::Device d, bool) const override {
    return c10::Stream(c10::Stream::UNSAFE, d, 7);
  }
  c10::Stream exchangeStream(c10::Stream s) const override { return s; }
  void* getStreamNativeHandle(c10::Stream s) const override { return reinterpret_cast<void*>(0x100 + s.id()); }
  void record(void** event, c10::Stream const& s, c10::DeviceIndex, c10::EventFlag) const override {
    *event = reinterpret_cast<void*>(0x200);
    calls.push_back("record on " + text(s));
  }
  void block(void*, c10::Stream const& s) const override { calls.push_back("block " + text(s)); }
  bool queryEvent(void*) const override {
    calls.push_back("query");
    return calls.size() > 4;
  }
  void synchronizeEvent(void*) const override { calls.push_back("wait"); }
};

using words = std::vector<std::string>;

TEST_CASE("a transport's stream waits for the current stream, and events are recorded on the stream of the work") {
  namespace detail = redco::comm::detail;
  static recording_device const guard;
  c10::impl::DeviceGuardImplRegistrar const registered(c10::DeviceType::PrivateUse1, &guard);
  at::Device const second(c10::DeviceType::PrivateUse1, 1), first(c10::DeviceType::PrivateUse1, 0);
  auto const queue = detail::torch_devices().make_queue(second);
  CHECK(queue->handle() == reinterpret_cast<void*>(0x107));
  queue->follow();
  queue->mark();
  CHECK_FALSE(queue->reached());
  CHECK(queue->reached());
  CHECK(recording_device::calls == words{"record on 0 of 1", "block 7 of 1", "record on 7 of 1", "query", "query"});
  CHECK(detail::torch_devices().number_of(second) == 1);

  recording_device::calls.clear();
  auto const mark = redco::tensors::mark_on(first);
  redco::tensors::follow_on(first, mark);
  redco::tensors::follow_on(second, mark);
  redco::tensors::settle(second);
  CHECK(recording_device::calls ==
        words{"record on 0 of 0", "block 0 of 0", "block 0 of 1", "block 0 of 0", "record on 0 of 1", "wait"});
}

TEST_CASE("tensors in CPU memory need no wait for a stream") {
  namespace detail = redco::comm::detail;
  CHECK_FALSE(redco::tensors::mark_on(at::kCPU).has_value());
  redco::tensors::follow_on(at::kCPU, std::nullopt);
  redco::tensors::settle(at::kCPU);
  CHECK_FALSE(detail::torch_devices().holds(at::ones({2})));
  CHECK(detail::torch_devices().holds(at::ones({2}, at::kMeta)));
}

}  // namespace
