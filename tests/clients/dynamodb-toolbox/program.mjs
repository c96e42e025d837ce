// A session of DynamoDB-Toolbox against the endpoint of the environment.

import assert from "node:assert/strict";
import {
  ConditionalCheckFailedException,
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import {
  $add,
  $append,
  $delete,
  $get,
  $remove,
  $subtract,
  $sum,
  BatchDeleteRequest,
  BatchGetCommand,
  BatchGetRequest,
  BatchPutRequest,
  BatchWriteCommand,
  ConditionCheck,
  DeleteItemCommand,
  DeletePartitionCommand,
  DeleteTransaction,
  DynamoDBToolboxError,
  Entity,
  EntityRepository,
  GetItemCommand,
  GetTransaction,
  PutItemCommand,
  PutTransaction,
  QueryCommand,
  ScanCommand,
  Table,
  TableAccessPattern,
  UpdateAttributesCommand,
  UpdateItemCommand,
  UpdateTransaction,
  any,
  anyOf,
  binary,
  boolean,
  executeBatchGet,
  executeBatchWrite,
  executeTransactGet,
  executeTransactWrite,
  isConditionCheckFailed,
  isTransactionCancelled,
  item,
  list,
  map,
  number,
  prefix,
  record,
  set,
  string,
} from "dynamodb-toolbox";
import { introduce, proof } from "./proving.mjs";

const client = new DynamoDBClient({});
const documentClient = DynamoDBDocumentClient.from(client);

const Office = new Table({
  documentClient,
  name: "office",
  partitionKey: { name: "pk", type: "string" },
  sortKey: { name: "sk", type: "string" },
  indexes: {
    byStatus: {
      type: "global",
      partitionKey: { name: "status", type: "string" },
      sortKey: { name: "points", type: "number" },
    },
    byPoints: { type: "local", sortKey: { name: "points", type: "number" } },
    // DynamoDB's multi-attribute keys.
    byPlace: {
      type: "global",
      partitionKeys: [
        { name: "country", type: "string" },
        { name: "city", type: "string" },
      ],
      sortKeys: [
        { name: "street", type: "string" },
        { name: "house", type: "number" },
      ],
    },
  },
});

const Task = new Entity({
  name: "Task",
  table: Office,
  schema: item({
    team: string().key().transform(prefix("TEAM")).savedAs("pk"),
    id: string().key().transform(prefix("TASK")).savedAs("sk"),
    status: string().enum("open", "done").default("open"),
    points: number().default(1),
    labels: set(string()).optional(),
    notes: list(string()).optional(),
    place: map({ city: string(), floor: number().optional() }).optional(),
    prices: record(string(), number()).optional(),
    raw: binary().optional(),
    urgent: boolean().optional(),
    owner: anyOf(string(), map({ name: string() })).optional(),
    rest: any().optional(),
    visits: number().optional(),
  }),
});

const Store = new Entity({
  name: "Store",
  table: Office,
  schema: item({
    team: string().key().transform(prefix("TEAM")).savedAs("pk"),
    id: string().key().transform(prefix("STORE")).savedAs("sk"),
    country: string(),
    city: string(),
    street: string(),
    house: number(),
  }),
});

const attribute = (AttributeName, AttributeType = "S") => ({ AttributeName, AttributeType });
const hash = (AttributeName) => ({ AttributeName, KeyType: "HASH" });
const range = (AttributeName) => ({ AttributeName, KeyType: "RANGE" });
const Projection = { ProjectionType: "ALL" };
const id = (number) => `t${String(number).padStart(2, "0")}`;

introduce("dynamodb-toolbox");

// DynamoDB-Toolbox describes tables, and does not create them.
await client.send(
  new CreateTableCommand({
    TableName: "office",
    AttributeDefinitions: [
      ...["pk", "sk", "status", "country", "city", "street"].map((name) => attribute(name)),
      ...["points", "house"].map((name) => attribute(name, "N")),
    ],
    KeySchema: [hash("pk"), range("sk")],
    GlobalSecondaryIndexes: [
      { IndexName: "byStatus", KeySchema: [hash("status"), range("points")], Projection },
      {
        IndexName: "byPlace",
        KeySchema: [hash("country"), hash("city"), range("street"), range("house")],
        Projection,
      },
    ],
    LocalSecondaryIndexes: [{ IndexName: "byPoints", KeySchema: [hash("pk"), range("points")], Projection }],
    BillingMode: "PAY_PER_REQUEST",
  }),
);
await waitUntilTableExists({ client, maxWaitTime: 20, minDelay: 1 }, { TableName: "office" });

const first = {
  team: "engines",
  id: "first",
  labels: new Set(["a", "b"]),
  notes: ["one"],
  place: { city: "Łódź", floor: 3 },
  prices: { loom: 9.5 },
  raw: new Uint8Array([0, 255]),
  urgent: false,
  owner: { name: "Ada" },
  rest: { deep: [1, { er: null }] },
};
const key = { team: "engines", id: "first" };

await proof("put, get, delete: schemas with defaults, transforms, sets, records, unions; projections", async () => {
  await Task.build(PutItemCommand).item(first).send();
  const { Item: found } = await Task.build(GetItemCommand).key(key).options({ consistent: true }).send();
  const { created, modified, entity, ...values } = found;
  assert.deepEqual(values, { ...first, status: "open", points: 1 });
  assert.equal(created, modified);
  const { Item: part } = await Task.build(GetItemCommand)
    .key(key)
    .options({ attributes: ["place.city", "notes[0]"] })
    .send();
  assert.deepEqual(part, { place: { city: "Łódź" }, notes: ["one"] });
  const { Attributes: old } = await Task.build(PutItemCommand)
    .item({ ...key, points: 2 })
    .options({ returnValues: "ALL_OLD" })
    .send();
  assert.deepEqual(old.labels, first.labels);
  await Task.build(DeleteItemCommand).key(key).send();
  assert.equal((await Task.build(GetItemCommand).key(key).send()).Item, undefined);
});

await proof("update: sum, subtract, add, append, delete of a set, remove, references; whole attributes", async () => {
  await Task.build(PutItemCommand).item(first).send();
  const { Attributes: changed } = await Task.build(UpdateItemCommand)
    .item({
      ...key,
      points: $sum($get("points"), 4),
      visits: $add(1),
      labels: $add(new Set(["c"])),
      notes: $append(["two"]),
      place: { floor: $subtract($get("place.floor"), 1) },
      prices: { wheel: 3 },
      urgent: $remove(),
      owner: "Ada",
    })
    .options({ returnValues: "ALL_NEW" })
    .send();
  assert.equal(changed.points, 5);
  assert.equal(changed.visits, 1);
  assert.deepEqual([...changed.labels].sort(), ["a", "b", "c"]);
  assert.deepEqual(changed.notes, ["one", "two"]);
  assert.deepEqual(changed.place, { city: "Łódź", floor: 2 });
  assert.deepEqual(changed.prices, { loom: 9.5, wheel: 3 });
  assert.equal(changed.urgent, undefined);
  const { Attributes: replaced } = await Task.build(UpdateAttributesCommand)
    .item({ ...key, place: { city: "Oslo" }, labels: $delete(new Set(["a"])) })
    .options({ returnValues: "UPDATED_NEW" })
    .send();
  assert.deepEqual(replaced.place, { city: "Oslo" });
  assert.deepEqual([...replaced.labels].sort(), ["b", "c"]);
});

await proof("a failed condition with its item; errors of the service and of the schema", async () => {
  const command = Task.build(PutItemCommand)
    .item({ ...key, points: 7 })
    .options({ condition: { attr: "id", exists: false }, returnValuesOnConditionFalse: "ALL_OLD" });
  await assert.rejects(command.send(), (error) => {
    assert.ok(error instanceof ConditionalCheckFailedException);
    assert.equal(error.message, "The conditional request failed");
    assert.ok(isConditionCheckFailed(error, Task));
    assert.equal(error.FormattedItem.points, 5);
    return true;
  });
  const condition = {
    and: [
      { attr: "status", eq: "open" },
      { attr: "points", between: [1, 9] },
      { or: [{ attr: "urgent", exists: true }, { attr: "notes", contains: "two" }] },
      { not: { attr: "place.city", beginsWith: "Ł" } },
      { size: "notes", gte: 2 },
      { attr: "owner", in: ["Ada", "Bob"] },
    ],
  };
  await Task.build(UpdateItemCommand).item({ ...key, visits: $add(1) }).options({ condition }).send();
  const gone = Task.build(DeleteItemCommand).key(key).options({ condition: { attr: "points", gt: 5 } });
  await assert.rejects(gone.send(), ConditionalCheckFailedException);
  await assert.rejects(
    Task.build(GetItemCommand).key(key).options({ tableName: "missing" }).send(),
    ResourceNotFoundException,
  );
  await assert.rejects(Task.build(PutItemCommand).item({ ...key, points: "many" }).send(), DynamoDBToolboxError);
});

await proof("batches: put, get, delete, of two entities", async () => {
  const tasks = Array.from({ length: 60 }, (_, number) => ({
    team: "looms",
    id: id(number),
    status: number % 3 ? "open" : "done",
    points: number,
  }));
  for (let start = 0; start < tasks.length; start += 25) {
    const puts = tasks.slice(start, start + 25).map((task) => Task.build(BatchPutRequest).item(task));
    const { UnprocessedItems } = await executeBatchWrite(Office.build(BatchWriteCommand).requests(...puts));
    assert.deepEqual(UnprocessedItems, {});
  }
  const store = { team: "looms", id: "s1", country: "no", city: "Oslo", street: "Storgata", house: 1 };
  await executeBatchWrite(
    Office.build(BatchWriteCommand).requests(
      Store.build(BatchPutRequest).item(store),
      Task.build(BatchDeleteRequest).key({ team: "looms", id: "t59" }),
    ),
  );
  const gets = [
    ...[1, 58, 59].map((number) => Task.build(BatchGetRequest).key({ team: "looms", id: id(number) })),
    Store.build(BatchGetRequest).key({ team: "looms", id: "s1" }),
  ];
  const { Responses } = await executeBatchGet(Office.build(BatchGetCommand).requests(...gets));
  const [[one, last, missing, found]] = Responses;
  assert.deepEqual([one.points, last.points, missing, found.street], [1, 58, undefined, "Storgata"]);
});

await proof("queries over pages: ranges, filters, descending, on three indexes; two entities at once", async () => {
  const query = (input, ...entities) => Office.build(QueryCommand).query(input).entities(...entities);
  const seen = [];
  let exclusiveStartKey;
  let pages = 0;
  do {
    const page = await query({ partition: "open", index: "byStatus", range: { gte: 10 } }, Task)
      .options({ limit: 7, exclusiveStartKey, reverse: true })
      .send();
    seen.push(...page.Items.map(({ points }) => points));
    exclusiveStartKey = page.LastEvaluatedKey;
    pages += 1;
  } while (exclusiveStartKey !== undefined);
  const numbers = Array.from({ length: 59 }, (_, number) => number);
  const open = numbers.filter((number) => number >= 10 && number % 3);
  assert.deepEqual(seen, open.reverse());
  assert.ok(pages >= 5);
  const ofTeam = { partition: "TEAM#looms", index: "byPoints", range: { between: [10, 40] } };
  const filters = { Task: { attr: "status", eq: "done" } };
  const { Items: between } = await query(ofTeam, Task)
    .options({ consistent: true, filters, limit: 4, maxPages: Infinity })
    .send();
  assert.deepEqual(between.map(({ points }) => points), [12, 15, 18, 21, 24, 27, 30, 33, 36, 39]);
  const all = await query({ partition: "TEAM#looms" }, Task, Store)
    .options({ maxPages: Infinity, limit: 9 })
    .send();
  assert.equal(all.Items.length, 60);
  const inStreet = { partition: ["no", "Oslo"], index: "byPlace", range: ["Storgata", { gte: 1 }] };
  const stores = await query(inStreet, Store).send();
  assert.deepEqual(stores.Items.map((store) => store.id), ["s1"]);
  const { Count } = await query({ partition: "TEAM#looms", range: { beginsWith: "TASK#t1" } })
    .options({ select: "COUNT" })
    .send();
  assert.equal(Count, 10);
});

await proof("scans: pages, segments, filters", async () => {
  const scan = Office.build(ScanCommand).entities(Task);
  const { Items } = await scan
    .options({ filters: { Task: { attr: "points", gte: 50 } }, limit: 10, maxPages: Infinity })
    .send();
  assert.equal(Items.length, 9);
  const segments = await Promise.all(
    [0, 1, 2].map((segment) => scan.options({ segment, totalSegments: 3, maxPages: Infinity }).send()),
  );
  assert.equal(segments.reduce((sum, page) => sum + page.Items.length, 0), 60);
});

await proof("transactions: put, update, delete, check, get; the reasons of a cancelled one", async () => {
  await executeTransactWrite(
    { clientRequestToken: "only-once" },
    Task.build(PutTransaction).item({ team: "looms", id: "new" }),
    Task.build(UpdateTransaction).item({ ...key, points: $add(10) }),
    Task.build(DeleteTransaction).key({ team: "looms", id: "t58" }),
    Store.build(ConditionCheck).key({ team: "looms", id: "s1" }).condition({ attr: "house", eq: 1 }),
  );
  const { Responses } = await executeTransactGet(
    Task.build(GetTransaction).key(key),
    Task.build(GetTransaction).key({ team: "looms", id: "t58" }),
  );
  assert.deepEqual(Responses.map(({ Item }) => Item?.points), [15, undefined]);
  const transactions = [
    Task.build(UpdateTransaction).item({ ...key, points: $add(1000) }),
    Task.build(PutTransaction)
      .item({ team: "looms", id: "new", points: 3 })
      .options({ condition: { attr: "id", exists: false }, returnValuesOnConditionFalse: "ALL_OLD" }),
  ];
  await assert.rejects(executeTransactWrite(...transactions), (error) => {
    assert.ok(isTransactionCancelled(error, ...transactions));
    assert.deepEqual(error.CancellationReasons.map(({ Code }) => Code), ["None", "ConditionalCheckFailed"]);
    assert.equal(error.CancellationReasons[1].FormattedItem.points, 1);
    return true;
  });
});

await proof("access patterns, a repository, deletion of a partition", async () => {
  const byStatus = Office.build(TableAccessPattern)
    .entities(Task)
    .schema(map({ status: string(), least: number() }))
    .pattern(({ status, least }) => ({ index: "byStatus", partition: status, range: { gte: least } }));
  const { Items } = await byStatus.query({ status: "done", least: 50 }).send();
  assert.deepEqual(Items.map(({ points }) => points), [51, 54, 57]);
  const tasks = Task.build(EntityRepository);
  assert.equal((await tasks.get({ team: "looms", id: "t57" })).Item.points, 57);
  await Office.build(DeletePartitionCommand).entities(Task, Store).query({ partition: "TEAM#looms" }).send();
  const { Count } = await Office.build(ScanCommand).options({ select: "COUNT" }).send();
  assert.equal(Count, 1);
});

await client.send(new DeleteTableCommand({ TableName: "office" }));
client.destroy();
