import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.jar.JarFile;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Runs TLC many times in one JVM. TLC keeps much in static fields: before the first run all that they reach is
 * remembered, and each run begins with that again.
 *
 * <p>A line of the standard input is a run: the folders of modules, and TLC's words, separated by tabs. What TLC
 * prints is followed by a NUL, the exit code and the processor time. Where a thread of a run does not end, nothing
 * can be given back, and the program ends after the answer.
 */
public final class TlcServer {
    /** They intern strings when they begin; in this order, which is that of a run. */
    private static final List<String> FIRST = List.of(
            "util.UniqueString",
            "tla2sany.semantic.SemanticNode",
            "tla2sany.st.SyntaxTreeConstants",
            "tla2sany.semantic.Generator",
            "tla2sany.semantic.ASTConstants",
            "tlc2.tool.BuiltInOPs",
            "tlc2.tool.ToolGlobals");

    private static final String PACKAGES = "(tlc2|util|tla2sany)/.*";
    private static final String OTHER_PROGRAMS =
            ".*(distributed|[dD]ebug|MailSender|InJar|TLCRunner|tlc2/TraceExplorer|REPL|/xml/|/drivers/).*";
    private static final long ENDS_WITHIN_MS = 2000;

    private final ClassLoader loader;

    private TlcServer(ClassLoader loader) {
        this.loader = loader;
    }

    public static void main(String[] words) throws Exception {
        System.setErr(System.out);
        URL jar = new File(words[0]).toURI().toURL();
        ClassLoader loader = new URLClassLoader(new URL[] {jar}, ClassLoader.getPlatformClassLoader());
        Memory memory = new Memory(classes(words[0], loader));
        TlcServer server = new TlcServer(loader);
        LinkedBlockingQueue<String> runs = new LinkedBlockingQueue<>();
        Thread reader = new Thread(() -> read(runs), "reader");
        reader.setDaemon(true);
        reader.start();
        boolean whole = true;
        while (whole) {
            whole = server.run(runs.take().split("\t"));
            if (whole) {
                memory.restore();
                forgetBeans();
            }
        }
        Runtime.getRuntime().halt(0);
    }

