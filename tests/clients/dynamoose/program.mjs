// A session of Dynamoose against the endpoint of the environment.

import assert from "node:assert/strict";
import {
  ConditionalCheckFailedException,
  ResourceNotFoundException,
  TransactionCanceledException,
} from "@aws-sdk/client-dynamodb";
import dynamoose from "dynamoose";
import { introduce, proof } from "./proving.mjs";

const { Condition, Schema, Table } = dynamoose;
const waitForActive = { enabled: true, check: { timeout: 20_000, frequency: 50 } };
const ids = (items) => items.map(({ id }) => id);

const taskSchema = new Schema(
  {
    project: { type: String, hashKey: true },
    id: { type: Number, rangeKey: true },
    status: {
      type: String,
      enum: ["open", "done"],
      default: "open",
      index: { name: "byStatus", type: "global", rangeKey: "id" },
    },
    due: { type: Number, index: { name: "byDue", type: "local", project: ["status"] } },
    points: { type: Number, default: 1 },
    title: String,
    labels: { type: Set, schema: [String] },
    notes: { type: Array, schema: [String] },
    place: { type: Object, schema: { city: String, floor: Number } },
    raw: Buffer,
    at: Date,
    urgent: Boolean,
  },
  { timestamps: true },
);
const Task = dynamoose.model("tasks", taskSchema);
const Visit = dynamoose.model("visits", { id: String, at: Number });
const Account = dynamoose.model("accounts", { id: String, balance: Number });
const Person = dynamoose.model("Person", { pk: String, sk: { type: String, rangeKey: true }, name: String });
const Room = dynamoose.model("Room", { pk: String, sk: { type: String, rangeKey: true }, floor: Number });

introduce("dynamoose");

await proof("tables: a global and a local index, tags, a stream, a time to live; two models in one", async () => {
  const tasks = new Table("tasks", [Task], {
    waitForActive,
    throughput: { read: 5, write: 5 },
    tags: { team: "planning" },
    streamOptions: { enabled: true, type: "NEW_AND_OLD_IMAGES" },
    initialize: false,
  });
  await tasks.initialize();
  const others = { waitForActive, throughput: "ON_DEMAND", initialize: false };
  const expires = { ttl: 3600, attribute: "expires", items: { returnExpired: false } };
  await new Table("visits", [Visit], { ...others, expires }).initialize();
  await new Table("accounts", [Account], others).initialize();
  await new Table("office", [Person, Room], others).initialize();
  const { Table: described } = await dynamoose.aws.ddb().describeTable({ TableName: "tasks" });
  assert.equal(described.TableStatus, "ACTIVE");
  assert.equal(described.GlobalSecondaryIndexes[0].IndexName, "byStatus");
  assert.equal(described.LocalSecondaryIndexes[0].IndexName, "byDue");
  assert.equal(described.StreamSpecification.StreamViewType, "NEW_AND_OLD_IMAGES");
  const { Tags } = await dynamoose.aws.ddb().listTagsOfResource({ ResourceArn: described.TableArn });
  assert.deepEqual(Tags, [{ Key: "team", Value: "planning" }]);
  const ttl = await dynamoose.aws.ddb().describeTimeToLive({ TableName: "visits" });
  assert.match(ttl.TimeToLiveDescription.TimeToLiveStatus, /^ENABL(ING|ED)$/);
});

const first = {
  project: "house",
  id: 1,
  due: 7,
  title: "",
  labels: new Set(["a", "b"]),
  notes: ["one"],
  place: { city: "Łódź", floor: 3 },
  raw: Buffer.from([0, 255]),
  at: new Date("2026-01-02T03:04:05Z"),
  urgent: false,
};
const key = { project: "house", id: 1 };

await proof("create, get, save, delete: every type, defaults, timestamps, projections", async () => {
  await Task.create(first);
  const found = await Task.get(key, { consistent: true });
  for (const [name, value] of Object.entries({ ...first, status: "open", points: 1 })) {
    assert.deepEqual(found[name], value, name);
  }
  assert.deepEqual(found.createdAt, found.updatedAt);
  found.status = "done";
  await found.save();
  const part = await Task.get(key, { attributes: ["project", "id", "status"] });
  assert.deepEqual({ ...part.toJSON() }, { ...key, status: "done" });
  await found.delete();
  assert.equal(await Task.get(key), undefined);
});

