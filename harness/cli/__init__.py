"""The command `conform`: one module for each verb."""
