// A session of the AWS SDK for Java 2 and its DynamoDB enhanced client against the endpoint of the environment.

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import software.amazon.awssdk.core.util.VersionInfo;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbAsyncTable;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedAsyncClient;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedClient;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbTable;
import software.amazon.awssdk.enhanced.dynamodb.Expression;
import software.amazon.awssdk.enhanced.dynamodb.Key;
import software.amazon.awssdk.enhanced.dynamodb.TableSchema;
import software.amazon.awssdk.enhanced.dynamodb.extensions.annotations.DynamoDbAtomicCounter;
import software.amazon.awssdk.enhanced.dynamodb.extensions.annotations.DynamoDbVersionAttribute;
import software.amazon.awssdk.enhanced.dynamodb.mapper.Order;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbAttribute;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbBean;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbPartitionKey;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbSecondaryPartitionKey;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbSecondarySortKey;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbSortKey;
import software.amazon.awssdk.enhanced.dynamodb.model.BatchGetResultPage;
import software.amazon.awssdk.enhanced.dynamodb.model.BatchWriteResult;
import software.amazon.awssdk.enhanced.dynamodb.model.ConditionCheck;
import software.amazon.awssdk.enhanced.dynamodb.model.IgnoreNullsMode;
import software.amazon.awssdk.enhanced.dynamodb.model.Page;
import software.amazon.awssdk.enhanced.dynamodb.model.PutItemEnhancedRequest;
import software.amazon.awssdk.enhanced.dynamodb.model.QueryConditional;
import software.amazon.awssdk.enhanced.dynamodb.model.ReadBatch;
import software.amazon.awssdk.enhanced.dynamodb.model.TransactUpdateItemEnhancedRequest;
import software.amazon.awssdk.enhanced.dynamodb.model.WriteBatch;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.OperationType;
import software.amazon.awssdk.services.dynamodb.model.Projection;
import software.amazon.awssdk.services.dynamodb.model.ProjectionType;
import software.amazon.awssdk.services.dynamodb.model.Record;
import software.amazon.awssdk.services.dynamodb.model.ResourceInUseException;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.Shard;
import software.amazon.awssdk.services.dynamodb.model.ShardIteratorType;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;
import software.amazon.awssdk.services.dynamodb.model.TableStatus;
import software.amazon.awssdk.services.dynamodb.model.TimeToLiveDescription;
import software.amazon.awssdk.services.dynamodb.model.TimeToLiveStatus;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;

public final class Program {
    /** An item of the table. */
    @DynamoDbBean
    public static class Game {
        private String player;
        private Integer number;
        private String level;
        private Integer score;
        private List<String> moves;
        private Set<String> tags;
        private Map<String, Place> places;
        private byte[] photo;
        private Instant played;
        private Long expires;
        private Boolean lost;
        private Long version;
        private Long edits;

        @DynamoDbPartitionKey
        public String getPlayer() { return player; }
        public void setPlayer(String player) { this.player = player; }

        @DynamoDbSortKey
        @DynamoDbAttribute("game")
        public Integer getNumber() { return number; }
        public void setNumber(Integer number) { this.number = number; }

        @DynamoDbSecondaryPartitionKey(indexNames = "by_score")
        public String getLevel() { return level; }
        public void setLevel(String level) { this.level = level; }

        @DynamoDbSecondarySortKey(indexNames = {"by_score", "of_player_by_score"})
        public Integer getScore() { return score; }
        public void setScore(Integer score) { this.score = score; }

        public List<String> getMoves() { return moves; }
        public void setMoves(List<String> moves) { this.moves = moves; }

        public Set<String> getTags() { return tags; }
        public void setTags(Set<String> tags) { this.tags = tags; }

        public Map<String, Place> getPlaces() { return places; }
        public void setPlaces(Map<String, Place> places) { this.places = places; }

        public byte[] getPhoto() { return photo; }
        public void setPhoto(byte[] photo) { this.photo = photo; }

        public Instant getPlayed() { return played; }
        public void setPlayed(Instant played) { this.played = played; }

        public Long getExpires() { return expires; }
        public void setExpires(Long expires) { this.expires = expires; }

