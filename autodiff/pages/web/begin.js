// Training as a page of its own.

follow(repaint);
