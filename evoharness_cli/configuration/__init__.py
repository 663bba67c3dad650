"""What a person sets once instead of on every command line: their own file, the project's, environment variables.

Each key is the default of the option of its name. `keys` lists them, `schema` says what values they take, `files` reads
them, `layers` says which one counts, and `defaults` turns them into the defaults of the command line.
"""