        public Boolean getLost() { return lost; }
        public void setLost(Boolean lost) { this.lost = lost; }

        @DynamoDbVersionAttribute
        public Long getVersion() { return version; }
        public void setVersion(Long version) { this.version = version; }

        @DynamoDbAtomicCounter
        public Long getEdits() { return edits; }
        public void setEdits(Long edits) { this.edits = edits; }
    }

    /** A map inside an item. */
    @DynamoDbBean
    public static class Place {
        private String city;
        private Integer seat;

        public String getCity() { return city; }
        public void setCity(String city) { this.city = city; }

        public Integer getSeat() { return seat; }
        public void setSeat(Integer seat) { this.seat = seat; }

        @Override
        public boolean equals(Object other) {
            return other instanceof Place place && city.equals(place.city) && seat.equals(place.seat);
        }

        @Override
        public int hashCode() { return Objects.hash(city, seat); }
    }

    /** A player's name, of a table with only a partition key and no version. */
    @DynamoDbBean
    public static class Name {
        private String id;
        private String name;

        @DynamoDbPartitionKey
        public String getId() { return id; }
        public void setId(String id) { this.id = id; }

        public String getName() { return name; }
        public void setName(String name) { this.name = name; }
    }

    /** A shop, found by several attributes. */
    @DynamoDbBean
    public static class Shop {
        private String id;
        private String country;
        private String city;
        private String street;

        @DynamoDbPartitionKey
        public String getId() { return id; }
        public void setId(String id) { this.id = id; }

        @DynamoDbSecondaryPartitionKey(indexNames = "by_place", order = Order.FIRST)
        public String getCountry() { return country; }
        public void setCountry(String country) { this.country = country; }

        @DynamoDbSecondaryPartitionKey(indexNames = "by_place", order = Order.SECOND)
        public String getCity() { return city; }
        public void setCity(String city) { this.city = city; }

        @DynamoDbSecondarySortKey(indexNames = "by_place")
        public String getStreet() { return street; }
        public void setStreet(String street) { this.street = street; }
    }

    private static final Projection ALL = Projection.builder().projectionType(ProjectionType.ALL).build();
    private static final Duration WAITING = Duration.ofSeconds(20);
    private static final DynamoDbClient client = DynamoDbClient.create();
    private static final DynamoDbStreamsClient streams = DynamoDbStreamsClient.create();
    private static final DynamoDbEnhancedClient enhanced =
            DynamoDbEnhancedClient.builder().dynamoDbClient(client).build();
    private static final DynamoDbTable<Game> games = enhanced.table("games", TableSchema.fromBean(Game.class));
    private static final DynamoDbTable<Name> names = enhanced.table("names", TableSchema.fromBean(Name.class));

    private Program() {}

    private static Key key(String player, int game) {
        return Key.builder().partitionValue(player).sortValue(game).build();
    }

    private static Game game(String player, int number, String level, int score) {
        Game game = new Game();
        game.setPlayer(player);
        game.setNumber(number);
        game.setLevel(level);
        game.setScore(score);
        return game;
    }

    private static Name name(String id, String text) {
        Name name = new Name();
        name.setId(id);
        name.setName(text);
        return name;
    }

    private static AttributeValue number(int value) { return AttributeValue.fromN(String.valueOf(value)); }

    private static Expression expression(String text, String name, AttributeValue value) {
        return Expression.builder().expression(text).putExpressionName("#name", name)
                .putExpressionValue(":value", value).build();
    }

    private static List<Integer> scores(Iterable<Page<Game>> pages) {
        List<Integer> scores = new ArrayList<>();
        pages.forEach(page -> page.items().forEach(game -> scores.add(game.getScore())));
        return scores;
    }

