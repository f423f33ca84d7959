import com.google.protobuf.*;
import io.grpc.*;
import io.grpc.health.v1.*;
import io.grpc.netty.*;
import io.grpc.reflection.v1alpha.*;
import io.grpc.stub.*;
import java.io.File;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import perch.v1.*;

/** One action of Debian's grpc-java, for matrix.py: prints what it saw, a line of JSON for each message. See probe.py. */
public final class Probe {
    static final Map<String, String> word = new HashMap<>();

    static void say(String text) { System.out.println(text); }

    public static void main(String[] arguments) throws Exception {
        for (int i = 2; i < arguments.length; i++) word.put(arguments[i].split("=", 2)[0], arguments[i].split("=", 2)[1]);
        var builder = NettyChannelBuilder.forTarget(arguments[0]);
        if (word.containsKey("ca")) builder.sslContext(GrpcSslContexts.forClient().trustManager(new File(word.get("ca"))).build());
        else builder.usePlaintext();
        var channel = builder.build();
        var context = Context.current().withCancellation();
        try {
            context.run(() -> {
                try {
                    act(channel, arguments[1], context);
                } catch (java.io.IOException | InterruptedException error) {
                    throw new RuntimeException(error);
                }
            });
        } catch (StatusRuntimeException error) {
            tell(error);
        }
        channel.shutdownNow();
        System.exit(0);
    }

    static <Stub extends AbstractStub<Stub>> Stub with(Stub stub) {
        if (word.containsKey("deadline")) stub = stub.withDeadlineAfter(Long.parseLong(word.get("deadline")), TimeUnit.MILLISECONDS);
        if (word.containsKey("compress")) stub = stub.withCompression(word.get("compress"));
        if (!word.containsKey("bearer")) return stub;
        var headers = new Metadata();
        headers.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + word.get("bearer"));
        return stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
    }

    static void act(Channel channel, String action, Context.CancellableContext context)
        throws java.io.IOException, InterruptedException {
        var service = with(EntitlementServiceGrpc.newBlockingStub(channel));
        switch (action) {
            case "products" -> {
                var ids = new ArrayList<>(List.of(word.get("ids").split(",")));
                int count = Integer.parseInt(word.getOrDefault("count", "0"));
                for (int n = 0; n < count; n++) ids.add(word.getOrDefault("prefix", "product-") + n);
                var found = service.getProducts(GetProductsRequest.newBuilder().addAllProductIds(ids).build()).getSuccess();
                say("{\"found\":" + found.getProductsCount() + ",\"unavailable\":" + found.getUnavailableIdsCount() + "}");
            }
            case "watch" -> {
                var request = SubscriptionStatusTaskRequest.newBuilder().setAccount(word.get("account")).setGroupId("premium")
                    .setResumeToken(ByteString.copyFrom(HexFormat.of().parseHex(word.getOrDefault("token", "")))).build();
                for (var messages = service.subscriptionStatusTask(request); messages.hasNext();) {
                    var message = messages.next();
                    int statuses = message.getSuccess().getStatusesCount();
                    String token = HexFormat.of().formatHex(message.getInfo().getResumeToken().toByteArray());
                    String state = message.getStateCase().name().toLowerCase();
                    say("{\"state\":\"" + state + "\",\"statuses\":" + statuses + ",\"token\":\"" + token + "\"}");
                    boolean isValue = message.hasSuccess() || message.hasUnchanged();
                    if (isValue && statuses >= Integer.parseInt(word.get("until"))) context.cancel(null);
                }
            }
            case "error" -> service.getSubscriptionStatus(GetSubscriptionStatusRequest.newBuilder().setAccount("a").build());
            case "load" -> {
                var file = ByteString.copyFrom(Files.readAllBytes(Path.of(word.get("file"))));
                var loaded = with(AdminServiceGrpc.newBlockingStub(channel))
                    .loadCatalog(LoadCatalogRequest.newBuilder().setFile(file).build());
                say("{\"subscriptions\":" + loaded.getSummary().getSubscriptionCount() + "}");
            }
            case "health" -> {
                var health = with(HealthGrpc.newBlockingStub(channel)).check(HealthCheckRequest.getDefaultInstance());
                say("{\"status\":\"" + health.getStatus() + "\"}");
            }
            case "reflection" -> {
                var names = new LinkedBlockingQueue<String>();
                with(ServerReflectionGrpc.newStub(channel)).serverReflectionInfo(new StreamObserver<ServerReflectionResponse>() {
                    public void onNext(ServerReflectionResponse answer) {
                        var list = answer.getListServicesResponse().getServiceList();
                        names.add(String.join(",", list.stream().map(each -> '"' + each.getName() + '"').toList()));
                    }
                    public void onError(Throwable error) { names.add(""); }
                    public void onCompleted() {}
                }).onNext(ServerReflectionRequest.newBuilder().setListServices("").build());
                say("{\"services\":[" + names.take() + "]}");
            }
            default -> throw new IllegalArgumentException(action);
        }
    }

    static void tell(StatusRuntimeException error) throws InvalidProtocolBufferException {
        String reason = "", field = "";
        var key = Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);
        var trailers = error.getTrailers();
        if (trailers != null && trailers.containsKey(key)) {
            for (var bytes : UnknownFieldSet.parseFrom(trailers.get(key)).getField(3).getLengthDelimitedList()) {
                Any detail = Any.parseFrom(bytes);
                var first = UnknownFieldSet.parseFrom(detail.getValue()).getField(1).getLengthDelimitedList().get(0);
                if (detail.getTypeUrl().endsWith("ErrorInfo")) reason = first.toStringUtf8();
                if (detail.getTypeUrl().endsWith("BadRequest"))
                    field = UnknownFieldSet.parseFrom(first).getField(1).getLengthDelimitedList().get(0).toStringUtf8();
            }
        }
        say("{\"code\":\"" + error.getStatus().getCode() + "\",\"reason\":\"" + reason + "\",\"field\":\"" + field + "\"}");
    }
}
