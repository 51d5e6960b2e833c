"""How a page looks: one style, and the templates that every page of HTML is made of."""