    private static void await(BooleanSupplier isDone) throws InterruptedException {
        Instant deadline = Instant.now().plus(WAITING);
        while (!isDone.getAsBoolean()) {
            Proving.same(Instant.now().isBefore(deadline), true);
            Thread.sleep(50);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Proving.introduce("software.amazon.awssdk:dynamodb-enhanced", VersionInfo.SDK_VERSION);
        Proving.proof(
                "createTable from a bean, with a global and a local index and a stream; the waiter",
                Program::tables);
        Proving.proof(
                "putItem, getItem, updateItem, deleteItem of beans: sets, lists, maps of beans, bytes, instants",
                Program::items);
        Proving.proof(
                "conditions: a failed one is its own exception, with its item; other errors with AWS's messages",
                Program::failures);
        Proving.proof(
                "an optimistic lock by @DynamoDbVersionAttribute, a counter by @DynamoDbAtomicCounter",
                Program::optimisticLock);
        Proving.proof(
                "query and scan over pages, on the table and on both kinds of index, with filters",
                Program::pages);
        Proving.proof("batchWriteItem; batchGetItem of more than 16 MB, with its unprocessed keys", Program::batches);
        Proving.proof(
                "transactWriteItems and transactGetItems; the reasons of a cancelled transaction",
                Program::transactions);
        Proving.proof("the asynchronous client: a hundred requests at once", Program::requestsAtOnce);
        Proving.proof("streams: DescribeStream, GetShardIterator, GetRecords, images as beans", Program::readStream);
        Proving.proof("updateTimeToLive, describeTimeToLive; what has expired goes", Program::timeToLive);
        Proving.proof(
                "createTable() with an index over several attributes, from the annotations",
                Program::compositeIndex);
        Proving.proof("deleteTable and its waiter", Program::end);
        streams.close();
        client.close();
    }

    private static void tables() {
        games.createTable(request -> request
                .globalSecondaryIndices(index -> index.indexName("by_score").projection(ALL))
                .localSecondaryIndices(index -> index.indexName("of_player_by_score").projection(ALL))
                .streamSpecification(stream -> stream.streamEnabled(true)
                        .streamViewType(StreamViewType.NEW_AND_OLD_IMAGES)));
        TableDescription created = client.waiter().waitUntilTableExists(request -> request.tableName("games"))
                .matched().response().orElseThrow().table();
        Proving.same(created.tableStatus(), TableStatus.ACTIVE);
        Proving.same(created.globalSecondaryIndexes().get(0).indexName(), "by_score");
        Proving.same(created.localSecondaryIndexes().get(0).indexName(), "of_player_by_score");
        Proving.same(games.describeTable().table().creationDateTime().isBefore(Instant.now()), true);
        names.createTable();
        client.waiter().waitUntilTableExists(request -> request.tableName("names"));
        List<String> listed = client.listTablesPaginator(request -> request.limit(1)).tableNames().stream().toList();
        Proving.same(listed, List.of("games", "names"));
    }

    private static void items() {
        Place oslo = new Place();
        oslo.setCity("Oslo 大 🎵");
        oslo.setSeat(7);
        Game game = game("ann", 1, "easy", 10);
        game.setMoves(List.of("e4", "", "e5"));
        game.setTags(Set.of("long", "odd"));
        game.setPlaces(Map.of("first", oslo, "second", oslo));
        game.setPhoto(new byte[] {0, -1});
        game.setPlayed(Instant.parse("2026-01-02T03:04:05.006Z"));
        game.setLost(false);
        games.putItem(game);
        Game read = games.getItem(request -> request.key(key("ann", 1)).consistentRead(true));
        Proving.same(read.getMoves(), game.getMoves());
        Proving.same(read.getTags(), game.getTags());
        Proving.same(read.getPlaces(), game.getPlaces());
        Proving.same(Arrays.equals(read.getPhoto(), game.getPhoto()), true);
        Proving.same(List.of(read.getPlayed(), read.getLost()), List.of(game.getPlayed(), false));
        read.setScore(15);
        read.setPhoto(null);
        Game updated = games.updateItem(read);
        Proving.same(updated.getScore(), 15);
        Proving.same(updated.getPhoto(), null);
        Game part = game("ann", 1, null, 16);
        part.setVersion(updated.getVersion());
        Game kept = games.updateItem(request -> request.item(part).ignoreNullsMode(IgnoreNullsMode.SCALAR_ONLY));
        Proving.same(List.of(kept.getLevel(), kept.getScore(), kept.getMoves()), List.of("easy", 16, game.getMoves()));
        Proving.same(games.deleteItem(key("ann", 1)).getScore(), 16);
        Proving.same(games.getItem(key("ann", 1)), null);
        names.putItem(name("ann", "Ann"));
        Proving.same(names.getItem(Key.builder().partitionValue("ann").build()).getName(), "Ann");
    }

    private static void failures() {
        Expression isNew = Expression.builder().expression("attribute_not_exists(id)").build();
        PutItemEnhancedRequest<Name> again = PutItemEnhancedRequest.builder(Name.class)
                .item(name("ann", "Anna")).conditionExpression(isNew)
                .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD).build();
        ConditionalCheckFailedException refused =
                Proving.failed(ConditionalCheckFailedException.class, () -> names.putItem(again));
        Proving.same(refused.awsErrorDetails().errorMessage(), "The conditional request failed");
        Proving.same(refused.item().get("name"), AttributeValue.fromS("Ann"));
        Proving.same(List.of(refused.statusCode(), refused.requestId().length()), List.of(400, 52));
        Proving.failed(ResourceInUseException.class, () -> names.createTable());
        DynamoDbTable<Name> missing = enhanced.table("missing", TableSchema.fromBean(Name.class));
        Proving.failed(ResourceNotFoundException.class, () -> missing.getItem(name("a", null)));
        DynamoDbException wrong = Proving.failed(DynamoDbException.class, () -> client.getItem(
                request -> request.tableName("games").key(Map.of("player", AttributeValue.fromS("ann")))));
        Proving.same(wrong.awsErrorDetails().errorCode(), "ValidationException");
        Proving.same(wrong.awsErrorDetails().errorMessage(), "The provided key element does not match the schema");
    }

