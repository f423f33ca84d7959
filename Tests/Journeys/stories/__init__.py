"""The stories. Each says in its first lines what happens, and names a control: the protection that is taken out, and what then breaks."""
