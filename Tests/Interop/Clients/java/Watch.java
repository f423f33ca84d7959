import com.google.protobuf.*;
import io.grpc.*;
import io.grpc.stub.StreamObserver;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.*;
import perch.v1.ValueInfo;

/** Watches several values of one account, and applies them together, through lost connections. A model to copy. */
final class Watch<Request extends Message, Answer extends Message> {
    /** A revision and an instant: the place of a value or a bookmark. */
    private record Mark(long revision, long instant) implements Comparable<Mark> {
        public int compareTo(Mark other) {
            int order = Long.compareUnsigned(revision, other.revision);
            return order != 0 ? order : Long.compare(instant, other.instant);
        }
    }

    /** What an observer has read: a message, or the end of the stream. */
    private record Said(Watch<?, ?> watch, Message message, Throwable end) {}
    private final Request request;
    private final BiConsumer<Request, StreamObserver<Answer>> method;
    private final Consumer<Answer> show;
    private ByteString token = ByteString.EMPTY;
    private Message held;  // A value that is not applied yet.
    private Mark position, behind, last;  // Its position, the first bookmark behind it, and the last bookmark.

    Watch(Request request, BiConsumer<Request, StreamObserver<Answer>> method, Consumer<Answer> show) {
        this.request = request; this.method = method; this.show = show;
    }
    @SuppressWarnings("unchecked")
    private void open(BlockingQueue<Said> queue) {
        held = null;  // It comes again: the token is that of the last applied value.
        behind = last = null;
        var field = request.getDescriptorForType().findFieldByName("resume_token");
        method.accept((Request) request.toBuilder().setField(field, token).build(), new StreamObserver<Answer>() {
            public void onNext(Answer message) { queue.add(new Said(Watch.this, message, null)); }
            public void onError(Throwable error) { queue.add(new Said(Watch.this, null, error)); }
            public void onCompleted() { onError(Status.UNAVAILABLE.asException()); }
        });
    }
    private static Message part(Message message, String name) {
        var field = message.getDescriptorForType().findFieldByName(name);
        return message.hasField(field) ? (Message) message.getField(field) : null;
    }

    /** Keeps a value aside until all streams of the connection agree. The rule is in proto/README.md. */
    @SuppressWarnings("unchecked")
    private void took(Message message, List<Watch<?, ?>> all, Runnable changed) {
        if (part(message, "bookmark") instanceof perch.v1.Bookmark bookmark) {
            last = new Mark(bookmark.getRevision(), bookmark.getServerTimeMs());
            behind = behind == null ? last : behind;
        } else if (part(message, "success") != null) {
            var place = ((ValueInfo) part(message, "info")).getPosition();
            position = new Mark(place.getRevision(), place.getAsOfMs());
            held = message;
            behind = null;
        }
        var waiting = all.stream().filter(each -> each.held != null).toList();
        if (waiting.isEmpty() || all.stream().anyMatch(each -> each.behind == null)) return;
        Mark newest = waiting.stream().map(each -> each.position).max(Comparator.naturalOrder()).get();
        Predicate<Watch<?, ?>> isLevel = each -> each.held != null && each.position.equals(newest);
        Mark needed = waiting.stream().filter(isLevel).map(each -> each.behind).min(Comparator.naturalOrder()).get();
        if (all.stream().anyMatch(each -> each.last.compareTo(needed) < 0 && !isLevel.test(each))) return;
        for (var each : waiting) {
            ((Consumer<Message>) (Consumer<?>) each.show).accept(each.held);
            each.token = ((ValueInfo) part(each.held, "info")).getResumeToken();
            each.held = null;
        }
        changed.run();
    }

    /** Opens all streams with their tokens, until one ends. */
    private static Throwable attempt(List<Watch<?, ?>> all, Runnable changed) throws InterruptedException {
        var queue = new LinkedBlockingQueue<Said>();
        var context = Context.current().withCancellation();
        context.run(() -> all.forEach(each -> each.open(queue)));
        try {
            while (true) {
                Said said = queue.take();
                if (said.end != null) return said.end;
                said.watch.took(said.message, all, changed);
            }
        } finally {
            context.cancel(null);
        }
    }

    /** Field 1 of the google.rpc details of an error, by their type. StatusProto of com.google.rpc reads them in full. */
    private static Map<String, ByteString> details(Throwable error) throws InvalidProtocolBufferException {
        var key = Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);
        var trailers = Status.trailersFromThrowable(error);
        var found = new HashMap<String, ByteString>();
        if (trailers == null || !trailers.containsKey(key)) return found;
        for (var bytes : UnknownFieldSet.parseFrom(trailers.get(key)).getField(3).getLengthDelimitedList()) {
            Any detail = Any.parseFrom(bytes);
            var fields = UnknownFieldSet.parseFrom(detail.getValue());
            found.put(detail.getTypeUrl().replaceAll(".*\\.", ""), fields.getField(1).getLengthDelimitedList().get(0));
        }
        return found;
    }

    /** Returns with an error that the same request would get again. The calls wait for a connection. */
    static Throwable follow(List<Watch<?, ?>> all, Runnable changed) throws Exception {
        for (int failures = 0;; failures++) {
            long began = System.nanoTime();
            Throwable error = attempt(all, changed);
            var details = details(error);
            String reason = details.getOrDefault("ErrorInfo", ByteString.EMPTY).toStringUtf8();
            // A token of another store, or from before a restored backup.
            if (reason.startsWith("TOKEN_")) all.forEach(each -> each.token = ByteString.EMPTY);
            else if (!reason.isEmpty() && !details.containsKey("RetryInfo")) return error;
            System.err.println("lost: " + error.getMessage() + " " + reason);
            if (System.nanoTime() - began > 10e9) failures = 0;
            var asked = Duration.parseFrom(details.getOrDefault("RetryInfo", ByteString.EMPTY));
            double grown = Math.random() * Math.min(60_000, 1_000 * Math.pow(2, failures));
            Thread.sleep((long) grown + asked.getSeconds() * 1_000 + asked.getNanos() / 1_000_000);
        }
    }
}
