"""Charts as pictures: SVG for pages, PNG for chats. Values in, pictures out; an adapter decides where they are shown."""
