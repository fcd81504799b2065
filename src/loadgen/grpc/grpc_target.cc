#include "loadgen/grpc/grpc_target.h"

#include <utility>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <open_inference.grpc.pb.h>

namespace weir::loadgen {
namespace {

constexpr int kMostAnswerBytes = 64 << 20;

struct Shared {
  std::string address;
  std::string api_key;
  std::string description;
  std::vector<inference::ModelInferRequest> requests;
  std::vector<RequestSize> sizes;
};

/// A call under way: its own owner until the queue has given it back, also when it was abandoned.
struct Call {
  std::uint32_t slot = 0;
  bool abandoned = false;
  RequestSize size;
  grpc::ClientContext context;
  inference::ModelInferResponse response;
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncResponseReader<inference::ModelInferResponse>> reader;
};

Outcome outcome_of(const Call& call) {
  if (!call.status.ok()) {
    if (call.status.error_code() == grpc::StatusCode::UNAVAILABLE) return {Ending::kConnectFailed, 0};
    return {Ending::kStatus, static_cast<int>(call.status.error_code())};
  }
  const auto& response = call.response;
  const bool right = response.outputs_size() > 0 && response.outputs(0).shape_size() > 0 &&
                     response.outputs(0).shape(0) == static_cast<std::int64_t>(call.size.texts);
  return {right ? Ending::kAnswered : Ending::kWrongAnswer, 0};
}

class GrpcDriver final : public Driver {
 public:
  GrpcDriver(std::shared_ptr<const Shared> shared, std::uint32_t slots) : shared_(std::move(shared)), calls_(slots) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(kMostAnswerBytes);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection for each thread of the load
    const auto channel = grpc::CreateCustomChannel(shared_->address, grpc::InsecureChannelCredentials(), arguments);
    stub_ = inference::GRPCInferenceService::NewStub(channel);
  }
  GrpcDriver(const GrpcDriver&) = delete;
  GrpcDriver& operator=(const GrpcDriver&) = delete;
  ~GrpcDriver() override {
    for (Call* call : calls_) {
      if (call != nullptr) call->context.TryCancel();
    }
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) delete static_cast<Call*>(tag);
  }

  void start(std::uint32_t slot, std::uint32_t request) override {
    auto call = std::make_unique<Call>();
    call->slot = slot;
    call->size = shared_->sizes[request];
    if (!shared_->api_key.empty()) call->context.AddMetadata("authorization", "Bearer " + shared_->api_key);
    call->reader = stub_->PrepareAsyncModelInfer(&call->context, shared_->requests[request], &queue_);
    call->reader->StartCall();
    calls_[slot] = call.get();
    Call* const tag = call.release();
    tag->reader->Finish(&tag->response, &tag->status, tag);
  }

  void wait(Clock::time_point until, std::vector<Completion>& completions) override {
    // gRPC's deadlines are times of day.
    auto deadline = std::chrono::system_clock::now() +
                    std::chrono::duration_cast<std::chrono::system_clock::duration>(until - Clock::now());
    void* tag = nullptr;
    bool ok = false;
    while (queue_.AsyncNext(&tag, &ok, deadline) == grpc::CompletionQueue::GOT_EVENT) {
      const std::unique_ptr<Call> call(static_cast<Call*>(tag));
      deadline = std::chrono::system_clock::time_point();  // only what has ended already
      if (call->abandoned) continue;
      calls_[call->slot] = nullptr;
      completions.push_back({call->slot, Clock::now(), outcome_of(*call)});
    }
  }

  void abandon(std::uint32_t slot) override {
    Call* const call = std::exchange(calls_[slot], nullptr);
    call->abandoned = true;
    call->context.TryCancel();
  }

 private:
  std::shared_ptr<const Shared> shared_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<inference::GRPCInferenceService::Stub> stub_;
  std::vector<Call*> calls_;  ///< Of each slot; owned by the queue.
};

class GrpcTarget final : public Target {
 public:
  explicit GrpcTarget(std::shared_ptr<const Shared> shared) : shared_(std::move(shared)) {}

  Result<std::unique_ptr<Driver>> open(std::uint32_t slots) override {
    return std::unique_ptr<Driver>(std::make_unique<GrpcDriver>(shared_, slots));
  }
  const std::vector<RequestSize>& requests() const override { return shared_->sizes; }
  std::string describe() const override { return shared_->description; }

 private:
  std::shared_ptr<const Shared> shared_;
};

}  // namespace

Result<std::unique_ptr<Target>> make_grpc_target(const DialectOptions& options, const Url& url,
                                                 const Workload& workload) {
  auto shared = std::make_shared<Shared>();
  shared->address = url.authority();
  shared->api_key = options.api_key;
  shared->description = "oip-grpc grpc://" + url.authority() + " model " + options.model;
  shared->sizes = workload.sizes;
  for (const auto& texts : workload.requests) {
    inference::ModelInferRequest request;
    request.set_model_name(options.model);
    auto* input = request.add_inputs();
    input->set_name(options.input_name);
    input->set_datatype("BYTES");
    input->add_shape(static_cast<std::int64_t>(texts.size()));
    for (const std::string& text : texts) input->mutable_contents()->add_bytes_contents(text);
    shared->requests.push_back(std::move(request));
  }
  return std::unique_ptr<Target>(std::make_unique<GrpcTarget>(std::move(shared)));
}

}  // namespace weir::loadgen
