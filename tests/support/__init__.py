"""What tests of several rooms share: targets, servers, sample tables, commands."""
