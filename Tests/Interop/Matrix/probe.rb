# One action of Debian's ruby-grpc, for matrix.py: prints what it saw, a line of JSON for each message. See probe.py.
require 'json'
require 'grpc'
require 'google/protobuf/well_known_types'
require 'google/rpc/status_pb'
require 'google/rpc/error_details_pb'
require 'perch/v1/admin_service_services_pb'
require 'perch/v1/entitlement_service_services_pb'
require 'grpc/health/v1/health_services_pb'
require 'grpc/reflection/v1alpha/reflection_services_pb'
include Perch::V1

$stdout.sync = true
address, action, *words = ARGV
WORD = words.to_h { |each| each.split('=', 2) }
credentials = WORD['ca'] ? GRPC::Core::ChannelCredentials.new(File.read(WORD['ca'])) : :this_channel_is_insecure
arguments = {}
if WORD['compress']
  other = (%i[gzip deflate] - [WORD['compress'].to_sym])
  arguments = GRPC::Core::CompressionOptions.new(
    default_algorithm: WORD['compress'].to_sym, disabled_algorithms: other
  ).to_channel_arg_hash
end
STUB = ->(kind) { kind.new(address, credentials, channel_args: arguments) }
MORE = {}
MORE[:deadline] = Time.now + WORD['deadline'].to_i / 1000.0 if WORD['deadline']
MORE[:metadata] = { 'authorization' => "Bearer #{WORD['bearer']}" } if WORD['bearer']

def say(fields) = puts(JSON.generate(fields))

def act(action)
  service = STUB.call(EntitlementService::Stub)
  case action
  when 'products'
    ids = WORD['ids'].split(',') + (0...WORD.fetch('count', '0').to_i).map { |n| "#{WORD.fetch('prefix', 'product-')}#{n}" }
    answer = service.get_products(GetProductsRequest.new(product_ids: ids), **MORE)
    say(found: answer.success.products.size, unavailable: answer.success.unavailable_ids.size)
  when 'watch'
    token = [WORD.fetch('token', '')].pack('H*')
    call = service.subscription_status_task(
      SubscriptionStatusTaskRequest.new(account: WORD['account'], group_id: 'premium', resume_token: token),
      **MORE, return_op: true
    )
    call.execute.each do |message|
      statuses = message.success ? message.success.statuses.size : 0
      say(state: message.state, statuses: statuses, token: message.info ? message.info.resume_token.unpack1('H*') : '')
      call.cancel if %i[success unchanged].include?(message.state) && statuses >= WORD['until'].to_i
    end
  when 'error'
    service.get_subscription_status(GetSubscriptionStatusRequest.new(account: 'a'), **MORE)
  when 'load'
    answer = STUB.call(AdminService::Stub).load_catalog(LoadCatalogRequest.new(file: File.binread(WORD['file'])), **MORE)
    say(subscriptions: answer.summary.subscription_count)
  when 'health'
    say(status: STUB.call(Grpc::Health::V1::Health::Stub).check(Grpc::Health::V1::HealthCheckRequest.new, **MORE).status)
  when 'reflection'
    asked = [Grpc::Reflection::V1alpha::ServerReflectionRequest.new(list_services: '')]
    STUB.call(Grpc::Reflection::V1alpha::ServerReflection::Stub).server_reflection_info(asked, **MORE).each do |answer|
      say(services: answer.list_services_response.service.map(&:name))
    end
  end
end

begin
  act(action)
rescue GRPC::BadStatus => e
  reason = field = ''
  (e.to_rpc_status&.details || []).each do |detail|
    reason = detail.unpack(Google::Rpc::ErrorInfo).reason if detail.is(Google::Rpc::ErrorInfo)
    field = detail.unpack(Google::Rpc::BadRequest).field_violations[0].field if detail.is(Google::Rpc::BadRequest)
  end
  code = GRPC::Core::StatusCodes.constants.find { |name| GRPC::Core::StatusCodes.const_get(name) == e.code }
  say(code: code, reason: reason, field: field)
end
