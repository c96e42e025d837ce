// A session of ElectroDB against the endpoint of the environment.

import assert from "node:assert/strict";
import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import electrodb from "electrodb";
import { introduce, proof } from "./proving.mjs";

const { createConversions, CustomAttributeType, ElectroError, Entity, Service } = electrodb;
const client = new DynamoDBClient({});
const table = "office";

const Employee = new Entity(
  {
    model: { entity: "employee", version: "1", service: "office" },
    attributes: {
      id: { type: "string", required: true },
      name: { type: "string", required: true },
      team: { type: "string", required: true },
      salary: { type: "number", default: 0 },
      badge: { type: CustomAttributeType("string") },
      skills: { type: "set", items: "string" },
      rooms: { type: "list", items: { type: "number" } },
      address: { type: "map", properties: { city: { type: "string" }, floor: { type: "number" } } },
      startedAt: { type: "number", readOnly: true, default: () => 1767225600000 },
      revision: { type: "number", watch: "*", set: (_, item) => (item.salary ?? 0) + 1 },
    },
    indexes: {
      byId: { pk: { field: "pk", composite: ["id"] }, sk: { field: "sk", composite: [] } },
      byTeam: {
        index: "gsi1",
        collection: "team",
        pk: { field: "gsi1pk", composite: ["team"] },
        sk: { field: "gsi1sk", composite: ["name", "id"] },
      },
    },
  },
  { client, table },
);

const Task = new Entity(
  {
    model: { entity: "task", version: "1", service: "office" },
    attributes: {
      id: { type: "string", required: true },
      team: { type: "string", required: true },
      status: { type: ["open", "done"], default: "open" },
      points: { type: "number", default: 1 },
    },
    indexes: {
      byId: { pk: { field: "pk", composite: ["id"] }, sk: { field: "sk", composite: [] } },
      byTeam: {
        index: "gsi1",
        collection: "team",
        pk: { field: "gsi1pk", composite: ["team"] },
        sk: { field: "gsi1sk", composite: ["status", "id"] },
      },
    },
  },
  { client, table },
);

// An index of type "composite" has the attributes themselves as its key: DynamoDB's multi-attribute keys.
const Store = new Entity(
  {
    model: { entity: "store", version: "1", service: "office" },
    attributes: {
      id: { type: "string", required: true },
      country: { type: "string", required: true },
      city: { type: "string", required: true },
      street: { type: "string", required: true },
      house: { type: "number", required: true },
    },
    indexes: {
      byId: { pk: { field: "pk", composite: ["id"] }, sk: { field: "sk", composite: [] } },
      byPlace: {
        index: "gsi2",
        type: "composite",
        pk: { composite: ["country", "city"] },
        sk: { composite: ["street", "house"] },
      },
    },
  },
  { client, table },
);

const office = new Service({ employee: Employee, task: Task });
const string = (AttributeName) => ({ AttributeName, AttributeType: "S" });
const hash = (AttributeName) => ({ AttributeName, KeyType: "HASH" });
const range = (AttributeName) => ({ AttributeName, KeyType: "RANGE" });
const all = { ProjectionType: "ALL" };

introduce("electrodb");

await client.send(
  new CreateTableCommand({
    TableName: table,
    AttributeDefinitions: [
      ...["pk", "sk", "gsi1pk", "gsi1sk", "country", "city", "street"].map(string),
      { AttributeName: "house", AttributeType: "N" },
    ],
    KeySchema: [hash("pk"), range("sk")],
    GlobalSecondaryIndexes: [
      { IndexName: "gsi1", KeySchema: [hash("gsi1pk"), range("gsi1sk")], Projection: all },
      {
        IndexName: "gsi2",
        KeySchema: [hash("country"), hash("city"), range("street"), range("house")],
        Projection: all,
      },
    ],
    BillingMode: "PAY_PER_REQUEST",
  }),
);
await waitUntilTableExists({ client, maxWaitTime: 20, minDelay: 1 }, { TableName: table });

const ada = {
  id: "e1",
  name: "Ada",
  team: "engines",
  skills: ["math", "looms"],
  rooms: [1, 2],
  address: { city: "London", floor: 3 },
};

await proof("create, get, put, upsert, remove, delete", async () => {
  const { data: created } = await Employee.create(ada).go();
  const { data: found } = await Employee.get({ id: "e1" }).go({ consistent: true });
  assert.deepEqual({ ...found, skills: found.skills.sort() }, { ...created, skills: created.skills.sort() });
  assert.equal(found.startedAt, 1767225600000);
  await Employee.upsert({ ...ada, salary: 10 }).go();
  assert.equal((await Employee.get({ id: "e1" }).go()).data.salary, 10);
  await Employee.remove({ id: "e1" }).go();
  assert.equal((await Employee.get({ id: "e1" }).go()).data, null);
  await Employee.put(ada).go();
  await Employee.delete({ id: "e1" }).go();
  await Employee.create(ada).go();
});

await proof("a failed condition is an ElectroError with the service's error as its cause", async () => {
  await assert.rejects(Employee.create(ada).go(), (error) => {
    assert.ok(error instanceof ElectroError);
    assert.equal(error.code, 4001);
    assert.equal(error.cause.name, "ConditionalCheckFailedException");
    return true;
  });
  const raise = Employee.patch({ id: "e1" })
    .set({ salary: 1 })
    .where(({ salary }, { gt }) => gt(salary, 100));
  await assert.rejects(raise.go(), /The conditional request failed/);
});

