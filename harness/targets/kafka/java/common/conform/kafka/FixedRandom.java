package conform.kafka;

import java.security.Provider;
import java.security.SecureRandomSpi;
import java.security.Security;
import java.util.Random;

/** Java's secure random numbers from a fixed seed, so that the member ids that Kafka draws are the same in every run. */
public final class FixedRandom extends SecureRandomSpi {
    private static final Random NUMBERS = new Random(0);

    /** Before anything draws a number. */
    static void install() {
        Provider provider = new Provider("conform", "1", "numbers from a fixed seed") { };
        provider.put("SecureRandom.fixed", FixedRandom.class.getName());
        Security.insertProviderAt(provider, 1);
    }

    /** Start over. */
    static void reset() {
        NUMBERS.setSeed(0);
    }

    @Override protected void engineSetSeed(byte[] seed) { }

    @Override protected void engineNextBytes(byte[] bytes) {
        NUMBERS.nextBytes(bytes);
    }

    @Override protected byte[] engineGenerateSeed(int count) {
        return new byte[count];
    }
}
