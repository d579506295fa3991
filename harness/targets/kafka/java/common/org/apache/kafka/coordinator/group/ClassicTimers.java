package org.apache.kafka.coordinator.group;

import org.apache.kafka.coordinator.group.classic.ClassicGroup;

/** The keys of the timers that groups have for members of the classic protocol, which only this package can name. */
public final class ClassicTimers {
    private ClassicTimers() { }

    /** Of a member of a classic group, or of an id that was made and has not joined. */
    public static String session(String group, String member) {
        return GroupMetadataManager.classicGroupHeartbeatKey(group, member);
    }

    /** Of a classic group: until when everybody must join. */
    public static String join(String group) {
        return GroupMetadataManager.classicGroupJoinKey(group);
    }

    /** Of a classic group: until when everybody must send a SyncGroup. */
    public static String sync(String group) {
        return GroupMetadataManager.classicGroupSyncKey(group);
    }

    /** Begin a rebalance of a classic group: its timer is armed. */
    public static void prepare(GroupMetadataManager groups, ClassicGroup group) {
        groups.prepareRebalance(group, "loaded");
    }

    /** Of a member of a consumer group that uses the classic protocol: until when it must rejoin. */
    public static String join(String group, String member) {
        return GroupMetadataManager.consumerGroupJoinKey(group, member);
    }

    /** Of such a member: until when it must send its SyncGroup. */
    public static String sync(String group, String member) {
        return GroupMetadataManager.consumerGroupSyncKey(group, member);
    }
}