await proof("update and patch: set, add, append, delete of a set, remove, with where", async () => {
  const { data: changed } = await Employee.patch({ id: "e1" })
    .set({ name: "Ada L." })
    .add({ salary: 25, skills: ["poetry"] })
    .append({ rooms: [7] })
    .remove(["badge"])
    .data(({ address }, { set }) => set(address.floor, 4))
    .composite({ team: "engines" })
    .where(({ team, skills }, { eq, contains }) => `${eq(team, "engines")} AND ${contains(skills, "math")}`)
    .go({ response: "all_new" });
  assert.equal(changed.salary, 25);
  assert.deepEqual(changed.skills.sort(), ["looms", "math", "poetry"]);
  await Employee.update({ id: "e1" }).delete({ skills: ["looms"] }).go();
  assert.deepEqual(changed.rooms, [1, 2, 7]);
  assert.deepEqual(changed.address, { city: "London", floor: 4 });
  const { data: byTeam } = await Employee.query.byTeam({ team: "engines", name: "Ada L." }).go();
  assert.equal(byTeam.length, 1);
});

await proof("batch put, get and delete", async () => {
  const tasks = Array.from({ length: 60 }, (_, number) => ({
    id: `t${String(number).padStart(2, "0")}`,
    team: "engines",
    status: number % 3 ? "open" : "done",
    points: number,
  }));
  const { unprocessed } = await Task.put(tasks).go();
  assert.deepEqual(unprocessed, []);
  const { data } = await Task.get(tasks.map(({ id }) => ({ id }))).go({ preserveBatchOrder: true });
  assert.deepEqual(data.map(({ points }) => points), tasks.map(({ points }) => points));
  await Task.delete([{ id: "t58" }, { id: "t59" }]).go();
  assert.equal((await Task.scan.go({ pages: "all" })).data.length, 58);
});

await proof("queries: begins, between, filters, descending order, pages with cursors, all pages", async () => {
  const open = Task.query.byTeam({ team: "engines", status: "open" });
  const cursors = [];
  const seen = [];
  let cursor = null;
  do {
    const page = await open.go({ cursor, limit: 7 });
    seen.push(...page.data.map(({ id }) => id));
    cursor = page.cursor;
    cursors.push(cursor);
  } while (cursor !== null);
  assert.equal(seen.length, 38);
  assert.deepEqual(seen, [...seen].sort());
  assert.equal(new Set(cursors).size, cursors.length);
  const { data: between } = await Task.query
    .byTeam({ team: "engines", status: "open" })
    .between({ id: "t10" }, { id: "t20" })
    .where(({ points }, { gte }) => gte(points, 14))
    .go({ order: "desc", pages: "all" });
  assert.deepEqual(between.map(({ id }) => id), ["t20", "t19", "t17", "t16", "t14"]);
  const { data: begins } = await Task.query.byTeam({ team: "engines", status: "done" }).begins({ id: "t0" }).go();
  assert.deepEqual(begins.map(({ id }) => id), ["t00", "t03", "t06", "t09"]);
});

await proof("collections of a service: two kinds of entities in one query", async () => {
  const { data } = await office.collections.team({ team: "engines" }).go({ pages: "all" });
  assert.equal(data.employee.length, 1);
  assert.equal(data.task.length, 58);
});

await proof("transactions: write, get, the reasons of a cancelled one", async () => {
  const { canceled } = await office.transaction
    .write(({ employee, task }) => [
      employee.patch({ id: "e1" }).add({ salary: 1 }).commit(),
      task.create({ id: "t90", team: "looms" }).commit(),
    ])
    .go({ token: "only-once" });
  assert.equal(canceled, false);
  const { data: read } = await office.transaction
    .get(({ employee, task }) => [employee.get({ id: "e1" }).commit(), task.get({ id: "t91" }).commit()])
    .go();
  assert.equal(read[0].item.salary, 26);
  assert.equal(read[1].item, null);
  const failed = await office.transaction
    .write(({ employee, task }) => [
      employee.patch({ id: "e1" }).add({ salary: 1000 }).commit(),
      task.create({ id: "t90", team: "looms" }).commit({ response: "all_old" }),
    ])
    .go();
  assert.equal(failed.canceled, true);
  assert.deepEqual(failed.data.map(({ rejected, code }) => [rejected, code]), [
    [false, "None"],
    [true, "ConditionalCheckFailed"],
  ]);
  assert.equal(failed.data[1].item.id, "t90");
});

await proof("an index of type composite, over DynamoDB's multi-attribute keys", async () => {
  await Store.put(
    ["a", "b", "c", "d"].map((id, house) => ({
      id,
      country: "no",
      city: house < 3 ? "Oslo" : "Bergen",
      street: house < 2 ? "Kirke gate" : "Storgata",
      house,
    })),
  ).go();
  const ids = async (query) => (await query.go()).data.map(({ id }) => id);
  assert.deepEqual(await ids(Store.query.byPlace({ country: "no", city: "Oslo" })), ["a", "b", "c"]);
  const inStreet = Store.query.byPlace({ country: "no", city: "Oslo", street: "Kirke gate" });
  assert.deepEqual(await ids(inStreet.gte({ house: 1 })), ["b"]);
});

await proof("conversions of keys and cursors", async () => {
  const conversions = createConversions(Task);
  const { data, cursor } = await Task.query.byTeam({ team: "engines" }).go({ limit: 1 });
  const keys = conversions.fromCursor.toKeys(cursor);
  assert.deepEqual(Object.keys(keys).sort(), ["gsi1pk", "gsi1sk", "pk", "sk"]);
  assert.equal(conversions.fromCursor.toComposite(cursor).id, data[0].id);
});

await client.send(new DeleteTableCommand({ TableName: table }));
client.destroy();
