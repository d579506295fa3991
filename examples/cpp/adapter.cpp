// An adapter's skeleton: the line protocol, and a small consumer group in memory, which your coordinator replaces.

#include <algorithm>
#include <cstdio>
#include <deque>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

using json = nlohmann::json;
using std::string;
using Partitions = std::set<std::pair<string, int>>;
using Topics = std::map<string, std::pair<string, int>>;

const std::set<string> fields{"groupId",        "memberId", "memberEpoch", "rackId", "rebalanceTimeoutMs",
                              "subscribedTopicNames", "topicPartitions"};
// TODO: show these, and take them out of this list.
const json hidden{"timers", "metadata", "members.instanceId", "members.rackId", "members.clientId",
                  "members.clientHost", "members.serverAssignor", "members.subscribedTopicRegex",
                  "members.targetError"};
const int unknown_member_id = 25, invalid_request = 42, fenced_member_epoch = 110;

struct Refused : std::runtime_error {
    using runtime_error::runtime_error;
};

struct Member {
    int epoch = 0, previous = 0, timeout_ms = 0;
    Partitions assigned, revoking, target;
    bool acknowledged = false;
    std::set<string> names;
};

struct Group {
    int epoch = 0, assignment_epoch = 0;
    Topics topics;
    std::map<string, Member> members;
};

Partitions minus(const Partitions& from, const Partitions& what) {
    Partitions rest;
    std::set_difference(from.begin(), from.end(), what.begin(), what.end(), std::inserter(rest, rest.end()));
    return rest;
}

// A number as it is: the library would also make one of true, 0.5 and 1e99.
int whole(const json& value) {
    if (!value.is_number_integer() || value != json(value.get<int>())) throw Refused("a number is whole, of 32 bits");
    return value;
}

Partitions partitions(const json& listed) {
    if (!listed.is_array()) throw Refused("topic partitions are a list");
    Partitions read;
    for (const auto& topic : listed)
        for (const auto& index : topic.at("partitions")) read.emplace(topic.at("topicId"), whole(index));
    return read;
}

json wire(const Partitions& partitions) {
    auto topics = json::array();
    for (const auto& [id, index] : partitions) {
        if (topics.empty() || topics.back()["topicId"] != id)
            topics.push_back({{"topicId", id}, {"partitions", json::array()}});
        topics.back()["partitions"].push_back(index);
    }
    return topics;
}

json response(int epoch, int interval_ms) {
    return {{"throttleTimeMs", 0}, {"errorCode", 0}, {"errorMessage", nullptr}, {"memberId", nullptr},
            {"memberEpoch", epoch}, {"shouldComputeAssignment", false}, {"heartbeatIntervalMs", interval_ms},
            {"assignment", nullptr}};
}

json error(int code, const string& message) {
    auto body = response(0, 0);
    body.update({{"errorCode", code}, {"errorMessage", message}});
    return body;
}

// Brings one member closer to its target (R1 to R6), and notes its acknowledgement.
void reconcile(const Group& group, const string& id, Member& member, bool joins, bool current,
               const std::optional<Partitions>& owned) {
    const auto before = member.assigned, surplus = minus(before, member.target);
    bool acknowledges = current && owned && minus(*owned, member.revoking) == *owned;
    bool revokes = !member.revoking.empty() && !acknowledges;
    if (revokes || !surplus.empty()) {
        if (!revokes) member.revoking.clear();
        member.revoking.insert(surplus.begin(), surplus.end());
        member.assigned = minus(before, surplus);
    } else {
        if (member.epoch != group.assignment_epoch) member.previous = member.epoch;
        member.epoch = group.assignment_epoch;
        member.revoking.clear();
        member.assigned = member.target;
        for (const auto& [name, other] : group.members)
            if (name != id) member.assigned = minus(minus(member.assigned, other.assigned), other.revoking);
    }
    if (joins || member.assigned != before) member.acknowledged = false;
    else if (current && owned) member.acknowledged = *owned == member.assigned;
}

