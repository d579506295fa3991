//! An adapter's skeleton: the line protocol, and a small consumer group in memory, which your coordinator replaces.

use serde_json::{json, Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::io::{self, BufRead, Write};

type Partitions = BTreeSet<(String, i64)>;
type Refusable<T> = Result<T, String>;

const FIELDS: [&str; 7] = [
    "groupId", "memberId", "memberEpoch", "rackId", "rebalanceTimeoutMs", "subscribedTopicNames", "topicPartitions",
];
// TODO: show these, and take them out of this list.
const HIDDEN: [&str; 9] = [
    "timers", "metadata", "members.instanceId", "members.rackId", "members.clientId", "members.clientHost",
    "members.serverAssignor", "members.subscribedTopicRegex", "members.targetError",
];
const UNKNOWN_MEMBER_ID: i64 = 25;
const INVALID_REQUEST: i64 = 42;
const FENCED_MEMBER_EPOCH: i64 = 110;

#[derive(Clone, Default)]
struct Member {
    epoch: i64,
    previous: i64,
    timeout_ms: i64,
    assigned: Partitions,
    revoking: Partitions,
    target: Partitions,
    acknowledged: bool,
    names: BTreeSet<String>,
}

#[derive(Clone, Default)]
struct Group {
    epoch: i64,
    assignment_epoch: i64,
    topics: BTreeMap<String, (String, i64)>,
    members: BTreeMap<String, Member>,
}

#[derive(Default)]
struct Adapter {
    topics: BTreeMap<String, (String, i64)>,
    groups: BTreeMap<String, Group>,
    scripts: HashMap<String, HashMap<String, Partitions>>,
    ids: VecDeque<String>,
    drawn: u64,
    consumed: bool,
}

fn main() -> io::Result<()> {
    let (mut adapter, mut out) = (Adapter::default(), io::stdout().lock());
    for line in io::stdin().lock().split(b'\n') {
        let read = serde_json::from_slice(&line?).map_err(|error| error.to_string());
        let answer = read.and_then(|op: Value| adapter.answer(&op)).unwrap_or_else(|error| {
            json!({"ok": false, "error": error}) // nothing has changed
        });
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

impl Adapter {
    fn answer(&mut self, op: &Value) -> Refusable<Value> {
        self.consumed = false;
        let mut answer = json!({"ok": true});
        match text(&op["op"]).as_str() {
            "hello" => {
                answer = json!({"ok": true, "name": "adapter in Rust", "dialect": "kip-848",
                    "apis": {"ConsumerGroupHeartbeat": [0, 0]},
                    "controls": ["topics", "describe", "assign", "ids"], "unobserved": HIDDEN,
                    "lacks": ["static members", "regular expressions", "client-side assignors",
                        "server-side assignor uniform", "server-side assignor range"]})
            }
            "request" => {
                if op["api"] != "ConsumerGroupHeartbeat" || op["version"] != 0 {
                    return Err("only version 0 of ConsumerGroupHeartbeat is here".into());
                }
                answer["body"] = self.heartbeat(op["body"].as_object().ok_or("a request needs a body")?)?;
                answer["id"] = op["id"].clone();
            }
            "topics" => self.set_topics(op)?,
            "describe" => answer["group"] = self.describe(&text(&op["group"])),
            "assign" => {
                let target = op["target"].as_object().ok_or("assign needs a target")?; // TODO: error
                let target: Refusable<_> = target.iter().map(|(id, one)| Ok((id.clone(), partitions(one)?))).collect();
                self.scripts.insert(text(&op["group"]), target?);
            }
            "ids" => self.ids.extend(op["next"].as_array().into_iter().flatten().map(text)),
            // TODO: advance, fire, records, restart, load
            other => return Err(format!("there is no operation {other:?} here")),
        }
        if self.consumed {
            answer["consumed"] = json!(true);
        }
        if let Some(group) = op["observe"].as_str() {
            answer["group"] = self.describe(group);
        }
        Ok(answer)
    }

    // From here on: the group in memory, to be replaced.

    fn heartbeat(&mut self, given: &Map<String, Value>) -> Refusable<Value> {
        // TODO: instanceId, subscribedTopicRegex, serverAssignor
        let other = given.iter().find(|(name, value)| !FIELDS.contains(&name.as_str()) && !value.is_null());
        if let Some((name, _)) = other {
            return Err(format!("{name} of ConsumerGroupHeartbeat is not supported here"));
        }
        let body = Value::from(given.clone());
        let (group_id, mut id) = (text(&body["groupId"]), text(&body["memberId"]));
        let epoch = body["memberEpoch"].as_i64().ok_or("ConsumerGroupHeartbeat needs memberEpoch")?;
        let (joins, timeout_ms) = (epoch == 0, body["rebalanceTimeoutMs"].as_i64().unwrap_or(-1));
        let names = body["subscribedTopicNames"].as_array().map(|list| list.iter().map(text).collect::<BTreeSet<_>>());
        let listed = &body["topicPartitions"];
        let owned = if listed.is_null() { None } else { Some(partitions(listed)?) };
        let unnamed = group_id.is_empty() || (id.is_empty() && !joins);
        if unnamed || epoch < -1 || (joins && (names.is_none() || timeout_ms <= 0)) {
            return Ok(error(INVALID_REQUEST, "The request is not valid.")); // TODO: the other rules of H3 and H4
        }
        let mut group = self.groups.get(&group_id).cloned().unwrap_or_default();
        while id.is_empty() {
            self.drawn += 1;
            let made = format!("00000000-0000-4000-8000-{:012x}", self.drawn);
            id = self.ids.pop_front().unwrap_or(made);
            if group.members.contains_key(&id) {
                id.clear();
            }
        }
        let known = if joins { Some(Member::default()) } else { group.members.get(&id).cloned() };
        let Some(mut member) = known else {
            return Ok(error(UNKNOWN_MEMBER_ID, "The group does not have this member."));
        };
        let current = !joins && epoch == member.epoch;
        let retries = epoch == member.previous && owned.as_ref().is_none_or(|owned| owned.is_subset(&member.target));
        if epoch == -1 || !(joins || current || retries) {
            group.members.remove(&id); // it leaves (H2), or is fenced (H5)
            self.refresh(&group_id, &mut group, true);
            self.groups.insert(group_id, group);
            let fenced = error(FENCED_MEMBER_EPOCH, "Rejoin with member epoch 0.");
            return Ok(if epoch == -1 { response(-1, 0) } else { fenced });
        }
        let changed = joins || names.as_ref().is_some_and(|names| *names != member.names);
        member.names = names.unwrap_or(member.names);
        member.timeout_ms = if timeout_ms > 0 { timeout_ms } else { member.timeout_ms };
        group.members.insert(id.clone(), member);
        self.refresh(&group_id, &mut group, changed);
        let mut member = group.members.remove(&id).unwrap_or_default();
        reconcile(&group, &mut member, joins, current, owned.as_ref());
        let mut answer = response(member.epoch, 5000);
        if joins {
            answer["memberId"] = json!(id); // H9
        }
        let converged = member.epoch == group.assignment_epoch && member.revoking.is_empty();
        if !(member.acknowledged && converged && member.assigned == member.target) {
            let pending = if converged { &member.target - &member.assigned } else { Partitions::new() };
            answer["assignment"] = json!({"error": 0, "assignedTopicPartitions": wire(&member.assigned), // R5
                "pendingTopicPartitions": wire(&pending), "metadataVersion": 0, "metadataBytes": ""});
        }
        group.members.insert(id, member);
        self.groups.insert(group_id, group);
        Ok(answer)
    }

    /// Moves the group epoch on if something changed (E1), and computes the target that is due (E2).
    fn refresh(&mut self, group_id: &str, group: &mut Group, changed: bool) {
        let mut topics = self.topics.clone();
        topics.retain(|name, _| group.members.values().any(|one| one.names.contains(name)));
        if !changed && topics == group.topics {
            return;
        }
        (group.topics, group.epoch) = (topics, group.epoch + 1);
        group.assignment_epoch = group.epoch;
        if group.members.is_empty() {
            return;
        }
        let script = self.scripts.remove(group_id);
        self.consumed |= script.is_some();
        for (id, member) in &mut group.members {
            member.target = script.as_ref().and_then(|script| script.get(id)).cloned().unwrap_or_default();
        }
        for (name, (topic, count)) in group.topics.iter().filter(|_| script.is_none()) {
            let mut takers: Vec<_> = group.members.values_mut().filter(|one| one.names.contains(name)).collect();
            let size = takers.len();
            for index in 0..*count {
                takers[index as usize % size].target.insert((topic.clone(), index));
            }
        }
    }

    fn set_topics(&mut self, op: &Value) -> Refusable<()> {
        let mut topics = self.topics.clone();
        op["delete"].as_array().into_iter().flatten().for_each(|name| drop(topics.remove(&text(name))));
        for one in op["upsert"].as_array().into_iter().flatten() {
            let count = one["partitions"].as_i64().filter(|count| *count > 0);
            let (Some(name), Some(id), Some(count)) = (one["name"].as_str(), one["id"].as_str(), count) else {
                return Err("a topic needs name, id and partitions".into());
            };
            topics.insert(name.into(), (id.into(), count));
        }
        self.topics = topics;
        let mut groups = std::mem::take(&mut self.groups);
        groups.iter_mut().for_each(|(id, group)| self.refresh(id, group, false));
        self.groups = groups;
        Ok(())
    }

    fn describe(&self, id: &str) -> Value {
        let group = self.groups.get(id).cloned().unwrap_or_default();
        let settled = |m: &Member| m.epoch == group.epoch && m.revoking.is_empty() && m.assigned == m.target;
        let state = match (group.epoch, group.members.is_empty(), group.members.values().all(settled)) {
            (0, _, _) => "Dead",
            (_, true, _) => "Empty",
            (_, _, stable) => if stable { "Stable" } else { "Reconciling" },
        };
        let members: Vec<_> = group.members.iter().map(|(id, m)| {
            let waits = m.epoch == group.assignment_epoch && m.assigned != m.target;
            let state = if waits { "UNRELEASED_PARTITIONS" } else { "STABLE" };
            json!({"memberId": id, "memberEpoch": m.epoch, "previousMemberEpoch": m.previous,
                "state": if m.revoking.is_empty() { state } else { "UNREVOKED_PARTITIONS" },
                "acknowledged": m.acknowledged, "rebalanceTimeoutMs": m.timeout_ms, "subscribedTopicNames": m.names,
                "assigned": wire(&m.assigned), "pendingRevocation": wire(&m.revoking), "target": wire(&m.target)})
        }).collect();
        json!({"groupId": id, "state": state, "groupEpoch": group.epoch, "assignmentEpoch": group.assignment_epoch,
            "members": members})
    }
}

/// Brings one member closer to its target (R1 to R6), and notes its acknowledgement; `group` has the others.
fn reconcile(group: &Group, member: &mut Member, joins: bool, current: bool, owned: Option<&Partitions>) {
    let before = member.assigned.clone();
    let acknowledges = current && owned.is_some_and(|owned| owned.is_disjoint(&member.revoking));
    let (surplus, revokes) = (&before - &member.target, !member.revoking.is_empty() && !acknowledges);
    if revokes || !surplus.is_empty() {
        member.assigned = &before - &surplus;
        member.revoking = if revokes { &member.revoking | &surplus } else { surplus };
    } else {
        member.previous = if member.epoch == group.assignment_epoch { member.previous } else { member.epoch };
        member.epoch = group.assignment_epoch;
        (member.revoking, member.assigned) = (Partitions::new(), member.target.clone());
        for other in group.members.values() {
            member.assigned = &(&member.assigned - &other.assigned) - &other.revoking;
        }
    }
    if joins || member.assigned != before {
        member.acknowledged = false;
    } else if let Some(owned) = owned.filter(|_| current) {
        member.acknowledged = *owned == member.assigned;
    }
}

fn response(epoch: i64, interval_ms: i64) -> Value {
    json!({"throttleTimeMs": 0, "errorCode": 0, "errorMessage": null, "memberId": null, "memberEpoch": epoch,
        "shouldComputeAssignment": false, "heartbeatIntervalMs": interval_ms, "assignment": null})
}

fn error(code: i64, message: &str) -> Value {
    let mut body = response(0, 0);
    (body["errorCode"], body["errorMessage"]) = (json!(code), json!(message));
    body
}

fn partitions(listed: &Value) -> Refusable<Partitions> {
    let mut read = Partitions::new();
    for topic in listed.as_array().ok_or("topic partitions are a list")? {
        let indices = topic["partitions"].as_array().into_iter().flatten().filter_map(Value::as_i64);
        read.extend(indices.map(|index| (text(&topic["topicId"]), index)));
    }
    Ok(read)
}

fn wire(partitions: &Partitions) -> Vec<Value> {
    let mut topics = BTreeMap::<&str, Vec<i64>>::new();
    partitions.iter().for_each(|(topic, index)| topics.entry(topic).or_default().push(*index));
    topics.iter().map(|(id, indices)| json!({"topicId": id, "partitions": indices})).collect()
}
