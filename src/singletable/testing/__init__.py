"""For the tests of programs that use DynamoDB."""
