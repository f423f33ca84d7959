// A server of gRPC for C++ with the two methods that `perch bench --transport grpc` calls: a watch, and a purchase.
//
//     peer --value-bytes N --answer-bytes N
//
// It is built to be fast. A purchase raises the revision, and the new value is encoded once for all watchers of the account. A
// watcher whose write is under way gets the newest value after it. Nothing is stored, checked or computed, so this is what gRPC's
// own transport costs. Call `build` in this directory.
#include <grpcpp/grpcpp.h>

#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "perch/v1/entitlement_service.grpc.pb.h"
#include "perch/v1/test_store_service.grpc.pb.h"

using grpc::ByteBuffer;
using namespace perch::v1;

namespace {
class Watcher;

struct Account {
  ByteBuffer value;
  std::unordered_set<Watcher*> watchers;
};

std::mutex lock;  // of the accounts and of the state of all watchers
std::unordered_map<std::string, Account> accounts;
uint64_t revision = 0;
size_t value_bytes = 300, answer_bytes = 100;

template <class Message>
ByteBuffer encoded(const Message& message) {
  ByteBuffer buffer;
  bool owned;
  grpc::SerializationTraits<Message>::Serialize(message, &buffer, &owned);
  return buffer;
}

// Fills a message up to a length, by a field that readers skip.
template <class Message>
void fill(Message& message, size_t bytes) {
  size_t used = message.ByteSizeLong() + 6;
  if (used < bytes)
    message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(1000, std::string(bytes - used, 'f'));
}

ByteBuffer value_now() {
  CurrentEntitlementTaskResponse message;
  message.mutable_success();
  message.mutable_info()->mutable_position()->set_revision(revision);
  message.mutable_info()->mutable_position()->set_as_of_ms(1);
  fill(message, value_bytes);
  return encoded(message);
}

class Watcher : public grpc::ServerWriteReactor<ByteBuffer> {
 public:
  explicit Watcher(const std::string& account) : account_(account) {
    std::lock_guard guard(lock);
    accounts[account_].watchers.insert(this);
    if (accounts[account_].value.Length() == 0) accounts[account_].value = value_now();
    push(accounts[account_].value);
  }

  // With the lock.
  void push(const ByteBuffer& value) {
    if (is_ending_) return;
    if (is_writing_) {
      next_ = value;
      return;
    }
    is_writing_ = true;
    current_ = value;
    StartWrite(&current_);
  }

  void OnWriteDone(bool ok) override {
    std::lock_guard guard(lock);
    is_writing_ = false;
    if (!ok || is_ending_) return end();
    if (!next_) return;
    ByteBuffer value = *next_;
    next_.reset();
    push(value);
  }

  void OnCancel() override {
    std::lock_guard guard(lock);
    is_ending_ = true;
    if (!is_writing_) end();
  }

  void OnDone() override {
    {
      std::lock_guard guard(lock);
      accounts[account_].watchers.erase(this);
    }
    delete this;
  }

 private:
  void end() {
    is_ending_ = true;
    if (!is_ended_) Finish(grpc::Status::CANCELLED);
    is_ended_ = true;
  }

  std::string account_;
  ByteBuffer current_;
  std::optional<ByteBuffer> next_;
  bool is_writing_ = false, is_ending_ = false, is_ended_ = false;
};

class Entitlements : public EntitlementService::WithRawCallbackMethod_CurrentEntitlementTask<EntitlementService::Service> {
  grpc::ServerWriteReactor<ByteBuffer>* CurrentEntitlementTask(grpc::CallbackServerContext*, const ByteBuffer* bytes) override {
    CurrentEntitlementTaskRequest request;
    ByteBuffer copy = *bytes;
    grpc::SerializationTraits<CurrentEntitlementTaskRequest>::Deserialize(&copy, &request);
    return new Watcher(request.account());
  }
};

class Store : public TestStoreService::WithCallbackMethod_Operate<TestStoreService::Service> {
  grpc::ServerUnaryReactor* Operate(
      grpc::CallbackServerContext* context, const OperateRequest* request, OperateResponse* response) override {
    {
      std::lock_guard guard(lock);
      revision += 1;
      response->mutable_position()->set_revision(revision);
      response->mutable_position()->set_as_of_ms(1);
      Account& account = accounts[request->account()];
      account.value = value_now();
      for (Watcher* watcher : account.watchers) watcher->push(account.value);
    }
    fill(*response, answer_bytes);
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};
}  // namespace

int main(int count, char** arguments) {
  for (int place = 1; place + 1 < count; place += 2)
    (std::string(arguments[place]) == "--value-bytes" ? value_bytes : answer_bytes) = std::stoul(arguments[place + 1]);
  Entitlements entitlements;
  Store store;
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&entitlements);
  builder.RegisterService(&store);
  auto server = builder.BuildAndStart();
  std::cout << "peer: serving on 127.0.0.1:" << port << std::endl;
  server->Wait();
}
