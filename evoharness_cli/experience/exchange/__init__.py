"""What leaves a store and comes into one: banks, scopes, export and import."""
