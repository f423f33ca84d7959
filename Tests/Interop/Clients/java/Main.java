import io.grpc.*;
import io.grpc.stub.MetadataUtils;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import perch.v1.*;

/** Shows the model client of Watch.java: ADDRESS ACCOUNT GROUP PRODUCT. PERCH_TOKEN has the credentials, if any. */
public final class Main {
    private static String states = "";
    private static boolean entitled;

    public static void main(String[] arguments) throws Exception {
        var headers = new Metadata();
        headers.put(Metadata.Key.of("perch-groups", Metadata.ASCII_STRING_MARSHALLER), "1");
        String token = System.getenv("PERCH_TOKEN");
        if (token != null)
            headers.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + token);
        // PING notices a dead connection within 45 s.
        var channel = ManagedChannelBuilder.forTarget(arguments[0]).usePlaintext()
            .keepAliveTime(30, TimeUnit.SECONDS).keepAliveTimeout(15, TimeUnit.SECONDS)
            .intercept(MetadataUtils.newAttachHeadersInterceptor(headers)).build();
        var stub = EntitlementServiceGrpc.newStub(channel).withWaitForReady();
        var statuses = new Watch<SubscriptionStatusTaskRequest, SubscriptionStatusTaskResponse>(
            SubscriptionStatusTaskRequest.newBuilder().setAccount(arguments[1]).setGroupId(arguments[2]).build(),
            stub::subscriptionStatusTask,
            message -> states = message.getSuccess().getStatusesList().stream()
                .map(status -> '"' + status.getState().name() + '"').collect(Collectors.joining(",")));
        var entitlement = new Watch<CurrentEntitlementTaskRequest, CurrentEntitlementTaskResponse>(
            CurrentEntitlementTaskRequest.newBuilder().setAccount(arguments[1]).setProductId(arguments[3]).build(),
            stub::currentEntitlementTask, message -> entitled = message.getSuccess().hasTransaction());
        Throwable error = Watch.follow(List.of(statuses, entitlement),
            () -> System.out.println("{\"states\":[" + states + "],\"entitled\":" + entitled + "}"));
        System.err.println(error);
        System.exit(1);
    }
}
