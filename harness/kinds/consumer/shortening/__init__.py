"""Parts of a consumer group's trace, done again over spec/Shortened.tla."""