class Adapter {
    Topics topics;
    std::map<string, Group> groups;
    std::map<string, std::map<string, Partitions>> scripts;
    std::deque<string> ids;
    int drawn = 0;
    bool consumed = false;

public:
    json answer(const json& op) {
        consumed = false;
        json answer{{"ok", true}};
        const string name = op.at("op");
        if (name == "hello") {
            answer.update({{"name", "adapter in C++"}, {"dialect", "kip-848"}, {"unobserved", hidden},
                           {"lacks", json::array({"static members", "regular expressions", "client-side assignors",
                                                  "server-side assignor uniform", "server-side assignor range"})},
                           {"apis", {{"ConsumerGroupHeartbeat", json::array({0, 0})}}},
                           {"controls", json::array({"topics", "describe", "assign", "ids"})}});
        } else if (name == "request") {
            if (op.at("api") != "ConsumerGroupHeartbeat" || op.at("version") != 0)
                throw Refused("only version 0 of ConsumerGroupHeartbeat is here");
            answer["body"] = heartbeat(op.at("body"));
            answer["id"] = op.value("id", json());
        } else if (name == "topics") {
            set_topics(op);
        } else if (name == "describe") {
            answer["group"] = describe(op.at("group"));
        } else if (name == "assign") {
            std::map<string, Partitions> target; // TODO: error
            for (const auto& [member, listed] : op.at("target").items()) target[member] = partitions(listed);
            scripts[op.at("group")] = target;
        } else if (name == "ids") {
            const auto next = op.at("next").get<std::deque<string>>();
            ids.insert(ids.end(), next.begin(), next.end());
        } else {
            throw Refused("there is no operation " + name + " here"); // TODO: advance, fire, records, restart, load
        }
        if (consumed) answer["consumed"] = true;
        if (op.contains("observe") && !op["observe"].is_null()) answer["group"] = describe(op["observe"]);
        return answer;
    }

private:
    // From here on: the group in memory, to be replaced.

    json heartbeat(const json& body) {
        for (const auto& [name, value] : body.items()) // TODO: instanceId, subscribedTopicRegex, serverAssignor
            if (!fields.count(name) && !value.is_null())
                throw Refused(name + " of ConsumerGroupHeartbeat is not supported here");
        const auto given = [&body](const string& name) { return body.contains(name) && !body[name].is_null(); };
        string group_id = body.value("groupId", ""), id = body.value("memberId", "");
        const int epoch = whole(body.at("memberEpoch"));
        const int timeout_ms = given("rebalanceTimeoutMs") ? whole(body["rebalanceTimeoutMs"]) : -1;
        const bool joins = epoch == 0;
        std::optional<std::set<string>> names;
        std::optional<Partitions> owned;
        if (given("subscribedTopicNames")) names = body["subscribedTopicNames"].get<std::set<string>>();
        if (given("topicPartitions")) owned = partitions(body["topicPartitions"]);
        const bool unnamed = group_id.empty() || (id.empty() && !joins);
        if (unnamed || epoch < -1 || (joins && (!names || timeout_ms <= 0)))
            return error(invalid_request, "The request is not valid."); // TODO: the other rules of H3 and H4
        auto group = groups.count(group_id) ? groups[group_id] : Group();
        while (id.empty()) {
            char made[37];
            std::snprintf(made, sizeof made, "00000000-0000-4000-8000-%012x", ++drawn);
            string next = ids.empty() ? made : ids.front();
            if (!ids.empty()) ids.pop_front();
            if (!group.members.count(next)) id = next;
        }
        if (!joins && !group.members.count(id))
            return error(unknown_member_id, "The group does not have this member.");
        auto& member = group.members[id];
        if (joins) member = Member();
        const bool current = !joins && epoch == member.epoch;
        const bool retries = epoch == member.previous && (!owned || minus(*owned, member.target).empty());
        if (epoch == -1 || !(joins || current || retries)) { // it leaves (H2), or is fenced (H5)
            group.members.erase(id);
            refresh(group_id, group, true);
            groups[group_id] = group;
            return epoch == -1 ? response(-1, 0) : error(fenced_member_epoch, "Rejoin with member epoch 0.");
        }
        const bool changed = joins || (names && *names != member.names);
        if (names) member.names = *names;
        if (timeout_ms > 0) member.timeout_ms = timeout_ms;
        refresh(group_id, group, changed);
        reconcile(group, id, member, joins, current, owned);
        auto answer = response(member.epoch, 5000);
        if (joins) answer["memberId"] = id; // H9
        const bool converged = member.epoch == group.assignment_epoch && member.revoking.empty();
        if (!(member.acknowledged && converged && member.assigned == member.target)) { // R5
            const auto pending = converged ? minus(member.target, member.assigned) : Partitions();
            answer["assignment"] = {{"error", 0}, {"assignedTopicPartitions", wire(member.assigned)},
                                    {"pendingTopicPartitions", wire(pending)}, {"metadataVersion", 0},
                                    {"metadataBytes", ""}};
        }
        groups[group_id] = group;
        return answer;
    }

