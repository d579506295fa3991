package conform.kafka;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** What Kafka does not show: private fields; and implementations of interfaces that do nothing. */
public final class Private {
    private Private() { }

    /** The private field of that name, of the object's class. */
    @SuppressWarnings("unchecked")
    public static <T> T field(Object object, String name) {
        try {
            Field field = object.getClass().getDeclaredField(name);
            field.setAccessible(true);
            return (T) field.get(object);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this Kafka's " + object.getClass().getName() + " has no field " + name, e);
        }
    }

    /** Set the private field of that name, of the object's class. */
    public static void set(Object object, String name, Object value) {
        try {
            Field field = object.getClass().getDeclaredField(name);
            field.setAccessible(true);
            field.set(object, value);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this Kafka's " + object.getClass().getName() + " has no field " + name, e);
        }
    }

    /** Call the private method of that name, of the object's class, which takes one argument of the argument's class. */
    public static void call(Object object, String name, Object argument) {
        try {
            Method method = object.getClass().getDeclaredMethod(name, argument.getClass());
            method.setAccessible(true);
            method.invoke(object, argument);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this Kafka's " + object.getClass().getName() + " has no method " + name, e);
        }
    }

    /** An interface whose methods do nothing and return null. */
    public static <T> T idle(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> null));
    }
}
