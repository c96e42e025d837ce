// Says what a program has proven: one line of JSON for each thing, printed when it held.
// Runs in the environment of a client, beside its program.

import java.util.Objects;

final class Proving {
    interface Proof {
        void prove() throws Exception;
    }

    private Proving() {}

    /** Say which client this is. */
    static void introduce(String client, String version) {
        System.out.printf("{\"client\": \"%s\", \"version\": \"%s\"}%n", client, version);
    }

    /** Print the sentence when the proof ends well; a check in it ends the program. */
    static void proof(String sentence, Proof proof) throws Exception {
        proof.prove();
        System.out.printf("{\"proved\": \"%s\"}%n", sentence.replace("\"", "\\\""));
    }

    /** End the program unless two values are equal. */
    static void same(Object got, Object wanted) {
        if (!Objects.equals(got, wanted)) {
            throw new AssertionError("got " + got + ", not " + wanted);
        }
    }

    /** Hold a call to throwing an error of this class, and return it. */
    static <Failure extends Exception> Failure failed(Class<Failure> kind, Proof call) {
        try {
            call.prove();
        } catch (Exception failure) {
            if (kind.isInstance(failure)) {
                return kind.cast(failure);
            }
            throw new AssertionError("got " + failure, failure);
        }
        throw new AssertionError(kind.getSimpleName() + " was not thrown");
    }
}