await proof("update: $SET, $ADD to numbers, lists and sets, $DELETE, $REMOVE; returned values", async () => {
  await Task.create(first);
  const changed = await Task.update(key, {
    $SET: { title: "paint" },
    $ADD: { points: 4, notes: ["two"], labels: new Set(["c"]) },
    $REMOVE: ["urgent"],
  });
  assert.equal(changed.title, "paint");
  assert.equal(changed.points, 5);
  assert.deepEqual(changed.notes, ["one", "two"]);
  assert.deepEqual([...changed.labels].sort(), ["a", "b", "c"]);
  assert.equal(changed.urgent, undefined);
  const old = await Task.update(
    key,
    { $DELETE: { labels: new Set(["a"]) }, $SET: { "place.floor": 4 } },
    { returnValues: "ALL_OLD" },
  );
  assert.equal(old.place.floor, 3);
  assert.deepEqual([...(await Task.get(key)).labels].sort(), ["b", "c"]);
});

await proof("conditions: a second create, an update, a delete; errors are the SDK's", async () => {
  await assert.rejects(Task.create(first), ConditionalCheckFailedException);
  const holds = new Condition()
    .where("status").eq("open")
    .and()
    .where("points").between(1, 9)
    .and()
    .parenthesis(new Condition().where("urgent").exists().or().where("title").contains("ain"))
    .and()
    .where("title").not().eq("sand");
  await Task.update(key, { points: 6 }, { condition: holds });
  const fails = new Condition().where("points").gt(100);
  await assert.rejects(Task.update(key, { points: 7 }, { condition: fails }), (error) => {
    assert.ok(error instanceof ConditionalCheckFailedException);
    assert.equal(error.message, "The conditional request failed");
    return true;
  });
  await assert.rejects(Task.delete(key, { condition: fails }), ConditionalCheckFailedException);
  const Missing = dynamoose.model("missing", { id: String });
  const nothing = { create: false, waitForActive: false, initialize: false };
  await new Table("missing", [Missing], nothing).initialize();
  await assert.rejects(Missing.get("x"), ResourceNotFoundException);
});

await proof("batchPut, batchGet, batchDelete", async () => {
  const tasks = Array.from({ length: 60 }, (_, id) => ({
    project: "garden",
    id,
    due: 100 - id,
    status: id % 2 ? "open" : "done",
  }));
  for (let start = 0; start < tasks.length; start += 25) {
    const { unprocessedItems } = await Task.batchPut(tasks.slice(start, start + 25));
    assert.deepEqual(unprocessedItems, []);
  }
  const keys = [58, 59, 60].map((id) => ({ project: "garden", id }));
  assert.deepEqual(ids(await Task.batchGet(keys)).sort(), [58, 59]);
  await Task.batchDelete(keys);
  assert.deepEqual(ids(await Task.batchGet(keys)), []);
});

await proof("queries over pages: ranges, filters, descending, both kinds of index, counts", async () => {
  const seen = [];
  let page;
  do {
    const query = Task.query("status").eq("open").using("byStatus").where("id").ge(10);
    query.limit(7).sort("descending");
    page = await (page ? query.startAt(page.lastKey) : query).exec();
    seen.push(...ids(page));
  } while (page.lastKey);
  assert.deepEqual(seen, Array.from({ length: 24 }, (_, number) => 57 - 2 * number));
  const garden = () => Task.query("project").eq("garden");
  const byDue = await garden().where("due").between(50, 60).using("byDue").consistent().exec();
  assert.deepEqual(ids(byDue), [50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40]);
  assert.equal((await garden().limit(9).all().exec()).length, 58);
  const filtered = await garden().filter("status").in(["done"]).and().filter("points").lt(9).limit(9).exec();
  assert.deepEqual(ids(filtered), [0, 2, 4, 6, 8]);
  assert.equal((await garden().count().exec()).count, 58);
});

await proof("scans: filters, pages, parallel segments, counts", async () => {
  const late = await Task.scan("id").ge(50).limit(10).all().exec();
  assert.deepEqual(ids(late).sort(), [50, 51, 52, 53, 54, 55, 56, 57]);
  assert.equal((await Task.scan().parallel(3).exec()).length, 59);
  assert.equal((await Task.scan("status").eq("done").count().exec()).count, 29);
});

