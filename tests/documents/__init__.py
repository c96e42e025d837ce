"""Reading and running the documentation: its blocks, and a second reader of the file format."""
