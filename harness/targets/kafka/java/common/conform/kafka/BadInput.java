package conform.kafka;

/** What no operation of the line protocol can say. It is answered with ok false, and nothing was changed. */
final class BadInput extends RuntimeException {
    BadInput(String message) {
        super(message, null, false, false);
    }
}