await proof("transactions: create, update, delete, condition, get; the reasons of a cancelled one", async () => {
  await dynamoose.transaction([
    Account.transaction.create({ id: "ada", balance: 10 }),
    Account.transaction.create({ id: "bob", balance: 0 }),
    Task.transaction.delete({ project: "garden", id: 57 }),
  ]);
  await dynamoose.transaction([
    Account.transaction.update({ id: "ada" }, { $ADD: { balance: -4 } }),
    Account.transaction.update({ id: "bob" }, { $ADD: { balance: 4 } }),
    Task.transaction.condition(key, new Condition().where("points").eq(6)),
  ]);
  const read = await dynamoose.transaction([Account.transaction.get("ada"), Account.transaction.get("bob")]);
  assert.deepEqual(read.map(({ balance }) => balance), [6, 4]);
  const cancelled = dynamoose.transaction([
    Account.transaction.update({ id: "ada" }, { $ADD: { balance: 1000 } }),
    Account.transaction.create({ id: "bob", balance: 0 }),
  ]);
  await assert.rejects(cancelled, (error) => {
    assert.ok(error instanceof TransactionCanceledException);
    assert.deepEqual(error.CancellationReasons.map(({ Code }) => Code), ["None", "ConditionalCheckFailed"]);
    return true;
  });
});

await proof("two models in one table; populate follows a reference", async () => {
  await Person.create({ pk: "engines", sk: "person#ada", name: "Ada" });
  await Room.create({ pk: "engines", sk: "room#3", floor: 3 });
  const together = await Person.query("pk").eq("engines").exec();
  assert.deepEqual(together.map(({ sk }) => sk), ["person#ada", "room#3"]);
  const Owned = dynamoose.model("owned", { id: String, owner: Account });
  await new Table("owned", [Owned], { waitForActive, throughput: "ON_DEMAND", initialize: false }).initialize();
  await Owned.create({ id: "car", owner: "ada" });
  const car = await Owned.get("car");
  assert.equal(car.owner, "ada");
  assert.equal((await car.populate()).owner.balance, 6);
});

await proof("a time to live: an item that has expired goes", async () => {
  await Visit.create({ id: "tomorrow", at: 1 });
  await Visit.create({ id: "yesterday", at: 1, expires: new Date(Date.now() - 86_400_000) });
  const end = Date.now() + 60_000;
  let stored;
  do {
    assert.ok(Date.now() < end, "it does not go");
    // The client of the SDK: Dynamoose itself hides what has expired.
    stored = await dynamoose.aws.ddb().scan({ TableName: "visits" });
    await new Promise((resolve) => setTimeout(resolve, 50));
  } while (stored.Count !== 1);
  assert.equal(stored.Items[0].id.S, "tomorrow");
});

await proof("update of a table: an index is added and one goes, throughput, tags, a table class", async () => {
  const WithTitle = dynamoose.model("accounts again", {
    id: String,
    balance: Number,
    owner: { type: String, index: { name: "byOwner", type: "global" } },
  });
  const options = { waitForActive, initialize: false, update: true };
  await new Table("accounts", [WithTitle], {
    ...options,
    throughput: "ON_DEMAND",
    tags: { team: "money" },
    tableClass: "infrequentAccess",
  }).initialize();
  await WithTitle.create({ id: "eve", balance: 1, owner: "bank" });
  assert.deepEqual(ids(await WithTitle.query("owner").eq("bank").exec()), ["eve"]);
  const { Table: described } = await dynamoose.aws.ddb().describeTable({ TableName: "accounts" });
  assert.equal(described.TableClassSummary.TableClass, "STANDARD_INFREQUENT_ACCESS");
  const Without = dynamoose.model("accounts without", { id: String, balance: Number });
  await new Table("accounts", [Without], { ...options, throughput: "ON_DEMAND" }).initialize();
  const { Table: changed } = await dynamoose.aws.ddb().describeTable({ TableName: "accounts" });
  assert.equal(changed.GlobalSecondaryIndexes, undefined);
  const TaskAgain = dynamoose.model("tasks again", taskSchema);
  const throughput = { read: 2, write: 3 };
  await new Table("tasks", [TaskAgain], { ...options, update: ["throughput"], throughput }).initialize();
  const { Table: tasks } = await dynamoose.aws.ddb().describeTable({ TableName: "tasks" });
  assert.equal(tasks.ProvisionedThroughput.WriteCapacityUnits, 3);
});

for (const TableName of ["tasks", "visits", "accounts", "office", "owned"]) {
  await dynamoose.aws.ddb().deleteTable({ TableName });
}
dynamoose.aws.ddb().destroy();
