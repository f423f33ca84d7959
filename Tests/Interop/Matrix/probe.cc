// One action of Debian's gRPC for C++, for matrix.py: prints what it saw, a line of JSON for each message. See probe.py.
#include <google/protobuf/any.pb.h>
#include <google/protobuf/unknown_field_set.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "grpc/health/v1/health.grpc.pb.h"
#include "grpc/reflection/v1alpha/reflection.grpc.pb.h"
#include "perch/v1/admin_service.grpc.pb.h"
#include "perch/v1/entitlement_service.grpc.pb.h"

using namespace perch::v1;
std::map<std::string, std::string> word;

std::string text_of(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string hex(const std::string& bytes, bool decodes) {
  std::string result;
  char digits[3] = {};
  if (decodes)
    for (size_t i = 0; i < bytes.size(); i += 2) result += char(std::stoi(bytes.substr(i, 2), nullptr, 16));
  else
    for (unsigned char byte : bytes) snprintf(digits, 3, "%02x", byte), result += digits;
  return result;
}

// The first field with a length of a message.
std::string first(const std::string& bytes, int number = 1) {
  google::protobuf::UnknownFieldSet fields;
  fields.ParseFromString(bytes);
  for (int i = 0; i < fields.field_count(); i++)
    if (fields.field(i).number() == number) return fields.field(i).length_delimited();
  return "";
}

void tell(const grpc::Status& status) {
  std::map<int, std::string> names = {{1, "CANCELLED"}, {3, "INVALID_ARGUMENT"}, {4, "DEADLINE_EXCEEDED"}, {16, "UNAUTHENTICATED"}};
  std::string reason, field;
  google::protobuf::UnknownFieldSet fields;
  fields.ParseFromString(status.error_details());
  for (int i = 0; i < fields.field_count(); i++) {
    google::protobuf::Any detail;
    if (fields.field(i).number() != 3 || !detail.ParseFromString(fields.field(i).length_delimited())) continue;
    if (detail.type_url().find("ErrorInfo") != std::string::npos) reason = first(detail.value());
    if (detail.type_url().find("BadRequest") != std::string::npos) field = first(first(detail.value()));
  }
  auto name = names.count(status.error_code()) ? names[status.error_code()] : std::to_string(status.error_code());
  std::cout << "{\"code\":\"" << name << "\",\"reason\":\"" << reason << "\",\"field\":\"" << field << "\"}" << std::endl;
}

grpc::Status act(const std::shared_ptr<grpc::Channel>& channel, const std::string& action, grpc::ClientContext& context) {
  auto service = EntitlementService::NewStub(channel);
  grpc::Status status;
  if (action == "products") {
    GetProductsRequest request;
    GetProductsResponse answer;
    std::stringstream ids(word["ids"]);
    for (std::string id; std::getline(ids, id, ',');) request.add_product_ids(id);
    std::string prefix = word.count("prefix") ? word["prefix"] : "product-";
    for (int n = 0; n < atoi(word["count"].c_str()); n++) request.add_product_ids(prefix + std::to_string(n));
    status = service->GetProducts(&context, request, &answer);
    if (status.ok())
      std::cout << "{\"found\":" << answer.success().products_size()
                << ",\"unavailable\":" << answer.success().unavailable_ids_size() << "}" << std::endl;
  } else if (action == "watch") {
    SubscriptionStatusTaskRequest request;
    request.set_account(word["account"]);
    request.set_group_id("premium");
    request.set_resume_token(hex(word["token"], true));
    auto reader = service->SubscriptionStatusTask(&context, request);
    for (SubscriptionStatusTaskResponse message; reader->Read(&message);) {
      int statuses = message.success().statuses_size();
      std::string state = message.has_loading() ? "loading" : message.has_success() ? "success" : message.has_unchanged() ? "unchanged" : "";
      std::cout << "{\"state\":\"" << state << "\",\"statuses\":" << statuses << ",\"token\":\""
                << hex(message.info().resume_token(), false) << "\"}" << std::endl;
      if ((message.has_success() || message.has_unchanged()) && statuses >= atoi(word["until"].c_str())) context.TryCancel();
    }
    status = reader->Finish();
  } else if (action == "error") {
    GetSubscriptionStatusRequest request;
    GetSubscriptionStatusResponse answer;
    request.set_account("a");
    status = service->GetSubscriptionStatus(&context, request, &answer);
  } else if (action == "load") {
    LoadCatalogRequest request;
    LoadCatalogResponse answer;
    request.set_file(text_of(word["file"]));
    status = AdminService::NewStub(channel)->LoadCatalog(&context, request, &answer);
    if (status.ok()) std::cout << "{\"subscriptions\":" << answer.summary().subscription_count() << "}" << std::endl;
  } else if (action == "health") {
    grpc::health::v1::HealthCheckRequest request;
    grpc::health::v1::HealthCheckResponse answer;
    status = grpc::health::v1::Health::NewStub(channel)->Check(&context, request, &answer);
    std::cout << "{\"status\":\"" << grpc::health::v1::HealthCheckResponse::ServingStatus_Name(answer.status()) << "\"}" << std::endl;
  } else if (action == "reflection") {
    grpc::reflection::v1alpha::ServerReflectionRequest request;
    grpc::reflection::v1alpha::ServerReflectionResponse answer;
    request.set_list_services("");
    auto call = grpc::reflection::v1alpha::ServerReflection::NewStub(channel)->ServerReflectionInfo(&context);
    call->Write(request);
    call->Read(&answer);
    std::string names;
    for (auto& each : answer.list_services_response().service()) names += (names.empty() ? "\"" : ",\"") + each.name() + "\"";
    std::cout << "{\"services\":[" << names << "]}" << std::endl;
    call->WritesDone();
    status = call->Finish();
  }
  return status;
}

int main(int, char** arguments) {
  for (char** each = arguments + 3; *each; each++) {
    std::string text = *each;
    word[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  auto credentials = grpc::InsecureChannelCredentials();
  if (word.count("ca")) credentials = grpc::SslCredentials({text_of(word["ca"]), "", ""});
  grpc::ChannelArguments settings;
  if (word.count("compress")) {
    auto algorithm = word["compress"] == "gzip" ? GRPC_COMPRESS_GZIP : GRPC_COMPRESS_DEFLATE;
    settings.SetCompressionAlgorithm(algorithm);
    settings.SetInt(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1 | 1 << algorithm);
  }
  grpc::ClientContext context;
  if (word.count("deadline"))
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(std::stoi(word["deadline"])));
  if (word.count("bearer")) context.AddMetadata("authorization", "Bearer " + word["bearer"]);
  auto status = act(grpc::CreateCustomChannel(arguments[1], credentials, settings), arguments[2], context);
  if (!status.ok()) tell(status);
}