    /** Ends the program with its standard input, also in the middle of a run: then nobody waits for the answer. */
    private static void read(LinkedBlockingQueue<String> runs) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line; (line = lines.readLine()) != null; ) {
                runs.add(line);
            }
        } catch (IOException error) {
            error.printStackTrace();
        }
        Runtime.getRuntime().halt(0);
    }

    private static List<Class<?>> classes(String jar, ClassLoader loader) throws Exception {
        List<Class<?>> found = new ArrayList<>();
        for (String name : FIRST) {
            found.add(Class.forName(name, true, loader));
        }
        try (JarFile file = new JarFile(jar)) {
            for (String name : file.stream().map(one -> one.getName()).sorted().toList()) {
                if (name.endsWith(".class") && name.matches(PACKAGES) && !name.matches(OTHER_PROGRAMS)) {
                    String type = name.substring(0, name.length() - ".class".length()).replace('/', '.');
                    found.add(Class.forName(type, true, loader));
                }
            }
        }
        return found;
    }

    private static void forgetBeans() throws Exception {
        MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
        for (ObjectName one : beans.queryNames(new ObjectName("tlc2.*:*"), null)) {
            beans.unregisterMBean(one);
        }
    }

    /** Does a run, and says its end; whether all its threads ended. */
    private boolean run(String[] words) throws Exception {
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long before = system.getProcessCpuTime();
        System.setProperty("TLA-Library", words[0]);
        int[] code = {1};
        ThreadGroup group = new ThreadGroup("run");
        Thread main = new Thread(group, () -> code[0] = check(Arrays.copyOfRange(words, 1, words.length)), "main");
        main.setContextClassLoader(loader);
        main.start();
        main.join();
        boolean ended = ended(group);
        System.out.print("\0" + code[0] + " " + (system.getProcessCpuTime() - before) / 1e9 + "\n");
        System.out.flush();
        return ended;
    }

    /** Whether all threads have ended, or wait for one another for ever, as those of a queue that is not used up. */
    private static boolean ended(ThreadGroup group) throws InterruptedException {
        Thread[] left = new Thread[64];
        for (int ms = 0; ms < ENDS_WITHIN_MS; ms++) {
            boolean still = true;
            for (Thread one : Arrays.copyOf(left, group.enumerate(left))) {
                boolean idle = one instanceof ForkJoinWorkerThread; // the JVM's own
                Thread.State state = one.getState();
                still &= idle || state == Thread.State.WAITING || state == Thread.State.TERMINATED;
            }
            if (still) {
                return true;
            }
            Thread.sleep(1);
        }
        return false;
    }

    /** As TLC's own main does; the exit code. */
    private int check(String[] words) {
        try {
            Class<?> type = loader.loadClass("tlc2.TLC");
            Object tlc = type.getConstructor().newInstance();
            if (!(Boolean) type.getMethod("handleParameters", String[].class).invoke(tlc, (Object) words)) {
                return 1;
            }
            Object resolver = loader.loadClass("util.SimpleFilenameToStream").getConstructor().newInstance();
            type.getMethod("setResolver", loader.loadClass("util.FilenameToStream")).invoke(tlc, resolver);
            Object said = type.getMethod("process").invoke(tlc);
            Class<?> codes = loader.loadClass("tlc2.output.EC$ExitStatus");
            return (Integer) codes.getMethod("errorConstantToExitStatus", int.class).invoke(null, said);
        } catch (InvocationTargetException error) {
            error.getCause().printStackTrace();
        } catch (ReflectiveOperationException error) {
            error.printStackTrace();
        }
        return 1;
    }

    /** The contents of all objects that static fields of some classes reach. */
    private static final class Memory {
        private record Kept(Field field, Object owner, Object value) {}

        private record Elements(Object array, Object copy) {}

        private final List<Kept> fields = new ArrayList<>();
        private final List<Elements> arrays = new ArrayList<>();
        private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        private final ArrayDeque<Object> waiting = new ArrayDeque<>();
        private final Map<Class<?>, List<Field>> known = new HashMap<>();

        Memory(List<Class<?>> classes) throws IllegalAccessException {
            for (Class<?> one : classes) {
                for (Field field : declared(one, true)) {
                    keep(field, null);
                }
            }
            for (Object next; (next = waiting.poll()) != null; ) {
                if (next.getClass().isArray()) {
                    keepElements(next);
                } else {
                    for (Field field : known.computeIfAbsent(next.getClass(), Memory::inherited)) {
                        keep(field, next);
                    }
                }
            }
        }

        void restore() throws IllegalAccessException {
            for (Elements one : arrays) {
                System.arraycopy(one.copy, 0, one.array, 0, Array.getLength(one.array));
            }
            for (Kept one : fields) {
                one.field.set(one.owner, one.value);
            }
        }

        private void keep(Field field, Object owner) throws IllegalAccessException {
            Object value = field.get(owner);
            if (!Modifier.isFinal(field.getModifiers())) {
                fields.add(new Kept(field, owner, value));
            }
            if (!field.getType().isPrimitive()) {
                look(value);
            }
        }

        private void keepElements(Object array) {
            int length = Array.getLength(array);
            Object copy = Array.newInstance(array.getClass().getComponentType(), length);
            System.arraycopy(array, 0, copy, 0, length);
            arrays.add(new Elements(array, copy));
            if (array instanceof Object[] objects) {
                for (Object one : objects) {
                    look(one);
                }
            }
        }

        private void look(Object value) {
            if (value != null && changes(value.getClass()) && seen.add(value)) {
                waiting.add(value);
            }
        }

        /** TLC's own classes, and collections; Java's other classes have nothing that a run alters. */
        private static boolean changes(Class<?> type) {
            String name = type.getName();
            boolean collection = name.matches("java\\.util\\.(\\w+|concurrent\\..*)(\\$.*)?") && !name.contains("Bundle");
            return type.isArray()
                    || collection
                    || !type.isHidden() && !name.matches("(java|javax|jdk|sun|com\\.sun)\\..*");
        }

        private static List<Field> inherited(Class<?> type) {
            List<Field> found = new ArrayList<>();
            for (Class<?> one = type; one != null; one = one.getSuperclass()) {
                if (changes(one)) {
                    found.addAll(declared(one, false));
                }
            }
            return found;
        }

        private static List<Field> declared(Class<?> type, boolean ofTheClass) {
            List<Field> found = new ArrayList<>();
            for (Field field : type.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers()) == ofTheClass) {
                    field.setAccessible(true);
                    found.add(field);
                }
            }
            return found;
        }
    }
}
