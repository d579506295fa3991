"""What an edit of a specification adds, forbids and answers otherwise, and which properties still hold."""
