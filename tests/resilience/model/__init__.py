"""A plain, slow, obviously right DynamoDB: dicts, sorting and brute force. No code of the product."""