    // Moves the group epoch on if something changed (E1), and computes the target that is due (E2).
    void refresh(const string& group_id, Group& group, bool changed) {
        Topics known;
        for (const auto& [name, topic] : topics)
            for (const auto& [id, member] : group.members)
                if (member.names.count(name)) known[name] = topic;
        if (!changed && known == group.topics) return;
        group.topics = known;
        group.assignment_epoch = ++group.epoch;
        if (group.members.empty()) return;
        const bool scripted = scripts.count(group_id) > 0;
        consumed = consumed || scripted;
        for (auto& [id, member] : group.members) member.target = scripted ? scripts[group_id][id] : Partitions();
        scripts.erase(group_id);
        if (scripted) return;
        for (const auto& [name, topic] : known)
            for (int index = 0; index < topic.second;)
                for (auto& [id, member] : group.members)
                    if (member.names.count(name) && index < topic.second) member.target.emplace(topic.first, index++);
    }

    void set_topics(const json& op) {
        auto changed = topics;
        for (const auto& name : op.value("delete", json::array())) changed.erase(name);
        for (const auto& one : op.value("upsert", json::array())) {
            if (whole(one.at("partitions")) < 1) throw Refused("a topic needs a partition");
            changed[one.at("name")] = {one.at("id"), one.at("partitions")};
        }
        topics = changed;
        for (auto& [id, group] : groups) refresh(id, group, false);
    }

    json describe(const string& id) {
        const auto group = groups.count(id) ? groups[id] : Group();
        bool stable = true;
        auto members = json::array();
        for (const auto& [name, m] : group.members) {
            const bool there = m.assigned == m.target;
            stable = stable && m.epoch == group.epoch && m.revoking.empty() && there;
            const bool waits = m.epoch == group.assignment_epoch && !there;
            const auto settled = waits ? "UNRELEASED_PARTITIONS" : "STABLE";
            const auto state = m.revoking.empty() ? settled : "UNREVOKED_PARTITIONS";
            members.push_back({{"memberId", name}, {"memberEpoch", m.epoch}, {"previousMemberEpoch", m.previous},
                               {"state", state}, {"assigned", wire(m.assigned)}, {"target", wire(m.target)},
                               {"pendingRevocation", wire(m.revoking)}, {"acknowledged", m.acknowledged},
                               {"rebalanceTimeoutMs", m.timeout_ms}, {"subscribedTopicNames", m.names}});
        }
        const auto state = group.epoch == 0 ? "Dead" : members.empty() ? "Empty" : stable ? "Stable" : "Reconciling";
        return {{"groupId", id}, {"state", state}, {"groupEpoch", group.epoch},
                {"assignmentEpoch", group.assignment_epoch}, {"members", members}};
    }
};

int main() {
    Adapter adapter;
    for (string line; std::getline(std::cin, line);) {
        json answer;
        try {
            answer = adapter.answer(json::parse(line));
        } catch (const std::exception& refused) { // nothing has changed
            answer = {{"ok", false}, {"error", refused.what()}};
        }
        std::cout << answer.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
    }
}