    private static void optimisticLock() {
        games.putItem(game("bob", 1, "easy", 0));
        Game mine = games.getItem(key("bob", 1));
        Game theirs = games.getItem(key("bob", 1));
        theirs.setScore(5);
        Game won = games.updateItem(theirs);
        Proving.same(won.getVersion(), mine.getVersion() + 1);
        Proving.same(won.getEdits(), mine.getEdits() + 1);
        mine.setScore(6);
        Proving.failed(ConditionalCheckFailedException.class, () -> games.updateItem(mine));
        Proving.failed(ConditionalCheckFailedException.class, () -> games.putItem(game("bob", 1, "easy", 7)));
        Proving.same(games.getItem(key("bob", 1)).getScore(), 5);
    }

    private static void pages() {
        for (int number = 0; number < 50; number++) {
            games.putItem(game("cat", number, "hard", number % 5));
        }
        QueryConditional later = QueryConditional.sortGreaterThan(key("cat", 9));
        List<Integer> sizes = games.query(request -> request.queryConditional(later).limit(15)).stream()
                .map(page -> page.items().size()).toList();
        Proving.same(sizes, List.of(15, 15, 10));

        QueryConditional best = QueryConditional.sortGreaterThanOrEqualTo(key("hard", 3));
        Proving.same(
                scores(games.index("by_score").query(request -> request.queryConditional(best)
                        .scanIndexForward(false).limit(3)
                        .filterExpression(expression("#name < :value", "game", number(15))))),
                List.of(4, 4, 4, 3, 3, 3));

        QueryConditional none = QueryConditional.sortBetween(key("cat", 0), key("cat", 1));
        Page<Game> first = games.index("of_player_by_score")
                .query(request -> request.queryConditional(none).consistentRead(true).limit(12)).iterator().next();
        Proving.same(first.items().stream().map(Game::getScore).distinct().toList(), List.of(0, 1));
        Proving.same(first.lastEvaluatedKey().keySet(), Set.of("player", "game", "score"));
        Page<Game> rest = games.index("of_player_by_score").query(request -> request.queryConditional(none)
                .exclusiveStartKey(first.lastEvaluatedKey())).iterator().next();
        Proving.same(rest.items().size(), 8);

        long hard = games.scan(request -> request.limit(7).addAttributeToProject("level")
                .filterExpression(expression("#name = :value", "level", AttributeValue.fromS("hard"))))
                .items().stream().count();
        Proving.same(hard, 50L);
        long inSegments = IntStream.range(0, 3).mapToLong(segment ->
                games.scan(request -> request.segment(segment).totalSegments(3)).items().stream().count()).sum();
        Proving.same(inSegments, 51L);
    }

