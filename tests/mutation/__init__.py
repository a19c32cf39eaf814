"""Test the tests: change the code in small ways, and see whether a test fails. docs/testing.md says how to run it."""