    private static void batches() {
        List<Name> large = IntStream.range(0, 60).mapToObj(id -> name("large-" + id, "x".repeat(300_000))).toList();
        for (int first = 0; first < 60; first += 20) {
            WriteBatch.Builder<Name> puts = WriteBatch.builder(Name.class).mappedTableResource(names);
            large.subList(first, first + 20).forEach(puts::addPutItem);
            BatchWriteResult written = enhanced.batchWriteItem(request -> request.addWriteBatch(puts.build()));
            Proving.same(written.unprocessedPutItemsForTable(names), List.of());
        }
        ReadBatch.Builder<Name> keys = ReadBatch.builder(Name.class).mappedTableResource(names);
        large.forEach(name -> keys.addGetItem(Key.builder().partitionValue(name.getId()).build()));
        Iterable<BatchGetResultPage> read = enhanced.batchGetItem(request -> request.addReadBatch(keys.build()));
        List<Integer> sizes = new ArrayList<>();
        read.forEach(page -> sizes.add(page.resultsForTable(names).size()));
        Proving.same(sizes.size(), 2);
        Proving.same(sizes.get(0) + sizes.get(1), 60);
    }

    private static void transactions() {
        Game bob = games.getItem(key("bob", 1));
        bob.setScore(8);
        enhanced.transactWriteItems(request -> request
                .addUpdateItem(games, bob)
                .addPutItem(games, game("bob", 2, "easy", 2))
                .addDeleteItem(names, Key.builder().partitionValue("large-0").build()));
        List<Game> read = enhanced.transactGetItems(request -> request
                .addGetItem(games, key("bob", 1)).addGetItem(games, key("bob", 2)).addGetItem(games, key("bob", 3)))
                .stream().map(document -> document.getItem(games)).toList();
        Proving.same(List.of(read.get(0).getScore(), read.get(1).getScore()), List.of(8, 2));
        Proving.same(read.get(2), null);
        // The version of this one is the old one.
        bob.setScore(9);
        TransactUpdateItemEnhancedRequest<Game> late = TransactUpdateItemEnhancedRequest.builder(Game.class).item(bob)
                .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD).build();
        ConditionCheck<Name> isAnn = ConditionCheck.builder().key(Key.builder().partitionValue("ann").build())
                .conditionExpression(expression("#name = :value", "name", AttributeValue.fromS("Ann"))).build();
        List<CancellationReason> reasons = Proving.failed(
                TransactionCanceledException.class,
                () -> enhanced.transactWriteItems(request -> request
                        .addDeleteItem(games, key("bob", 2))
                        .addUpdateItem(games, late)
                        .addConditionCheck(names, isAnn)))
                .cancellationReasons();
        List<String> codes = reasons.stream().map(CancellationReason::code).toList();
        Proving.same(codes, List.of("None", "ConditionalCheckFailed", "None"));
        Proving.same(reasons.get(1).item().get("score"), number(8));
        Proving.same(games.getItem(key("bob", 2)).getScore(), 2);
    }

    private static void requestsAtOnce() {
        try (DynamoDbAsyncClient asynchronous = DynamoDbAsyncClient.create()) {
            DynamoDbAsyncTable<Name> table = DynamoDbEnhancedAsyncClient.builder().dynamoDbClient(asynchronous).build()
                    .table("names", TableSchema.fromBean(Name.class));
            List<CompletableFuture<Void>> puts = IntStream.range(0, 40)
                    .mapToObj(id -> table.putItem(name("many-" + id, "x"))).toList();
            puts.forEach(CompletableFuture::join);
            Map<String, AttributeValue> counter = Map.of("player", AttributeValue.fromS("count"), "game", number(1));
            List<CompletableFuture<Integer>> counts = IntStream.range(0, 100).mapToObj(id -> asynchronous.updateItem(
                    request -> request.tableName("games").key(counter)
                            .updateExpression("ADD hits :one").expressionAttributeValues(Map.of(":one", number(1)))
                            .returnValues("UPDATED_NEW"))
                    .thenApply(answer -> Integer.valueOf(answer.attributes().get("hits").n()))).toList();
            Set<Integer> hits = new TreeSet<>();
            counts.forEach(count -> hits.add(count.join()));
            Proving.same(hits.size(), 100);
            List<String> found = new ArrayList<>();
            table.scan(request -> request.limit(10).filterExpression(
                            expression("begins_with(#name, :value)", "id", AttributeValue.fromS("many-"))))
                    .items().subscribe(name -> found.add(name.getId())).join();
            Proving.same(found.size(), 40);
        }
    }

    private static void readStream() {
        String arn = games.describeTable().table().latestStreamArn();
        List<Record> changes = new ArrayList<>();
        for (Shard shard : streams.describeStream(request -> request.streamArn(arn)).streamDescription().shards()) {
            String iterator = streams.getShardIterator(request -> request.streamArn(arn).shardId(shard.shardId())
                    .shardIteratorType(ShardIteratorType.TRIM_HORIZON)).shardIterator();
            while (iterator != null) {
                String position = iterator;
                var answer = streams.getRecords(request -> request.shardIterator(position));
                answer.records().stream()
                        .filter(record -> record.dynamodb().keys().get("player").s().equals("ann"))
                        .forEach(changes::add);
                iterator = answer.records().isEmpty() ? null : answer.nextShardIterator();
            }
        }
        Proving.same(changes.stream().map(Record::eventName).toList(),
                List.of(OperationType.INSERT, OperationType.MODIFY, OperationType.MODIFY, OperationType.REMOVE));
        Game before = games.tableSchema().mapToItem(changes.get(1).dynamodb().oldImage());
        Game after = games.tableSchema().mapToItem(changes.get(1).dynamodb().newImage());
        Proving.same(List.of(before.getScore(), after.getScore()), List.of(10, 15));
    }

    private static void timeToLive() throws InterruptedException {
        client.updateTimeToLive(request -> request.tableName("games")
                .timeToLiveSpecification(setting -> setting.attributeName("expires").enabled(true)));
        TimeToLiveDescription described =
                client.describeTimeToLive(request -> request.tableName("games")).timeToLiveDescription();
        Proving.same(described.timeToLiveStatus(), TimeToLiveStatus.ENABLED);
        for (int days : List.of(1, -1)) {
            Game old = game("old", days, "easy", 0);
            old.setExpires(Instant.now().plus(Duration.ofDays(days)).getEpochSecond());
            games.putItem(old);
        }
        await(() -> games.getItem(key("old", -1)) == null);
        Proving.same(games.getItem(key("old", 1)).getNumber(), 1);
    }

    private static void compositeIndex() {
        DynamoDbTable<Shop> shops = enhanced.table("shops", TableSchema.fromBean(Shop.class));
        shops.createTable();
        List<String> places =
                List.of("no Oslo Kirkegata", "no Oslo Storgata", "no Bergen Storgata", "se Oslo Storgata");
        for (String place : places) {
            String[] parts = place.split(" ");
            Shop shop = new Shop();
            shop.setId(place);
            shop.setCountry(parts[0]);
            shop.setCity(parts[1]);
            shop.setStreet(parts[2]);
            shops.putItem(shop);
        }
        QueryConditional inOslo = QueryConditional.sortBeginsWith(key ->
                key.addPartitionValue("no").addPartitionValue("Oslo").addSortValue("S"));
        List<String> found = shops.index("by_place").query(inOslo).stream()
                .flatMap(page -> page.items().stream()).map(Shop::getId).toList();
        Proving.same(found, List.of("no Oslo Storgata"));
        shops.deleteTable();
    }

    private static void end() {
        games.deleteTable();
        client.waiter().waitUntilTableNotExists(request -> request.tableName("games"));
        Proving.failed(ResourceNotFoundException.class, () -> games.describeTable());
        names.deleteTable();
    }
}
